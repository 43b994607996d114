package deletion

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"session-sidecar/cleanup"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/newfile"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
	"session-sidecar/statedb"
)

// ErrUnsafeTarget says that an export may not be put where it was to go: what else uses that place would take it for its
// own.
var ErrUnsafeTarget = errors.New("the file would be among the home's own")

// Export is what an export has written.
type Export struct {
	Path  string // as it was asked for
	Bytes int64
	*statedb.Exported
}

// Export writes the rows that Delete would remove with the same request to a new file (contract 5d). It takes no lock
// and changes nothing of the home. After an error or a cancel nothing of the file is there.
func (d *Deleter) Export(ctx context.Context, request Request, to string) (*Export, error) {
	homePath, store, err := locate(request.ProfileHome)
	if err != nil {
		return nil, err
	}
	agent, err := statedb.LookAtAgent(request.AgentDir)
	if err != nil {
		return nil, err
	}
	if err := refuseOwnPlaces(homePath, store, to); err != nil {
		return nil, err
	}
	out := &counted{}
	defer func() { out.file.Discard() }()
	exported, err := statedb.Export(ctx, store, request.toStore(agent), func() (_ io.Writer, err error) {
		out.file.Discard()
		*out = counted{}
		out.file, err = newfile.Create(to)
		return out, err
	})
	if err != nil {
		return nil, err
	}
	faultpoint.Hit(faultpoint.ExportWritten)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := out.file.Commit(); err != nil {
		return nil, err
	}
	return &Export{Path: to, Bytes: out.bytes, Exported: exported}, nil
}

// counted is a new file with the number of bytes in it.
type counted struct {
	file  *newfile.File
	bytes int64
}

func (c *counted) Write(data []byte) (int, error) {
	n, err := c.file.Write(data)
	c.bytes += int64(n)
	return n, err
}

// ownNames are what a home keeps for itself, whether it is there yet or not.
var ownNames = []string{locks.FileName, cleanup.FolderName, trash.FolderName}

// refuseOwnPlaces keeps an export out of sessions/, where cleanup could remove it, and away from the names that
// SQLite and the locks open. Folders are compared as files: links and upper case spell one in many ways.
func refuseOwnPlaces(homePath, store, to string) error {
	folder, err := newfile.Folder(to)
	if err != nil {
		return err
	}
	name := strings.ToLower(filepath.Base(to))
	if slices.Contains(ownNames, name) && sameFile(folder, homePath) {
		return ErrUnsafeTarget
	}
	for _, path := range []string{filepath.Join(homePath, statedb.FileName), store} {
		if strings.HasPrefix(name, strings.ToLower(filepath.Base(path))) && sameFile(folder, filepath.Dir(path)) {
			return ErrUnsafeTarget
		}
	}
	sessions := filepath.Join(homePath, cleanup.FolderName)
	for ; ; folder = filepath.Dir(folder) {
		if sameFile(folder, sessions) {
			return ErrUnsafeTarget
		}
		if folder == filepath.Dir(folder) {
			return nil
		}
	}
}

func sameFile(a, b string) bool {
	infos := [2]fs.FileInfo{}
	for i, path := range []string{a, b} {
		var err error
		if infos[i], err = os.Stat(path); err != nil {
			return false
		}
	}
	return os.SameFile(infos[0], infos[1])
}

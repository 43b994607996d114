// Package trash keeps what deletes took, for those who asked for a way back (contract 10): home/trash/<operation id>.ndjson.gz,
// one entry for each delete. It knows nothing of stores: whoever calls it gives and takes the rows, and tells which ids are live.
package trash

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"session-sidecar/internal/operationid"
	"session-sidecar/internal/rooted"
)

// FolderName is where a home keeps its trash.
const FolderName = "trash"

// suffix ends the name of an entry; what stands before it is the name of the delete.
const suffix = ".ndjson.gz"

// Folder is a home's trash/, opened once for one operation: everything goes through its handle, so that no name and no link can
// lead out of it. A missing folder is an empty one.
type Folder struct {
	home *os.Root
	root *os.Root // nil while trash/ is missing
}

// Open opens the trash of a resolved home. A link that stays inside the home is followed; one that leaves it, or something that
// is no folder, is ErrUnusable.
func Open(homePath string) (*Folder, error) {
	homeRoot, err := os.OpenRoot(homePath)
	if err != nil {
		return nil, unusable(homePath, err)
	}
	root, err := rooted.Open(homeRoot, FolderName)
	if err != nil {
		_ = homeRoot.Close()
		return nil, unusable(FolderName, err)
	}
	return &Folder{home: homeRoot, root: root}, nil
}

// Close gives the handles back.
func (f *Folder) Close() {
	if f.root != nil {
		_ = f.root.Close()
	}
	_ = f.home.Close()
}

// create makes a missing trash/ durably, readable by its owner alone, and takes one that is there away from others.
func (f *Folder) create() (err error) {
	if f.root != nil {
		return f.restrict()
	}
	f.root, _, err = rooted.Make(f.home, FolderName)
	return err
}

// restrict takes the folder away from others, where it is one of that name in the home: a link leads to a folder that is somebody's. Where
// that cannot be done, what is in an entry is for its owner alone all the same; but others who may write could take it away.
func (f *Folder) restrict() error {
	info, err := f.home.Lstat(FolderName)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := f.root.Chmod(".", 0o700); err != nil && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write in it, and that cannot be changed: %w", err)
	}
	return nil
}

// Names lists what is in the folder, in the order of the names.
func (f *Folder) Names() ([]string, error) {
	if f.root == nil {
		return nil, nil
	}
	names, err := rooted.Names(f.root)
	if err != nil {
		return nil, unusable(FolderName, err)
	}
	slices.Sort(names)
	return names, nil
}

// operations lists the deletes that have an entry, in their order.
func (f *Folder) operations() ([]string, error) {
	names, err := f.Names()
	var operations []string
	for _, name := range names {
		if operation, is := OperationOf(name); is {
			operations = append(operations, operation)
		}
	}
	return operations, err
}

// OperationOf is the delete whose entry has this name. What is no entry by its name was not written by us.
func OperationOf(name string) (operation string, is bool) {
	operation, is = strings.CutSuffix(name, suffix)
	return operation, is && operationid.Is(operation)
}

// isTemporary tells whether a name is that of an entry that is being written, or was never finished.
func isTemporary(name string) bool {
	operation, _, _ := strings.Cut(name, suffix+".")
	return strings.HasSuffix(name, rooted.TemporarySuffix) && operationid.Is(operation)
}

// Remove unlinks an entry durably, whatever is in it. One that is not there is ErrNotFound, and so is an id that names no entry.
func (f *Folder) Remove(operation string) error {
	if f.root == nil || !operationid.Is(operation) {
		return &Error{Kind: ErrNotFound, Name: operation}
	}
	info, err := f.root.Lstat(operation + suffix)
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder and no entry, and stays: take it away by hand")
	}
	if err == nil {
		err = f.root.Remove(operation + suffix)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{Kind: ErrNotFound, Name: operation}
	}
	if err == nil {
		err = rooted.Sync(f.root)
	}
	if err != nil {
		return unusable(operation+suffix, err)
	}
	return nil
}

// RemoveTemporary removes what a write that ended half-way has left, as far as it can. The caller holds the home's locks.
func (f *Folder) RemoveTemporary() error {
	names, err := f.Names()
	if err != nil {
		return err
	}
	removed := false
	var failed []error
	for _, name := range names {
		if !isTemporary(name) {
			continue
		}
		info, err := f.root.Lstat(name)
		if err == nil && !info.Mode().IsRegular() {
			continue // no write has left it
		}
		if err == nil {
			err = f.root.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, unusable(name, err))
			continue
		}
		removed = true
	}
	if removed {
		failed = append(failed, rooted.Sync(f.root))
	}
	return errors.Join(failed...)
}

// Name is that of the entry of one delete.
func Name(operation string) string { return operation + suffix }

// Path is where an entry lies, for a human.
func Path(homePath, operation string) string {
	return filepath.Join(homePath, FolderName, operation+suffix)
}

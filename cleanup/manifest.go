package cleanup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/links"
	"session-sidecar/internal/randomhex"
	"session-sidecar/internal/rooted"
)

// A manifest is home/sessions/.cleanup_manifest_<32 hex>.json: a JSON array of the ids whose artifacts are to go
// (contract 6.2). Other programs write and read the same form, so any name of that shape is read.
const (
	manifestPrefix = ".cleanup_manifest_"
	manifestSuffix = ".json"

	// maxManifestBytes bounds what is read into memory: eight million ids of the longest safe kind.
	maxManifestBytes = 1 << 30

	// abandonedAfter is the age at which a temporary file cannot belong to a running write any more.
	abandonedAfter = time.Hour
)

// Manifest is the name of one manifest file of this folder.
type Manifest string

// WriteManifest writes a new manifest of the ids, sorted, durably: temporary file, sync, rename, sync of the folder. It
// must return before the delete commits, so that a crash right after the commit still knows what is left to remove.
// Errors are *Error with ErrManifest; then no manifest and no temporary file is left.
func (f *Folder) WriteManifest(ids []string) (Manifest, error) {
	fail := func(err error) (Manifest, error) {
		f.uncreate()
		return "", &Error{Kind: ErrManifest, Name: FolderName, Cause: err}
	}
	if err := f.create(); err != nil {
		return fail(err)
	}
	ordered := slices.Sorted(slices.Values(ids))
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(slices.Compact(ordered)); err != nil {
		return fail(err)
	}
	name := manifestPrefix + randomhex.New(16) + manifestSuffix
	if err := f.replaceDurably(name, bytes.TrimSpace(data.Bytes())); err != nil {
		return fail(errors.Join(err, f.removeIfThere(name)))
	}
	return Manifest(name), nil
}

// Withdraw removes a manifest whose delete has certainly been rolled back.
func (f *Folder) Withdraw(m Manifest) error {
	err := f.removeIfThere(string(m))
	if err == nil {
		err = rooted.Sync(f.root)
	}
	f.uncreate()
	return err
}

func (f *Folder) removeIfThere(name string) error {
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceDurably writes a file so that after a crash either the old content or all of the new one is there.
func (f *Folder) replaceDurably(name string, data []byte) error {
	file, err := rooted.Create(f.root, name)
	if err != nil {
		return err
	}
	if _, err := file.Write(data); err != nil {
		return errors.Join(err, file.Discard())
	}
	_, err = file.Commit(rooted.Points{
		Written: faultpoint.ManifestTempWritten, Synced: faultpoint.ManifestTempSynced, Named: faultpoint.ManifestRenamed, Durable: faultpoint.ManifestDurable,
	})
	return err
}

// isManifest tells whether a name has the form that every program of this kind reads.
func isManifest(name string) bool {
	return strings.HasPrefix(name, manifestPrefix) && strings.HasSuffix(name, manifestSuffix)
}

// isTemporary tells whether a name is a manifest that was never finished.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, manifestPrefix) && strings.HasSuffix(name, rooted.TemporarySuffix)
}

// removeAbandoned takes away a temporary manifest that no running write can own. It holds nothing that a manifest does
// not hold better, so a failure is no harm: the next run tries again.
func (f *Folder) removeAbandoned(name string) {
	if f.isAbandoned(name) {
		_ = f.root.Remove(name)
	}
}

func (f *Folder) isAbandoned(name string) bool {
	info, err := f.root.Lstat(name)
	return err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandonedAfter
}

// entry is one id of a manifest, with the bytes that spell it: what is left of a manifest is written back as it was.
type entry struct {
	id  string
	raw json.RawMessage
}

// readManifest reads a manifest in its order. Anything but an array of strings is an error, and the file stays as it is.
func (f *Folder) readManifest(name string) ([]entry, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if links.Several(info) {
		return nil, links.ErrSeveral
	}
	if info.Size() > maxManifestBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", maxManifestBytes)
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxManifestBytes+1))
	if err != nil {
		return nil, err
	}
	return parseManifest(data)
}

func parseManifest(data []byte) ([]entry, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return nil, err
	}
	if raws == nil {
		return nil, errors.New("it is not an array")
	}
	entries := make([]entry, len(raws))
	for i, raw := range raws {
		if raw[0] != '"' {
			return nil, errors.New("an element is not a string")
		}
		entries[i].raw = raw
		if err := json.Unmarshal(raw, &entries[i].id); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func encodeEntries(entries []entry) []byte {
	raws := make([][]byte, len(entries))
	for i, e := range entries {
		raws[i] = e.raw
	}
	return slices.Concat([]byte("["), bytes.Join(raws, []byte(",")), []byte("]"))
}

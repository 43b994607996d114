// Package storeuri spells where a store lies as SQLite takes it (contract 4).
package storeuri

import (
	"net/url"
	"path/filepath"
	"strings"
)

// Of gives the URI of a store at an absolute path, with the parameters that SQLite and its driver read. Whatever the path holds is escaped,
// so that it leads to no other file.
func Of(path string, parameters url.Values) string {
	slashed := "/" + strings.TrimPrefix(filepath.ToSlash(path), "/") // a path of Windows begins with its drive
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: parameters.Encode()}).String()
}

package sidecartest

import (
	"net/url"
	"path/filepath"
	"strings"
)

// storeURI is the address of a store that leads to no other file, whatever its path holds.
func storeURI(path, query string) string {
	slashed := "/" + strings.TrimPrefix(filepath.ToSlash(path), "/") // a path of Windows begins with its drive
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query}).String()
}

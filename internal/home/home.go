// Package home gives an Agent profile's folder its one spelling.
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

var (
	// ErrMissing says that there is no such folder.
	ErrMissing = errors.New("there is no such home")
	// ErrUnusable says that the way to the folder cannot be followed.
	ErrUnusable = errors.New("the home cannot be reached")
)

// Resolve makes a profile_home absolute and resolves its symbolic links, once: locks are keyed on what it returns
// (contract 2). It creates nothing. A path that leads nowhere is ErrMissing; one that may not be followed is ErrUnusable.
func Resolve(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%w: the path holds a NUL character", ErrMissing)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	resolved, err := filepath.EvalSymlinks(absolute)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", ErrMissing
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return resolved, nil
}

// Contains tells whether a resolved path lies inside the resolved home.
func Contains(home, path string) bool {
	relative, err := filepath.Rel(home, path)
	return err == nil && filepath.IsLocal(relative)
}

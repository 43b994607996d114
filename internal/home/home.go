// Package home gives an Agent profile's folder its one spelling, and says what is inside it.
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

var (
	// ErrMissing says that there is no such folder.
	ErrMissing = errors.New("there is no such home")
	// ErrUnusable says that the way to the folder cannot be followed.
	ErrUnusable = errors.New("the home cannot be reached")
)

// StoreName is the store inside a home. Only SQLite opens it, and what SQLite keeps beside it: to close any descriptor of one of those
// would take this process's locks on it away (contract 4). To look at them from outside is safe.
const StoreName = "state.db"

// SpillFolders are where the Agent spills tool output to, as paths inside a home with slashes (contract 5b.5). Each lies in the one before.
var SpillFolders = []string{"cache/spillover", "cache/spillover/tool-results"}

// Resolve makes a profile_home absolute and resolves its symbolic links, once: locks are keyed on what it returns
// (contract 2). It creates nothing. A path that leads nowhere is ErrMissing; one that may not be followed is ErrUnusable.
func Resolve(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%w: the path holds a NUL character", ErrMissing)
	}
	absolute, err := makeAbsolute(path)
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

// makeAbsolute puts the working folder before a relative path and tidies nothing: filepath.Abs would take "link/.." for
// the folder that holds the link, where the system means the one that holds what it points to. Windows means the former.
func makeAbsolute(path string) (string, error) {
	if runtime.GOOS == "windows" {
		return filepath.Abs(path)
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	folder, err := os.Getwd()
	return folder + "/" + path, err
}

// AsNamed is a home's path as a host named it, made absolute and tidied, with nothing resolved. It is empty where only the
// system could tell which folder is meant.
func AsNamed(path string) string {
	absolute, err := makeAbsolute(path)
	if err != nil || GoesUp(absolute) {
		return ""
	}
	return filepath.Clean(absolute)
}

// GoesUp tells whether a path has a part that stands for the folder above, which behind a link may be anywhere.
func GoesUp(path string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..")
}

// Contains tells whether a resolved path lies inside the resolved home. The home itself does not.
func Contains(home, path string) bool {
	relative, err := filepath.Rel(home, path)
	return err == nil && relative != "." && filepath.IsLocal(relative)
}

// Package foldersync makes the names in a folder durable.
package foldersync

import "os"

// Sync does nothing: Windows has no such call for a folder, and its file systems keep a log of names that is written in order.
func Sync(func() (*os.File, error)) error { return nil }

//go:build unix && !linux

package statedb

// inOurNamespace holds for every holder where the system has one set of process ids.
func inOurNamespace(string) bool { return true }

//go:build !windows && !darwin

package cleanup

// canBeFileName holds for every safe id here.
func canBeFileName(string) bool { return true }

// sameFileName compares as this system's file systems do.
func sameFileName(a, b string) bool { return a == b }

// canBeSpilled holds for every plain name here.
func canBeSpilled(string) bool { return true }

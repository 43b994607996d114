package cleanup

import "strings"

// canBeFileName holds for every safe id here.
func canBeFileName(string) bool { return true }

// sameFileName compares as this system's file systems usually do.
func sameFileName(a, b string) bool { return strings.EqualFold(a, b) }

// canBeSpilled holds for every plain name here.
func canBeSpilled(string) bool { return true }

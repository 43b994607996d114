// Package sessionid says what a session id may look like where it comes from outside or goes into a file name.
package sessionid

import "regexp"

// Pattern is the whole of a safe id (contract 2): what a request may name, and what may become part of a file name.
const Pattern = `^[A-Za-z0-9_.:-]{1,128}$`

var pattern = regexp.MustCompile(Pattern)

// Safe tells whether an id is of that form.
func Safe(id string) bool { return pattern.MatchString(id) }

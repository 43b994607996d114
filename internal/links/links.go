// Package links keeps us off files that have more than one name. Under another name such a file may be the store's own, and on POSIX to
// close any descriptor of that would take this process's locks on the store away (contract 4).
package links

import "errors"

// ErrSeveral says that a file was not opened for that.
var ErrSeveral = errors.New("it has more than one name")

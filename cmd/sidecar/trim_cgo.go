//go:build linux && cgo

package main

/*
#include <stddef.h>

extern int malloc_trim(size_t) __attribute__((weak));

static void give_back(void) {
	if (malloc_trim) malloc_trim(0);
}
*/
import "C"

// giveBack has the C library return what SQLite no longer uses. Only glibc keeps so much that this is worth asking for; others have
// no such call.
func giveBack() { C.give_back() }

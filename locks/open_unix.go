//go:build unix

package locks

import "syscall"

// noFollow makes the open fail on a link that took the lock file's place after checkPath looked.
const noFollow = syscall.O_NOFOLLOW

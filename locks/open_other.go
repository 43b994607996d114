//go:build !unix

package locks

// noFollow is nothing where the system has no such flag; checkPath alone keeps links away.
const noFollow = 0

// Package version holds what this build calls itself.
package version

// Version is the sidecar's version, as `sidecar version` and the handshake give it. The Makefile sets it.
var Version = "0.1.0-dev"

//go:build !faultpoints

package faultpoint

// Enabled tells whether this build can be stopped at a point.
const Enabled = false

// Hit does nothing in a build without the tag faultpoints.
func Hit(Point) {}

//go:build linux || windows

package cleanup

// eventsOpenNothing says that to hear of the events of a folder opens none of its files.
const eventsOpenNothing = true

//go:build !linux && !windows

package cleanup

// eventsOpenNothing says that to hear of the events of a folder opens none of its files. Where they come from kqueue, fsnotify
// opens each of them.
const eventsOpenNothing = false

package storeuri

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	parameters := url.Values{"mode": {"rw"}, "_busy_timeout": {"0"}}
	for path, want := range map[string]string{
		"/home/state.db":                  "/home/state.db",
		"/home/a b/100%/?x#y/state.db":    "/home/a%20b/100%25/%3Fx%23y/state.db",
		"/home/line\nbreak/\xff/state.db": "/home/line%0Abreak/%FF/state.db",
		"//server/share/state.db":         "//server/share/state.db",
		"C:/home/state.db":                "/C:/home/state.db",
	} {
		assert.Equal(t, "file://"+want+"?_busy_timeout=0&mode=rw", Of(path, parameters), "%q", path)
	}
}

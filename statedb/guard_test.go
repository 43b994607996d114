package statedb

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHolderPID(t *testing.T) {
	for holder, want := range map[string]struct {
		pid       int
		namespace string
	}{
		"pid=12":                       {12, ""},
		"pid=12:pidns=4026531836":      {12, "4026531836"},
		"pidns=4026531836:pid=12":      {12, "4026531836"},
		"cli:host:pid=12:pidns=1:uuid": {12, "1"},
		"a b:pid=1:c=d":                {1, ""},
		":pid=12:":                     {12, ""},
		"pid=0012":                     {12, ""},
		"pid=2147483647":               {2147483647, ""},
		"xpid=13:pid=12:pid:pids=14":   {12, ""},
		"pid=12:pidns=":                {12, ""},
	} {
		pid, namespace, ok := holderPID(holder)
		assert.True(t, ok, holder)
		assert.Equal(t, want.pid, pid, holder)
		assert.Equal(t, want.namespace, namespace, holder)
	}
	for _, holder := range []string{
		"", "cli", "pid", "pid=", "pid=x", "pid=0", "pid=-1", "pid=+5", "pid= 5", "pid=5 ", "pid=1_0", "pid=0x10", "pid=1.0",
		"pid=2147483648", "pid=99999999999999999999", "PID=12", "xpid=12", "pid=12x", "pid=12,pid=13", "a pid=12", "pidns=12",
		"pid=12:pid=13", "pid=12:pid=12", "pid=12:x:pid=", "pid=x:pid=12", "pid=٣",
	} {
		_, _, ok := holderPID(holder)
		assert.False(t, ok, holder)
	}
}

func TestStaleGuards(t *testing.T) {
	const now = 1000.0
	dead := func(holder string) bool { return strings.HasPrefix(holder, "dead") }
	for _, test := range []struct {
		expires any
		holder  string
		want    bool
	}{
		{1001.0, "alive", false},
		{1000.5, "alive", false},
		{1000.0, "alive", true},
		{int64(1000), "alive", true},
		{int64(1001), "alive", false},
		{0.0, "alive", true},
		{-5.0, "alive", true},
		{"999", "alive", true},
		{" 9_99.5 ", "alive", true},
		{"1001", "alive", false},
		{1001.0, "dead", true},
		{nil, "alive", false},
		{"", "alive", false},
		{"soon", "alive", false},
		{"1970-01-01T00:00:00Z", "alive", false},
		{[]byte("1"), "alive", false},
		{math.Inf(-1), "alive", true},
		{math.NaN(), "alive", false},
		{"inf", "alive", false},
		{nil, "dead", true},
		{nil, "", false},
	} {
		g := Guard{Holder: test.holder, expires: test.expires}
		assert.Equal(t, test.want, g.stale(now, dead), "%v, %s", test.expires, test.holder)
	}
}

func TestJudge(t *testing.T) {
	nobody := func(string) bool { return false }
	old := Guard{SessionID: "old", expires: 1.0}
	new1, new2 := Guard{SessionID: "new1", expires: 11.0}, Guard{SessionID: "new2", expires: 12.0}
	assert.Equal(t, judged{}, judge(nil, 10, nobody))
	assert.Equal(t, judged{live: []Guard{new1, new2}, stale: []Guard{old, old}},
		judge([]Guard{old, new1, old, new2}, 10, nobody))
	assert.Equal(t, judged{stale: []Guard{old, new1}}, judge([]Guard{old, new1}, 20, nobody))
}

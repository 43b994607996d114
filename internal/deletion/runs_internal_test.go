package deletion

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/cleanup"
	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
	"session-sidecar/locks"
)

func TestWhatARunChanged(t *testing.T) {
	live := []cleanup.Pending{{SessionID: "L", Cause: cleanup.CauseSessionLive}}
	failed := errors.New("the folder may not be written")
	for name, c := range map[string]struct {
		before, now cleanup.Report
		own         []string
		want        []string // removed
		told        bool
	}{
		"nothing":                         {},
		"nothing new is pending":          {before: cleanup.Report{Pending: live}, now: cleanup.Report{Pending: live}},
		"something is pending":            {now: cleanup.Report{Pending: live}, told: true},
		"nothing is any more":             {before: cleanup.Report{Pending: live}, told: true},
		"another program's":               {now: cleanup.Report{Removed: []string{"A"}}, want: []string{"A"}, told: true},
		"its own alone":                   {now: cleanup.Report{Removed: []string{"A", "B"}}, own: []string{"B", "A"}},
		"its own and another's":           {now: cleanup.Report{Removed: []string{"A", "B"}}, own: []string{"A"}, want: []string{"B"}, told: true},
		"its own is stuck":                {now: cleanup.Report{Pending: live}, own: []string{"L"}, told: true},
		"a manifest that stays":           {now: cleanup.Report{Removed: []string{"A"}, Failed: failed}, want: []string{"A"}, told: true},
		"the same manifest again":         {before: cleanup.Report{Removed: []string{"A"}, Failed: failed}, now: cleanup.Report{Removed: []string{"A"}, Failed: failed}},
		"the same id, of a new manifest":  {now: cleanup.Report{Removed: []string{"A"}}, want: []string{"A"}, told: true},
		"another manifest than that":      {before: cleanup.Report{Removed: []string{"A"}, Failed: failed}, now: cleanup.Report{Removed: []string{"B"}, Failed: failed}, want: []string{"B"}, told: true},
		"an unreadable manifest is there": {now: cleanup.Report{Unreadable: []string{"m"}}},
	} {
		t.Run(name, func(t *testing.T) {
			change, told := changeOf(c.before, c.now, c.own)
			assert.Equal(t, c.told, told)
			assert.ElementsMatch(t, c.want, change.Removed)
			assert.Equal(t, c.now.Pending, change.Pending)
		})
	}
}

// A watcher that waited for the home's lock would hold the lock between the calls of this process meanwhile, and every delete
// here would stand behind it.
func TestAnUnaskedRunWaitsForNoLock(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema)
	home.Write("sessions/.cleanup_manifest_1.json", `["V"]`)
	d := New(sidecartest.Log(t))
	defer d.Close()
	var others locks.Homes
	unlock, err := others.Lock(t.Context(), home.Path)
	require.NoError(t, err)
	_, err = d.cleanUp(t.Context(), Request{ProfileHome: home.Path, unasked: true})
	require.ErrorIs(t, err, locks.ErrHeld)
	assert.Len(t, home.Manifests(), 1)
	unlock()
	_, err = d.cleanUp(t.Context(), Request{ProfileHome: home.Path, unasked: true})
	require.NoError(t, err)
	assert.Empty(t, home.Manifests())
}

func TestAFailureIsSaidOnce(t *testing.T) {
	var log bytes.Buffer
	d := New(sidecartest.Log(t, &log))
	defer d.Close()
	said := func() int { return strings.Count(log.String(), "level=WARN") }
	for range 3 {
		d.warnOnce("what", "/h", errors.New("one"))
	}
	assert.Equal(t, 1, said())
	d.warnOnce("what", "/h", errors.New("another"))
	d.warnOnce("what", "/other", errors.New("another"))
	d.warnOnce("what else", "/h", errors.New("another"))
	assert.Equal(t, 4, said())
	d.warnOnce("what", "/h", nil)
	assert.Equal(t, 4, said())
	d.warnOnce("what", "/h", errors.New("another"))
	assert.Equal(t, 5, said(), "it is news again")
}

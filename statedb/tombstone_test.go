package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// olderTombstones are records in every form that may lie under a tombstone's key, and how each is read. The letters say what
// is to lie there afterwards, at the time 1790000000: a delete's record (own, or without the mark), a sweep's (own and
// expiring), or the older one as it was.
var olderTombstones = []struct {
	name, value   string
	own, expires  bool
	retiredAt     float64 // 0: not known
	delete, sweep string
}{
	{"own", `{"own":true,"retired_at":5.0}`, true, false, 5, ownRecord, unchanged},
	{"own, in the order of an Agent", `{"retired_at": 5, "own": true}`, true, false, 5, ownRecord, unchanged},
	{"own and expiring", `{"expires":true,"own":true,"retired_at":5.5}`, true, true, 5.5, ownRecord, sweepRecord},
	{"expiring alone", `{"expires":true,"retired_at":5.0}`, false, true, 5, ownRecord, sweepRecord},
	{"neither", `{"retired_at":5.0}`, false, false, 5, foreignRecord, unchanged},
	{"empty", `{}`, false, false, 0, foreignRecord, unchanged},
	{"own null", `{"own":null,"retired_at":5.0}`, false, false, 5, foreignRecord, unchanged},
	{"own null and expiring", `{"own":null,"expires":true}`, false, true, 0, ownRecord, sweepRecord},
	{"own false", `{"own":false,"retired_at":5.0}`, true, false, 5, ownRecord, unchanged},
	{"own an object", `{"own":{}}`, true, false, 0, ownRecord, unchanged},
	{"own empty text", `{"own":""}`, true, false, 0, ownRecord, unchanged},
	{"expires text", `{"expires":"true"}`, false, false, 0, foreignRecord, unchanged},
	{"expires one", `{"expires":1}`, false, false, 0, foreignRecord, unchanged},
	{"expires false", `{"expires":false}`, false, false, 0, foreignRecord, unchanged},
	{"expires null", `{"expires":null}`, false, false, 0, foreignRecord, unchanged},
	{"own, expires false", `{"own":true,"expires":false}`, true, false, 0, ownRecord, unchanged},
	{"own, expires text", `{"own":true,"expires":"true"}`, true, false, 0, ownRecord, unchanged},
	{"no JSON", `{"own":true`, false, false, 0, foreignRecord, unchanged},
	{"more than one value", `{"own":true,"expires":true} {}`, false, false, 0, foreignRecord, unchanged},
	{"what only Python reads", `{"own":true,"expires":true,"retired_at":NaN}`, false, false, 0, foreignRecord, unchanged},
	{"no text", "", false, false, 0, foreignRecord, unchanged},
	{"no UTF-8", "{\"own\":true,\"expires\":true,\"x\":\"\xff\"}", false, false, 0, foreignRecord, unchanged},
	{"an array", `["own",true,"expires",true]`, false, false, 0, foreignRecord, unchanged},
	{"an array of such", `[{"own":true,"expires":true}]`, false, false, 0, foreignRecord, unchanged},
	{"text", `"own"`, false, false, 0, foreignRecord, unchanged},
	{"null", `null`, false, false, 0, foreignRecord, unchanged},
	{"another case", `{"Own":true,"EXPIRES":true,"Retired_At":5.0}`, false, false, 0, foreignRecord, unchanged},
	{"spelled with escapes", `{"\u006fwn":true,"expire\u0073":true,"retired_at":5}`, true, true, 5, ownRecord, sweepRecord},
	{"further down", `{"x":{"own":true,"expires":true,"retired_at":5.0}}`, false, false, 0, foreignRecord, unchanged},
	{"own null and true", `{"own":null,"own":true,"retired_at":5.0}`, true, false, 5, ownRecord, unchanged},
	{"own true and null", `{"own":true,"own":null,"retired_at":5.0}`, false, false, 5, foreignRecord, unchanged},
	{"own twice, once escaped", `{"own":null,"\u006fwn":true}`, true, false, 0, ownRecord, unchanged},
	{"expires true and false", `{"own":true,"expires":true,"expires":false}`, true, false, 0, ownRecord, unchanged},
	{"expires true and false, alone", `{"expires":true,"expires":false}`, false, false, 0, foreignRecord, unchanged},
	{"expires false and true", `{"own":true,"expires":false,"expires":true}`, true, true, 0, ownRecord, sweepRecord},
	{"expires true and null", `{"expires":true,"expires":null}`, false, false, 0, foreignRecord, unchanged},
	{"retired_at twice", `{"own":true,"expires":true,"retired_at":7,"retired_at":5}`, true, true, 5, ownRecord, sweepRecord},
	{"retired_at and no number", `{"own":true,"expires":true,"retired_at":5,"retired_at":"5"}`, true, true, 0, ownRecord, sweepRecord},
	{"another field twice", `{"own":true,"x":1,"x":2,"expires":true,"retired_at":5}`, true, true, 5, ownRecord, sweepRecord},
	{"retired_at missing", `{"own":true,"expires":true}`, true, true, 0, ownRecord, sweepRecord},
	{"retired_at text", `{"own":true,"expires":true,"retired_at":"5.0"}`, true, true, 0, ownRecord, sweepRecord},
	{"retired_at true", `{"own":true,"expires":true,"retired_at":true}`, true, true, 0, ownRecord, sweepRecord},
	{"retired_at null", `{"own":true,"expires":true,"retired_at":null}`, true, true, 0, ownRecord, sweepRecord},
	{"retired_at huge", `{"own":true,"expires":true,"retired_at":1e400}`, true, true, 0, ownRecord, sweepRecord},
	{"retired_at a list", `{"own":true,"expires":true,"retired_at":[5.0]}`, true, true, 0, ownRecord, sweepRecord},
}

const (
	ownRecord     = `{"own":true,"retired_at":1790000000.0}`
	foreignRecord = `{"retired_at":1790000000.0}`
	sweepRecord   = `{"expires":true,"own":true,"retired_at":1790000000.0}`
	unchanged     = ""
)

func TestReadTombstone(t *testing.T) {
	for _, older := range olderTombstones {
		t.Run(older.name, func(t *testing.T) {
			read := readTombstone(older.value)
			assert.Equal(t, older.own, read.own, "own")
			assert.Equal(t, older.expires, read.expires, "expires")
			if older.retiredAt == 0 {
				assert.Nil(t, read.retiredAt)
			} else if assert.NotNil(t, read.retiredAt) {
				assert.InDelta(t, older.retiredAt, *read.retiredAt, 0)
			}
		})
	}
}

func TestNewTombstoneOverEveryOlderOne(t *testing.T) {
	check := func(t *testing.T, older *string, expiring bool, want string) {
		t.Helper()
		value, write := newTombstone(older, expiring, 1790000000)
		assert.Equal(t, want, value)
		assert.Equal(t, want != unchanged, write)
		if again, _ := newTombstone(&value, expiring, 1790000000); write {
			assert.Equal(t, want, again, "the same once more changes it")
		}
	}
	t.Run("none, delete", func(t *testing.T) { check(t, nil, false, ownRecord) })
	t.Run("none, sweep", func(t *testing.T) { check(t, nil, true, sweepRecord) })
	for _, older := range olderTombstones {
		t.Run(older.name+", delete", func(t *testing.T) { check(t, &older.value, false, older.delete) })
		t.Run(older.name+", sweep", func(t *testing.T) { check(t, &older.value, true, older.sweep) })
	}
}

func TestNewTombstoneIsReadAsItWasMeant(t *testing.T) {
	value, _ := newTombstone(nil, true, 1790000000.25)
	read := readTombstone(value)
	assert.True(t, read.own)
	assert.True(t, read.expires)
	assert.InDelta(t, 1790000000.25, *read.retiredAt, 0)
	value, _ = newTombstone(&value, false, 1790000001)
	assert.False(t, readTombstone(value).expires)
}

func TestTombstonesAgeOutAfterTheHorizonOnly(t *testing.T) {
	const now = 1790000000.0
	at := func(seconds float64) *float64 { return &seconds }
	for name, c := range map[string]struct {
		tombstone tombstone
		agedOut   bool
	}{
		"just there":               {tombstone{expires: true, retiredAt: at(now - fenceHorizon)}, false},
		"past it":                  {tombstone{expires: true, retiredAt: at(now - fenceHorizon - 0.5)}, true},
		"past it, own":             {tombstone{own: true, expires: true, retiredAt: at(now - fenceHorizon - 0.5)}, true},
		"new":                      {tombstone{expires: true, retiredAt: at(now)}, false},
		"of a clock that ran fast": {tombstone{expires: true, retiredAt: at(now + 2*fenceHorizon)}, false},
		"permanent":                {tombstone{own: true, retiredAt: at(5)}, false},
		"of an unknown time":       {tombstone{own: true, expires: true}, false},
		"nothing":                  {tombstone{}, false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.agedOut, c.tombstone.agedOut(now)) })
	}
}

func TestPermanentTakesExpiresAndNothingElse(t *testing.T) {
	for value, want := range map[string]string{
		`{"expires":true,"own":true,"retired_at":5.0}`:       `{"own":true,"retired_at":5.0}`,
		`{"retired_at": 5, "own": null, "expires": true}`:    `{"own":null,"retired_at":5}`,
		`{"x":[1, {"b": "é\u00e9"}],"expires":true,"n":1e2}`: `{"n":1e2,"x":[1,{"b":"é\u00e9"}]}`,
		`{"expires":true}`:                                      `{}`,
		`{"expires":"true","own":true}`:                         `{"own":true}`,
		`{"expires":false,"own":true}`:                          `{"own":true}`,
		`{"expires":true,"retired_at":12345678901234567890.50}`: `{"retired_at":12345678901234567890.50}`,
		`{"own":true,"retired_at":5.0}`:                         unchanged,
		`{}`:                                                    unchanged,
		`{"Expires":true}`:                                      unchanged,
		`{"expires":true,"expires":true}`:                       `{}`,
		`{"expires":true,"own":null,"own":true,"x":1,"x":2}`:    `{"own":true,"x":2}`,
		`{"x":{"expires":true}}`:                                unchanged,
		`{"expires":true`:                                       unchanged,
		`["expires"]`:                                           unchanged,
		`"expires"`:                                             unchanged,
		``:                                                      unchanged,
		"{\"expires\":true,\"x\":\"\xff\"}":                     unchanged,
		`{"expires":true,"x":"` + "\u2028" + `<>&\u0000\ud800"}`: `{"x":"` + "\u2028" + `<>&\u0000\ud800"}`,
	} {
		t.Run(value, func(t *testing.T) {
			got, changed := permanent(value)
			assert.Equal(t, want, got)
			assert.Equal(t, want != unchanged, changed)
			if changed {
				before, after := readTombstone(value), readTombstone(got)
				assert.Equal(t, tombstone{before.own, false, before.retiredAt}, after)
			}
		})
	}
}

package statedb

import (
	"bytes"
	"encoding/json"
	"strconv"

	"session-sidecar/internal/agentjson"
)

// fenceHorizon is how long, in seconds, an expiring tombstone or route fence holds (contract 5d): as long as anyone may try
// again what the sweep has settled.
const fenceHorizon = 604800.0

// The fields of a tombstone.
const (
	fieldOwn       = "own"
	fieldExpires   = "expires"
	fieldRetiredAt = "retired_at"
)

// tombstone is what a record under gateway.retired_session.v1.* or gateway.retired_route.v1.* says. That the record is there
// is what retires the id, whatever is in it; the zero value is one that nobody can read, which holds for good.
type tombstone struct {
	own       bool     // the field is there and not null
	expires   bool     // the field is true; else the tombstone is permanent
	retiredAt *float64 // in seconds since 1970; nil where nobody knows
}

// readTombstone reads a record. A malformed one is there, permanent, and not its own.
func readTombstone(value string) tombstone {
	fields, _ := readObject(value) // JSON that only Python knows is malformed here (contract 5b.4)
	t := tombstone{
		own:     fields[fieldOwn] != nil && string(fields[fieldOwn]) != "null",
		expires: string(fields[fieldExpires]) == "true",
	}
	// Text, a bool or a null is no number to ParseFloat; one beyond float64 is a time that never was.
	if at, err := strconv.ParseFloat(string(fields[fieldRetiredAt]), 64); err == nil {
		t.retiredAt = &at
	}
	return t
}

// agedOut tells whether a tombstone holds no longer. One whose time nobody knows always does.
func (t tombstone) agedOut(now float64) bool {
	return t.expires && t.retiredAt != nil && now-*t.retiredAt > fenceHorizon
}

// newTombstone is the record that a delete, or a sweep (expiring), writes over an older one (nil: there is none), and whether
// anything is to be written at all (contract 5b.4, 5d). An older one that is neither its own nor expiring came from somewhere
// else and stays marked as that. A sweep never takes the permanence from a tombstone, one that nobody can read included.
func newTombstone(older *string, expiring bool, now float64) (value string, write bool) {
	before := tombstone{own: true, expires: true}
	if older != nil {
		before = readTombstone(*older)
	}
	if expiring && !before.expires {
		return "", false
	}
	fields := agentjson.Object{fieldRetiredAt: now}
	if before.own || before.expires {
		fields[fieldOwn] = true
	}
	if expiring {
		fields[fieldExpires] = true
	}
	return spell(fields), true
}

// newRouteFence is the record of a route's fence that is written over an older one (nil: there is none), and whether anything is to be
// written at all (contract 5d). A permanent one stays as it is: an expiring one must not replace it, and another would say nothing new.
func newRouteFence(older *tombstone, expiring bool, now float64) (value string, write bool) {
	if older != nil && !older.expires {
		return "", false
	}
	fields := agentjson.Object{fieldRetiredAt: now}
	if expiring {
		fields[fieldExpires] = true
	}
	return spell(fields), true
}

// permanent is a record without its "expires", or false where it has none and stays byte for byte (contract 5d,
// keep_passed_fences). A malformed one does.
func permanent(value string) (string, bool) {
	fields, _ := readObject(value)
	if fields[fieldExpires] == nil {
		return "", false
	}
	rest := agentjson.Object{}
	for name, raw := range fields {
		if name != fieldExpires {
			var compact bytes.Buffer
			_ = json.Compact(&compact, raw)              // it is valid, or there were no fields
			rest[name] = agentjson.Raw(compact.String()) // numbers as they were read
		}
	}
	return spell(rest), true
}

func spell(fields agentjson.Object) string {
	text, err := agentjson.Encode(fields)
	if err != nil {
		panic(err) // a flag, the time, and text that was JSON before can all be spelled
	}
	return text
}

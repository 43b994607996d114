package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhatWasAgreedTo: a host sends ids back as a preview spelled them, in any order, and one that is no UTF-8 as the wire spells it.
func TestWhatWasAgreedTo(t *testing.T) {
	plan := &Plan{Targets: []Target{{ID: "b"}, {ID: "a\xff"}}}
	assert.True(t, plan.is([]string{"a\ufffd", "b", "b"}))
	assert.False(t, plan.is([]string{"a", "b"}))
	assert.False(t, plan.is([]string{"b"}))
	assert.False(t, plan.is([]string{}))
}

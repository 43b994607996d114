package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func policyNaming(request string, ids ...string) policy {
	return policy{sessionID: ids[0], lineage: ids, entrySessionID: ids[len(ids)-1], requestID: request}
}

func TestUnitsOf(t *testing.T) {
	for name, c := range map[string]struct {
		ids      []string
		policies []policy
		want     []Unit
	}{
		"no policies":     {[]string{"a", "b"}, nil, []Unit{{SessionIDs: []string{"a"}}, {SessionIDs: []string{"b"}}}},
		"one whole":       {[]string{"a", "x", "b"}, []policy{policyNaming("", "a", "b")}, []Unit{{SessionIDs: []string{"a", "b"}}, {SessionIDs: []string{"x"}}}},
		"one incomplete":  {[]string{"a"}, []policy{policyNaming("", "a", "b")}, []Unit{{SessionIDs: []string{"a"}, missing: "b"}}},
		"the entry alone": {[]string{"a"}, []policy{{sessionID: "a", lineage: []string{"a"}, entrySessionID: "e"}}, []Unit{{SessionIDs: []string{"a"}, missing: "e"}}},
		"the owner alone": {[]string{"b"}, []policy{{sessionID: "a", lineage: []string{"b"}, entrySessionID: "b"}}, []Unit{{SessionIDs: []string{"b"}, missing: "a"}}},
		"two that share one": {
			[]string{"c", "b", "a"}, []policy{policyNaming("", "a", "b"), policyNaming("", "b", "c")}, []Unit{{SessionIDs: []string{"c", "b", "a"}}},
		},
		"two that share one that is missing": {
			[]string{"c", "a"}, []policy{policyNaming("", "a", "b"), policyNaming("", "b", "c")}, []Unit{{SessionIDs: []string{"c", "a"}, missing: "b"}},
		},
		"a policy that names nothing": {[]string{"a"}, []policy{{}}, []Unit{{SessionIDs: []string{"a"}}}},
	} {
		assert.Equal(t, c.want, unitsOf(c.ids, c.policies), name)
	}
}

func TestUnitsOfLinksThroughALaterPolicy(t *testing.T) {
	// The first two share nothing until the third one joins them.
	policies := []policy{policyNaming("", "a", "b"), policyNaming("", "c", "d"), policyNaming("", "d", "a")}
	require.Len(t, unitsOf([]string{"a", "b", "c", "d"}, policies), 1)
	require.NotEmpty(t, unitsOf([]string{"b"}, policies)[0].missing)
}

func TestWeigh(t *testing.T) {
	units := []Unit{{SessionIDs: []string{"a", "b"}}, {SessionIDs: []string{"c"}, missing: "d"}}
	weigh(units, map[string]size{"a": {5, 100}}, map[string]size{"b": {1, 3 * bytesOfWork}})
	assert.Equal(t, []Unit{{SessionIDs: []string{"a", "b"}, Work: 11}, {SessionIDs: []string{"c"}, Work: 1, missing: "d"}}, units)
}

func TestDerived(t *testing.T) {
	const id = "api-0123456789abcdef"
	sources := map[string]string{
		"room": "bot_room", id: "api_server", "api-0123456789abcdeF": "api_server", "api-0123456789abcde": "api_server",
		"api-0123456789abcdef0": "api_server", "x" + id: "api_server", "api-fedcba9876543210": "cli", "plain": "cli",
	}
	policies := []policy{policyNaming("bot-chat:1", "l1", "l2"), policyNaming("a2a:", "m1"), policyNaming("xa2a:", "n1"), policyNaming("", "o1")}
	must := derived(append(sortedKeys(sources), "absent", "api-1111111111111111"), sources, policies)
	assert.Equal(t, []string{id, "l1", "l2", "m1", "room"}, sortedKeys(must))
}

func TestSkipWhole(t *testing.T) {
	busy := &Error{Kind: ErrActiveTurn}
	rest, skipped := skipWhole([]Unit{
		{SessionIDs: []string{"a", "b"}}, {SessionIDs: []string{"c", "d"}}, {SessionIDs: []string{"e"}, missing: "f"}, {SessionIDs: []string{"g"}},
	}, map[string]error{"d": busy})
	assert.Equal(t, []string{"a", "b", "g"}, rest)
	require.Len(t, skipped, 3)
	assert.Equal(t, "c", skipped[0].SessionID)
	require.ErrorIs(t, skipped[0].Why, ErrIncomplete)
	assert.Equal(t, Skipped{"d", busy}, skipped[1])
	assert.Equal(t, "e", skipped[2].SessionID)
	require.ErrorIs(t, skipped[2].Why, ErrIncomplete)
}

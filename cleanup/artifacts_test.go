package cleanup

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sessionid"
)

func idSet(ids ...string) map[string]bool {
	set := map[string]bool{}
	for _, id := range ids {
		set[id] = true
	}
	return set
}

func claimedNames(all []claim) []string {
	names := []string{}
	for _, c := range all {
		names = append(names, c.name)
	}
	return names
}

func TestNamesOfAnID(t *testing.T) {
	for _, id := range []string{
		"x", "20260101_120000_abc", "local-0f", "a.b", "a:b", "-", "_", "_x", "x_", "..", ".", "...", ".hidden", "session_x",
		"request_dump_x", "sessions", "NUL", "x.json", strings.Repeat("i", 128),
	} {
		t.Run(id, func(t *testing.T) {
			own := []string{id + ".json", id + ".jsonl", "session_" + id + ".json", "request_dump_" + id + "_1.json"}
			if id == "sessions" {
				own = own[1:] // the Agent's index
			}
			others := []string{
				id, id + ".JSON", id + ".json.bak", id + ".jsonl.gz", id + ".json~", "_" + id + ".json", id + "0.json",
				id + "_.json", "session_" + id, "session_" + id + ".jsonl", "session_" + id + "_.json", "SESSION_" + id + ".json",
				"request_dump_" + id + ".json", "request_dump_" + id + "_1.jsonl", "request_dump_" + id + "_1",
				"request_dump_" + id + "0_1.json", "request_dump_" + id + "-1.json", "Request_dump_" + id + "_1.json",
				"json", ".json", ".jsonl", "session_.json", "request_dump__.json",
			}
			others = slices.DeleteFunc(others, func(name string) bool { return slices.Contains(own, name) })
			got := claimedNames(claims(slices.Concat(others, own, others), idSet(id)))
			slices.Sort(own)
			assert.Equal(t, own, got)
		})
	}
}

func TestDumpsOfAnID(t *testing.T) {
	for _, name := range []string{
		"request_dump_x_.json", "request_dump_x__.json", "request_dump_x_1_2_3.json", "request_dump_x_*.json",
		"request_dump_x_[a].json", "request_dump_x_?.json", "request_dump_x_ä.json", "request_dump_x_\xff.json",
		"request_dump_x_\n.json", "request_dump_x_ .json", "request_dump_x_.json.json",
	} {
		assert.Equal(t, []string{name}, claimedNames(claims([]string{name}, idSet("x"))))
	}
}

// A name is picked letter by letter and never as a pattern.
func TestNamesThatLookLikePatterns(t *testing.T) {
	names := []string{
		"*.json", "?.json", "[x].json", "x*.json", "{x}.json", "session_*.json", "request_dump_*_1.json", "request_dump_?_1.json",
		"X.json", "X.jsonl", "session_X.json", "request_dump_X_1.json", "x\n.json", "x .json", "x\x00.json",
	}
	assert.Empty(t, claims(names, idSet("x")))
}

func TestProtectedNames(t *testing.T) {
	manifest := manifestName("1")
	stem := strings.TrimSuffix(manifest, ".json")
	names := []string{
		"sessions.json", manifest, manifest + ".0a0a0a0a.tmp", stem + ".jsonl", manifestPrefix + ".json",
		manifestPrefix + "x_1.json",
	}
	ids := idSet("sessions", stem, manifestPrefix, manifestPrefix+"x", manifestPrefix+"x_1", strings.TrimSuffix(manifestPrefix, "_"))
	for id := range ids {
		require.True(t, sessionid.Safe(id), id)
	}
	assert.Empty(t, claims(names, ids))
	assert.Equal(t, []string{"session_sessions.json", "sessions.jsonl"},
		claimedNames(claims([]string{"sessions.jsonl", "session_sessions.json"}, ids)), "only the index itself is protected")
}

func TestUnsafeIDs(t *testing.T) {
	for _, id := range []string{
		"", "/", "a/b", "../x", "..\\x", "a b", "a\n", "\na", "a\x00", "ä", "a*", "a?", "[a]", "~", "a\xff", "a\u202e",
		strings.Repeat("i", 129),
	} {
		assert.False(t, sessionid.Safe(id), "%q", id)
		names := []string{id + ".json", id + ".jsonl", "session_" + id + ".json", "request_dump_" + id + "_1.json"}
		assert.Empty(t, claims(names, idSet(id)), "%q", id)
	}
}

func TestRivals(t *testing.T) {
	got := claims([]string{"request_dump_a_b__c_1.json", "session_a.json"}, idSet("a", "a_b", "a_b_", "a_b__c", "session_a"))
	assert.Equal(t, []claim{
		{"request_dump_a_b__c_1.json", "a", []string{"a_b", "a_b_", "a_b__c"}},
		{"request_dump_a_b__c_1.json", "a_b", []string{"a_b_", "a_b__c"}},
		{"request_dump_a_b__c_1.json", "a_b_", []string{"a_b__c"}},
		{"request_dump_a_b__c_1.json", "a_b__c", []string{}},
		{"session_a.json", "session_a", nil},
		{"session_a.json", "a", []string{"session_a"}},
	}, got)
}

// FuzzClaims compares with a reading of contract 6.1 that looks at one name and one id at a time.
func FuzzClaims(f *testing.F) {
	for _, name := range []string{
		"x.json", "x.jsonl", "session_x.json", "request_dump_x_1.json", "request_dump_x_.json", "sessions.json",
		".cleanup_manifest_x.json", "...json", "request_dump_x__y_.json", "session_session_x.json", "x.json.json", "é.json",
	} {
		for _, id := range []string{"x", "x_", "session_x", "..", "sessions", "../x", ".cleanup_manifest_x", "x.json", "é"} {
			f.Add(name, id)
		}
	}
	f.Fuzz(func(t *testing.T, name, id string) {
		if strings.ContainsAny(name, "/\x00") {
			return // no listing of a folder holds such a name
		}
		got := claims([]string{name}, idSet(id))
		dump := strings.HasPrefix(name, "request_dump_"+id+"_") && strings.HasSuffix(name, ".json") &&
			len(name) >= len("request_dump_"+id+"_.json")
		snapshot := name == "session_"+id+".json"
		want := 0
		for _, is := range []bool{name == id+".json", name == id+".jsonl", snapshot, dump} {
			if is && sessionid.Safe(id) && name != "sessions.json" && !strings.HasPrefix(name, ".cleanup_manifest_") {
				want++
			}
		}
		require.Len(t, got, want)
		for _, c := range got {
			assert.Equal(t, name, c.name)
			assert.Equal(t, id, c.id)
			assert.NotContains(t, c.id, "/")
			for _, rival := range c.rivals {
				assert.True(t, rival == "session_"+id || strings.HasPrefix(rival, id+"_"), "%q", rival)
				assert.True(t, rival == "session_"+id || strings.HasPrefix(name, "request_dump_"+rival+"_"), "%q", rival)
			}
		}
	})
}

package statedb

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
)

// TestAPageReadNearItsSessionsIsThatOfTheWholeStore makes stores without rhyme or reason, and compares every page of them as it is
// read near its sessions, in steps of all sizes, with the page that a reading of all sessions gives: on both paths, with and without
// something to search for.
func TestAPageReadNearItsSessionsIsThatOfTheWholeStore(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema)
	c := connect(t, home)
	_, err := c.ExecContext(t.Context(), "PRAGMA foreign_keys = OFF")
	require.NoError(t, err)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(8, 15))
	near, far, continued, accompanied := 0, 0, 0, 0
	for range 300 {
		_, err := c.ExecContext(t.Context(), "BEGIN")
		require.NoError(t, err)
		ids := fillAtRandom(t, c, random, 4+random.IntN(20))
		for _, path := range []Path{PathLegacy, PathCanonical} {
			request := ListRequest{Limit: 1 + random.IntN(4)}
			within := reach{
				perConversation: random.IntN(2), atLeast: 1 + random.IntN(4), more: 2, found: 1 + random.IntN(5), near: 10 + random.IntN(100), waves: 1 + random.IntN(20),
			}
			var found map[string]bool
			if random.IntN(3) > 0 {
				found = map[string]bool{}
				for range random.IntN(9) {
					found[ids[random.IntN(len(ids))]] = true
				}
			}
			for more := true; more; {
				want, err := c.chooseFromAll(t.Context(), s, path, request, found)
				require.NoError(t, err)
				got, err := c.chooseNear(t.Context(), s, path, request, found, within)
				require.NoError(t, err)
				if got != nil {
					near++
					require.Equal(t, pageToTell(want), pageToTell(got), "%v %v %+v", path, found, within)
					for _, one := range got.conversations {
						if len(one.segments) > 1 {
							continued++
						}
						if len(got.grouping.members(one.group)) > len(one.segments) {
							accompanied++
						}
					}
				} else {
					far++
				}
				request.Before, more = want.next, want.next != nil
			}
		}
		_, err = c.ExecContext(t.Context(), "ROLLBACK")
		require.NoError(t, err)
	}
	assert.Greater(t, near, 300)
	assert.Greater(t, far, 50)
	assert.Greater(t, continued, 100)
	assert.Greater(t, accompanied, 100)
}

// fillAtRandom makes sessions that hang together somehow, and gives their ids, and one of nobody.
func fillAtRandom(t *testing.T, c *conn, random *rand.Rand, n int) []string {
	t.Helper()
	write := func(query string, args ...any) {
		_, err := c.ExecContext(t.Context(), query, args...)
		require.NoError(t, err)
	}
	pick := func(of ...any) any { return of[random.IntN(len(of))] }
	ids := make([]string, n+1)
	for i := range ids {
		ids[i] = fmt.Sprintf("s%02d%s", i, pick("", "", "", "\xff", "\x00b"))
	}
	anyID := func() string { return ids[random.IntN(n+1)] }
	spelled := func(id any) string {
		return strings.NewReplacer("\xff", `\u00ff`, "\x00", `\u0000`).Replace(fmt.Sprint(id))
	}
	order := random.Perm(n)
	parents := map[string]string{}
	for _, i := range order {
		id := ids[i]
		parent := pick(nil, nil, nil, anyID(), []byte("s00"))
		if i > 0 && random.IntN(2) == 0 {
			parent = ids[random.IntN(i)]
		}
		if text, ok := parent.(string); ok {
			parents[id] = text
		}
		marker := func(key string, of any) string { return `{"` + key + `":"` + spelled(of) + `"}` }
		config := pick(nil, nil, nil, "{}", "broken", marker(keyDelegate, anyID()), marker(keyDelegate, anyID()), marker(keyDelegate, parent),
			marker(`\u005fdelegate_from`, anyID()), marker(keyBranch, parent), marker(keyReset, parent), marker(keyReset, parent),
			`{"_delegate_from":["s01"]}`, `{"_delegate_from":7}`, `{"x":NaN,"_branched_from":"`+spelled(parent)+`"}`,
			`{"_delegate_from":"s01","_delegate_from":"`+spelled(anyID())+`"}`, []byte(marker(keyDelegate, anyID())))
		time := func() any {
			return pick(nil, nil, random.IntN(6), random.IntN(6), random.IntN(6), 2.5, "x", []byte("y"), 1e300, 253402300801, -3)
		}
		write(`INSERT INTO sessions (id, source, session_source, parent_session_id, model_config, chat_id, end_reason, started_at, ended_at, last_activity_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, pick("cli", "cli", "cli", "subagent", "tool"), pick(nil, nil, nil, "fork"), parent, config,
			pick(nil, anyID(), parent), pick(nil, endCompression, endCompression, endCLIClose, endBranched, endSessionReset),
			pick(random.IntN(6), random.IntN(6), "x", 1e300), pick(nil, 2, ""), time())
		for range random.IntN(3) {
			write("INSERT INTO messages (session_id, role, timestamp) VALUES (?, 'user', ?)", anyID(), pick(random.IntN(8), random.IntN(8), 3.5, "z", 1e300))
		}
	}
	for _, id := range ids[:n] {
		lineage := []string{id}
		for parents[lineage[0]] != "" && len(lineage) < 4 && random.IntN(3) > 0 {
			lineage = slices.Insert(lineage, 0, parents[lineage[0]])
		}
		for i, member := range lineage {
			lineage[i] = spelled(member)
		}
		owner := lineage[0]
		write(`INSERT OR REPLACE INTO state_meta VALUES (?, ?)`, localPolicyPrefix+owner, fmt.Sprintf(
			`{"session_id":"%[1]s","profile_id":"f","principal_id":"u","legacy_session_id":"%[1]s","route":"k","lineage":["%[2]s"],"entry":{"session_id":"%[3]s"}}`,
			owner, strings.Join(lineage, `","`), lineage[len(lineage)-1]))
	}
	return ids
}

// pageToTell spells a page, and under what the leases of its sessions are kept.
func pageToTell(page *pageRows) []string {
	var lines []string
	for _, one := range page.conversations {
		var ids []string
		for _, row := range page.grouping.members(one.group) {
			ids = append(ids, row.id)
		}
		roots := page.graph.leaseRoots(ids)
		slices.Sort(ids)
		at := "never"
		if one.Activity != nil {
			at = fmt.Sprint(*one.Activity)
		}
		line := fmt.Sprintf("%q at %s, %d segments:", one.Root, at, len(one.segments))
		for _, id := range ids {
			line += fmt.Sprintf(" %q under %q", id, roots[id])
		}
		lines = append(lines, line)
	}
	if page.next != nil {
		lines = append(lines, "and more after "+page.next.Root)
	}
	return lines
}

// TestWhereNothingLeadsToARowAllAreRead lists stores in which a row cannot be found by its id, its parent or its number: by reading all
// of them.
func TestWhereNothingLeadsToARowAllAreRead(t *testing.T) {
	columns := func(id string) string {
		return "CREATE TABLE sessions (id TEXT " + id + ", parent_session_id TEXT, end_reason TEXT, started_at REAL)"
	}
	const byParent = "; CREATE INDEX p ON sessions(parent_session_id)"
	messages := "CREATE TABLE messages (session_id TEXT, timestamp REAL); "
	for name, c := range map[string]struct {
		statements string
		near       bool
	}{
		"everything leads there":   {messages + "CREATE INDEX m ON messages(session_id);" + columns("PRIMARY KEY") + byParent, true},
		"nobody asks for times":    {"CREATE TABLE messages (session_id TEXT); " + columns("PRIMARY KEY") + byParent, true},
		"ids are not unique":       {messages + "CREATE INDEX m ON messages(session_id);" + columns("") + "; CREATE INDEX i ON sessions(id)" + byParent, false},
		"unique with another":      {messages + "CREATE INDEX m ON messages(session_id);" + columns("") + "; CREATE UNIQUE INDEX i ON sessions(id, started_at)" + byParent, false},
		"no index of the parents":  {messages + "CREATE INDEX m ON messages(session_id);" + columns("PRIMARY KEY"), false},
		"an index of some parents": {messages + "CREATE INDEX m ON messages(session_id);" + columns("PRIMARY KEY") + byParent + " WHERE end_reason IS NULL", false},
		"no index of the messages": {messages + columns("PRIMARY KEY") + byParent, false},
		"rows without numbers":     {messages + "CREATE INDEX m ON messages(session_id);" + columns("PRIMARY KEY") + " WITHOUT ROWID" + byParent, false},
		"text of another kind":     {"PRAGMA encoding = 'UTF-16le'; " + messages + "CREATE INDEX m ON messages(session_id);" + columns("PRIMARY KEY") + byParent, false},
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			home.Create(c.statements, `INSERT INTO sessions VALUES ('a', NULL, 'compression', 1), ('b', 'a', NULL, 5), ('c', NULL, NULL, 3)`)
			reader := connect(t, home)
			s, err := reader.readSchema(t.Context())
			require.NoError(t, err)
			page, err := reader.chooseNear(t.Context(), s, PathLegacy, ListRequest{Limit: 1}, nil, reachOfPage)
			require.NoError(t, err)
			assert.Equal(t, c.near, page != nil)
			listed, err := reader.conversations(t.Context(), ListRequest{Limit: 1})
			require.NoError(t, err)
			at := 5.0
			assert.Equal(t, []Conversation{{Root: "a", Newest: "b", Segments: 2, LastActivity: &at}}, listed.Conversations)
			assert.Equal(t, &Position{&at, "a"}, listed.Next)
		})
	}
}

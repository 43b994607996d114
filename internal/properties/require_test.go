package properties

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"session-sidecar/internal/sidecartest"
)

var shadow = regexp.MustCompile(`^messages_fts|^sqlite_`)

// requireStore compares every table, those of the indexes aside. since is when the first of the calls began.
func requireStore(rt *rapid.T, want, got tables, since time.Time) {
	isNow := func(at string) bool {
		seconds, err := strconv.ParseFloat(at, 64)
		begun := float64(since.UnixMicro()) / 1e6
		return err == nil && seconds >= begun-0.001 && seconds <= float64(time.Now().UnixMicro())/1e6
	}
	for table := range got {
		if !shadow.MatchString(table) {
			wanted, found := spelled(want[table], isNow), spelled(got[table], isNow)
			require.Empty(rt, without(wanted, found), "%s lacks these rows", table)
			require.Empty(rt, without(found, wanted), "%s has these rows too many", table)
		}
	}
}

// spelled lists a table so that equal ones are equal: cells that hold a JSON object or array are compared as that, and a time
// of retirement that is hardly over is now.
func spelled(rows []row, isNow func(at string) bool) []string {
	var lines []string
	for _, r := range rows {
		cells := map[string]any{}
		for column, value := range r {
			switch v := value.(type) {
			case nil:
				continue
			case []byte:
				value = hex.EncodeToString(v)
			case string:
				parsed, ok := parse(v)
				object, isObject := parsed.(map[string]any)
				if at := fmt.Sprint(object["retired_at"]); isObject && isNow(at) {
					object["retired_at"] = now
				}
				if _, isList := parsed.([]any); ok && (isObject || isList) {
					value = map[string]any{"as JSON": parsed}
				}
			}
			cells[column] = value
		}
		lines = append(lines, jsonOf(cells))
	}
	slices.Sort(lines)
	return lines
}

// without leaves out of one list what another has, as often as it has it.
func without(list, other []string) (rest []string) {
	count := map[string]int{}
	for _, line := range other {
		count[line]++
	}
	for _, line := range list {
		if count[line]--; count[line] < 0 {
			rest = append(rest, line)
		}
	}
	return rest
}

// requireSound checks that the store's indexes fit its messages: no term of what is gone, each term of what stays.
func requireSound(rt *rapid.T, home *sidecartest.Home, s *anyStore, gone map[string]bool) {
	require.Equal(rt, []string{"ok"}, home.Query("PRAGMA integrity_check"))
	require.Empty(rt, home.Query("SELECT id FROM messages WHERE session_id IN (SELECT value FROM json_each(?))", jsonOf(sorted(gone))))
	for _, index := range []string{"messages_fts", "messages_fts_trigram"} {
		home.Exec(fmt.Sprintf("INSERT INTO %[1]s(%[1]s, rank) VALUES ('integrity-check', 1)", index))
		var words []string
		for _, word := range s.words {
			if word.said && gone[word.of[0]] {
				words = append(words, `"`+word.text+`"`)
			}
		}
		if len(words) > 0 {
			require.Empty(rt, home.Query("SELECT rowid FROM "+index+" WHERE "+index+" MATCH ?", strings.Join(words, " OR ")))
		}
	}
}

// requireForgotten looks for the words of what is gone in every text of every table: only what is retained may have some, and
// keeps tells whether it has.
func requireForgotten(rt *rapid.T, s *anyStore, left tables, gone map[string]bool, rowsOnly bool) (keeps bool) {
	var texts strings.Builder
	for table, rows := range left {
		if shadow.MatchString(table) {
			continue // requireSound asks these
		}
		for _, r := range rows {
			for _, value := range r {
				if text, ok := value.(string); ok {
					texts.WriteString(text + "\n")
				}
			}
		}
	}
	all := texts.String()
	for _, word := range s.words {
		goes := slices.ContainsFunc(word.of, func(id string) bool { return gone[id] })
		switch {
		case goes && word.kept:
			keeps = keeps || strings.Contains(all, word.text)
		case goes && (word.row || !rowsOnly):
			require.NotContains(rt, all, word.text, "a word of %v", word.of)
		}
	}
	return keeps
}

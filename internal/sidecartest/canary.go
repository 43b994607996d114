package sidecartest

import (
	"slices"
	"strings"
	"sync"
)

// Canary is a word that the helpers here put into what they write. No log may ever hold it.
const Canary = "canary7d1f0a"

// A log never holds a title, a message or a config. So every such text that a test puts into a store is a canary: it is remembered
// when it is written, and looked for in all that any sidecar of the tests logs, and in what tests log themselves over Log. Texts of
// fewer than canaryLeast bytes, or of one byte again and again, say nothing, and of longer ones the first canaryMost count, so that
// one that is cut off is found.
const (
	canaryLeast = 6
	canaryMost  = 12
)

// canaryColumns hold what was said, and what nobody may read in a log.
var canaryColumns = map[string][]string{
	"sessions":           {"title", "model_config", "system_prompt", "display_name", "origin_json"},
	"messages":           {"content", "tool_calls", "reasoning", "media_content", "api_content"},
	"system_prompts":     {"prompt"},
	"session_admissions": {"payload_json"},
	"worker_receipts":    {"result_json"},
}

// canaryRows is how many of the newest rows of a table are remembered after each change: large stores are made of alike ones.
const canaryRows = 100

var canaries = struct {
	sync.Mutex
	texts map[string]bool
	names map[string]bool // ids and paths, which may be logged and may be what somebody said too
}{texts: map[string]bool{Canary: true}, names: map[string]bool{}}

// Remember remembers texts that no log may hold.
func Remember(texts ...string) {
	canaries.Lock()
	defer canaries.Unlock()
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if text = text[:min(len(text), canaryMost)]; len(text) >= canaryLeast && strings.Trim(text, text[:1]) != "" {
			canaries.texts[text] = true
		}
	}
}

// Named remembers ids and paths, which a log may hold.
func Named(names ...string) {
	canaries.Lock()
	defer canaries.Unlock()
	for _, name := range names {
		canaries.names[name] = true
	}
}

// longestNamed bounds the requests that are remembered: hosts name ids in short ones.
const longestNamed = 4096

// namedIn remembers the ids that a request names: those that are in no store may be logged too. Other words of requests may not.
func namedIn(request string) {
	if len(request) <= longestNamed && strings.Contains(request, `"session_id`) && !strings.Contains(request, `"query"`) {
		Named(request)
	}
}

// remember has what a store holds now never stand in a log. A store that cannot be read says nothing.
func remember(db querier) {
	for table, columns := range canaryColumns {
		there, err := queryLines(db, "SELECT name FROM pragma_table_info(?)", table)
		if err != nil {
			return
		}
		for _, column := range columns {
			if slices.Contains(there, column) {
				texts, _ := queryLines(db, "SELECT "+column+" FROM "+table+" WHERE typeof("+column+") = 'text' ORDER BY rowid DESC LIMIT ?", canaryRows)
				Remember(texts...)
			}
		}
		if table == "sessions" && slices.Contains(there, "id") {
			ids, _ := queryLines(db, "SELECT id FROM sessions ORDER BY rowid DESC LIMIT ?", canaryRows)
			Named(ids...)
		}
	}
}

// unescaped is what the lines of a log say.
var unescaped = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t")

// Overheard gives what a log holds and may not.
func Overheard(log string) (found []string) {
	canaries.Lock()
	defer canaries.Unlock()
	for _, text := range []string{log, unescaped.Replace(log)} {
		for at := range len(text) {
			for n := canaryLeast; n <= canaryMost && at+n <= len(text); n++ {
				word := text[at : at+n]
				if canaries.texts[word] && !isName(word) && !slices.Contains(found, word) {
					found = append(found, word)
				}
			}
		}
	}
	return found
}

func isName(word string) bool {
	for name := range canaries.names {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

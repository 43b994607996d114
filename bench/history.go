package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"session-sidecar/internal/agentjson"
)

// The two schemas of a store.
const (
	legacySchema  = "legacy"
	runtimeSchema = "runtime" // with the ledger
)

// history is a made-up history of an Agent. It is a function of its fields: the same on every machine.
type history struct {
	schema   string
	sessions int
	sparse   bool // of the rounds of the pattern one in a hundred has messages, and what the ledger notes of them
}

// role is one session's part in the pattern that the history repeats.
type role struct {
	source string
	end    string // its end_reason; an open session has none
	parent int    // how many sessions before it its parent is; 0 for a root
	marker string // the marker that names the parent
	stray  bool   // in one round of ten the marker names the parent's parent
	local  bool   // a local conversation with a policy, where there is a ledger
}

const (
	delegateOf = "_delegate_from"
	branchOf   = "_branched_from"
	resetOf    = "_reset_from"
)

// pattern begins with the family that is measured: a conversation and a delegate that it started, and nothing else.
var pattern = []role{
	{source: "cli"},
	{source: "subagent", parent: 1, marker: delegateOf},
	{source: "telegram", end: "compression"},
	{source: "telegram", parent: 1, end: "compression"},
	{source: "telegram", parent: 1},
	{source: "subagent", parent: 1, marker: delegateOf, stray: true},
	{source: "webui", end: "branched"},
	{source: "webui", parent: 1, marker: branchOf},
	{source: "cli", end: "session_reset"},
	{source: "cli", parent: 1, marker: resetOf},
	{source: "cron", end: "cron_complete"},
	{source: "cli", local: true},
	{source: "cli", end: "cli_close"},
	{source: "telegram"},
	{source: "webui", end: "cli_close"},
	{source: "cron", end: "cron_complete"},
	{source: "cli", end: "cli_close"},
	{source: "telegram"},
	{source: "webui"},
	{source: "cli", end: "cli_close"},
}

const (
	principal = "human"
	profile   = "main"
	prompts   = 20 // system prompts that the sessions share
	every     = 5 * time.Minute
	lasting   = 4 * time.Minute
	talkPause = 20 * time.Second
)

var beginning = time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)

// families is how many conversations may be measured, and family the ids of one of them: the one to delete, and its delegate.
func (h history) families() int { return h.sessions / h.between() }

func (h history) family(n int) []string {
	return []string{h.id(n * h.between()), h.id(n*h.between() + 1)}
}

// between is how many sessions lie between two families that may be measured: they have messages.
func (h history) between() int {
	if h.sparse {
		return len(pattern) * 100
	}
	return len(pattern)
}

// talks tells whether a session has messages.
func (h history) talks(i int) bool { return i%h.between() < len(pattern) }

func (h history) role(i int) role { return pattern[i%len(pattern)] }

func (h history) local(i int) bool { return h.role(i).local && h.schema == runtimeSchema }

func (h history) started(i int) time.Time { return beginning.Add(time.Duration(i) * every) }

func (h history) id(i int) string {
	if h.local(i) {
		return "local-" + localFingerprint(profile, principal, requestOf(i))
	}
	return fmt.Sprintf("%s_%06x", h.started(i).Format("20060102_150405"), chance(i, forID).Uint32()&0xffffff)
}

func localFingerprint(texts ...string) string {
	sums, err := agentjson.ASCIIFingerprints(texts...)
	if err != nil {
		panic(err) // these texts are ours
	}
	return sums[0]
}

func requestOf(i int) string { return fmt.Sprintf("cli:%08x", i) }

// route is the session_key of one of the chats that sessions of a gateway take turns in.
func (h history) route(i int) string {
	switch {
	case h.local(i):
		return fmt.Sprintf("agent:main:local:%d", i)
	case h.role(i).source == "telegram":
		return fmt.Sprintf("agent:main:telegram:dm:%d", i/len(pattern)%500)
	}
	return ""
}

// marked is the id that the marker of a session names.
func (h history) marked(i int) string {
	back := h.role(i).parent
	if h.role(i).stray && i/len(pattern)%10 == 0 {
		back += h.role(i - back).parent
	}
	return h.id(i - back)
}

// What chance is asked for: one answer does not depend on how often another was taken.
const (
	forID uint64 = iota
	forSession
	forMessages
	forLedger
)

func chance(i int, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(purpose, uint64(i))) //nolint:gosec // made up, and to be the same every time
}

// The sizes that are asked for.
const (
	configBytes  = 600
	messageBytes = 400
	fewMessages  = 4
	mostMessages = 10
)

// config is a model_config.
func (h history) config(i int) string {
	r := chance(i, forSession)
	marker := ""
	if name := h.role(i).marker; name != "" {
		marker = fmt.Sprintf(`,%q:%q`, name, h.marked(i))
	}
	head := fmt.Sprintf(`{"model":"atlas-%d","provider":"aurora","temperature":0.%d,"max_tokens":%d,"reasoning":{"effort":"medium",`+
		`"budget":%d},"toolsets":["terminal","files","web","memory"],"fallback":["atlas-3","atlas-2"],"notes":"`,
		2+r.IntN(3), 1+r.IntN(9), 1024<<r.IntN(5), 256*r.IntN(32))
	return head + words(r, configBytes-len(head)-len(marker)-2) + `"` + marker + `}`
}

// vocabulary is what is spoken: short words that come often, and many that come seldom.
var vocabulary = makeVocabulary()

func makeVocabulary() []string {
	const size = 8000
	syllables := strings.Fields("ka ri to mel an dor us ven il ta shi ro ba len gro pin ost er uma qui zel fa nor dy ix hel om wat ce lu")
	r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // as above
	made := make([]string, size)
	for i := range made {
		for range 1 + r.IntN(2) + i*3/size {
			made[i] += syllables[r.IntN(len(syllables))]
		}
	}
	return made
}

// words are text of exactly so many bytes.
func words(r *rand.Rand, size int) string {
	var out strings.Builder
	for out.Len() < size {
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		// The product of two chances is near zero more often than far from it.
		out.WriteString(vocabulary[int(r.Float64()*r.Float64()*float64(len(vocabulary)))])
	}
	return out.String()[:size]
}

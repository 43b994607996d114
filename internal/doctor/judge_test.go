package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/cleanup"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
	"session-sidecar/methods"
	"session-sidecar/statedb"
)

// sound is a home that is well; a case changes it.
func sound(change func(f *facts)) facts {
	version, one, none := int64(statedb.NewestSchema), int64(1), 0
	f := facts{
		disk: statedb.Disk{Bytes: 4096, WALBytes: largeWAL},
		shape: &statedb.Shape{
			Report: &statedb.Report{Path: statedb.PathLegacy, SchemaVersion: &version, JournalMode: "wal"}, Kind: statedb.KindLegacy,
		},
		contents: &statedb.Health{
			Sessions: &one, Messages: &one, Pages: &statedb.PageHealth{}, Guards: &statedb.GuardsHealth{}, Unsettled: &statedb.Unsettled{},
			EmptySessions: &statedb.Sampled{}, LooseMessages: &statedb.Sampled{}, LostParents: &statedb.Sampled{}, Undead: &statedb.Sampled{},
			Fences: &statedb.FenceHealth{}, Receipts: &statedb.ReceiptHealth{}, Intents: &statedb.IntentHealth{}, Notes: &none,
		},
		checked: &statedb.Checked{Tables: 1, Of: 1, Indexes: []statedb.IndexHealth{{Name: "i", Checked: true, Extra: &none, Missing: &none}}},
		files:   &cleanup.Inspection{},
		trash:   trashFacts{found: &trash.Inspection{}, at: time.Unix(1000, 0)},
		lock:    locks.State{There: true, Known: true},
	}
	if change != nil {
		change(&f)
	}
	return f
}

func guard(expires *float64, state statedb.HolderState, stale bool) *statedb.GuardsHealth {
	g := statedb.Guard{SessionID: "s", Kind: statedb.GuardTurnLease, Holder: "h", ExpiresAt: expires}
	return &statedb.GuardsHealth{Count: 1, First: []statedb.GuardHealth{{Guard: g, State: state, Stale: stale}}}
}

// newerSchema is told of a store one version above those that are known.
var newerSchema = fmt.Sprintf("the store is of schema version %d; this program knows those up to %d", statedb.NewestSchema+1, statedb.NewestSchema)

func failure(cause error) []statedb.Failure {
	return []statedb.Failure{{What: "the guards", Cause: cause}}
}

var (
	two   = &statedb.Sampled{Count: 2, IDs: []string{"a", "b"}}
	three = 3
	later = 4102444800.0
)

var judged = []struct {
	word   Word
	change func(f *facts)
	line   string
}{
	{WordCorrupt, func(f *facts) { *f = facts{damage: "file is not a database"} }, "the store cannot be read: file is not a database"},
	{WordCorrupt, func(f *facts) { f.checked.Damage = []string{"one", "two"} }, "the store is damaged: one; two"},
	{WordCorrupt, func(f *facts) { f.contents.Failures = failure(&statedb.Error{Kind: statedb.ErrCorrupt}) }, "the store is damaged: SQLite cannot read the guards"},
	{WordUnsupported, func(f *facts) { f.refusal = refusal{"store_unsupported", "it is odd"} }, "no delete is possible: it is odd"},
	{WordUnsupported, func(f *facts) { f.shape.Kind, f.refusal = statedb.KindEmpty, refusal{"store_unsupported", "no tables"} }, "state.db is there and empty: no Agent has written to it"},
	{WordNoGuards, func(f *facts) { f.refusal = refusal{"write_guard_unavailable", "no leases"} }, "no delete is possible: no leases"},
	{WordIndexUnavailable, func(f *facts) { f.shape.IndexFault = &statedb.Error{Kind: statedb.ErrFullTextUnwritable, Detail: "i"} }, "no delete is possible: i"},
	{WordIndexDamaged, func(f *facts) { f.checked.Indexes[0].Damage = "oh" }, "the full-text index i is damaged: oh"},
	{WordIndexKeepsDeleted, func(f *facts) { f.checked.Indexes[0].Extra = &three }, "the full-text index i still has 3 entries of messages that are not there"},
	{WordIndexIncomplete, func(f *facts) { f.checked.Indexes[0].Missing = &three }, "the full-text index i lacks 3 messages: search does not find them"},
	{WordLooseMessages, func(f *facts) { f.contents.LooseMessages = two }, "2 sessions are not there, but messages of them are"},
	{WordLostReferences, func(f *facts) {
		f.checked.LostReferences = []statedb.LostReference{{Table: "t", Parent: "p", Count: 1}}
	}, "1 row of t of a row of p that is not there"},
	{WordReceiptsUnfit, func(f *facts) {
		f.contents.Receipts.Unfit = &statedb.Error{Kind: statedb.ErrUnsupported, Detail: "odd"}
	}, "deletion receipts cannot be written, so no delete is possible: odd"},
	{WordReceiptsDamaged, func(f *facts) { f.contents.Receipts.Damaged = 2 }, "2 deletion receipts are no JSON object"},
	{WordManifestBad, func(f *facts) { f.files.Unreadable = []string{"m"} }, "1 manifest cannot be read"},
	{WordFolderUnusable, func(f *facts) { f.folder, f.files = "it is a link", nil }, "sessions/ cannot be used: it is a link"},
	{WordLockUnusable, func(f *facts) { f.lock.Unusable = errors.New("a folder") }, "the clean-up lock cannot be used, so no delete is possible: a folder"},
	{WordIntentDamaged, func(f *facts) { f.contents.Intents = &statedb.IntentHealth{Count: 1, Damaged: 1} }, "1 route intent cannot be read"},
	{WordUnread, func(f *facts) { f.contents.Failures = failure(&statedb.Error{Kind: statedb.ErrIO, Detail: "no disk"}) }, "the guards cannot be read: no disk"},
	{WordTrashUnusable, func(f *facts) { f.trash = trashFacts{unusable: "it is a link"} }, "nothing can be kept or restored: it is a link"},
	{WordTrashDamaged, func(f *facts) { f.trash.found.Unreadable = []string{"a.ndjson.gz"} }, "1 entry of the trash cannot be restored"},

	{WordGuardStale, func(f *facts) { f.contents.Guards = guard(&later, statedb.HolderGone, true) }, "1 guard protects nothing any more; the next delete there removes it"},
	{WordGuardEndless, func(f *facts) { f.contents.Guards = guard(nil, statedb.HolderUnknown, false) }, "1 guard never runs out, and nobody can tell whether its holder lives"},
	{WordManifestPending, func(f *facts) {
		f.files.Pending = []cleanup.Pending{{SessionID: "a", Cause: cleanup.CauseSessionLive}, {SessionID: "b"}, {SessionID: "c"}}
	}, "3 ids wait for the files of deleted sessions: 1 session_live, 2 waiting"},
	{WordOrphans, func(f *facts) { f.files.Orphans = []cleanup.Artifact{{Name: "x.json", Bytes: 5}} }, "1 file is named as a session's that is not there (5 bytes)"},
	{WordLostParents, func(f *facts) { f.contents.LostParents = two }, "2 sessions have a parent that is not there"},
	{WordUndead, func(f *facts) { f.contents.Undead = two }, "2 sessions are there though their ids were retired"},
	{WordIntentPending, func(f *facts) { f.contents.Intents.Count = 2 }, "2 route intents wait for the base home"},
	{WordWALLarge, func(f *facts) { f.disk.WALBytes = largeWAL + 1 }, "the write-ahead log has 64 MiB: somebody has read for long, or ended without emptying it"},
	{WordTrashExposed, func(f *facts) { f.trash.found.Exposed = []string{"trash", "a.ndjson.gz"} }, "the trash is open to others than its owner"},

	{WordSchemaNewer, func(f *facts) { *f.shape.SchemaVersion = statedb.NewestSchema + 1 }, newerSchema},
	{WordGuardLive, func(f *facts) { f.contents.Guards = guard(nil, statedb.HolderAlive, false) }, "1 guard keeps its session from being deleted"},
	{WordGuardLive, func(f *facts) { f.contents.Guards = guard(&later, statedb.HolderUnknown, false) }, "1 guard keeps its session from being deleted"},
	{WordUnsettled, func(f *facts) { f.contents.Unsettled.Workers = 1 }, "0 requests and 1 worker are not settled"},
	{WordEmptySessions, func(f *facts) { f.contents.EmptySessions = two }, "2 sessions have no message"},
	{WordFencesRunOut, func(f *facts) { f.contents.Fences.Sessions.RunOut, f.contents.Fences.Routes.RunOut = 1, 1 }, "2 expiring fences hold no longer and can be reclaimed"},
	{WordFencesGarbled, func(f *facts) { f.contents.Fences.Routes.Garbled = 1 }, "1 fence is no JSON; an id that has one is retired for good"},
	{WordFilesNoted, func(f *facts) { f.contents.Notes = &three }, "3 notes are there of files to be removed once nobody names it"},
	{WordIndexStale, func(f *facts) { f.contents.StaleIndexes = []string{"i"} }, "the Agent has to rebuild i before it searches in it"},
	{WordIndexSetAside, func(f *facts) { f.shape.SetAside = []string{"i"} }, "the next delete sets aside i, which this build cannot write; the Agent rebuilds it"},
	{WordNoWAL, func(f *facts) { f.shape.JournalMode = "delete" }, "the store has no write-ahead log (journal mode delete), so readers and writers wait for each other"},
	{WordJournalLeft, func(f *facts) { f.disk.JournalBytes = 1 }, "there is a rollback journal: somebody writes just now, or has ended half-way and is rolled back by whoever writes next"},
	{WordAbandoned, func(f *facts) { f.files.Abandoned = []string{"t"} }, "1 manifest was never finished; the next clean-up removes it"},
	{WordLockHeld, func(f *facts) { f.lock.Holders = []locks.Holder{{PID: 7, Name: "python3"}, {PID: 8}} }, "the clean-up lock is held by process 7 (python3), process 8: a delete is under way"},
	{WordCheckUnfinished, func(f *facts) { f.checked.Failures = failure(context.DeadlineExceeded) }, "there was too little time for the guards; --full takes all it needs"},
	{WordCheckUnfinished, func(f *facts) { f.trash.failures = failure(context.DeadlineExceeded) }, "there was too little time for the guards; --full takes all it needs"},
	{WordTrashKept, func(f *facts) {
		f.trash.found = &trash.Inspection{Entries: 1, Bytes: 9, Headers: []trash.Header{{OperationID: "a", KeepUntil: 1000.5}}}
	}, "the trash keeps what 1 delete took (9 bytes)"},
	{WordTrashUnfinished, func(f *facts) { f.trash.found.Unfinished = []string{"t"} }, "1 entry is being written, or was never finished and goes with the next use of the home"},
}

func TestWhatIsSoundHasNoFinding(t *testing.T) {
	assert.Empty(t, judge(sound(nil)))
	report := newReport("/home", "/home/state.db", sound(nil))
	assert.True(t, report.Healthy)
	assert.True(t, report.Looked)
}

// Each word is given for one thing alone, as the severity that it has, and only notes are healthy.
func TestJudgement(t *testing.T) {
	said := map[Word]bool{}
	for _, c := range judged {
		t.Run(string(c.word)+": "+c.line, func(t *testing.T) {
			f := sound(c.change)
			findings := judge(f)
			require.Len(t, findings, 1)
			assert.Equal(t, c.word, findings[0].Word)
			assert.Equal(t, severities[c.word], findings[0].Severity)
			assert.NotEmpty(t, findings[0].Severity)
			assert.Equal(t, c.line, findings[0].Line)
			assert.Equal(t, findings[0].Severity == Note, newReport("/home", "/home/state.db", f).Healthy)
		})
		said[c.word] = true
	}
	said[WordTrashOverdue] = true // below
	for word := range severities {
		assert.True(t, said[word], "%s is never said", word)
	}
}

// What a delete that is under way will settle is not left over; what nobody can settle is.
func TestManifestsBesideADelete(t *testing.T) {
	f := sound(func(f *facts) {
		f.lock.Holders = []locks.Holder{{PID: 7}}
		f.files.Pending = []cleanup.Pending{{SessionID: "a"}, {SessionID: "b", Cause: cleanup.CauseSessionLive}}
	})
	held := Finding{WordLockHeld, Note, "the clean-up lock is held by process 7: a delete is under way", nil}
	assert.Equal(t, []Finding{held}, judge(f))
	f.files.Pending = append(f.files.Pending, cleanup.Pending{SessionID: "c", Cause: cleanup.CauseUnsafeID})
	assert.Equal(t, []Finding{
		{WordManifestPending, Warning, "1 id waits for the files of deleted sessions: 1 unsafe_id", []string{"c"}}, held,
	}, judge(f))
}

// What is overdue is kept too: these two are said together.
func TestAnEntryThatIsOverdue(t *testing.T) {
	f := sound(func(f *facts) {
		f.trash.found = &trash.Inspection{Entries: 2, Bytes: 9, Headers: []trash.Header{{OperationID: "a", KeepUntil: 1000}, {OperationID: "b", KeepUntil: 1001}}}
	})
	assert.Equal(t, []Finding{
		{WordTrashOverdue, Warning, "1 entry has been kept for as long as was asked; the next use of the home removes it", []string{"a"}},
		{WordTrashKept, Note, "the trash keeps what 2 deletes took (9 bytes)", nil},
	}, judge(f))
	assert.Equal(t, &Trash{Entries: 2, Bytes: 9, Overdue: 1}, newReport("/home", "/home/state.db", f).Trash)
}

func TestErrorsComeFirst(t *testing.T) {
	findings := judge(sound(func(f *facts) {
		f.contents.EmptySessions, f.contents.LostParents, f.contents.LooseMessages = two, two, two
		f.lock.Unusable = errors.New("a folder")
	}))
	var words []Word
	for _, f := range findings {
		words = append(words, f.Word)
	}
	assert.Equal(t, []Word{WordLooseMessages, WordLockUnusable, WordLostParents, WordEmptySessions}, words)
}

func TestOnlyTheFirstNamesAreTold(t *testing.T) {
	findings := judge(sound(func(f *facts) { f.files.Unreadable = strings.Split("a b c d e f g", " ") }))
	assert.Equal(t, "7 manifests cannot be read", findings[0].Line)
	assert.Equal(t, []string{"a", "b", "c", "d", "e"}, findings[0].Names)
}

// With --full, time is no excuse: then it was a cancel, which is told otherwise.
func TestFullHasNoTooLittleTime(t *testing.T) {
	assert.Empty(t, judge(sound(func(f *facts) { f.full, f.checked.Failures = true, failure(context.DeadlineExceeded) })))
}

// TestWordsOfTheContract keeps the words that mean a reason of the contract the same.
func TestWordsOfTheContract(t *testing.T) {
	assert.Equal(t, string(methods.ReasonStoreCorrupt), string(WordCorrupt))
	assert.Equal(t, string(methods.ReasonStoreUnsupported), string(WordUnsupported))
	assert.Equal(t, string(methods.ReasonWriteGuardUnavailable), string(WordNoGuards))
	assert.Equal(t, string(methods.ReasonFTSUnavailable), string(WordIndexUnavailable))
	assert.Equal(t, string(methods.ReasonTrashDamaged), string(WordTrashDamaged))
}

var explained = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|")

// TestEveryWordIsExplained reads docs/reference/doctor.md: every word stands there once, below the severity that it has.
func TestEveryWordIsExplained(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/doctor.md")
	require.NoError(t, err)
	told := map[Severity][]string{}
	for severity, heading := range map[Severity]string{Error: "\n## Errors", Warning: "\n## Warnings", Note: "\n## Notes"} {
		_, section, found := strings.Cut(string(text), heading)
		require.True(t, found, heading)
		section, _, _ = strings.Cut(section, "\n## ")
		for _, m := range explained.FindAllStringSubmatch(section, -1) {
			told[severity] = append(told[severity], m[1])
		}
	}
	want := map[Severity][]string{}
	for word, severity := range severities {
		want[severity] = append(want[severity], string(word))
	}
	for severity := range want {
		slices.Sort(want[severity])
		slices.Sort(told[severity])
		assert.Equal(t, want[severity], told[severity], severity)
	}
}

// What there was no time to read is kept all the same.
func TestWhatIsKeptIsCountedUnread(t *testing.T) {
	findings := judge(facts{trash: trashFacts{found: &trash.Inspection{Entries: 5, Bytes: 9, Unreadable: []string{"x"}, Headers: make([]trash.Header, 1)}}})
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Word == WordTrashKept })
	require.GreaterOrEqual(t, i, 0)
	assert.Equal(t, "the trash keeps what 4 deletes took (9 bytes)", findings[i].Line)
}

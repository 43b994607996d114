package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// A store without receipts yet is not one without deletions. It stops no other home, and its first receipt is staged.
func TestStoreWithoutReceiptsIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, legacy, newer)
	w.delete(w.homes[1], "s0")
	status, said := w.consume()
	require.Zero(t, status)
	require.Equal(t, w.homes[0].Path+": unknown yet: the store has no deletion receipts, which is not to say that nothing was deleted\n"+
		w.homes[1].Path+": staged up to 1\n", said)
	require.Empty(t, w.sequences(w.homes[0]))

	w.delete(w.homes[0], "s1")
	w.requireConsumed()
	require.Equal(t, [][]string{{"s1"}, {"s0"}}, w.requireStaged())
}

// A home that cannot be read is a failure, after which the others are staged and the consumer can start again.
func TestHomeThatCannotBeReadStopsNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, legacy)
	w.delete(w.homes[0], "s0")
	missing := sidecartest.NewHome(t)
	status, said := w.run(w.args([]*sidecartest.Home{missing, w.homes[0]})...)
	require.Equal(t, exitFailure, status)
	require.Contains(t, said, missing.Path+": ")
	require.Contains(t, said, w.homes[0].Path+": staged up to 1\n")

	missing.Write("state.db", strings.Repeat("no database ", 1000))
	status, said = w.run(w.args([]*sidecartest.Home{missing})...)
	require.Equal(t, exitFailure, status)
	require.Contains(t, said, "store_corrupt")
	w.requireStaged()
}

// A store that was restored gives its sequences anew. Nothing goes on there by itself, even when it has passed the cursor; after
// a person has compared, nothing is staged twice.
func TestRestoredStoreNeedsReconciliation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 12, newer, legacy)
	restored, other := w.homes[0], w.homes[1]
	w.delete(restored, "s0", "s1", "s2")
	saved := copyStore(t, restored)
	w.delete(restored, "s3", "s4", "s5")
	w.requireConsumed()
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, w.sequences(restored))
	before := w.pending()

	putBack(t, restored, saved)
	w.delete(other, "s0")
	status, said := w.consume()
	require.Equal(t, exitReconcile, status)
	require.Contains(t, said, restored.Path+": needs reconciliation: receipts up to 6 are staged, and now the store has given 3: ")
	require.Contains(t, said, other.Path+": staged up to 1\n", "another home goes on")

	w.delete(restored, "s5", "s6", "s7", "s8") // which take the sequences 4 to 7
	status, said = w.consume()
	require.Equal(t, exitReconcile, status)
	require.Contains(t, said, "given 3: ", "it was noted then")
	require.Equal(t, before, w.pending()[:6])
	require.Len(t, w.pending(), 7)

	status, _ = w.run("-ledger", w.ledger, "-home", restored.Path, "-reconciled", "0")
	require.Zero(t, status)
	w.requireConsumed()
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 4, 5, 6, 7}, w.sequences(restored), "what was known was not staged again")
	w.delete(restored, "s9")
	w.requireConsumed()
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8}, w.sequences(restored))
}

// A store from before its first receipt says nothing of what was staged.
func TestRestoredStoreWithoutReceiptsNeedsReconciliation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, legacy)
	saved := copyStore(t, w.homes[0])
	w.delete(w.homes[0], "s0")
	w.requireConsumed()
	putBack(t, w.homes[0], saved)
	for range 2 {
		status, said := w.consume()
		require.Equal(t, exitReconcile, status)
		require.Contains(t, said, "receipts up to 1 are staged, and now the store has none")
	}
	require.Equal(t, []int64{1}, w.sequences(w.homes[0]))
	w.delete(w.homes[0], "s1")
	status, _ := w.consume()
	require.Equal(t, exitReconcile, status, "the store has a receipt 1 again, and it is another one")
	require.Equal(t, []int64{1}, w.sequences(w.homes[0]))
}

// A copied store brings the receipts of the one that it is a copy of. What lies behind them is its own.
func TestCopiedStoreNeedsReconciliation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4, legacy)
	w.delete(w.homes[0], "s0", "s1")
	w.requireConsumed()
	twin := sidecartest.NewHome(t)
	putBack(t, twin, copyStore(t, w.homes[0]))
	w.homes = append(w.homes, twin)

	status, said := w.consume()
	require.Equal(t, exitReconcile, status)
	require.Contains(t, said, fmt.Sprintf("receipt 1 is of another store, %q", w.homes[0].Store()))
	require.Contains(t, said, w.homes[0].Path+": staged up to 2\n")
	require.Empty(t, w.sequences(twin))

	w.delete(twin, "s2")
	status, _ = w.run("-ledger", w.ledger, "-home", twin.Path, "-reconciled", "2")
	require.Zero(t, status)
	w.requireConsumed()
	require.Equal(t, []int64{1, 2}, w.sequences(w.homes[0]))
	require.Equal(t, []int64{3}, w.sequences(twin))
}

// To forget what is staged changes nothing for a consumer. What is forgotten too early is missed, and that is noticed.
func TestForgetting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 8, newer)
	home := w.homes[0]
	w.delete(home, "s0", "s1", "s2")
	w.requireConsumed()
	for _, through := range []int64{2, 3} {
		w.forget(home, through)
		status, said := w.consume()
		require.Zero(t, status, said)
		require.Equal(t, home.Path+": staged up to 3\n", said)
		require.Equal(t, []int64{1, 2, 3}, w.sequences(home))
	}
	w.delete(home, "s3")
	w.requireConsumed()
	require.Equal(t, []int64{1, 2, 3, 4}, w.sequences(home))

	another := &world{t: t, ledger: filepath.Join(t.TempDir(), "another.db"), homes: w.homes}
	another.requireConsumed()
	require.Equal(t, []int64{4}, another.sequences(home), "who begins has missed nothing")

	w.delete(home, "s4", "s5")
	w.forget(home, 6)
	status, said := w.consume()
	require.Equal(t, exitReconcile, status)
	require.Contains(t, said, "receipts 5 to 6 were forgotten before they were staged")
	w.delete(home, "s6")
	status, said = another.consume()
	require.Equal(t, exitReconcile, status)
	require.Contains(t, said, "receipts 5 to 6 were forgotten before they were staged")
	require.Equal(t, []int64{4}, another.sequences(home))
	status, _ = another.run("-ledger", another.ledger, "-home", home.Path, "-reconciled", "6")
	require.Zero(t, status)
	another.requireConsumed()
	require.Equal(t, []int64{4, 7}, another.sequences(home))

	w.forget(home, 7)
	begins := &world{t: t, ledger: filepath.Join(t.TempDir(), "begins.db"), homes: w.homes}
	begins.requireConsumed()
	w.delete(home, "s7")
	begins.requireConsumed()
	require.Equal(t, []int64{8}, begins.sequences(home))
}

// What comes before a receipt that cannot be understood is staged; the receipt waits for a person.
func TestReceiptThatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4, legacy)
	home := w.homes[0]
	w.delete(home, "s0")
	home.Exec(`INSERT INTO session_deletion_receipts (operation_id, deletion_json) VALUES ('another program', '{"operation_id":7}')`)
	w.delete(home, "s1")
	status, said := w.consume()
	require.Equal(t, exitReconcile, status)
	require.Contains(t, said, "receipt 2 does not say what it is of")
	require.Equal(t, []int64{1}, w.sequences(home))
	status, _ = w.run("-ledger", w.ledger, "-home", home.Path, "-reconciled", "2")
	require.Zero(t, status)
	w.requireConsumed()
	require.Equal(t, []int64{1, 3}, w.sequences(home))
}

// Two consumers may work at the same ledger at once, from its making on. They follow until they are told to end.
func TestTwoConsumersAtOneLedger(t *testing.T) {
	t.Parallel()
	const deleted = 15
	w := newWorld(t, deleted, legacy, newer)
	var consumers []*process
	for range 2 {
		consumers = append(consumers, start(t, w.args(w.homes, "-follow", "-poll", "10ms", "-limit", "1")...))
	}
	var ids []string
	for n := range deleted {
		ids = append(ids, fmt.Sprintf("s%d", n))
	}
	for _, home := range w.homes {
		w.delete(home, ids...)
	}
	for _, c := range consumers {
		for _, home := range w.homes {
			all := fmt.Sprintf("%s: staged up to %d\n", home.Path, deleted)
			require.Eventually(t, func() bool { return strings.Contains(c.out.String(), all) }, patience, 5*time.Millisecond)
		}
		c.signal(term)
		require.Zero(t, c.wait(), &c.errOut)
		for line := range strings.Lines(c.out.String()) {
			require.Regexp(t, `: (unknown yet: .*|staged up to \d+)\n$`, line, "nothing failed")
		}
	}
	require.Equal(t, [][]string{ids, ids}, w.requireStaged())
}

// What one consumer read before another went on is worth nothing.
func TestOvertakenConsumerStagesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l, err := openLedger(ctx, filepath.Join(t.TempDir(), "ledger.db"), true)
	require.NoError(t, err)
	defer func() { _ = l.close() }()
	stage := func(at position, sequence int64, doubt string) error {
		r := receipt{sequence, fmt.Sprintf("%032d", sequence), []byte(`{}`)}
		return l.stage(ctx, "store", at, verdict{receipts: []receipt{r}, next: position{true, sequence, doubt}})
	}
	require.NoError(t, stage(position{}, 1, ""))
	require.NoError(t, stage(position{known: true, cursor: 1}, 2, ""))
	for _, stale := range []position{{}, {known: true}, {known: true, cursor: 1}, {known: true, cursor: 3}} {
		require.ErrorIs(t, stage(stale, 9, "a doubt"), errOvertaken)
	}
	at, err := l.position(ctx, "store")
	require.NoError(t, err)
	require.Equal(t, position{known: true, cursor: 2}, at)
	var rows int
	require.NoError(t, l.db.QueryRow("SELECT count(*) FROM work").Scan(&rows))
	require.Equal(t, 2, rows)

	require.NoError(t, stage(at, 3, "a doubt"))
	require.ErrorIs(t, stage(position{known: true, cursor: 3}, 4, ""), errOvertaken, "another consumer has a doubt")
}

// Work comes again until it is told to be done; then nothing but its operation_id is kept, so that it never comes again.
func TestWorkIsDoneAtLeastOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, legacy)
	home := w.homes[0]
	w.delete(home, "s0", "s1")
	w.requireConsumed()
	first := w.pending()[0]
	for range 2 { // as after a crash between the work and its mark
		status, said := w.run("-ledger", w.ledger, "-done", first.OperationID)
		require.Zero(t, status, said)
	}
	require.Equal(t, []int64{2}, w.sequences(home))
	status, _ := w.run("-ledger", w.ledger, "-done", strings.Repeat("0", 32))
	require.Equal(t, exitFailure, status)

	status, _ = w.run("-ledger", w.ledger, "-home", home.Path, "-reconciled", "0")
	require.Zero(t, status)
	w.requireConsumed()
	require.Equal(t, []int64{2}, w.sequences(home))
}

// A sidecar that dies under a consumer that follows is a failure, and the next consumer goes on.
func TestSidecarThatDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, legacy)
	w.delete(w.homes[0], "s0")
	args := w.args(w.homes, "-follow", "-poll", "1ms")
	args[3] = filepath.Join(t.TempDir(), "dies")
	script := "#!/bin/sh\nread -r line\n" + `echo '{"jsonrpc":"2.0","method":"receipts.committed","params":{}}'` + "\n" +
		`echo '{"jsonrpc":"2.0","id":1,"result":{"rpc_version":1}}'` + "\nread -r line\n"
	require.NoError(t, os.WriteFile(args[3], []byte(script), 0o700))
	c := start(t, args...)
	require.Equal(t, exitFailure, c.wait())
	require.Contains(t, c.errOut.String(), errNoSidecar.Error())
	w.requireConsumed()
	w.requireStaged()
}

// What the document tells those who read with SQLite gives what receipts.list does.
func TestDocumentedSQL(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "```sql\n")
	require.True(t, found)
	block, _, _ := strings.Cut(rest, "```")
	statements := strings.Split(strings.TrimSpace(block), ";")
	require.Len(t, statements, 5)

	w := newWorld(t, 4, legacy)
	w.delete(w.homes[0], "s0", "s1", "s2", "s3")
	w.forget(w.homes[0], 1)
	w.requireConsumed()
	staged := w.pending()
	w.forget(w.homes[0], 2)
	db := w.homes[0].Open()
	_, err = db.Exec(statements[0])
	require.NoError(t, err)
	var head, sequence int64
	var deletion string
	require.NoError(t, db.QueryRow(statements[1]).Scan(&head))
	require.EqualValues(t, 4, head)
	require.NoError(t, db.QueryRow(statements[2], sql.Named("after", 2), sql.Named("limit", 1)).Scan(&sequence, &deletion))
	require.EqualValues(t, 3, sequence)
	require.Equal(t, string(staged[1].Deletion), deletion)
	_, err = db.Exec(statements[3])
	require.NoError(t, err)
	w.forget(w.homes[0], 4)
	require.NoError(t, db.QueryRow(statements[1]).Scan(&head))
	require.EqualValues(t, 4, head, "sequences are remembered")
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, legacy)
	home := w.homes[0]
	for _, wrong := range [][]string{
		{},
		{"-work"},
		{"-ledger", w.ledger},
		{"-ledger", w.ledger, "-work", "more"},
		{"-ledger", w.ledger, "-work", "-done", "x"},
		{"-ledger", w.ledger, "-sidecar", "x"},
		{"-ledger", w.ledger, "-reconciled", "0"},
		{"-ledger", home.Store(), "-work"},
		w.args(w.homes, "-limit", "0"),
		w.args(w.homes, "-poll", "0s"),
	} {
		status, said := w.run(wrong...)
		assert.Equal(t, exitUsage, status, wrong)
		assert.Empty(t, said, wrong)
	}
	require.NoFileExists(t, w.ledger)

	status, _ := w.run("-ledger", w.ledger, "-work")
	require.Equal(t, exitFailure, status, "there is no ledger")
	require.NoFileExists(t, w.ledger)

	before := home.Tables()
	foreign := &world{t: t, ledger: copyStore(t, home), homes: w.homes}
	unchanged, err := os.ReadFile(foreign.ledger)
	require.NoError(t, err)
	status, _ = foreign.consume()
	require.Equal(t, exitFailure, status, "it is another program's database")
	after, err := os.ReadFile(foreign.ledger)
	require.NoError(t, err)
	require.Equal(t, unchanged, after)
	require.Equal(t, before, home.Tables())

	w.requireConsumed()
	info, err := os.Stat(w.ledger)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

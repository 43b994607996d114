package statedb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"session-sidecar/internal/lazyregexp"
)

// The checks of a store's own order: its pages, its references, its full-text indexes. The SQL is in check_sql.go.

// Checked is what the checks have found.
type Checked struct {
	Tables  int           // that were checked
	Of      int           // that there are
	Damage  []string      // SQLite's words, which name tables, pages and rows, and no content
	Indexes []IndexHealth // the full-text indexes, by name
	// LostReferences are rows that name a row which is not there; only CheckAll looks for them.
	LostReferences []LostReference

	Failures []Failure
}

// IndexHealth is what is known of one full-text index.
type IndexHealth struct {
	Name    string
	Checked bool
	Damage  string // SQLite's words; empty where none was found
	// Extra are entries of rows that are not there, Missing are rows without an entry; nil where that was not compared.
	Extra, Missing *int
}

// LostReference counts the rows of a table that name a row of another one which is not there.
type LostReference struct {
	Table, Parent string
	Count         int
}

// mostDamage bounds how many of SQLite's lines are told.
const mostDamage = 20

// Check looks for damage, table by table, for as long as ctx leaves time. It does not compare the content of an index with what it was
// made from, nor find pages that nobody uses: that takes CheckAll.
func (e *Exam) Check(ctx context.Context) *Checked {
	if e.conn == nil {
		return &Checked{}
	}
	k := newCheck(ctx, e.conn, e.schema)
	k.tables("quick_check")
	k.indexes(func(index string) error { return k.checkIndex(index, "quick_check") })
	return k.found
}

// CheckAll looks for all damage that SQLite can find. What takes long is done in a copy, so that the store is held only while that is
// made; a full-text index can only be compared with its text by somebody who may write. The copy lies in the system's folder for
// temporary files, for us alone, and goes at the end.
//
// That there is no room for a copy says nothing of the store, and is an error.
func (e *Exam) CheckAll(ctx context.Context) (*Checked, error) {
	if e.conn == nil {
		return &Checked{}, nil
	}
	folder, err := os.MkdirTemp("", "sidecar-doctor-")
	if err != nil {
		return nil, &Error{Kind: ErrIO, Detail: "make a folder for a copy", Cause: err}
	}
	defer func() { _ = os.RemoveAll(folder) }()
	c, err := e.copyInto(ctx, filepath.Join(folder, "copy.db"))
	if primary, _, known := resultCodes(err); known && primary == codeFull {
		return nil, classify("make a copy in "+folder, err)
	}
	if err != nil {
		return failedCheck("copy the store", err), nil
	}
	defer c.close()
	k := newCheck(ctx, c, e.schema)
	k.whole()
	k.references()
	k.indexes(k.compareIndex)
	return k.found, nil
}

func failedCheck(doing string, err error) *Checked {
	return &Checked{Failures: []Failure{{"all that can be checked", classify(doing, err)}}}
}

// copyInto makes a copy of the snapshot, and gives a connection to it.
func (e *Exam) copyInto(ctx context.Context, path string) (*conn, error) {
	c, err := openURI(ctx, copyURI(path))
	if err != nil {
		return nil, err
	}
	err = c.Raw(func(to any) error { return e.Raw(func(from any) error { return copyPages(ctx, to, from) }) })
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// check is one check under way.
type check struct {
	ctx    context.Context
	conn   *conn
	schema *schema
	found  *Checked
}

func newCheck(ctx context.Context, c *conn, s *schema) *check {
	return &check{ctx, c, s, &Checked{Of: len(s.create)}}
}

// failed notes a question that was not answered, and tells whether there is one.
func (k *check) failed(what string, err error) bool {
	if err == nil {
		return false
	}
	if k.ctx.Err() != nil {
		err = k.ctx.Err() // whatever SQLite says of an interrupt
	}
	k.found.Failures = append(k.found.Failures, Failure{what, classify("check "+what, err)})
	return true
}

// tables checks one table after the other, those that grow with the messages last, until the time is up.
func (k *check) tables(pragma string) {
	if k.damage("the schema", pragma, "sqlite_schema") != nil {
		return
	}
	names := sortedKeys(k.schema.create)
	slices.SortStableFunc(names, func(a, b string) int { return k.weight(a) - k.weight(b) })
	for _, name := range names {
		if k.damage("the table "+name, pragma, name) != nil {
			if k.ctx.Err() != nil {
				return
			}
			continue
		}
		k.found.Tables++
	}
}

// weight puts what a store of any age has little of before what it has much of.
func (k *check) weight(table string) int {
	switch {
	case table == "messages":
		return 1
	case slices.ContainsFunc(sortedKeys(k.schema.virtual), func(index string) bool { return strings.HasPrefix(table, index+"_") }):
		return 2
	}
	return 0
}

// damage checks one table.
func (k *check) damage(what, pragma, table string) error {
	lines, err := k.conn.checkTable(k.ctx, pragma, table)
	k.note(lines)
	k.failed(what, err)
	return err
}

func (k *check) note(lines []string) {
	for _, line := range lines {
		if len(k.found.Damage) < mostDamage && !slices.Contains(k.found.Damage, line) {
			k.found.Damage = append(k.found.Damage, line)
		}
	}
}

// whole checks the file as a whole. An index whose tokenizer this build lacks makes SQLite refuse that; then the tables are checked one by
// one.
func (k *check) whole() {
	lines, err := k.conn.checkWhole(k.ctx)
	if primary, _, known := resultCodes(err); known && primary == codeError {
		k.tables("integrity_check")
		return
	}
	if !k.failed("the file", err) {
		k.found.Tables = k.found.Of
	}
	// What an index says of itself is told of that index.
	k.note(slices.DeleteFunc(lines, func(line string) bool { return ofFullText().MatchString(line) }))
}

func (k *check) references() {
	lost, err := k.conn.lostReferences(k.ctx)
	k.failed("the references between tables", err)
	k.found.LostReferences = lost
}

// indexes looks at every full-text index of the kind that an Agent makes and that this build can read: first at which rows are in it,
// which takes less than to look how it is built.
func (k *check) indexes(look func(index string) error) {
	for _, name := range sortedKeys(k.schema.virtual) {
		if !usesFTS5().MatchString(k.schema.virtual[name]) {
			continue
		}
		opens, err := k.conn.opens(k.ctx, k.schema, name)
		if err == nil && !opens {
			continue
		}
		index := IndexHealth{Name: name}
		if err == nil {
			err = k.compareRows(&index)
		}
		k.failed("which messages are in the index "+name, err)
		k.found.Indexes = append(k.found.Indexes, index)
	}
	for i := range k.found.Indexes {
		index := &k.found.Indexes[i]
		err := look(index.Name)
		if isDamage(err) {
			index.Checked, index.Damage = true, lineOf(err)
			continue
		}
		index.Checked = !k.failed("how the index "+index.Name+" is built", err)
	}
}

// checkIndex lets FTS5 look at how an index is built.
func (k *check) checkIndex(index, pragma string) error {
	lines, err := k.conn.checkTable(k.ctx, pragma, index)
	if err == nil && len(lines) > 0 {
		err = &Error{Kind: ErrCorrupt, Detail: lines[0]}
	}
	return err
}

// compareIndex lets FTS5 compare an index with what it was made from.
func (k *check) compareIndex(index string) error { return k.conn.compareWithText(k.ctx, index) }

// compareRows finds entries without a row, and rows without an entry, in an index that keeps no text of its own.
func (k *check) compareRows(index *IndexHealth) error {
	create := k.schema.virtual[index.Name]
	of, ok := externalContent(create)
	if !ok || !k.schema.has(index.Name+"_docsize") {
		return nil
	}
	extra, missing, err := k.conn.compareEntries(k.ctx, index.Name, of)
	if err == nil {
		index.Extra, index.Missing = &extra, &missing
	}
	return err
}

// isDamage tells whether SQLite found damage, and not only failed to look for it.
func isDamage(err error) bool {
	if _, is := errors.AsType[*Error](err); is {
		return errors.Is(err, ErrCorrupt)
	}
	primary, _, known := resultCodes(err)
	return known && errors.Is(kinds[primary], ErrCorrupt)
}

// ofFullText are SQLite's lines about an index.
var ofFullText = lazyregexp.New(`(?i)\bfts5\b`)

// FullCheckTakes is about how long CheckAll takes for a store of this size, on a machine of our time.
func FullCheckTakes(bytes int64) time.Duration {
	const perSecond = 12 << 20
	return time.Duration(float64(bytes)/perSecond*float64(time.Second)) + time.Second
}

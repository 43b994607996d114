package statedb

import (
	"context"
	"os"
	"regexp"
	"slices"

	"session-sidecar/internal/lazyregexp"
)

// An Agent extension brings its own tokenizer, which this build lacks. Its own processes without the tokenizer drop the
// index's triggers and mark it as stale, and so do we (contract 4); the Agent rebuilds it before it serves from it.
const (
	cjkIndex    = "messages_fts_cjk"
	cjkStaleKey = "fts_cjk_stale"
)

var cjkTriggers = []string{"messages_fts_cjk_insert", "messages_fts_cjk_delete", "messages_fts_cjk_update"}

// unwritableIndexes lists the virtual tables that a trigger on the deleted tables writes to and that this build cannot
// open, in the order of their names.
func (c *conn) unwritableIndexes(ctx context.Context, s *schema) ([]string, error) {
	var broken []string
	for _, name := range sortedKeys(s.virtual) {
		if !s.writtenByTrigger(name) {
			continue
		}
		opens, err := c.opens(ctx, s, name)
		if err != nil {
			return nil, c.classifyIndex(ctx, "open the index "+name, err)
		}
		if !opens {
			broken = append(broken, name)
		}
	}
	return broken, nil
}

// opens tells whether this build can use a virtual table. SQLite has one code for a tokenizer or a module that it does not
// know; any other failure (a cancel, a damaged page) says nothing about the build.
func (c *conn) opens(ctx context.Context, s *schema, name string) (bool, error) {
	table := quoted(name)
	query := "SELECT 1 FROM " + table + " LIMIT 0"
	if usesFTS5().MatchString(s.virtual[name]) {
		// FTS5 asks for its tokenizer with the first text, not when it opens the table.
		query = "SELECT 1 FROM " + table + " WHERE " + table + " MATCH 'x'"
	}
	_, err := c.exists(ctx, query)
	if primary, _, ok := resultCodes(err); ok && primary == codeError {
		return false, nil
	}
	return err == nil, err
}

// classifyIndex is classify for a statement that reads an index, which says no more of a read than that it failed: where the
// file ends within a page, it is that.
func (c *conn) classifyIndex(ctx context.Context, doing string, err error) error {
	if primary, extended, ok := resultCodes(err); ok && primary == codeIO && extended == codeIO && c.endsWithinPage(ctx) {
		return &Error{Kind: ErrCorrupt, Detail: doing, Cause: &cutOff{err}}
	}
	return classify(doing, err)
}

func (c *conn) endsWithinPage(ctx context.Context) bool {
	var file string
	var page int64
	err := c.QueryRowContext(ctx, `SELECT file, page_size FROM pragma_database_list, pragma_page_size WHERE name = 'main'`).Scan(&file, &page)
	if err != nil {
		return false
	}
	info, err := os.Stat(file)
	return err == nil && info.Size()%page != 0
}

var usesFTS5 = lazyregexp.New("(?i)\\busing\\s+[\"'`\\[]?fts5\\b")

// writtenByTrigger tells whether a trigger on messages or sessions mentions the table.
func (s *schema) writtenByTrigger(name string) bool {
	written, known := s.written[name]
	if !known {
		written = s.mentionedByTrigger(name)
		if s.written != nil {
			s.written[name] = written
		}
	}
	return written
}

func (s *schema) mentionedByTrigger(name string) bool {
	mention := regexp.MustCompile(`(?i)(^|[^a-z0-9_])` + regexp.QuoteMeta(name) + `($|[^a-z0-9_])`)
	for _, t := range s.triggers {
		if (t.table == "messages" || t.table == "sessions") && mention.MatchString(t.sql) {
			return true
		}
	}
	return false
}

// indexesToSetAside names the indexes whose tokenizer this build lacks and that the delete can go around. Any other index
// that cannot be written is ErrFullTextUnwritable, with its name.
func (c *conn) indexesToSetAside(ctx context.Context, s *schema) (names []string, err error) {
	broken, err := c.unwritableIndexes(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, name := range broken {
		if name != cjkIndex || !s.hasRecords() || s.withoutTriggers(cjkTriggers).writtenByTrigger(name) {
			return nil, &Error{Kind: ErrFullTextUnwritable, Detail: "this build cannot write the index " + name}
		}
		names = append(names, name)
	}
	return names, nil
}

// setAsideIndexes drops the triggers of such indexes and marks them as stale, in the delete's own transaction.
func (c *conn) setAsideIndexes(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	for _, t := range cjkTriggers {
		if _, err := c.ExecContext(ctx, "DROP TRIGGER IF EXISTS "+t); err != nil {
			return classify("set aside "+cjkIndex, err)
		}
	}
	return c.putRecords(ctx, "mark "+cjkIndex+" as stale", map[string]string{cjkStaleKey: "1"})
}

func (s *schema) withoutTriggers(names []string) *schema {
	rest := &schema{}
	for _, t := range s.triggers {
		if !slices.Contains(names, t.name) {
			rest.triggers = append(rest.triggers, t)
		}
	}
	return rest
}

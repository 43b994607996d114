package statedb

import (
	"context"
	"regexp"
	"strings"
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
func (c *conn) unwritableIndexes(ctx context.Context, s *schema) []string {
	var broken []string
	for _, name := range sortedKeys(s.virtual) {
		if s.writtenByTrigger(name) && c.probe(ctx, name) != nil {
			broken = append(broken, name)
		}
	}
	return broken
}

// probe asks SQLite to open a virtual table; it reads no row.
func (c *conn) probe(ctx context.Context, name string) error {
	_, err := c.exists(ctx, "SELECT 1 FROM "+quoted(name)+" LIMIT 0")
	return err
}

// writtenByTrigger tells whether a trigger on messages or sessions mentions the table.
func (s *schema) writtenByTrigger(name string) bool {
	mention := regexp.MustCompile(`(?i)(^|[^a-z0-9_])` + regexp.QuoteMeta(name) + `($|[^a-z0-9_])`)
	for _, t := range s.triggers {
		if (t.table == "messages" || t.table == "sessions") && mention.MatchString(t.sql) {
			return true
		}
	}
	return false
}

// setAsideIndexes makes the delete possible beside indexes whose tokenizer this build lacks, in the delete's own
// transaction, and names the ones that the Agent has to rebuild. Any other index that cannot be written is
// ErrFullTextUnwritable, with its name.
func (c *conn) setAsideIndexes(ctx context.Context, s *schema) (stale []string, err error) {
	for _, name := range c.unwritableIndexes(ctx, s) {
		if name != cjkIndex || !s.has("state_meta", "key", "value") {
			return nil, &Error{Kind: ErrFullTextUnwritable, Detail: "this build cannot write the index " + name}
		}
		for _, t := range cjkTriggers {
			if _, err := c.ExecContext(ctx, "DROP TRIGGER IF EXISTS "+t); err != nil {
				return nil, classify("set aside "+name, err)
			}
		}
		if s.withoutTriggers(cjkTriggers).writtenByTrigger(name) {
			return nil, &Error{Kind: ErrFullTextUnwritable, Detail: "this build cannot write the index " + name}
		}
		_, err := c.ExecContext(ctx, `INSERT INTO state_meta (key, value) VALUES (?, '1')
			ON CONFLICT (key) DO UPDATE SET value = excluded.value`, cjkStaleKey)
		if err != nil {
			return nil, classify("mark "+name+" as stale", err)
		}
		stale = append(stale, name)
	}
	return stale, nil
}

func (s *schema) withoutTriggers(names []string) *schema {
	rest := &schema{}
	for _, t := range s.triggers {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+t.name+" ") {
			rest.triggers = append(rest.triggers, t)
		}
	}
	return rest
}

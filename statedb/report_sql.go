package statedb

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"session-sidecar/internal/lazyregexp"
)

// Report is what a store is and has (contract 5d, features).
type Report struct {
	Path          Path  // empty where no path applies; then PathError says why
	PathError     error // an *Error
	SchemaVersion *int64
	Tables        map[string]bool // of the tables that the contract names
	Guards        bool            // a running turn can be seen
	Indexes       []Index
	Receipts      bool // deletion receipts can be read
	JournalMode   string
	Bytes         int64
	WALBytes      int64
	Sessions      *int64   // nil without a table of them
	Missing       []string // what contract 3 looks for and does not find, as table or table.column
}

// Index is one full-text index.
type Index struct {
	Name      string
	Tokenizer string // with its arguments
	Usable    bool   // this build can read and write it
}

// otherTables are those that the contract names beside what decides the path.
var otherTables = []string{
	"session_model_usage", "telegram_dm_topic_bindings", "system_prompts", "schema_version", receiptsTable,
}

// Features looks at a store's shape, from one snapshot; sizes are asked of the file system and nothing is opened for
// them.
func Features(ctx context.Context, path string, agent Agent) (*Report, error) {
	var report *Report
	err := read(ctx, path, "look at the store", func(c *conn) error {
		s, err := c.readSchema(ctx)
		if err != nil {
			return err
		}
		if report, err = c.shapeOf(ctx, s, agent); err != nil || !s.has("sessions") {
			return err
		}
		return c.QueryRowContext(ctx, "SELECT count(*) FROM sessions").Scan(&report.Sessions)
	})
	if err != nil {
		return nil, err
	}
	disk, err := DiskOf(path)
	if err != nil {
		return nil, err
	}
	report.Bytes, report.WALBytes = disk.Bytes, disk.WALBytes
	return report, nil
}

// shapeOf is all of a report but what is counted.
func (c *conn) shapeOf(ctx context.Context, s *schema, agent Agent) (*Report, error) {
	report := &Report{
		Tables:   s.namedTables(),
		Receipts: s.has(receiptsTable, receiptColumns...),
		Missing:  s.missing(),
	}
	report.Path, report.PathError = choosePath(s, agent)
	report.Guards = s.missingGuards() == ""
	report.Indexes = c.fullTextIndexes(ctx, s)
	if err := c.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&report.JournalMode); err != nil {
		return nil, err
	}
	return report, c.readVersion(ctx, s, report)
}

// readVersion reads what the store says of itself.
func (c *conn) readVersion(ctx context.Context, s *schema, report *Report) error {
	if !s.has("schema_version", "version") {
		return nil
	}
	// Several rows are a history; a version that is no whole number is none that we know.
	err := c.QueryRowContext(ctx, `SELECT +version FROM schema_version WHERE typeof(version) = 'integer'
		ORDER BY version DESC LIMIT 1`).Scan(&report.SchemaVersion)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

func (s *schema) namedTables() map[string]bool {
	tables := map[string]bool{}
	for _, table := range slices.Concat(sortedKeys(decisive()), otherTables) {
		tables[table] = s.has(table)
	}
	return tables
}

// fullTextIndexes lists the indexes in the order of their names.
func (c *conn) fullTextIndexes(ctx context.Context, s *schema) []Index {
	var indexes []Index
	for _, name := range sortedKeys(s.virtual) {
		if tokenizer, ok := tokenizerOf(s.virtual[name]); ok {
			opens, err := c.opens(ctx, s, name)
			indexes = append(indexes, Index{name, tokenizer, err == nil && opens})
		}
	}
	return indexes
}

var (
	fullTextModule = lazyregexp.New("(?is)\\busing\\s+[\"'`\\[]?fts([345])[\"'`\\]]?\\s*\\(")
	tokenizeOption = lazyregexp.New(`(?is)\btokenize\s*=\s*('(?:[^']|'')*'|"(?:[^"]|"")*"|[^\s,)]+)`)
)

// tokenizerOf reads the tokenizer out of a full-text index's CREATE statement; without the option it is the module's own.
func tokenizerOf(create string) (tokenizer string, ok bool) {
	module := fullTextModule().FindStringSubmatch(create)
	if module == nil {
		return "", false
	}
	option := tokenizeOption().FindStringSubmatch(create)
	switch {
	case option == nil && module[1] == "5":
		return "unicode61", true
	case option == nil:
		return "simple", true
	}
	text := option[1]
	if quote := text[:1]; quote == "'" || quote == `"` {
		text = strings.ReplaceAll(text[1:len(text)-1], quote+quote, quote)
	}
	return strings.TrimSpace(text), true
}

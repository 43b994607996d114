package statedb

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Path is one of the two ways to delete (contract 3).
type Path string

// The two paths.
const (
	PathCanonical Path = "canonical" // retirement, as the newest Agent does it
	PathLegacy    Path = "legacy"    // plain row deletes, kept off a newer Agent's history by a fence
)

// retirementModule is the file that an Agent able to retire conversations has in its folder (contract 3.4).
const retirementModule = "hermes_state_mutation_retirement.py"

// ledgerTables are a newer Agent's runtime; canonicalNeeds is all that the canonical path needs beside the revision.
var (
	ledgerTables   = []string{"session_admissions", "worker_executions", "worker_receipts"}
	canonicalNeeds = append(slices.Clone(ledgerTables), "state_meta", "gateway_routing", "conversation_generations")
	guardTables    = map[string][]string{
		"compression_locks":   {"session_id", "holder", "expires_at"},
		"session_turn_leases": {"conversation_id", "holder", "expires_at"},
	}
)

// Agent is what is known of the installed Agent's folder.
type Agent struct {
	Known     bool // the host named a folder
	CanRetire bool // the folder holds the retirement module
}

// LookAtAgent lists the Agent's folder. A folder that cannot be listed is an error and never an old Agent (contract 2).
// An empty dir is an Agent that nobody named.
func LookAtAgent(dir string) (Agent, error) {
	if dir == "" {
		return Agent{}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Agent{}, &Error{Kind: ErrAgentUnreadable, Cause: err}
	}
	found := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == retirementModule })
	return Agent{Known: true, CanRetire: found}, nil
}

// schema is the shape of the store at this moment: its tables and their columns, names folded to lower case as SQLite
// compares them.
type schema struct {
	columns  map[string]map[string]bool
	textIDs  bool // sessions.id keeps text as it is
	triggers []trigger
	virtual  map[string]string // virtual table -> its CREATE statement
	create   map[string]string // every other table -> its own
}

type trigger struct{ name, table, sql string }

// looseCollation finds an id column that is declared with a collation of its own.
var looseCollation = regexp.MustCompile(
	`(?i)\b(id|parent_session_id|session_id|conversation_id)\b["\]` + "`" + `]?\s[^,]*\bcollate\s+["\[` + "`" + `]?(\w+)`)

// looselyCompared names an id column that SQLite does not compare letter by letter: under such a collation one id would take
// the rows, and pass the guards, of another.
func (s *schema) looselyCompared() string {
	for _, table := range append(slices.Clone(sideTables), "sessions", "messages", "session_turn_leases") {
		for _, m := range looseCollation.FindAllStringSubmatch(s.create[table], -1) {
			if !strings.EqualFold(m[2], "binary") {
				return table + "." + strings.ToLower(m[1])
			}
		}
	}
	return ""
}

func (s *schema) has(table string, columns ...string) bool {
	have, ok := s.columns[table]
	return ok && !slices.ContainsFunc(columns, func(c string) bool { return !have[c] })
}

// readSchema reads the shape in the transaction that will write, so that a store which another process migrates
// meanwhile is not misread.
func (c *conn) readSchema(ctx context.Context) (*schema, error) {
	s := &schema{columns: map[string]map[string]bool{}, virtual: map[string]string{}, create: map[string]string{}}
	err := c.each(ctx, func(scan scanFunc) error {
		var kind, name, table, text string
		if err := scan(&kind, &name, &table, &text); err != nil {
			return err
		}
		name = strings.ToLower(name)
		switch {
		case kind == "trigger":
			s.triggers = append(s.triggers, trigger{name, strings.ToLower(table), text})
		case isVirtual(text):
			s.virtual[name] = text
		default:
			s.columns[name] = map[string]bool{}
			s.create[name] = text
		}
		return nil
	}, `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE type IN ('table', 'trigger')`)
	if err != nil {
		return nil, classify("read the schema", err)
	}
	// Virtual tables are left out: asking one whose tokenizer is missing for its columns is an error.
	err = c.each(ctx, func(scan scanFunc) error {
		var table, column string
		if err := scan(&table, &column); err != nil {
			return err
		}
		if columns, ok := s.columns[strings.ToLower(table)]; ok {
			columns[strings.ToLower(column)] = true
		}
		return nil
	}, `SELECT t.name, c.name FROM sqlite_schema t, pragma_table_xinfo(t.name) c
		WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'`)
	if err != nil {
		return nil, classify("read the columns of the tables", err)
	}
	// A column of numeric affinity would take the id "5" for the number.
	s.textIDs, err = c.exists(ctx, `SELECT 1 FROM pragma_table_xinfo('sessions') WHERE name = 'id' COLLATE NOCASE AND
		(type = '' OR type LIKE '%text%' OR type LIKE '%char%' OR type LIKE '%clob%' OR type LIKE '%blob%') AND type NOT LIKE '%int%'`)
	if err != nil {
		return nil, classify("read the columns of the tables", err)
	}
	return s, nil
}

func isVirtual(createStatement string) bool {
	words := strings.Fields(strings.ToUpper(createStatement))
	return len(words) > 1 && words[0] == "CREATE" && words[1] == "VIRTUAL"
}

// choosePath is contract 3, rules 2 to 7: the first that applies.
func choosePath(s *schema, agent Agent) (Path, error) {
	switch {
	case !s.has("sessions", "id", "parent_session_id"):
		return "", unsupported("the store has no table sessions with id and parent_session_id")
	case !s.has("messages", "session_id"):
		return "", unsupported("the store has no table messages with session_id")
	}
	for _, table := range sortedKeys(guardTables) {
		if !s.has(table, guardTables[table]...) {
			return "", &Error{Kind: ErrGuardsUnavailable, Detail: table + " is not all there, so a running turn could not be seen"}
		}
	}
	if !s.textIDs {
		return "", unsupported("the store's session ids are no text")
	}
	if column := s.looselyCompared(); column != "" {
		return "", unsupported("the store compares %s in another way than letter by letter", column)
	}
	if agent.Known && !agent.CanRetire {
		return PathLegacy, nil
	}
	missing := slices.DeleteFunc(slices.Clone(canonicalNeeds), func(table string) bool { return s.has(table) })
	if !s.has("sessions", "runtime_revision") {
		missing = append(missing, "sessions.runtime_revision")
	}
	switch {
	case len(missing) == 0:
		return PathCanonical, nil
	case slices.ContainsFunc(ledgerTables, func(table string) bool { return s.has(table) }):
		return "", unsupported("the store has part of the runtime ledger; missing: %s", strings.Join(missing, ", "))
	}
	return PathLegacy, nil
}

// CheckBuild tells in one clear line why this build may not serve at all: without FTS5 or the trigram tokenizer no
// delete could keep an Agent's indexes in step (contract 2).
func CheckBuild(ctx context.Context) error {
	c, err := openPrivate(ctx)
	if err != nil {
		return fmt.Errorf("this build has no SQLite: %w", err)
	}
	defer c.close()
	if _, err := c.ExecContext(ctx, `CREATE VIRTUAL TABLE probe USING fts5(content, tokenize = 'trigram')`); err != nil {
		return fmt.Errorf("this build's SQLite lacks FTS5 or its trigram tokenizer; build with -tags sqlite_fts5: %w", err)
	}
	return nil
}

// SQLiteVersion is the version of the SQLite that is built in.
func SQLiteVersion(ctx context.Context) (version string, err error) {
	c, err := openPrivate(ctx)
	if err != nil {
		return "", err
	}
	defer c.close()
	err = c.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version)
	return version, err
}

package statedb

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"session-sidecar/internal/sqlname"
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
	numeric  map[string]map[string]bool // those columns that make a number of a text that reads as one
	triggers []trigger
	virtual  map[string]string // virtual table -> its CREATE statement
	create   map[string]string // every other table -> its own

	chosen  map[Agent]choice // what choosePath has said
	written map[string]bool  // what writtenByTrigger has said

	surveyable *bool // what canBeSurveyed has said
}

// choice is an answer of choosePath.
type choice struct {
	path    Path
	refusal error
}

type trigger struct{ name, table, sql string }

// idColumns hold what a delete on either path finds its rows and its guards by, canonicalIDs what the canonical path goes by
// beside. Of the latter the legacy path asks those in which a newer Agent's history may name a conversation; compared loosely
// they name one more often, so it refuses more and never less, and they are no reason to refuse a store there.
var (
	idColumns = map[string][]string{
		"sessions":                   {"id", "parent_session_id"},
		"messages":                   {"session_id"},
		"compression_locks":          {"session_id"},
		"session_turn_leases":        {"conversation_id"},
		"session_model_usage":        {"session_id"},
		"telegram_dm_topic_bindings": {"session_id"},
	}
	canonicalIDs = map[string][]string{
		"session_admissions":       {"target_session_id", "admission_id"},
		"worker_executions":        {"session_id", "execution_id"},
		"worker_receipts":          {"execution_id"},
		"state_meta":               {"key", "value"}, // a value may be nothing but an id
		"gateway_routing":          {"session_key"},
		"conversation_generations": {"source", "session_key"},
	}
)

// looselyCompared names one of the columns that SQLite does not compare letter by letter: under such a collation one id would
// take the rows, and pass the guards, of another.
func (s *schema) looselyCompared(columns map[string][]string) string {
	for _, table := range sortedKeys(columns) {
		for _, column := range columns[table] {
			if s.isLoose(table, column) {
				return table + "." + column
			}
		}
	}
	return ""
}

// isLoose tells whether a column is declared with a collation other than BINARY. A constraint of the table that names the
// column with one counts too: what is two elsewhere is one there.
func (s *schema) isLoose(table, column string) bool {
	declared := regexp.MustCompile(`(?i)\b` + column + `\b["\]` + "`" + `]?\s[^,]*\bcollate\s+["'\[` + "`" + `]?(\w+)`)
	return slices.ContainsFunc(declared.FindAllStringSubmatch(s.create[table], -1), func(m []string) bool {
		return !strings.EqualFold(m[1], "binary")
	})
}

// keptAsNumber names one of the columns whose declared type would take the id "5", and "05" too, for the number.
func (s *schema) keptAsNumber(columns map[string][]string) string {
	for _, table := range sortedKeys(columns) {
		for _, column := range columns[table] {
			if s.numeric[table][column] {
				return table + "." + column
			}
		}
	}
	return ""
}

// hasTriggerOn tells whether a table may do something else than it is told.
func (s *schema) hasTriggerOn(table string) bool {
	return slices.ContainsFunc(s.triggers, func(t trigger) bool { return t.table == table })
}

func (s *schema) has(table string, columns ...string) bool {
	have, ok := s.columns[table]
	return ok && !slices.ContainsFunc(columns, func(c string) bool { return !have[c] })
}

// knownSchema is a shape with the number that SQLite counts up whenever it changes.
type knownSchema struct {
	version    int64
	schema     *schema
	references map[string][]reference // to each table that was asked for
	cascades   *[]cascadePath         // by which rows of tables that we know could go; nil where nobody has asked
}

// readSchema reads the shape in the transaction that will write, so that a store which another process migrates
// meanwhile is not misread.
func (c *conn) readSchema(ctx context.Context) (*schema, error) {
	var version int64
	if err := c.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version); err != nil {
		return nil, classify("read the schema", err)
	}
	if c.known != nil && c.known.version == version {
		return c.known.schema, nil
	}
	s, err := c.readSchemaAnew(ctx)
	if err == nil {
		c.known = &knownSchema{version: version, schema: s, references: map[string][]reference{}}
	}
	return s, err
}

func (c *conn) readSchemaAnew(ctx context.Context) (*schema, error) {
	s := &schema{
		columns: map[string]map[string]bool{}, numeric: map[string]map[string]bool{},
		virtual: map[string]string{}, create: map[string]string{}, chosen: map[Agent]choice{}, written: map[string]bool{},
	}
	err := c.each(ctx, func(scan scanFunc) error {
		var kind, name, table, text string
		if err := scan(&kind, &name, &table, &text); err != nil {
			return err
		}
		name = sqlname.Fold(name)
		switch {
		case kind == "trigger":
			s.triggers = append(s.triggers, trigger{name, sqlname.Fold(table), text})
		case isVirtual(text):
			s.virtual[name] = text
		default:
			s.columns[name], s.numeric[name] = map[string]bool{}, map[string]bool{}
			s.create[name] = text
		}
		return nil
	}, `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE type IN ('table', 'trigger')`)
	if err != nil {
		return nil, classify("read the schema", err)
	}
	// Virtual tables are left out: asking one whose tokenizer is missing for its columns is an error.
	err = c.each(ctx, func(scan scanFunc) error {
		var table, column, declared string
		if err := scan(&table, &column, &declared); err != nil {
			return err
		}
		table, column = sqlname.Fold(table), sqlname.Fold(column)
		if columns, ok := s.columns[table]; ok {
			columns[column], s.numeric[table][column] = true, hasNumericAffinity(declared)
		}
		return nil
	}, `SELECT t.name, c.name, coalesce(c.type, '') FROM sqlite_schema t, pragma_table_xinfo(t.name) c
		WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'`)
	if err != nil {
		return nil, classify("read the columns of the tables", err)
	}
	return s, nil
}

// hasNumericAffinity is SQLite's rule for a column's declared type.
func hasNumericAffinity(declared string) bool {
	if declared == "" {
		return false
	}
	declared = strings.ToUpper(declared)
	names := func(kind string) bool { return strings.Contains(declared, kind) }
	return names("INT") || !slices.ContainsFunc([]string{"CHAR", "CLOB", "TEXT", "BLOB"}, names)
}

func isVirtual(createStatement string) bool {
	words := strings.Fields(strings.ToUpper(createStatement))
	return len(words) > 1 && words[0] == "CREATE" && words[1] == "VIRTUAL"
}

// choosePath is contract 3, rules 2 to 7: the first that applies.
func choosePath(s *schema, agent Agent) (Path, error) {
	chosen, known := s.chosen[agent]
	if !known {
		chosen.path, chosen.refusal = s.choosePath(agent)
		if s.chosen != nil {
			s.chosen[agent] = chosen
		}
	}
	return chosen.path, chosen.refusal
}

func (s *schema) choosePath(agent Agent) (Path, error) {
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
	if s.numeric["sessions"]["id"] {
		return "", unsupported("the store's session ids are no text")
	}
	if err := s.refuseLooseIDs(idColumns); err != nil {
		return "", err
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
		return s.canonical()
	case slices.ContainsFunc(ledgerTables, func(table string) bool { return s.has(table) }):
		return "", unsupported("the store has part of the runtime ledger; missing: %s", strings.Join(missing, ", "))
	}
	return PathLegacy, nil
}

// canonical is the canonical path, for a store that keeps all that it goes by as it was written.
func (s *schema) canonical() (Path, error) {
	for _, columns := range []map[string][]string{idColumns, canonicalIDs} {
		if column := s.keptAsNumber(columns); column != "" {
			return "", unsupported("the store keeps %s as a number where it can", column)
		}
	}
	if err := s.refuseLooseIDs(canonicalIDs); err != nil {
		return "", err
	}
	return PathCanonical, nil
}

func (s *schema) refuseLooseIDs(columns map[string][]string) error {
	if column := s.looselyCompared(columns); column != "" {
		return unsupported("the store compares %s in another way than letter by letter", column)
	}
	return nil
}

// CheckBuild tells in one clear line why this build may not serve at all: without FTS5 or the trigram tokenizer no
// index could be kept in step (contract 2). What is compiled in has both, or it would not have compiled.
func CheckBuild(ctx context.Context) error {
	if builtIn {
		return nil
	}
	return probe(ctx)
}

// probe asks SQLite itself.
func probe(ctx context.Context) error {
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
func SQLiteVersion() string { return sqliteVersion() }

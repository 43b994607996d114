package statedb

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
)

var (
	unnamed = Agent{}
	newer   = Agent{Known: true, CanRetire: true}
	older   = Agent{Known: true}
)

func drop(tables ...string) []string {
	var statements []string
	for _, table := range tables {
		statements = append(statements, "DROP TABLE "+table)
	}
	return statements
}

// pathOf looks at a store of a schema, changed by statements.
func pathOf(t *testing.T, agent Agent, schema string, changes ...string) (Path, error) {
	t.Helper()
	home := newHome(t)
	home.Create(append([]string{schema}, changes...)...)
	s, err := connect(t, home).readSchema(t.Context())
	require.NoError(t, err)
	return choosePath(s, agent)
}

// Contract 3, rules 2 to 7.
func TestChoosePath(t *testing.T) {
	legacy, runtime := fixtures.LegacySchema, fixtures.RuntimeSchema
	for name, test := range map[string]struct {
		schema  string
		changes []string
		agent   Agent
		want    Path
	}{
		"before the ledger":                 {legacy, nil, unnamed, PathLegacy},
		"before the ledger, newer Agent":    {legacy, nil, newer, PathLegacy},
		"before the ledger, older Agent":    {legacy, nil, older, PathLegacy},
		"with the ledger":                   {runtime, nil, unnamed, PathCanonical},
		"with the ledger, newer Agent":      {runtime, nil, newer, PathCanonical},
		"a downgrade":                       {runtime, nil, older, PathLegacy},
		"a downgrade, with half a ledger":   {runtime, drop("worker_receipts"), older, PathLegacy},
		"no ledger, no revision":            {legacy, drop("gateway_routing", "conversation_generations", "state_meta"), unnamed, PathLegacy},
		"the ledger was dropped":            {runtime, drop("session_admissions", "worker_executions", "worker_receipts"), unnamed, PathLegacy},
		"a schema version that we know not": {runtime, []string{"UPDATE schema_version SET version = 99"}, unnamed, PathCanonical},
		"no schema version":                 {runtime, drop("schema_version"), unnamed, PathCanonical},
		"tables that we know not":           {runtime, []string{"CREATE TABLE later (x)", "CREATE VIEW v AS SELECT 1"}, unnamed, PathCanonical},
		"without the indexes":               {runtime, drop("messages_fts", "messages_fts_trigram"), unnamed, PathCanonical},
		"names in another case": {
			strings.NewReplacer("compression_locks", "Compression_Locks", "runtime_revision", "RUNTIME_Revision").Replace(runtime),
			nil, unnamed, PathCanonical,
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := pathOf(t, test.agent, test.schema, test.changes...)
			require.NoError(t, err)
			assert.Equal(t, test.want, path)
		})
	}
}

func TestStoresThatFitNoPath(t *testing.T) {
	rename := func(table, column string) []string {
		return []string{"ALTER TABLE " + table + " RENAME COLUMN " + column + " TO renamed"}
	}
	legacy, runtime := fixtures.LegacySchema, fixtures.RuntimeSchema
	for name, test := range map[string]struct {
		schema  string
		changes []string
		kind    error
		names   string
	}{
		"nothing at all":         {"SELECT 1", nil, ErrUnsupported, "sessions"},
		"no sessions":            {legacy, drop("sessions"), ErrUnsupported, "sessions"},
		"sessions is a view":     {legacy, append(drop("sessions"), "CREATE VIEW sessions AS SELECT 'x' AS id, NULL AS parent_session_id"), ErrUnsupported, "sessions"},
		"no messages":            {legacy, drop("messages"), ErrUnsupported, "messages"},
		"no id":                  {legacy, rename("sessions", "id"), ErrUnsupported, "id"},
		"no parent":              {legacy, rename("sessions", "parent_session_id"), ErrUnsupported, "parent_session_id"},
		"messages of nobody":     {legacy, rename("messages", "session_id"), ErrUnsupported, "messages"},
		"no locks":               {legacy, drop("compression_locks"), ErrGuardsUnavailable, "compression_locks"},
		"no leases":              {runtime, drop("session_turn_leases"), ErrGuardsUnavailable, "session_turn_leases"},
		"neither":                {runtime, drop("session_turn_leases", "compression_locks"), ErrGuardsUnavailable, "compression_locks"},
		"leases of another form": {legacy, rename("session_turn_leases", "conversation_id"), ErrGuardsUnavailable, "session_turn_leases"},
		"no receipts":            {runtime, drop("worker_receipts"), ErrUnsupported, "worker_receipts"},
		"admissions alone":       {runtime, drop("worker_receipts", "worker_executions"), ErrUnsupported, "worker_executions, worker_receipts"},
		"receipts alone":         {runtime, drop("session_admissions", "worker_executions"), ErrUnsupported, "session_admissions, worker_executions"},
		"executions alone":       {runtime, drop("session_admissions", "worker_receipts"), ErrUnsupported, "session_admissions, worker_receipts"},
		"no state_meta":          {runtime, drop("state_meta"), ErrUnsupported, "state_meta"},
		"no routing":             {runtime, drop("gateway_routing"), ErrUnsupported, "gateway_routing"},
		"no generations":         {runtime, drop("conversation_generations"), ErrUnsupported, "conversation_generations"},
		"no revision":            {runtime, rename("sessions", "runtime_revision"), ErrUnsupported, "sessions.runtime_revision"},
		"a ledger table alone":   {legacy, []string{"CREATE TABLE worker_receipts (x)"}, ErrUnsupported, "sessions.runtime_revision"},
	} {
		t.Run(name, func(t *testing.T) {
			agents := []Agent{unnamed, newer}
			// With an older Agent the ledger does not matter; what comes before that rule does.
			if test.kind == ErrGuardsUnavailable || test.schema != runtime && name != "a ledger table alone" {
				agents = append(agents, older)
			}
			for _, agent := range agents {
				path, err := pathOf(t, agent, test.schema, test.changes...)
				requireDetail(t, err, test.kind, test.names)
				assert.Empty(t, path)
			}
		})
	}
}

// runtimeWith is the runtime schema with a column, table.column, declared in another way.
func runtimeWith(column, declaration string) string {
	table, name, _ := strings.Cut(column, ".")
	before, after, _ := strings.Cut(fixtures.RuntimeSchema, "CREATE TABLE "+table+" (")
	at := regexp.MustCompile(`\b` + name + ` TEXT`).FindStringIndex(after)
	return before + "CREATE TABLE " + table + " (" + after[:at[0]] + name + " " + declaration + after[at[1]:]
}

// Whatever what goes is found by has to keep and compare text as it is, on the path that goes by it.
func TestIDsThatAreNoPlainText(t *testing.T) {
	for _, columns := range []map[string][]string{idColumns, canonicalIDs} {
		for table, names := range columns {
			for _, name := range names {
				column := table + "." + name
				loose := runtimeWith(column, "TEXT COLLATE NOCASE")
				_, err := pathOf(t, unnamed, loose)
				requireDetail(t, err, ErrUnsupported, column)
				path, err := pathOf(t, older, loose)
				if _, both := idColumns[table]; both {
					requireDetail(t, err, ErrUnsupported, column)
				} else {
					require.NoError(t, err, column)
					assert.Equal(t, PathLegacy, path)
				}
				says := strings.Replace(column, "sessions.id", "session ids", 1)
				_, err = pathOf(t, unnamed, runtimeWith(column, "INTEGER"))
				requireDetail(t, err, ErrUnsupported, says)
			}
		}
	}
	for declaration, fits := range map[string]bool{
		"TEXT COLLATE BINARY COLLATE [RTRIM]": false, "TEXT NOT NULL\ncollate\n`nocase`": false, `TEXT COLLATE "NoCase"`: false,
		"NUMERIC": false, "real": false, "VARINT": false, "STRING": false, "CHARINT": false,
		"VARCHAR(100)": true, "text collate binary": true, "CLOB": true, "BLOB": true, "": true,
	} {
		path, err := pathOf(t, unnamed, runtimeWith("worker_executions.session_id", declaration))
		if fits {
			require.NoError(t, err, declaration)
			assert.Equal(t, PathCanonical, path)
		} else {
			requireDetail(t, err, ErrUnsupported, "worker_executions.session_id")
		}
	}
	_, err := pathOf(t, unnamed, strings.Replace(fixtures.RuntimeSchema, "(scope, session_key)", "(scope, session_key COLLATE nocase)", 1))
	requireDetail(t, err, ErrUnsupported, "gateway_routing.session_key")
	path, err := pathOf(t, unnamed, runtimeWith("sessions.title", "TEXT COLLATE NOCASE"))
	require.NoError(t, err)
	assert.Equal(t, PathCanonical, path)
}

// The refusal comes from the store as it is inside the transaction, and changes nothing.
func TestPlanRefusesByTheSchema(t *testing.T) {
	home := newStore(t, drop("compression_locks")...)
	tx := begin(t, home)
	_, err := tx.Plan(t.Context(), Request{SessionID: "x"})
	require.ErrorIs(t, err, ErrGuardsUnavailable)
	home = newHome(t)
	home.Create(fixtures.RuntimeSchema)
	tx = begin(t, home)
	_, err = tx.Plan(t.Context(), Request{SessionID: "x", Circumstances: Circumstances{Agent: older}})
	require.NoError(t, err)
}

func TestLookAtAgent(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hermes_state.py"), nil, 0o600))
	agent, err := LookAtAgent(dir)
	require.NoError(t, err)
	assert.Equal(t, older, agent)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "Hermes_state_mutation_retirement.py"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "hermes_state_mutation_retirement.py"), nil, 0o600))
	agent, err = LookAtAgent(dir)
	require.NoError(t, err)
	assert.Equal(t, older, agent, "the very name, in the very folder")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "hermes_state_mutation_retirement.py"), nil, 0o600))
	agent, err = LookAtAgent(dir)
	require.NoError(t, err)
	assert.Equal(t, newer, agent)

	agent, err = LookAtAgent("")
	require.NoError(t, err)
	assert.Equal(t, unnamed, agent)
}

// A folder that cannot be listed is never taken for an old Agent.
func TestAgentThatCannotBeListed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{filepath.Join(dir, "missing"), file, dir + "\x00"} {
		agent, err := LookAtAgent(path)
		require.Error(t, err, path)
		assert.Equal(t, unnamed, agent)
		var failure *Error
		require.ErrorAs(t, err, &failure)
		require.Error(t, failure.Cause)
	}
}

func TestTheBuildIsComplete(t *testing.T) {
	require.NoError(t, CheckBuild(t.Context()))
	version := SQLiteVersion()
	assert.Regexp(t, `^3\.\d+\.\d+$`, version)
}

package deletion_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// TestRestoredValuesAreExact holds every kind of value that SQLite can store, in columns of every kind, against what was there before.
func TestRestoredValuesAreExact(t *testing.T) {
	for _, schema := range []string{fixtures.LegacySchema, fixtures.RuntimeSchema} {
		home := sidecartest.NewHome(t)
		home.Create(schema, `ALTER TABLE messages ADD COLUMN untyped; ALTER TABLE messages ADD COLUMN boolean BOOLEAN;
			ALTER TABLE messages ADD COLUMN at DATETIME; ALTER TABLE messages ADD COLUMN price NUMERIC; ALTER TABLE messages ADD COLUMN raw BLOB`,
			`INSERT INTO sessions (id, source, started_at) VALUES ('P', 'cli', 1)`)
		values := []string{
			"NULL", "''", "X''", "X'00ff'", "'a' || char(0) || 'b'", "CAST(X'ff41' AS TEXT)", "9e999", "-9e999", "9223372036854775807", "-9223372036854775808",
			"0.1", "-0.0", "1e300", "5e-324", "3.0", "'3.0'", "'9223372036854775808'", "'text'", "char(0x2028) || '<&>' || char(0x1f600)", "true", "'2026-01-02 03:04:05'",
		}
		for i, value := range values {
			home.Exec(fmt.Sprintf(`INSERT INTO messages (session_id, role, content, timestamp, active, tool_calls, untyped, boolean, at, price, raw)
				VALUES ('P', 'user', %[2]s, %[1]d.5, coalesce(%[2]s, 1), 'zarquon', %[2]s, %[2]s, %[2]s, %[2]s, %[2]s)`, i, value))
		}
		const exact = `SELECT timestamp, typeof(content), quote(content), typeof(active), quote(active), typeof(untyped), quote(untyped), typeof(boolean),
			quote(boolean), typeof(at), quote(at), typeof(price), quote(price), typeof(raw), quote(raw), hex(content) FROM messages ORDER BY id`
		before := home.Query(exact)
		p := sidecartest.Start(t, sidecartest.Plain)
		p.Handshake()
		result := p.Delete(home, "P", map[string]any{"keep_days": 1})
		require.True(t, result.OK, result.Detail)
		require.Empty(t, home.Query(exact))
		_, why := restored(t, p, home, entriesOf(t, p, home)["P"])
		require.Empty(t, why)
		after := home.Query(exact)
		require.Len(t, after, len(values))
		for i := range values {
			assert.Equal(t, before[i], after[i], values[i])
		}
		home.RequireSound()
	}
}

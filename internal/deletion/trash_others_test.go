package deletion_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

const keptSession = `INSERT INTO sessions (id, source, started_at) VALUES ('P', 'cli', 1);
	INSERT INTO messages (session_id, role, content, timestamp) VALUES ('P', 'user', 'zarquon', 1)`

// TestWhatAnotherProcessLeftInTheTrash has one process at work in a home, and another that crashes in a kept delete there, or in a
// restore. What the first one deletes then for good is not to be found in what the other left.
func TestWhatAnotherProcessLeftInTheTrash(t *testing.T) {
	for _, schema := range []string{fixtures.LegacySchema, fixtures.RuntimeSchema} {
		for _, point := range []faultpoint.Point{faultpoint.TrashDurable, faultpoint.BeforeCommit, faultpoint.RestoreDone} {
			home := sidecartest.NewHome(t)
			home.Create(schema, keptSession)
			p := sidecartest.Start(t, sidecartest.Plain)
			p.Handshake()
			require.True(t, p.Delete(home, "absent").OK, "it has looked at the home")

			other := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env("SIDECAR_FAULT_KILL="+string(point)))
			other.Handshake()
			kept := map[string]any{"profile_home": home.Path, "session_id": "P", "keep_days": 30}
			if point == faultpoint.RestoreDone {
				require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 30}).OK)
				other.Request(1, "trash.restore", map[string]any{"profile_home": home.Path, "operation_id": entriesOf(t, p, home)["P"]})
			} else {
				other.Request(1, "state_db.delete_cli_session", kept)
			}
			require.Equal(t, -1, other.Wait(), "it was not killed: %s", other.Stderr())
			require.Len(t, trashFiles(t, home), 1)

			ids := home.Query("SELECT id FROM sessions")
			require.Len(t, ids, 1)
			require.True(t, p.Delete(home, ids[0]).OK)
			assert.Empty(t, trashFiles(t, home), "%s: it was deleted for good", point)
			assert.Empty(t, entriesOf(t, p, home))
		}
	}
}

// TestAnIdThatNoEntryCanSpell is not deleted by who wants to take it back.
func TestAnIdThatNoEntryCanSpell(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, keptSession, `INSERT INTO sessions (id, source, started_at, parent_session_id, model_config)
		VALUES (CAST(X'64ff65' AS TEXT), 'cli', 2, 'P', '{"_delegate_from": "P"}')`)
	before := home.Tables()
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	result := p.Delete(home, "P", map[string]any{"keep_days": 30})
	assert.Equal(t, "io_error", result.Reason)
	assert.Contains(t, result.Detail, `the id "d\xffe" cannot be kept`)
	assert.Equal(t, before, home.Tables())
	assert.Empty(t, trashFiles(t, home))
	assert.Len(t, p.Delete(home, "P").DeletedIDs, 2, "without that wish it is")
}

// TestAKeptDeleteWhoseReceiptIsForgotten stays in the trash where an Agent has made a session of that id anew: nothing says any more
// that it never happened.
func TestAKeptDeleteWhoseReceiptIsForgotten(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, keptSession)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 30}).OK)
	operation := entriesOf(t, p, home)["P"]
	p.Request(1, "receipts.forget", map[string]any{"profile_home": home.Path, "through_sequence": 1})
	require.JSONEq(t, `{"removed":1}`, string(p.Reply().Result))
	home.Exec(`INSERT INTO sessions (id, source, started_at) VALUES ('P', 'cli', 9)`)
	again := sidecartest.Start(t, sidecartest.Plain)
	again.Handshake()
	require.True(t, again.Delete(home, "absent").OK)
	ids, why := restored(t, again, home, operation)
	require.Empty(t, why)
	assert.Contains(t, ids, "P")
}

// TestADeleteOfAnIdThatIsNotBackYet leaves the entry alone from which a session of that id comes, and does not bar its way.
func TestADeleteOfAnIdThatIsNotBackYet(t *testing.T) {
	for _, schema := range []string{fixtures.LegacySchema, fixtures.RuntimeSchema} {
		home := sidecartest.NewHome(t)
		home.Create(schema, keptSession, `INSERT INTO sessions (id, source, started_at) VALUES ('Q', 'cli', 1)`)
		p := sidecartest.Start(t, sidecartest.Plain)
		p.Handshake()
		require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 30}).OK)
		operation := entriesOf(t, p, home)["P"]
		sum := sha256.Sum256([]byte(operation + "\x00P"))
		later := "restored-" + hex.EncodeToString(sum[:8])
		home.Exec(`UPDATE sessions SET model_config = '{"_delegate_from": "` + later + `"}' WHERE id = 'Q'`)
		require.Equal(t, []string{later, "Q"}, p.Delete(home, later).DeletedIDs)
		require.True(t, p.Delete(home, later).OK)
		require.Equal(t, map[string]string{"P": operation}, entriesOf(t, p, home))
		ids, why := restored(t, p, home, operation)
		require.Empty(t, why)
		assert.Equal(t, map[string]string{"P": later}, ids)
		require.True(t, p.Delete(home, later).OK)
		home.RequireSound()
	}
}

// TestAnAgentThatDeletesWhatCameBack: where the entry was left by a crash, the tombstone tells that it came back.
func TestAnAgentThatDeletesWhatCameBack(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, keptSession)
	p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env("SIDECAR_FAULT_KILL=restore_done"))
	p.Handshake()
	require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 30}).OK)
	operation := entriesOf(t, p, home)["P"]
	p.Request(1, "trash.restore", map[string]any{"profile_home": home.Path, "operation_id": operation})
	require.Equal(t, -1, p.Wait(), "it was not killed: %s", p.Stderr())
	require.Len(t, trashFiles(t, home), 1)
	home.Exec(`INSERT INTO state_meta SELECT 'gateway.retired_session.v1.' || id, '{"own":true,"retired_at":1.5}' FROM sessions;
		DELETE FROM messages; DELETE FROM sessions`)
	p = sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	_, why := restored(t, p, home, operation)
	assert.Equal(t, "not_found", why)
	assert.Empty(t, trashFiles(t, home))
	assert.Equal(t, []string{"0"}, home.Query("SELECT count(*) FROM sessions"))
}

// TestAPlainDeleteNeedsNoTrash, not even of what came back from one.
func TestAPlainDeleteNeedsNoTrash(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('restored-0123456789abcdef', 'cli', 1)`)
	home.Write("trash", "no folder")
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	result := p.Delete(home, "restored-0123456789abcdef")
	require.True(t, result.OK, result.Detail)
	assert.Equal(t, []string{"restored-0123456789abcdef"}, result.DeletedIDs)
}

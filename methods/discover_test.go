package methods

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/rpc"
)

// discovered is what a host reads of the discovery document.
type discovered struct {
	OpenRPC string `json:"openrpc"`
	Info    struct{ Title, Version string }
	Methods []describedMethod
	Reasons map[Reason]Meaning `json:"x-reasons"`

	Notifications []struct {
		Name, Summary string
		Params        *jsonschema.Schema
	} `json:"x-notifications"`
}

type describedMethod struct {
	Name           string
	Summary        string
	ParamStructure string `json:"paramStructure"`
	Params         []struct {
		Name     string
		Required bool
		Schema   *jsonschema.Schema
	}
	Result struct {
		Name   string
		Schema *jsonschema.Schema
	}
	Errors []struct {
		Code    int
		Message string
		Data    struct{ Condition string }
	}
	ParamsSchema *jsonschema.Schema `json:"x-params-schema"`
	Reasons      []Reason           `json:"x-reasons"`
	Streams      []describedEvent   `json:"x-streams"`
}

type describedEvent struct {
	Name        string
	Description string
	Schema      *jsonschema.Schema
}

func discover(t *testing.T) discovered {
	t.Helper()
	r, _ := newRegistry()
	text, err := call(t, r, "rpc.discover", "")
	require.NoError(t, err)
	var document discovered
	require.NoError(t, json.Unmarshal(text, &document))
	return document
}

// described is one method of the document.
func described(t *testing.T, name string) describedMethod {
	t.Helper()
	methods := discover(t).Methods
	i := slices.IndexFunc(methods, func(m describedMethod) bool { return m.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return methods[i]
}

// tells are all reasons and conditions that a method's description names.
func (m describedMethod) tells() []Reason {
	reasons := slices.Clone(m.Reasons)
	for _, e := range m.Errors {
		reasons = append(reasons, Reason(e.Data.Condition))
	}
	return reasons
}

func TestDiscoveryNamesEveryMethod(t *testing.T) {
	r, _ := newRegistry()
	text, err := call(t, r, "rpc.methods", "{}")
	require.NoError(t, err)
	var list methodsResult
	require.NoError(t, json.Unmarshal(text, &list))
	assert.True(t, slices.IsSorted(list.Methods))
	assert.Subset(t, list.Methods, []string{
		"rpc.methods", "rpc.discover", "rpc.cancel", "runtime.handshake", "runtime.status", "runtime.shutdown", "state_db.delete_cli_session",
	})
	var names []string
	document := discover(t)
	for _, m := range document.Methods {
		names = append(names, m.Name)
	}
	assert.Equal(t, list.Methods, names)
	assert.Regexp(t, `^1\.`, document.OpenRPC)
	assert.NotEmpty(t, document.Info.Title)
	assert.NotEmpty(t, document.Info.Version)
}

func TestDiscoveryDescribesEveryMethod(t *testing.T) {
	for _, m := range discover(t).Methods {
		t.Run(m.Name, func(t *testing.T) {
			assert.NotEmpty(t, m.Summary)
			assert.Equal(t, "by-name", m.ParamStructure)
			require.NotNil(t, m.ParamsSchema)
			assert.Equal(t, "object", m.ParamsSchema.Type)
			_, err := m.ParamsSchema.Resolve(nil)
			require.NoError(t, err)
			require.NotNil(t, m.Result.Schema)
			assert.Equal(t, "object", m.Result.Schema.Type)
			_, err = m.Result.Schema.Resolve(nil)
			require.NoError(t, err)
			assert.NotEmpty(t, m.Result.Name)
			assert.NotNil(t, m.Params, "a list, also of none")
			assert.Len(t, m.Params, len(m.ParamsSchema.Properties))
			for _, p := range m.Params {
				require.NotNil(t, p.Schema, p.Name)
				assert.Contains(t, m.ParamsSchema.Properties, p.Name)
				assert.Equal(t, slices.Contains(m.ParamsSchema.Required, p.Name), p.Required, p.Name)
			}
			assert.NotNil(t, m.Streams)

			assert.True(t, slices.IsSorted(m.Reasons))
			assert.Len(t, slices.Compact(slices.Clone(m.Reasons)), len(m.Reasons), "each once")
			assert.Subset(t, m.Reasons, []Reason{ConditionBusy, ConditionCancelled, ConditionShuttingDown})
			assert.Equal(t, NeedsHandshake(m.Name), slices.Contains(m.Reasons, ConditionHandshakeRequired))
			var conditions []Reason
			for _, e := range m.Errors {
				assert.NotEmpty(t, e.Message)
				if e.Data.Condition == "" {
					assert.Contains(t, []int{rpc.CodeInvalidParams, rpc.CodeInternal}, e.Code)
					continue
				}
				conditions = append(conditions, Reason(e.Data.Condition))
				want := rpc.CodeApplication
				if e.Data.Condition == rpc.ConditionCancelled {
					want = rpc.CodeCancelled
				}
				assert.Equal(t, want, e.Code, e.Data.Condition)
			}
			if strings.Contains(m.Name, "delete") {
				// These refuse in their result (contract 1.10).
				assert.Equal(t, []Reason{ConditionCancelled, ConditionHandshakeRequired, ConditionShuttingDown, ConditionBusy}, conditions)
			} else {
				assert.Equal(t, m.Reasons, conditions)
			}
			for _, reason := range m.Reasons {
				assert.Contains(t, Meanings, reason)
			}
		})
	}
}

func TestDiscoveryDescribesEveryNotification(t *testing.T) {
	var names []string
	for _, n := range discover(t).Notifications {
		names = append(names, n.Name)
		assert.NotEmpty(t, n.Summary)
		require.NotNil(t, n.Params)
		assert.Equal(t, "object", n.Params.Type)
		assert.NotEmpty(t, n.Params.Required)
		_, err := n.Params.Resolve(nil)
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"cleanup.changed", "receipts.committed"}, names)
}

func TestParamsOfTheDelete(t *testing.T) {
	m := described(t, "state_db.delete_cli_session")
	required := map[string]bool{}
	for _, p := range m.Params {
		required[p.Name] = p.Required
	}
	assert.Equal(t, map[string]bool{
		"profile_home": true, "session_id": true, "include_compression_lineage": false, "whole_conversation": false,
		"expected_ids": false, "purge_index": false, "keep_days": false,
	}, required)
	assert.Nil(t, m.ParamsSchema.AdditionalProperties, "older hosts may send more")
	assert.Equal(t, []string{"ok"}, m.Result.Schema.Required)
}

// notOfADelete are the reasons that a delete never has, with the methods whose they are (contract 5d). The two of
// session_fence are codes inside its result, and no condition.
var notOfADelete = map[Reason]string{
	"conversation_incomplete": "state_db.sweep_sessions",
	"generations_exhausted":   "state_db.first_generation",
	"receipts_schema_missing": "receipts.list",
	"cursor_invalid":          "receipts.forget",
	"not_found":               "trash.purge",
	"trash_damaged":           "trash.restore",
	"session_exists":          "",
	"session_deleted":         "",
}

func TestReasonsOfTheDelete(t *testing.T) {
	m := described(t, "state_db.delete_cli_session")
	assert.Subset(t, declaredReasons(t, "Reason"), slices.Collect(maps.Keys(notOfADelete)))
	for _, reason := range declaredReasons(t, "Reason") {
		owner, other := notOfADelete[reason]
		switch {
		case !other:
			assert.Contains(t, m.Reasons, reason)
		case owner != "":
			assert.Contains(t, described(t, owner).tells(), reason)
			fallthrough
		default:
			assert.NotContains(t, m.tells(), reason)
		}
	}
}

// declaredReasons reads reasons.go for its constants whose names begin so.
func declaredReasons(t *testing.T, prefix string) []Reason {
	t.Helper()
	borrowed := map[string]string{
		"ConditionBusy": rpc.ConditionBusy, "ConditionCancelled": rpc.ConditionCancelled, "ConditionShuttingDown": rpc.ConditionShuttingDown,
	}
	file, err := parser.ParseFile(token.NewFileSet(), "reasons.go", nil, 0)
	require.NoError(t, err)
	var found []Reason
	ast.Inspect(file, func(node ast.Node) bool {
		constant, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(constant.Names[0].Name, prefix) {
			return true
		}
		switch value := constant.Values[0].(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(value.Value)
			require.NoError(t, err)
			found = append(found, Reason(text))
		case *ast.SelectorExpr:
			require.Contains(t, borrowed, value.Sel.Name)
			found = append(found, Reason(borrowed[value.Sel.Name]))
		}
		return true
	})
	return found
}

// Hosts need no table of their own: every word has its meaning, and no meaning is without its word.
func TestEveryReasonHasItsMeaning(t *testing.T) {
	declared := slices.Concat(declaredReasons(t, "Reason"), declaredReasons(t, "Condition"))
	require.Greater(t, len(declared), 15)
	sentences := map[string]bool{}
	meanings := discover(t).Reasons
	assert.Len(t, meanings, len(declared))
	for _, reason := range declared {
		assert.Regexp(t, `^[a-z_]+$`, string(reason))
		meaning, ok := meanings[reason]
		require.True(t, ok, reason)
		assert.Equal(t, Meanings[reason], meaning)
		assert.Regexp(t, `^[A-Z][^\n]+\.$`, meaning.Sentence, reason)
		assert.False(t, sentences[meaning.Sentence], "said twice: %s", meaning.Sentence)
		sentences[meaning.Sentence] = true
		assert.Regexp(t, `^[^\n]+[^.\n]$`, meaning.Description, reason)
	}
}

// What the methods of the trash share with a delete must be true of a restore as well.
func TestSentencesOfTheTrash(t *testing.T) {
	for _, reason := range slices.Concat(trashReasons, restoreReasons, purgeReasons, []Reason{ConditionCancelled, ConditionBusy}) {
		assert.NotRegexp(t, `nothing was deleted|deleted from|is deleting`, Meanings[reason].Sentence, reason)
	}
}

// The words of contract 4 and 1 are fixed by the hosts that know them.
func TestWordsOnTheWire(t *testing.T) {
	for _, word := range []Reason{
		"active_turn", "runtime_history_unsupported", "store_missing", "store_unsupported", "store_busy", "store_corrupt",
		"write_guard_unavailable", "lineage_ambiguous", "fts_unavailable", "manifest_failed", "cleanup_pending", "lock_timeout",
		"io_error", "handshake_required", "already_handshaken", "sidecar_rpc_version_mismatch", "sidecar_busy", "cancelled",
	} {
		assert.Contains(t, Meanings, word)
	}
	for reason, retryable := range map[Reason]bool{
		ReasonActiveTurn: true, ReasonStoreBusy: true, ReasonLockTimeout: true, ConditionBusy: true, ReasonCleanupPending: true,
		ReasonRuntimeHistory: false, ReasonStoreMissing: false, ReasonStoreUnsupported: false, ReasonStoreCorrupt: false,
		ReasonWriteGuardUnavailable: false, ReasonFTSUnavailable: false, ConditionVersionMismatch: false,
	} {
		assert.Equal(t, retryable, Meanings[reason].Retryable, reason)
	}
}

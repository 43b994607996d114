package sidecartest

import (
	"encoding/json"
	"maps"

	"github.com/stretchr/testify/require"
)

// DeleteResult is the answer to a delete.
type DeleteResult struct {
	OK         bool     `json:"ok"`
	DeletedIDs []string `json:"deleted_ids"`
	Refused    string   `json:"refused"`
	Reason     string   `json:"reason"`
	Detail     string   `json:"detail"`
	Path       string   `json:"path"`
	Existed    *bool    `json:"existed"`
	Guard      *struct {
		SessionID string  `json:"session_id"`
		Kind      string  `json:"kind"`
		Holder    string  `json:"holder"`
		ExpiresAt float64 `json:"expires_at"`
	} `json:"guard"`
	Cleanup *struct {
		Complete bool `json:"complete"`
		Pending  []struct {
			SessionID string `json:"session_id"`
			Cause     string `json:"cause"`
		} `json:"pending"`
		Unreadable []string `json:"unreadable"`
	} `json:"cleanup"`
	Receipt    string `json:"receipt"`
	LeftBehind []struct {
		Kind  string `json:"kind"`
		Count int    `json:"count"`
	} `json:"left_behind"`
	FTSStale []string `json:"fts_stale"`
	Erase    *struct {
		Pages   string `json:"pages"`
		Indexes string `json:"indexes"`
		WAL     string `json:"wal"`
	} `json:"erase"`
}

// Delete makes one delete and waits for its answer. more are further parameters.
func (p *Process) Delete(home *Home, id string, more ...map[string]any) DeleteResult {
	p.t.Helper()
	params := map[string]any{"profile_home": home.Path, "session_id": id}
	for _, m := range more {
		maps.Copy(params, m)
	}
	p.Request("delete", "state_db.delete_cli_session", params)
	reply := p.Answer()
	require.Nil(p.t, reply.Error, "delete of %s: %s", id, p.stderr)
	var result DeleteResult
	require.NoError(p.t, json.Unmarshal(reply.Result, &result))
	return result
}

package methods

import (
	"context"

	"session-sidecar/statedb"
)

type featuresResult struct {
	Path          statedb.Path    `json:"path,omitempty" jsonschema:"legacy or canonical: the path that a delete would take now; absent where none applies"`
	Reason        Reason          `json:"reason,omitempty" jsonschema:"why no path applies"`
	Detail        string          `json:"detail,omitempty" jsonschema:"the reason as one line for a human"`
	SchemaVersion *int64          `json:"schema_version,omitempty" jsonschema:"what the store says of itself; absent where it does not"`
	Tables        map[string]bool `json:"tables" jsonschema:"the tables that matter to this program: whether they are there"`
	Guards        bool            `json:"guards" jsonschema:"whether a running turn can be seen"`
	FTS           []indexInfo     `json:"fts" jsonschema:"the full-text indexes"`
	Receipts      bool            `json:"receipts" jsonschema:"whether there is a table of deletion receipts"`
	JournalMode   string          `json:"journal_mode" jsonschema:"wal, for a store that an Agent uses"`
	Bytes         int64           `json:"bytes" jsonschema:"the size of state.db"`
	WALBytes      int64           `json:"wal_bytes" jsonschema:"the size of its write-ahead log; 0 where there is none"`
	Sessions      *int64          `json:"sessions,omitempty" jsonschema:"how many sessions are in it; absent without such a table"`
	Missing       []string        `json:"missing" jsonschema:"what the choice of the path looks for and does not find, as table or table.column"`
}

type indexInfo struct {
	Name      string `json:"name" jsonschema:"of its table"`
	Tokenizer string `json:"tokenizer" jsonschema:"what it takes words apart with, and how"`
	Usable    bool   `json:"usable" jsonschema:"whether this build can read and write it"`
}

func registerFeatures(r *Registry, s *service) {
	register(r, spec[homeParams, featuresResult]{
		name:    "state_db.features",
		summary: "Tells what a store is and has, and which path a delete would take.",
		reasons: storeReasonsAnd(ReasonWriteGuardUnavailable),
		call:    s.features,
	})
}

// features is contract 5d.
func (s *service) features(ctx context.Context, p homeParams) (featuresResult, error) {
	store, agent, err := s.storeAndAgent(p.ProfileHome)
	if err != nil {
		return featuresResult{}, err
	}
	report, err := statedb.Features(ctx, store, agent)
	if err != nil {
		return featuresResult{}, err
	}
	result := featuresResult{
		Path: report.Path, SchemaVersion: report.SchemaVersion, Tables: report.Tables, Guards: report.Guards,
		FTS: []indexInfo{}, Receipts: report.Receipts, JournalMode: report.JournalMode, Bytes: report.Bytes,
		WALBytes: report.WALBytes, Sessions: report.Sessions, Missing: nonNil(report.Missing),
	}
	for _, index := range report.Indexes {
		result.FTS = append(result.FTS, indexInfo(index))
	}
	if report.PathError != nil {
		result.Reason, _ = reasonOf(report.PathError)
		result.Detail = detailOf(report.PathError)
	}
	return result, nil
}

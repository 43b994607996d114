package methods

import (
	"context"
	"errors"
	"path/filepath"

	"session-sidecar/internal/deletion"
)

type exportParams struct {
	deleteOptions
	SessionID SessionID `json:"session_id" jsonschema:"the session to write out, with all that a delete of it would remove"`
	To        string    `json:"to" jsonschema:"the absolute path of the new file; one that is taken is never overwritten"`
}

type exportResult struct {
	Path  string         `json:"path" jsonschema:"the file that was made, as the call named it"`
	Bytes int64          `json:"bytes" jsonschema:"its size"`
	IDs   []string       `json:"ids" jsonschema:"the sessions in it, in the order of deleted_ids"`
	Rows  map[string]int `json:"rows" jsonschema:"by table, how many rows are in it"`
}

// exportReasons are all that an export may answer. What refuses a delete whose set is known is none of them.
var exportReasons = storeReasonsAnd(ReasonWriteGuardUnavailable, ReasonReceiptInvalid, ReasonLineageAmbiguous)

func registerExport(r *Registry, s *service) {
	register(r, spec[exportParams, exportResult]{
		name:    "state_db.export_conversation",
		summary: "Writes the rows that a delete would remove to a new file, as one JSON document, and changes nothing.",
		reasons: exportReasons, call: s.exportConversation,
	})
}

// exportConversation is contract 5d.
func (s *service) exportConversation(ctx context.Context, p exportParams) (exportResult, error) {
	if !filepath.IsAbs(p.To) {
		return exportResult{}, invalidParams("the field %q must be an absolute path", "to")
	}
	export, err := s.deleter.Export(ctx, s.request(deleteParams{deleteOptions: p.deleteOptions, SessionID: p.SessionID}), p.To)
	if errors.Is(err, deletion.ErrUnsafeTarget) {
		return exportResult{}, invalidParams("the field %q names a place that the home uses itself", "to")
	}
	if err != nil {
		return exportResult{}, err
	}
	s.log.Info("export", "home", string(p.ProfileHome), "session", string(p.SessionID),
		"ids", firstOf(export.IDs), "id_count", len(export.IDs), "bytes", export.Bytes)
	return exportResult{Path: export.Path, Bytes: export.Bytes, IDs: export.IDs, Rows: export.Rows}, nil
}

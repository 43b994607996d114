package methods

import (
	"context"

	"session-sidecar/internal/deletion"
	"session-sidecar/statedb"
)

// previewResult is what a delete would do (contract 5d). Its lists are always there.
type previewResult struct {
	Path       statedb.Path     `json:"path,omitempty" jsonschema:"legacy; or canonical, where the store has the runtime ledger"`
	Existed    *bool            `json:"existed,omitempty" jsonschema:"whether the requested row is there"`
	IDs        []targetInfo     `json:"ids" jsonschema:"what would go, in the order of deleted_ids"`
	Kept       []keptInfo       `json:"kept" jsonschema:"what hangs on those and stays as a conversation of its own"`
	Artifacts  []artifactInfo   `json:"artifacts" jsonschema:"files in sessions/ that would go"`
	Guards     []guardInfo      `json:"guards" jsonschema:"live guards, each of which would refuse the delete"`
	Media      []mediaInfo      `json:"media" jsonschema:"canonical path: files that the rows name and that would go after them, unless a row that stays names them too"`
	Retained   []leftBehindInfo `json:"retained" jsonschema:"what the canonical path would keep on purpose, such as the answers to settled requests"`
	LeftBehind []leftBehindInfo `json:"left_behind" jsonschema:"what the path would not remove though it concerned the session"`
	FTSStale   []string         `json:"fts_stale,omitempty" jsonschema:"full-text indexes that the Agent would have to rebuild"`
	Trash      *trashEstimate   `json:"trash,omitempty" jsonschema:"with keep_days: what would be kept"`
	Reason     Reason           `json:"reason,omitempty" jsonschema:"why a delete would be refused; absent where it would not"`
	Detail     string           `json:"detail,omitempty" jsonschema:"the reason as one line of at most 500 characters"`
}

type trashEstimate struct {
	Bytes int64 `json:"bytes" jsonschema:"about how large the entry in the trash would be"`
}

type targetInfo struct {
	ID           string      `json:"id" jsonschema:"the session's id"`
	Why          statedb.Why `json:"why" jsonschema:"requested; compression: a segment of the same conversation; delegate: it worked for one of them; lineage: a member of the same local conversation"`
	Title        string      `json:"title,omitempty" jsonschema:"absent where it has none"`
	MessageCount int         `json:"message_count" jsonschema:"how many messages are in it"`
}

type keptInfo struct {
	ID  string          `json:"id" jsonschema:"the session's id"`
	Why statedb.KeptWhy `json:"why" jsonschema:"branch, continuation, reset, after_branch, delegate_of_compressed, not_a_delegate, or below_kept: it hangs on one that stays"`
}

type artifactInfo struct {
	Name  string `json:"name" jsonschema:"its name in sessions/"`
	Bytes int64  `json:"bytes" jsonschema:"its size"`
}

type mediaInfo struct {
	Path string `json:"path" jsonschema:"where it is"`
}

func registerPreview(r *Registry, s *service) {
	register(r, spec[deleteParams, previewResult]{
		name: "state_db.preview_delete", summary: "Tells what state_db.delete_cli_session would do with the same parameters, and changes nothing.",
		refusesInside: true, reasons: deleteReasons, call: s.previewDelete,
	})
}

// previewDelete is contract 5d. It refuses inside its result, as the delete would.
func (s *service) previewDelete(ctx context.Context, p deleteParams) (previewResult, error) {
	preview, err := s.deleter.Preview(ctx, s.request(p))
	if err == nil {
		return previewOf(preview), nil
	}
	refusal, known := refusalOf(err)
	if !known || isCancel(ctx, err) {
		return previewResult{}, err
	}
	result := emptyPreview()
	result.Path, result.Reason, result.Detail = refusal.Path, refusal.Reason, refusal.Detail
	return result, nil
}

func emptyPreview() previewResult {
	return previewResult{
		IDs: []targetInfo{}, Kept: []keptInfo{}, Artifacts: []artifactInfo{}, Guards: []guardInfo{}, Media: []mediaInfo{},
		Retained: []leftBehindInfo{}, LeftBehind: []leftBehindInfo{},
	}
}

func previewOf(p *deletion.Preview) previewResult {
	result := emptyPreview()
	result.Path, result.Existed, result.FTSStale = p.Plan.Path, &p.Plan.Existed, p.Plan.StaleIndexes
	for _, t := range p.Plan.Targets {
		result.IDs = append(result.IDs, targetInfo(t))
	}
	for _, k := range p.Plan.Kept {
		result.Kept = append(result.Kept, keptInfo(k))
	}
	for _, a := range p.Artifacts {
		result.Artifacts = append(result.Artifacts, artifactInfo(a))
	}
	for _, g := range p.Plan.Guards {
		result.Guards = append(result.Guards, guardOf(g))
	}
	result.Retained = nonNil(leftBehindInfos(p.Plan.Retained))
	result.LeftBehind = nonNil(leftBehindInfos(p.Plan.LeftBehind))
	for _, m := range p.Plan.Media {
		result.Media = append(result.Media, mediaInfo{m.Path})
	}
	if p.TrashBytes != nil {
		result.Trash = &trashEstimate{*p.TrashBytes}
	}
	if why := p.Refusal(); why != nil {
		refusal, _ := refusalOf(why)
		result.Reason, result.Detail = refusal.Reason, refusal.Detail
	}
	return result
}

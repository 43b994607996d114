package properties

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// now stands for a time of retirement.
const now = "NOW"

func identityKey(a row) string {
	return "gateway.terminal_identity.v1." + fingerprint(textOf(a, "target_session_id"),
		map[string]any{"principal": a["principal_id"], "request": a["request_id"]})
}

func (m *model) retirable(ids []string) bool {
	for _, a := range m.admissions(ids) {
		if objectOf(a["payload_json"]) == nil || m.has(identityKey(a)) || m.has("gateway.terminal_admission.v1."+textOf(a, "admission_id")) {
			return false
		}
	}
	return !slices.ContainsFunc(m.workers(ids), func(w row) bool { return m.has("gateway.terminal_worker.v1." + textOf(w, "execution_id")) })
}

// after is what contract 5b.4 leaves of the store when the ids are retired. expires tells whose tombstone a sweep may reclaim.
func (m *model) after(ids []string, expires func(id string) bool) tables {
	meta := maps.Clone(m.meta)
	put := func(key string, value any) { meta[key] = jsonOf(value) }
	for _, a := range m.admissions(ids) {
		for path, media := range mediaIn(a) {
			if key := "gateway.media.retired.v1." + sha(path); !m.has(key) {
				put(key, media)
			}
		}
		resultKey := "gateway.admission.result.v1." + textOf(a, "admission_id")
		stored := objectOf(meta[resultKey])
		if result, ok := stored["result"].(map[string]any); ok {
			result["messages"] = []any{}
			for _, talk := range []string{"last_reasoning", "tools", "_turn_user_row"} {
				delete(result, talk)
			}
			put(resultKey, stored)
		} else {
			delete(meta, resultKey)
		}
		retired := maps.Clone(a)
		retired["payload_json"], retired["lineage_json"], retired["retired_at"] = "{}", "[]", now
		put("gateway.terminal_admission.v1."+textOf(a, "admission_id"), retired)
		put(identityKey(a), a["admission_id"])
	}
	for _, w := range m.workers(ids) {
		put("gateway.terminal_worker.v1."+textOf(w, "execution_id"), m.retiredWorker(w))
	}
	for key, value := range m.meta {
		if strings.HasPrefix(key, "gateway.mutation.v1.") {
			if object := objectOf(value); namedBy(object, ids) {
				result := object["result"].(map[string]any)
				for _, said := range []string{"target_message", "summary", "title"} {
					if _, there := result[said]; there {
						result[said] = nil
					}
				}
				put(key, object)
			}
		}
	}
	for _, id := range ids {
		key := "gateway.retired_session.v1." + id
		if older, there := m.meta[key]; !there || !expires(id) || tombstoneExpires(older) {
			put(key, tombstoneOver(older, there, expires(id)))
		}
	}
	for key, value := range m.meta {
		if leadsTo(key, value, ids) {
			delete(meta, key)
		}
	}
	return m.without(ids, meta)
}

func (m *model) retiredWorker(w row) row {
	end := fingerprint(textOf(w, "session_id"), map[string]any{"operation": "execution.finish", "payload": map[string]any{}})
	receipts := m.of("worker_receipts", "execution_id", []string{textOf(w, "execution_id")})
	slices.SortFunc(receipts, func(a, b row) int { return int(a["sequence"].(int64) - b["sequence"].(int64)) })
	kept := []any{}
	for _, r := range receipts {
		result := r["result_json"]
		if r["payload_digest"] != end {
			result = nil
		}
		kept = append(kept, row{"sequence": r["sequence"], "payload_digest": r["payload_digest"], "result_json": result})
	}
	retired := maps.Clone(w)
	retired["receipts"], retired["retired_at"] = kept, now
	return retired
}

var hostedFile = regexp.MustCompile(`^\[Shared attachment\] file: (/(?:.*/)?native-inputs/([0-9a-f]{64})/[^/]+)$`)

// mediaIn is the media of an admission, by its path.
func mediaIn(admission row) map[string]any {
	found := map[string]any{}
	payload := objectOf(admission["payload_json"])
	for _, place := range []string{"attachments_v1", "native_text_v1", "api_turn_v1"} {
		member, _ := payload[place].(map[string]any)
		list, _ := member["media"].([]any)
		for _, e := range list {
			media, _ := e.(map[string]any)
			path, hasPath := media["path"].(string)
			_, hasHash := media["sha256"].(string)
			if hasPath && hasHash {
				found[path] = media
			}
		}
	}
	text, _ := payload["text"].(string)
	if lines := strings.Split(text, "\n"); strings.HasPrefix(textOf(admission, "request_id"), "hosted:") && len(lines) > 2 {
		for _, line := range lines[1 : len(lines)-1] {
			if parts := hostedFile.FindStringSubmatch(line); parts != nil {
				found[parts[1]] = map[string]any{"path": parts[1], "sha256": parts[2]}
			}
		}
	}
	return found
}

// namedBy tells whether a mutation receipt names one of the ids.
func namedBy(receipt map[string]any, ids []string) bool {
	result, _ := receipt["result"].(map[string]any)
	message, _ := result["target_message"].(map[string]any)
	names := []any{result["session_id"], result["target_session_id"], result["previous_target_session_id"], message["session_id"]}
	return slices.ContainsFunc(names, func(name any) bool {
		id, ok := name.(string)
		return ok && slices.Contains(ids, id)
	})
}

func tombstoneExpires(older any) bool { return objectOf(older)["expires"] == true }

func tombstoneOver(older any, there, expires bool) row {
	tombstone := row{"own": true, "retired_at": now}
	if there && objectOf(older)["own"] == nil && !tombstoneExpires(older) {
		delete(tombstone, "own")
	}
	if expires {
		tombstone["expires"] = true
	}
	return tombstone
}

// leadsTo tells whether a record of state_meta goes because it belongs or leads to one of the ids.
func leadsTo(key string, value any, ids []string) bool {
	for _, prefix := range []string{"gateway.api.settings.v1.", "gateway.viewer_close.v1:", "gateway.api.binding.v1."} {
		if id, ok := strings.CutPrefix(key, prefix); ok && slices.Contains(ids, id) {
			return true
		}
	}
	var id any
	switch {
	case strings.HasPrefix(key, "gateway.local_policy.v1:"):
		entry, _ := objectOf(value)["entry"].(map[string]any)
		id = entry["session_id"]
	case strings.HasPrefix(key, "gateway.api.conversation.v1."):
		id = value
	}
	text, ok := id.(string)
	return ok && slices.Contains(ids, text)
}

// without takes away the rows of the ids, with state_meta as it is given.
func (m *model) without(ids []string, meta map[string]any) tables {
	gone := func(r row, column string) bool { return slices.Contains(ids, textOf(r, column)) }
	stale := m.guards(ids, true)
	isStaleHere := func(r row) bool {
		return slices.ContainsFunc(stale, func(s row) bool { return maps.Equal(s, r) })
	}
	var executions []string
	for _, w := range m.workers(ids) {
		executions = append(executions, textOf(w, "execution_id"))
	}
	goes := map[string]func(row) bool{
		"session_admissions": func(r row) bool { return gone(r, "target_session_id") },
		"worker_executions":  func(r row) bool { return gone(r, "session_id") },
		"worker_receipts":    func(r row) bool { return slices.Contains(executions, textOf(r, "execution_id")) },
		"gateway_routing": func(r row) bool {
			id, ok := objectOf(r["entry_json"])["session_id"].(string)
			return ok && slices.Contains(ids, id)
		},
		"compression_locks":   isStaleHere,
		"session_turn_leases": isStaleHere,
	}
	left := tables{}
	for table, rows := range m.tables {
		for _, r := range rows {
			if f := goes[table]; !hangsOn(table, r, ids) && (f == nil || !f(r)) {
				left[table] = append(left[table], maps.Clone(r))
			}
		}
	}
	for _, r := range left["sessions"] {
		if parent, ok := r["parent_session_id"].(string); ok && slices.Contains(ids, parent) {
			r["parent_session_id"] = nil
			r["runtime_revision"] = r["runtime_revision"].(int64) + 1
		}
	}
	left["system_prompts"] = slices.DeleteFunc(left["system_prompts"], func(p row) bool {
		return !slices.ContainsFunc(left["sessions"], func(r row) bool { return r["system_prompt_hash"] == p["hash"] })
	})
	left["conversation_generations"] = m.generations(ids)
	left["state_meta"] = nil
	for key, value := range meta {
		left["state_meta"] = append(left["state_meta"], row{"key": key, "value": value})
	}
	return left
}

// generations counts up for each of the ids that is there.
func (m *model) generations(ids []string) []row {
	type pair struct{ source, key string }
	numbers := map[pair]int64{}
	for _, r := range m.tables["conversation_generations"] {
		numbers[pair{textOf(r, "source"), textOf(r, "session_key")}] = r["generation"].(int64)
	}
	for _, id := range ids {
		r := m.sessions[id]
		p := pair{strings.TrimSpace(textOf(r, "source")), strings.TrimSpace(textOf(r, "session_key"))}
		if p.source != "" && p.key != "" {
			numbers[p]++
		}
	}
	var rows []row
	for p, n := range numbers {
		rows = append(rows, row{"source": p.source, "session_key": p.key, "generation": n})
	}
	return rows
}

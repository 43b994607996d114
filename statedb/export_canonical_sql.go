package statedb

import (
	"encoding/json"
	"strings"
)

// This file holds the SQL that finds what a delete on the canonical path removes, or writes anew, beside the rows of the sessions
// (contract 5b.4), as it is before. It reads no ledger into memory and asks nobody whether the delete would be refused.

// resultsOf selects the stored results of a session's requests.
const resultsOf = `key IN (SELECT '` + admissionResultPrefix + `' || admission_id FROM session_admissions WHERE target_session_id = ?)`

// ofLedger selects those rows, of tables that the canonical path needs.
func ofLedger(plan *Plan) ([]selection, error) {
	ids := values(plan.IDs())
	// JSON text can only name what JSON can spell, so an id that is no UTF-8 loses nothing here.
	list, err := json.Marshal(plan.IDs())
	if err != nil {
		return nil, err
	}
	records := []pick{{"key = ?", values(ownRecords(plan.IDs()))}, {resultsOf, ids}, {strippedMutations(), []any{string(list)}}}
	var routes []pick
	for _, l := range leadingHere {
		one := pick{strings.Replace(l.condition, "LIST", "(?)", 1), ids}
		if l.table == "gateway_routing" {
			routes = append(routes, one)
		} else {
			records = append(records, one)
		}
	}
	return []selection{
		{"session_admissions", "seq", []pick{{"target_session_id = ?", ids}}},
		{"worker_executions", "", []pick{{"session_id = ?", ids}}},
		{"worker_receipts", "", []pick{{"execution_id IN (SELECT execution_id FROM worker_executions WHERE session_id = ?)", ids}}},
		{"gateway_routing", "", routes},
		{"state_meta", "key", records},
	}, nil
}

// ownRecords lists the keys of the records that each session may have for itself.
func ownRecords(ids []string) (keys []string) {
	for _, id := range ids {
		for _, prefix := range []string{retiredSessionPrefix, settingsPrefix, viewerClosePrefix, bindingPrefix} {
			keys = append(keys, prefix+id)
		}
	}
	return keys
}

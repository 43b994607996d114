package demo

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The request that a phone sent and lost the answer of: the last question of the conversation that is deleted.
const (
	phone        = "phone"
	lostRequest  = "r-20261118-4"
	admissionID  = "a-3f1c9e"
	finalAnswer  = "The ryokan keeps the room until noon."
	resultKey    = "gateway.admission.result.v1." + admissionID
	askedInWords = "Ask the ryokan whether they can keep the room until noon, please."
)

// settle writes down, as the Agent does, that it has answered the request.
func (s *store) settle(ctx context.Context, tx *sql.Tx) error {
	result, err := json.Marshal(map[string]any{"status": "ok", "result": map[string]any{
		"final_response": finalAnswer, "usage": map[string]int{"output_tokens": 14},
		"messages": []map[string]string{{"role": "user", "content": askedInWords}}, "last_reasoning": "The user wants the room.",
	}})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO session_admissions (admission_id, request_id, principal_id, target_session_id,
		lineage_json, payload_json, payload_digest, intent, status, owner_epoch, outcome)
		VALUES (?, ?, ?, ?, '[]', json_object('text', ?), '', 'queue', 'terminal', 1, 'completed')`,
		admissionID, lostRequest, phone, newestSegment, askedInWords)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO state_meta VALUES (?, ?)`, resultKey, string(result))
	return err
}

// lookUp answers a request that was sent before, as the Agent does: under its fingerprint lies the admission, and under
// that the result.
func (s *store) lookUp(ctx context.Context, principal, request, session string) (result string, err error) {
	// Written as the Agent writes it, byte for byte: the key is a hash of it.
	print := sha256.Sum256(fmt.Appendf(nil, `{"payload":{"principal":%q,"request":%q},"target":%q}`, principal, request, session))
	var admission string
	err = s.db.QueryRowContext(ctx, `SELECT value FROM state_meta WHERE key = ?`,
		"gateway.terminal_identity.v1."+hex.EncodeToString(print[:])).Scan(&admission)
	if err != nil {
		return "", fmt.Errorf("look the request up: %w", err)
	}
	err = s.db.QueryRowContext(ctx, `SELECT value FROM state_meta WHERE key = ?`,
		"gateway.admission.result.v1."+strings.Trim(admission, `"`)).Scan(&result)
	if err != nil {
		return "", fmt.Errorf("look the answer up: %w", err)
	}
	return result, nil
}

// fenceAnswer is what the sidecar says of an id.
type fenceAnswer struct {
	Live     bool `json:"live"`
	Retired  bool `json:"retired"`
	Conflict *struct {
		Code string `json:"code"`
	} `json:"conflict"`
}

// retry shows what is left of a retired conversation, and why: the answer to a request that comes once more, and the fence.
func (s *show) retry(ctx context.Context) error {
	p := s.page
	p.heading("4. It stays deleted")
	p.say(`A phone had sent the last question of that conversation and saw no answer. It sends it once more. The Agent must
		not begin the turn again, so the delete has kept the final response; of the talk nothing:`)
	p.blank()
	kept, err := s.store.lookUp(ctx, phone, lostRequest, newestSegment)
	if err != nil {
		return err
	}
	p.frame("  ", plain, kept)
	p.blank()
	if !strings.Contains(kept, finalAnswer) || strings.Contains(kept, askedInWords) || strings.Contains(kept, "The user wants") {
		return errors.New("the stored answer is not what must be left of it")
	}
	left, err := s.store.texts(ctx, `SELECT key FROM state_meta WHERE instr(value, '`+askedInWords+`')`)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("what was asked is still there: %s", left[0])
	}
	p.check("The request is known and its answer is there. What was asked is in no table any more.")
	p.blank()
	p.say(`And a program that slept may want to write the session back. Whoever creates one asks first:`)
	p.blank()
	var fence fenceAnswer
	params := struct {
		Home string `json:"profile_home"`
		ID   string `json:"session_id"`
	}{s.store.home, newestSegment}
	if err := s.sidecar.call(ctx, "state_db.session_fence", params, &fence); err != nil {
		return err
	}
	if fence.Live || !fence.Retired || fence.Conflict == nil || fence.Conflict.Code != "session_deleted" {
		return fmt.Errorf("the deleted session is not fenced: %+v", fence)
	}
	p.check("The id is fenced: it is never used again.")
	return nil
}

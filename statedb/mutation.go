package statedb

import (
	"context"

	"session-sidecar/internal/agentjson"
)

// Mutation receipts: what the Agent remembers of a request to change a session, so that an exact retry is answered and not done again
// (contract 5b.4, 5d).

// HasMutationReceipt tells whether a principal's request to change a session has been done (contract 5d). A store without state_meta
// has none. Errors are *Error: ErrUnsupported for a text that is no UTF-8, and for a store without sessions.
func HasMutationReceipt(ctx context.Context, path, principal, sessionID, request string) (found bool, err error) {
	fingerprint, err := requestFingerprint(sessionID, principal, request)
	if err != nil {
		return false, unsupported("the receipt's key cannot be spelled: %v", err)
	}
	err = lookAtFences(ctx, path, "look for the mutation receipt", func(c *conn, s *schema) error {
		records, err := c.records(ctx, s, []string{mutationPrefix + fingerprint})
		found = len(records) > 0
		return err
	})
	return found, err
}

// talkOfMutation is what a mutation receipt says of the conversation itself.
var talkOfMutation = []string{"target_message", "summary", "title"}

// keepWithoutText leaves a mutation receipt, so that a retry finds it, without what it says of the conversation.
func (o *outcome) keepWithoutText(receipt record) error {
	value, err := agentjson.Parse(receipt.value)
	object, _ := value.(agentjson.Object)
	result, ok := object["result"].(agentjson.Object)
	if err != nil || !ok {
		return unsupported("the mutation receipt %s cannot be read", receipt.key)
	}
	o.mutationReceipts++
	changed := agentjson.RepeatsName(receipt.value) // what is said under a name that stands twice is hidden, and still there
	for _, name := range talkOfMutation {
		if value, there := result[name]; there && value != nil {
			result[name], changed = nil, true
		}
	}
	if !changed {
		return nil
	}
	encoded, err := agentjson.Encode(object)
	if err != nil {
		return notRetirable("state_meta", err)
	}
	o.puts[receipt.key] = encoded
	return nil
}

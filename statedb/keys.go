package statedb

import "session-sidecar/internal/agentjson"

// The keys of state_meta that a delete reads and writes. What is left of a key is an id, a hash, or a name. All but the
// last two are the Agent's; docs/formats.md says what their values are.
const (
	gatewayPrefix = "gateway." // all that the Agent's gateway keeps

	localPolicyPrefix       = "gateway.local_policy.v1:"       // + chat id: a local conversation
	localLegacyPrefix       = "gateway.local_legacy.v1:"       // + session id: one that is older than its policy
	retiredSessionPrefix    = "gateway.retired_session.v1."    // + session id: its tombstone
	retiredRoutePrefix      = "gateway.retired_route.v1."      // + namespace:session id: a route's fence
	mediaPrefix             = "gateway.media.retired.v1."      // + hash of a path: media that nobody may need any more
	admissionResultPrefix   = "gateway.admission.result.v1."   // + admission id: what an exact retry is answered with
	terminalAdmissionPrefix = "gateway.terminal_admission.v1." // + admission id: a settled request
	terminalIdentityPrefix  = "gateway.terminal_identity.v1."  // + fingerprint: the admission id of such a request
	terminalWorkerPrefix    = "gateway.terminal_worker.v1."    // + execution id: a worker that has ended
	mutationPrefix          = "gateway.mutation.v1."           // + fingerprint: a mutation receipt
	settingsPrefix          = "gateway.api.settings.v1."       // + session id
	viewerClosePrefix       = "gateway.viewer_close.v1:"       // + session id
	bindingPrefix           = "gateway.api.binding.v1."        // + session id
	apiConversationPrefix   = "gateway.api.conversation.v1."   // + name: a session id
	spillPrefix             = "sidecar.spill.v1."              // + operation id: spilled files that are to go
	routeIntentPrefix       = "sidecar.route_intent.v1."       // + operation id: ids whose routes are to be fenced
)

// prefixed gives the keys of some ids.
func prefixed(prefix string, ids []string) []string {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = prefix + id
	}
	return keys
}

// requestFingerprint is the one under which an exact retry of a principal's request to a session is looked for (contract 5b.4, 5d). What
// is in the store may be of any type.
func requestFingerprint(sessionID string, principal, request any) (string, error) {
	return agentjson.Fingerprint(sessionID, agentjson.Object{"principal": principal, "request": request})
}

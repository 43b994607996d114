package methods

import (
	"context"

	"session-sidecar/rpc"
)

type noParams struct{}

type methodsResult struct {
	Methods []string `json:"methods" jsonschema:"the names of all methods, sorted"`
}

type cancelParams struct {
	ID RequestID `json:"id" jsonschema:"the id of the request to cancel, spelled as it was sent"`
}

type cancelResult struct {
	Cancelled bool   `json:"cancelled" jsonschema:"whether there was such a call; it answers too"`
	Reason    string `json:"reason,omitempty" jsonschema:"not_active: no call with this id is in flight"`
}

// registerRPC adds the methods about the channel itself (contract 1.4, 2).
func registerRPC(r *Registry) {
	register(r, spec[noParams, methodsResult]{
		name: "rpc.methods", summary: "Lists the names of all methods.", brief: true,
		call: func(context.Context, noParams) (methodsResult, error) { return methodsResult{r.names()}, nil },
	})
	register(r, spec[noParams, Document]{
		name: "rpc.discover", summary: "Describes every method as an OpenRPC document.",
		call: func(context.Context, noParams) (Document, error) { return r.document(), nil },
	})
	register(r, spec[cancelParams, cancelResult]{
		name: "rpc.cancel", summary: "Cancels a call in flight. The cancelled call still answers.",
		inline: true,
		call: func(ctx context.Context, p cancelParams) (cancelResult, error) {
			if rpc.FromContext(ctx).Cancel([]byte(p.ID)) {
				return cancelResult{Cancelled: true}, nil
			}
			return cancelResult{Reason: "not_active"}, nil
		},
	})
}

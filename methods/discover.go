package methods

import (
	"context"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"session-sidecar/internal/version"
	"session-sidecar/rpc"
)

// openRPCVersion is the form of the discovery document.
const openRPCVersion = "1.3.2"

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

// contentDescriptor is OpenRPC's word for a named value with a schema.
type contentDescriptor struct {
	Name        string             `json:"name"`
	Description string             `json:"description,omitempty"`
	Required    bool               `json:"required,omitempty"`
	Schema      *jsonschema.Schema `json:"schema"`
}

// everyMethod are the conditions that any call may meet, and needsHandshake the one of all but rpc.* and runtime.*.
var (
	everyMethod    = []Reason{ConditionBusy, ConditionCancelled, ConditionShuttingDown}
	needsHandshake = []Reason{ConditionHandshakeRequired}
)

// document is the whole discovery document. x-reasons carries, for each reason and condition, whether to retry and what
// to tell the user (contract 1.10); x-notifications what a host may be told unasked.
func (r *Registry) document() Document {
	var list []Document
	for _, name := range r.names() {
		list = append(list, r.methods[name].document())
	}
	var notifications []notification
	for _, made := range r.notifications {
		notifications = append(notifications, made())
	}
	return Document{
		"openrpc":   openRPCVersion,
		"info":      Document{"title": "session sidecar", "version": version.Version, "license": Document{"name": "MIT"}},
		"methods":   list,
		"x-reasons": Meanings,
		// OpenRPC has no word for what comes unasked.
		"x-notifications": notifications,
	}
}

func (m *method) document() Document {
	params, schema := []contentDescriptor{}, m.params().Schema()
	for _, name := range schema.PropertyOrder {
		property := schema.Properties[name]
		params = append(params, contentDescriptor{
			Name: name, Description: property.Description,
			Required: slices.Contains(schema.Required, name), Schema: property,
		})
	}
	answered := slices.Clone(everyMethod)
	if !isOpen(m.name) {
		answered = append(answered, needsHandshake...)
	}
	reasons := append(slices.Clone(answered), m.reasons...)
	if !m.refusesInside {
		answered = reasons
	}
	slices.Sort(reasons)
	slices.Sort(answered)
	return Document{
		"name": m.name, "summary": m.summary, "paramStructure": "by-name",
		"params":          params,
		"result":          contentDescriptor{Name: "result", Schema: m.result()},
		"errors":          errorObjects(answered),
		"x-params-schema": schema,
		"x-reasons":       reasons,
		"x-streams":       eventsOf(m.streams),
	}
}

// errorObjects lists what a method may answer instead of a result.
func errorObjects(reasons []Reason) []rpc.Error {
	objects := []rpc.Error{
		{Code: rpc.CodeInvalidParams, Message: "invalid params"},
		{Code: rpc.CodeInternal, Message: "unexpected failure"},
	}
	for _, reason := range reasons {
		code := rpc.CodeApplication
		if reason == ConditionCancelled {
			code = rpc.CodeCancelled
		}
		objects = append(objects, rpc.Error{
			Code: code, Message: Meanings[reason].Sentence, Data: rpc.Condition{Condition: string(reason)},
		})
	}
	return objects
}

package methods

import "github.com/google/jsonschema-go/jsonschema"

// notification is what the sidecar tells a host unasked (contract 1.3).
type notification struct {
	Name    string             `json:"name"`
	Summary string             `json:"summary"`
	Params  *jsonschema.Schema `json:"params"`
}

// Attach lets the methods tell the host something unasked. notify must never wait. Before it is called nobody is told.
func (r *Registry) Attach(notify func(method string, params any) error) { r.notify.Store(&notify) }

// announce registers a notification, so that the discovery document describes it, and gives the function that sends it.
func announce[P any](r *Registry, name, summary string) func(P) {
	r.notifications = append(r.notifications, func() notification { return notification{name, summary, schemaFor[P]()} })
	return func(params P) {
		if notify := r.notify.Load(); notify != nil {
			_ = (*notify)(name, params) // a hint: the truth is in the home
		}
	}
}

package methods

import "session-sidecar/rpc"

// event is what stream frames of one name tell on the way of a call (contract 1.3). D is the struct of their data: what is sent and
// what the discovery document says of it cannot differ.
type event[D any] struct{ name, summary string }

// send sends one such frame of a call. It never waits for the host to read: the call may hold locks.
func (e event[D]) send(control *rpc.Control, data D) error { return control.Stream(e.name, data) }

func (e event[D]) descriptor() contentDescriptor {
	return contentDescriptor{Name: e.name, Description: e.summary, Schema: schemaFor[D]()}
}

// streamed is an event in the registration of a method that may send it.
type streamed interface{ descriptor() contentDescriptor }

// eventsOf lists events as the discovery document does.
func eventsOf(events []streamed) []contentDescriptor {
	list := []contentDescriptor{}
	for _, e := range events {
		list = append(list, e.descriptor())
	}
	return list
}

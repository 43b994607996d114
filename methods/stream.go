package methods

import (
	"context"

	"session-sidecar/rpc"
)

// event is what stream frames of one name tell on the way of a call (contract 1.3). D is the struct of their data: what is sent and
// what the discovery document says of it cannot differ.
type event[D any] struct{ name, summary string }

// send sends one such frame of the call that runs in a context. It never waits for the host to read: the call may hold locks. Data that
// cannot be encoded is a mistake of this build, for which no call fails.
func (e event[D]) send(ctx context.Context, s *service, data D) {
	if err := rpc.FromContext(ctx).Stream(e.name, data); err != nil {
		s.log.Error("a progress frame could not be sent", "error", err)
	}
}

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

package statedb

import (
	"strings"
	"unicode/utf8"

	"session-sidecar/internal/lazyregexp"
)

// This file decides about routes (contract 5d): which namespace a route lies in, whether it may be saved, and what fence a
// retired session leaves. A route is a row of gateway_routing; all profiles share those of the base home.

// mainNamespace is the one of the base home's own routes.
const mainNamespace = "main"

// NamespacePattern is the whole of a namespace that somebody may name: a session key can carry no colon in it.
const NamespacePattern = `^[^:]{1,128}$`

var namespacePattern = lazyregexp.New(NamespacePattern)

// routeNamespace is the namespace that a session key belongs to: the second field of agent:<ns>:…, where an empty one means
// main. A key without a third field, or with agent in another spelling, is of another form and belongs to main.
func routeNamespace(sessionKey string) string {
	fields := strings.SplitN(sessionKey, ":", 3)
	if len(fields) < 3 || fields[0] != "agent" || fields[1] == "" {
		return mainNamespace
	}
	return fields[1]
}

// ProfileNamespace is the namespace of a profile's routes, from the name of its folder (contract 5d). It is empty where no
// session key could carry it, so that no route of that profile can be told from another's.
func ProfileNamespace(folder string, isBase bool) string {
	switch {
	case isBase:
		return mainNamespace
	case folder == mainNamespace:
		return mainNamespace + "~"
	case !utf8.ValidString(folder) || !namespacePattern().MatchString(folder):
		return ""
	}
	return folder
}

// RouteSession is the session that a routing entry names: the session_id of a JSON object, as the Agent's Python reads it.
// Anything else names none, which is "".
func RouteSession(entry string) string {
	fields, _ := readPythonObject(entry)
	id, _ := readString(fields["session_id"])
	return id
}

// routeFacts is what the decision about one routing save needs.
type routeFacts struct {
	namespace string
	names     bool       // the entry names a session
	tombstone *tombstone // of that session, in this store; nil where there is none
	fence     *tombstone // of its route in that namespace; nil where there is none
	live      bool       // a session of that id is in this store
}

// retired tells whether the save must be skipped (contract 5d, route_retired).
func (f routeFacts) retired(now float64) bool {
	switch {
	case !f.names:
		return false
	case f.tombstone != nil && (f.namespace == mainNamespace || !f.tombstone.own):
		return true
	}
	return f.fence != nil && !f.fence.agedOut(now) && (f.namespace != mainNamespace || !f.live)
}

// RouteFence asks that the routes to a retired session be fenced.
type RouteFence struct {
	SessionID string
	Expires   bool // its owner's tombstone does
}

// mergeFences gives one fence for each id; a permanent one wins.
func mergeFences(fences []RouteFence) map[string]bool {
	expires := map[string]bool{}
	for _, f := range fences {
		earlier, twice := expires[f.SessionID]
		expires[f.SessionID] = f.Expires && (!twice || earlier)
	}
	return expires
}

// fencedNamespaces are where the base home marks an id that was retired in a profile of this namespace: there, and in main,
// unless the base home has a live session of that id. Without a namespace it is main alone.
func fencedNamespaces(namespace string, live bool) []string {
	var spaces []string
	if namespace != "" {
		spaces = append(spaces, namespace)
	}
	if namespace != mainNamespace && !live {
		spaces = append(spaces, mainNamespace)
	}
	return spaces
}

// dropsRoute tells whether a route of this namespace goes when the id that it names is fenced for another one. A live
// session of the base home keeps its own routes, even where main was asked for by name.
func dropsRoute(routeSpace, namespace string, live bool) bool {
	if routeSpace == mainNamespace {
		return !live
	}
	return routeSpace == namespace
}

// routeFenceKey is where the fence of a session's routes in one namespace lies. A namespace holds no colon.
func routeFenceKey(namespace, sessionID string) string {
	return retiredRoutePrefix + namespace + ":" + sessionID
}

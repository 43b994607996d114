package methods

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"

	"session-sidecar/statedb"
)

const (
	defaultConversations = 50
	maxConversations     = 1000
	// maxQuery bounds what a search can cost: the index looks up every three characters of a query at once.
	maxQuery = 1000
)

type listParams struct {
	homeParams
	Limit  *int    `json:"limit,omitempty" jsonschema:"at most so many conversations, 1 to 1000; 50 where absent"`
	Before *string `json:"before,omitempty" jsonschema:"the next of an earlier page, as it was; absent for the first page"`
	Query  string  `json:"query,omitempty" jsonschema:"only conversations with a message that holds all of these words, of which the last may be the beginning of one; at most 1000 characters, all of them text and none an operator; blank for all conversations"`
}

type listResult struct {
	Conversations []conversationInfo `json:"conversations" jsonschema:"newest activity first"`
	Next          string             `json:"next,omitempty" jsonschema:"what to send as before for the next page; absent on the last one"`
}

type conversationInfo struct {
	Root         string   `json:"root" jsonschema:"the id of the first segment"`
	Newest       string   `json:"newest" jsonschema:"the id of the last segment"`
	Title        string   `json:"title,omitempty" jsonschema:"of the newest segment that has one"`
	Source       string   `json:"source,omitempty" jsonschema:"where the first segment comes from, as the Agent says it"`
	Segments     int      `json:"segments" jsonschema:"how many sessions follow each other in it, the first one included"`
	MessageCount int      `json:"message_count" jsonschema:"messages of the segments and of their delegates"`
	Bytes        int64    `json:"bytes" jsonschema:"the size of those messages' text"`
	LastActivity *float64 `json:"last_activity,omitempty" jsonschema:"seconds since 1970; absent where the store does not tell"`
	InUse        bool     `json:"in_use" jsonschema:"whether somebody is at work in a segment or a delegate (a turn, a request or a worker), so that a delete would be refused"`
}

func registerConversations(r *Registry, s *service) {
	register(r, spec[listParams, listResult]{
		name:    "state_db.list_conversations",
		summary: "Lists conversations, newest activity first, a page at a time; with a query, only those that it is found in.",
		reasons: storeReasonsAnd(ReasonFTSUnavailable),
		call:    s.listConversations,
	})
}

// listConversations is contract 5d.
func (s *service) listConversations(ctx context.Context, p listParams) (listResult, error) {
	request := statedb.ListRequest{Limit: defaultConversations, Query: p.Query}
	if p.Limit != nil {
		request.Limit = *p.Limit
	}
	if request.Limit < 1 || request.Limit > maxConversations {
		return listResult{}, invalidParams("limit is 1 to %d", maxConversations)
	}
	if utf8.RuneCountInString(p.Query) > maxQuery {
		return listResult{}, invalidParams("query has at most %d characters", maxQuery)
	}
	if p.Before != nil {
		position, ok := readCursor(*p.Before)
		if !ok {
			return listResult{}, invalidParams("before is not the next of a page")
		}
		request.Before = &position
	}
	store, agent, err := s.storeAndAgent(p.ProfileHome)
	if err != nil {
		return listResult{}, err
	}
	request.Agent = agent
	page, err := statedb.Conversations(ctx, store, request)
	if err != nil {
		return listResult{}, err
	}
	result := listResult{Conversations: []conversationInfo{}}
	for _, c := range page.Conversations {
		result.Conversations = append(result.Conversations, conversationInfo(c))
	}
	if page.Next != nil {
		result.Next = cursorOf(*page.Next)
	}
	return result, nil
}

// cursor is what next and before hold, for nobody else to read. The root is bytes: an id need not be UTF-8.
type cursor struct {
	Activity *float64 `json:"activity,omitempty"`
	Root     []byte   `json:"root"`
}

func cursorOf(p statedb.Position) string {
	text, err := json.Marshal(cursor{p.Activity, []byte(p.Root)})
	if err != nil {
		panic(err) // only for a number that is none, which no position holds
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// readCursor reads only what cursorOf writes.
func readCursor(text string) (p statedb.Position, ok bool) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return p, false
	}
	var c cursor
	if json.Unmarshal(decoded, &c) != nil {
		return p, false
	}
	p = statedb.Position{Activity: c.Activity, Root: string(c.Root)}
	return p, cursorOf(p) == text
}

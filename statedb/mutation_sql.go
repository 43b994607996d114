package statedb

import (
	"slices"

	"session-sidecar/internal/lazyregexp"
)

// This file holds the SQL that finds the mutation receipts that name a session (contract 5b.4), and those that lose some of what they say.

// areMutations is the condition for a record that may be one.
var areMutations = within(mutationPrefix) + " AND typeof(value) = 'text'"

// namedByMutation lists the places where a mutation receipt names a session (contract 5b.4).
var namedByMutation = []string{
	"$.result.session_id", "$.result.target_session_id", "$.result.previous_target_session_id", "$.result.target_message.session_id",
}

// sizedMutations finds the mutation receipts that name one of the targets. narrow leaves out rows that cannot.
func sizedMutations(narrow string) string {
	return `WITH targets(id) AS (VALUES ROWS) SELECT key, octet_length(value) FROM state_meta
		WHERE ` + areMutations + narrow + ` AND CASE WHEN json_valid(value) THEN 0` + namingTargets() + ` END`
}

// mostPatterns bounds how many ids a text is looked through for before it is read as JSON: more are as fast without.
const mostPatterns = 4

var plainID = lazyregexp.New(`^[A-Za-z0-9_.:-]+$`)

// mayName is a condition, with its arguments, that leaves out JSON in which no string is one of a few ids: the id stands there as it
// is, or with an escape for one of its characters. It is empty for ids that JSON may spell with other escapes, or that are patterns.
func mayName(column string, ids []string) (condition string, args []any) {
	if len(ids) > mostPatterns || slices.ContainsFunc(ids, func(id string) bool { return !plainID().MatchString(id) }) {
		return "", nil
	}
	condition = " AND (" + column + ` GLOB '*\u*'`
	for _, id := range ids {
		condition, args = condition+" OR "+column+" GLOB ?", append(args, "*"+id+"*")
	}
	return condition + ")", args
}

func namingTargets() (condition string) {
	for _, path := range namedByMutation {
		condition += " OR json_extract(value, '" + path + "') IN targets"
	}
	return condition
}

// strippedMutations is the condition for a mutation receipt that names a session and loses what it says of the conversation.
func strippedMutations() string {
	names, says := "0", "0"
	for _, path := range namedByMutation {
		names += " OR json_extract(value, '" + path + "') IN (SELECT value FROM json_each(?1))"
	}
	for _, field := range talkOfMutation {
		says += " OR coalesce(json_type(value, '$.result." + field + "'), 'null') <> 'null'"
	}
	return areMutations + " AND CASE WHEN json_valid(value) THEN (" + names + ") AND (" + says + ") END"
}

package statedb

// This file holds the SQL that reads the lineage markers of model_config, on either path: what a marker names, and which rows have one
// that names an id from elsewhere.

// mayHoldDelegate leaves out text that has no _delegate_from in any JSON reader: without the key, spelled out or with
// escapes for its letters. GLOB stops at a NUL, behind which no JSON reader finds a marker, and looks for a word several
// times as fast as instr does.
const mayHoldDelegate = `(model_config GLOB '*_delegate_from*' OR model_config GLOB '*\u00[567]*')`

// mayHoldAny is SQL for mayHoldMarker, mayHold for one of its keys. They leave out less than mayHoldDelegate does, and take longer.
var mayHoldAny = mayHold(keyDelegate) + " OR " + mayHold(keyBranch) + " OR " + mayHold(keyReset)

func mayHold(key string) string {
	return "instr(model_config, '" + key + `') OR instr(model_config, '\u00')`
}

// markerColumn is SQL for a marker as SQLite's JSON functions read it: NULL where it is not there, its text, or 0 for one
// that names no row. A bare json_extract would raise on one malformed row.
func markerColumn(key string) string {
	path := `model_config, '$.` + key + `'`
	return `CASE WHEN json_valid(model_config) THEN CASE coalesce(json_type(` + path + `), 'null')
    WHEN 'null' THEN NULL WHEN 'text' THEN json_extract(` + path + `) ELSE 0 END END`
}

// unreadBySQLite is SQL for a model_config that SQLite reads no marker from; NULL where it does, or where there is none.
const unreadBySQLite = "CASE WHEN NOT json_valid(model_config) THEN model_config END"

// foreignNames is the one pass over model_config on the canonical path: the markers that name an id other than the row's
// physical parent. One that names the parent is found as a child through idx_sessions_parent. It gives a column of the row, and what
// its marker names; narrow is a survey's (survey.go). What most rows with a marker fail is asked first, and each text is taken apart
// once: SQLite remembers the last ones.
func foreignNames(column, narrow string) string {
	const marker = `model_config, '$.` + keyDelegate + `'`
	return `SELECT ` + column + `, json_extract(` + marker + `) FROM sessions
WHERE typeof(id) = 'text' AND ` + mayHoldDelegate + narrow + ` AND CASE WHEN json_valid(model_config) THEN
  (json_extract(` + marker + `) IS NOT parent_session_id OR typeof(parent_session_id) <> 'text')
  AND json_type(` + marker + `) = 'text' END`
}

// foreignMarkers is the one pass over model_config. What it leaves out cannot matter: text without the key, spelled out
// or with escapes for its letters, has no such marker in any JSON reader; and a plain marker that names the row's
// physical parent is found as a child through idx_sessions_parent. Whatever is not plain (a second occurrence of the
// word, an escape, text that SQLite takes for no JSON) is left to readMarkers. Why GLOB may be asked for the word is said at
// mayHoldDelegate. columns come before those that are read; narrow is a survey's (survey.go).
func foreignMarkers(columns, narrow string) string {
	return `SELECT ` + columns + `CASE WHEN typeof(id) = 'text' THEN id END, CASE WHEN typeof(parent_session_id) = 'text' THEN parent_session_id END,
  model_config FROM sessions
WHERE (
  model_config GLOB '*\u00[567]*'
  OR (model_config GLOB '*_delegate_from*' AND NOT (
    typeof(parent_session_id) = 'text'
    AND instr(substr(model_config, instr(model_config, '_delegate_from') + 14), '_delegate_from') = 0
    AND CASE WHEN json_valid(model_config)
        THEN coalesce(json_type(model_config, '$._delegate_from') = 'text'
                      AND json_extract(model_config, '$._delegate_from') = parent_session_id, 0)
        ELSE 0 END)))` + narrow
}

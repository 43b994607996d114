// Package statedb reads and changes an Agent's store, home/state.db, beside the Agent's own processes. It knows nothing
// of the other files: internal/deletion puts a delete together (contract 4).
//
// A delete takes three steps here. A Look reads ahead without the write lock, and what it saw is proved under it. A Tx holds the write
// lock, and its Plan decides. Its Remove carries the plan out, and its Commit makes that last. What is decided is decided by functions
// of data (legacy.go, canonical.go, guard.go, retire.go, …). The SQL that reads for them, and that does what they say, is in the files
// *_sql.go; only the statements of a connection or a transaction itself (pragmas, BEGIN, COMMIT) stand where these are made.
//
// A few words have one meaning in all of the package:
//
//   - A session is a row of sessions. It continues its parent (continuation) where contract 5.1, or 5b.2, says so. A session and what
//     continues it, oldest first, is a chain, and each of its members is a segment of the conversation. (An FTS5 index has segments
//     too, which are meant in ftslevels.go and erase*.go alone.)
//   - A conversation is a chain with all that goes along with it. A delegate is a session that worked for another one.
//   - Targets are what a delete takes, with the reason; ids are their ids alone. What hangs on a target and is none is kept: it stays.
//   - The logical family of some ids is what a newer Agent would call their conversation; only the downgrade fence asks for it
//     (contract 5.5).
//   - A copy is what is written of the targets before they go, so that they can be restored (contract 10).
//   - A row names a session where it holds its id, and a marker, a route or a record that does so leads to it. A message mentions a
//     file where its text holds the file's name; media and spilled files are noted where they may have to go.
//   - A guard is live or stale, a session is live where it has a row, a holder is alive or gone.
package statedb

package statedb

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
)

// This file holds all SQL that reads the ledger: what a newer Agent's runtime keeps about sessions beside their rows
// (contract 5b.3, 5b.4).

// unsettled lists the admissions and workers of the ids that are not settled, in the order of the ids: each protects its
// session as a guard does (contract 5b.3).
func (c *conn) unsettled(ctx context.Context, ids []string) (guards []Guard, err error) {
	for _, table := range []struct {
		kind  GuardKind
		query string
	}{
		{GuardAdmission, `SELECT target_session_id, coalesce(admission_id, '') FROM session_admissions
			WHERE status IS NOT 'terminal' AND target_session_id IN `},
		{GuardWorker, `SELECT session_id, coalesce(execution_id, '') FROM worker_executions
			WHERE status IS NOT 'terminal' AND session_id IN `},
	} {
		err := inChunks(ids, func(list string, args []any) error {
			return c.each(ctx, func(scan scanFunc) error {
				g := Guard{Kind: table.kind}
				if err := scan(&g.SessionID, &g.Holder); err != nil {
					return err
				}
				guards = append(guards, g)
				return nil
			}, table.query+list, args...)
		})
		if err != nil {
			return nil, classify("read which requests and workers are settled", err)
		}
	}
	order := map[string]int{}
	for i, id := range ids {
		order[id] = i
	}
	slices.SortStableFunc(guards, func(a, b Guard) int {
		return cmp.Or(order[a.SessionID]-order[b.SessionID], cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Holder, b.Holder))
	})
	return guards, nil
}

// eachPart reads the ledger of some sessions part by part and hands each to use: rows with their sizes first, then as many at
// once as memory should hold. The number of statements does not grow with what is there but by its size. use may write.
func (c *conn) eachPart(ctx context.Context, s *schema, ids, policies []string, use func(*ledgerPart) error) error {
	r := &ledgerReader{conn: c, schema: s, ids: ids, use: use}
	for _, read := range []func(context.Context) error{r.admissions, r.workers, r.mutations} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	return r.hand(ctx, &ledgerPart{fenced: ids, policies: policies})
}

// ledgerReader reads the ledger of some sessions.
type ledgerReader struct {
	*conn
	schema *schema
	ids    []string
	use    func(*ledgerPart) error
}

// hand reads the records that the decision about a part asks for, and gives it to use.
func (r *ledgerReader) hand(ctx context.Context, l *ledgerPart) error {
	if err := ctx.Err(); err != nil {
		return err // a large ledger takes a while, and somebody waits for the write lock
	}
	keys, err := l.recordKeys()
	if err != nil {
		return err
	}
	if l.records, err = r.records(ctx, r.schema, keys); err == nil {
		err = r.readResults(ctx, l.resultKeys(), l.records)
	}
	if err != nil {
		return classify("read state_meta", err)
	}
	return r.use(l)
}

func (r *ledgerReader) admissions(ctx context.Context) error {
	going := setOf(r.ids)
	return r.eachPartOf(ctx, sizedAdmissions, r.ids, func(admissions []string) error {
		rows, err := r.rowsOf(ctx, "session_admissions", "admission_id", "admission_id", admissions)
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(row cells) bool { return !going[row.text("target_session_id")] })
		return r.hand(ctx, &ledgerPart{admissions: rows})
	})
}

func (r *ledgerReader) workers(ctx context.Context) error {
	going := setOf(r.ids)
	return r.eachPartOf(ctx, sizedWorkers, r.ids, func(executions []string) error {
		workers, err := r.rowsOf(ctx, "worker_executions", "execution_id", "execution_id", executions)
		if err != nil {
			return err
		}
		results, err := r.rowsOf(ctx, "worker_receipts", "execution_id", "sequence", executions)
		if err != nil {
			return err
		}
		l := &ledgerPart{results: map[string][]cells{}}
		l.workers = slices.DeleteFunc(workers, func(row cells) bool { return !going[row.text("session_id")] })
		for _, result := range results {
			execution := result.text("execution_id")
			l.results[execution] = append(l.results[execution], result)
		}
		return r.hand(ctx, l)
	})
}

func (r *ledgerReader) mutations(ctx context.Context) error {
	narrow, patterns := r.narrow(mutationReceipts, r.ids), []any(nil)
	if narrow == "" {
		narrow, patterns = mayName("value", r.ids)
	}
	return r.eachPartOf(ctx, sizedMutations(narrow), r.ids, func(keys []string) error {
		records, err := r.records(ctx, r.schema, keys)
		if err != nil {
			return classify("read the mutation receipts", err)
		}
		l := &ledgerPart{}
		for _, key := range sortedKeys(records) {
			l.mutations = append(l.mutations, record{key, records[key]})
		}
		return r.hand(ctx, l)
	}, patterns...)
}

// readResults adds the stored results under these keys. What they hold of the talk is left behind as early as can be: it may be
// long, and SQLite cuts it out many times as fast as we would. The one of two equal names that it leaves, we find.
func (c *conn) readResults(ctx context.Context, keys []string, into map[string]string) error {
	paths := ""
	for _, name := range talk {
		paths += ", '$.result." + name + "'"
	}
	return inChunks(keys, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var key, value string
			if err := scan(&key, &value); err != nil {
				return err
			}
			into[key] = value
			return nil
		}, `SELECT key, CASE WHEN typeof(value) <> 'text' THEN '' WHEN json_valid(value) THEN json_remove(value`+paths+`) ELSE value END
			FROM state_meta WHERE key IN `+list, args...)
	})
}

// partBytes bounds what is read of a ledger at once; one row may be longer.
const partBytes = 4 << 20

// eachPartOf lists what a query finds for the ids, each once, with its size, and hands it to use in parts. A key that is no
// text is ErrUnsupported: nothing could be remembered under it. more are arguments of the query that follow the ids.
func (c *conn) eachPartOf(ctx context.Context, query string, ids []string, use func(keys []string) error, more ...any) error {
	sizes := map[string]int64{}
	err := inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var key sql.NullString
			var size int64
			if err := scan(&key, &size); err != nil {
				return err
			}
			if key.String == "" {
				return unsupported("a row of the runtime ledger has no id")
			}
			sizes[key.String] = size
			return nil
		}, strings.ReplaceAll(strings.ReplaceAll(query, "ROWS", rowsOfOne(list)), "LIST", list), append(args, more...)...)
	})
	if err != nil {
		return classify("read the runtime ledger", err)
	}
	for _, keys := range partsOf(sizes, partBytes) {
		if err := use(keys); err != nil {
			return err
		}
	}
	return nil
}

// partsOf puts keys together, sorted, up to a size and to what one statement takes; each part has one at least.
func partsOf(sizes map[string]int64, most int64) (parts [][]string) {
	var part []string
	var size int64
	for _, key := range sortedKeys(sizes) {
		if len(part) > 0 && (size+sizes[key] > most || len(part) == chunkSize) {
			parts, part, size = append(parts, part), nil, 0
		}
		part = append(part, key)
		size += sizes[key]
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	return parts
}

// sizeOfAdmission is how long its payload and its stored result are.
const sizeOfAdmission = `coalesce(octet_length(payload_json), 0) +
	coalesce((SELECT octet_length(value) FROM state_meta WHERE key = '` + admissionResultPrefix + `' || admission_id), 0)`

// The keys of what the retirement reads, with the sizes of what may be long. LIST, or ROWS, are the ids.
var (
	sizedAdmissions = `SELECT CASE WHEN typeof(admission_id) = 'text' THEN admission_id END, ` + sizeOfAdmission + ` + coalesce(octet_length(lineage_json), 0)
		FROM session_admissions WHERE target_session_id IN LIST`
	sizedWorkers = `SELECT CASE WHEN typeof(execution_id) = 'text' THEN execution_id END, coalesce((
		SELECT sum(octet_length(result_json)) FROM worker_receipts r WHERE r.execution_id = w.execution_id), 0)
		FROM worker_executions w WHERE session_id IN LIST`
)

// rowsOf reads whole rows, by a column that names what they belong to, in the order of another.
func (c *conn) rowsOf(ctx context.Context, table, column, order string, of []string) ([]cells, error) {
	columns, err := c.columnsOf(ctx, table)
	if err != nil {
		return nil, err
	}
	var rows []cells
	list := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range list {
		into[i] = &list[i]
	}
	err = inChunks(of, func(in string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			if err := scan(into...); err != nil {
				return err
			}
			row := cells{}
			for i, name := range columns {
				row[name] = list[i]
			}
			rows = append(rows, row)
			return nil
		}, "SELECT "+asStored(columns)+" FROM "+quoted(table)+" WHERE "+column+" IN "+in+" ORDER BY "+order, args...)
	})
	return rows, classify("read the table "+table, err)
}

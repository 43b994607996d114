package statedb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// This file holds the SQL that asks whether any row still names a file: one pass over each table, however many files
// are asked about (contract 5b.5).

// Mentions tell which files rows still name.
type Mentions struct {
	Media   map[string]Sighting // by path
	Spilled map[string]bool     // by path inside the home
}

// Sighting is a row that was seen to name a file. Where it still does, it spares a pass over all rows.
type Sighting struct {
	table string
	row   int64
}

// Mentioned tells which files any row names, as the look sees it (contract 5b.5). seen are sightings of an earlier call.
func (l *Look) Mentioned(
	ctx context.Context, media []NotedMedia, spilled []string, seen map[string]Sighting,
) (Mentions, error) {
	return l.conn.mentioned(ctx, media, spilled, seen)
}

// Mentioned tells which files any row names now, under the write lock.
func (t *Tx) Mentioned(
	ctx context.Context, media []NotedMedia, spilled []string, seen map[string]Sighting,
) (Mentions, error) {
	return t.conn.mentioned(ctx, media, spilled, seen)
}

// mentioned tells which of the media and of the spilled files any row names: media by path or hash anywhere in a text,
// however it is escaped, since a path that counts holds the hash and a hash needs no escapes; spilled files by their bare
// names in a message, as they are or as an encoding spells them. seen are earlier sightings of media; they are looked at
// first.
func (c *conn) mentioned(
	ctx context.Context, media []NotedMedia, spilled []string, seen map[string]Sighting,
) (Mentions, error) {
	if len(media) == 0 && len(spilled) == 0 {
		return Mentions{}, nil
	}
	s, err := c.readSchema(ctx)
	if err != nil {
		return Mentions{}, err
	}
	m := Mentions{map[string]Sighting{}, map[string]bool{}}
	payloads := textColumns{"session_admissions", []string{"payload_json"}}
	messages := textColumns{"messages", sortedKeys(s.columns["messages"])}
	for _, in := range []textColumns{payloads, messages} {
		if err := c.mediaAgain(ctx, in, media, seen, m); err != nil {
			return m, err
		}
	}
	for _, in := range []textColumns{payloads, messages} {
		q := question{}
		for _, one := range media {
			if _, found := m.Media[one.Path]; !found {
				q.ask(func(row int64) { m.Media[one.Path] = Sighting{in.table, row} }, one.Path, one.SHA256)
			}
		}
		for _, file := range spilled {
			if in.table == messages.table {
				q.ask(func(int64) { m.Spilled[file] = true }, nameOf(file))
			}
		}
		if err := c.lookFor(ctx, in, q, "", nil); err != nil {
			return m, err
		}
	}
	return m, nil
}

// mediaAgain looks only at the rows of a table that named media before.
func (c *conn) mediaAgain(
	ctx context.Context, in textColumns, media []NotedMedia, seen map[string]Sighting, m Mentions,
) error {
	q := question{}
	rows := map[int64]bool{}
	for _, one := range media {
		if sighting, ok := seen[one.Path]; ok && sighting.table == in.table {
			rows[sighting.row] = true
			q.ask(func(row int64) { m.Media[one.Path] = Sighting{in.table, row} }, one.Path, one.SHA256)
		}
	}
	for chunk := range slices.Chunk(sortedKeys(rows), chunkSize) {
		args := make([]any, len(chunk))
		for i, row := range chunk {
			args[i] = row
		}
		if err := c.lookFor(ctx, in, q, "rowid IN (?"+strings.Repeat(",?", len(chunk)-1)+")", args); err != nil {
			return err
		}
	}
	return nil
}

// question is what to do with a row that holds a word, for each of some words.
type question map[string][]func(row int64)

func (q question) ask(found func(row int64), words ...string) {
	for _, word := range words {
		q[word] = append(q[word], found)
	}
}

// textColumns are columns of a table that may hold text. What a column is declared as decides nothing in SQLite, so all of
// them are asked.
type textColumns struct {
	table   string
	columns []string
}

// errEnough ends a pass that has found every word.
var errEnough = errors.New("every word is found")

// lookFor goes once over the rows of a table, those for which a condition holds, until it has found every word of a
// question.
func (c *conn) lookFor(ctx context.Context, in textColumns, q question, condition string, args []any) error {
	if len(q) == 0 {
		return nil
	}
	find := newFinder(sortedKeys(q))
	encoded := slices.ContainsFunc(find.words, mayBeEncoded)
	var cells, holds []string
	for _, column := range in.columns {
		// Most values are too short to hold any of the words; an encoded one is longer than it is.
		long := fmt.Sprintf("(typeof(%[1]s) IN ('text', 'blob') AND octet_length(%[1]s) >= %[2]d)", quoted(column), find.width)
		holds = append(holds, long)
		cells = append(cells, "CASE WHEN "+long+" THEN "+quoted(column)+" END")
	}
	query := "SELECT rowid, " + strings.Join(cells, ", ") + " FROM " + quoted(in.table) + " WHERE (" + strings.Join(holds, " OR ") + ")"
	if condition != "" {
		query += " AND " + condition
	}
	found := map[string]bool{}
	err := c.eachText(ctx, len(cells), func(row int64, text string) error {
		use := func(word string, _ int) {
			if found[word] {
				return
			}
			found[word] = true
			for _, tell := range q[word] {
				tell(row)
			}
		}
		find.in(text, use)
		if plain := decoded(text, encoded); plain != text {
			find.in(plain, use)
		}
		if len(found) == len(q) {
			return errEnough
		}
		return nil
	}, query, args...)
	if errors.Is(err, errEnough) {
		return nil
	}
	return classify("look who names a file in "+in.table, err)
}

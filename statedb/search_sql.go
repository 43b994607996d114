package statedb

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file holds all SQL that searches the messages. What a person types is data: nothing of it is ever an operator of
// the full-text index (contract 5d).

// ErrNotSearchable says that a store cannot be searched.
var ErrNotSearchable = errors.New("the store has no full-text index that this build can read")

// The Agent's two full-text indexes; a row of either has the number of its message.
const (
	wordIndex    = "messages_fts"
	trigramIndex = "messages_fts_trigram"
)

// trigramLength is the shortest text that an index of trigrams can find.
const trigramLength = 3

// search gives the ids of the sessions that have a message in which every word of the query occurs; nil where the query
// is blank. Words end at white space; the last one may be the beginning of a word.
func (c *conn) search(ctx context.Context, s *schema, query string) (map[string]bool, error) {
	words := wordsOf(query)
	if len(words) == 0 {
		return nil, nil
	}
	with, err := c.searchable(ctx, s)
	if err != nil {
		return nil, err
	}
	if !with.words && !with.trigrams {
		return nil, &Error{Kind: ErrNotSearchable}
	}
	var conditions []string
	var args []any
	for i, word := range words {
		condition, values := with.condition(word, i == len(words)-1)
		conditions = append(conditions, condition)
		args = append(args, values...)
	}
	found := map[string]bool{}
	err = c.each(ctx, func(scan scanFunc) error {
		var id string
		if err := scan(&id); err != nil {
			return err
		}
		found[id] = true
		return nil
	}, `SELECT DISTINCT m.session_id FROM messages m WHERE typeof(m.session_id) = 'text' AND `+
		strings.Join(conditions, " AND "), args...)
	return found, c.classifyIndex(ctx, "search the messages", err)
}

// wordsOf splits a query. A NUL ends a word too: SQLite would end the whole query there.
func wordsOf(query string) []string {
	return strings.FieldsFunc(query, func(r rune) bool { return r == 0 || unicode.IsSpace(r) })
}

// searchable is what a store can be searched by.
type searchable struct{ words, trigrams, content bool }

func (c *conn) searchable(ctx context.Context, s *schema) (with searchable, err error) {
	with.content = s.has("messages", "content")
	for index, usable := range map[string]*bool{wordIndex: &with.words, trigramIndex: &with.trigrams} {
		if usesFTS5().MatchString(s.virtual[index]) {
			if *usable, err = c.opens(ctx, s, index); err != nil {
				return with, c.classifyIndex(ctx, "open the index "+index, err)
			}
		}
	}
	return with, nil
}

// condition is SQL that holds for a message m in which the word occurs, with its arguments. Both indexes are asked, since
// one knows beginnings of words, in tool calls too, and the other any part of a text. What neither can know (words of a
// script without spaces in what the trigram index leaves out, one or two characters, or none of any script) is looked for
// in the text itself.
func (with searchable) condition(word string, last bool) (condition string, args []any) {
	var found []string
	match := func(index, pattern string) {
		found = append(found, "m.rowid IN (SELECT rowid FROM "+index+" WHERE "+index+" MATCH ?)")
		args = append(args, pattern)
	}
	phrase := `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	byTrigrams := with.trigrams && utf8.RuneCountInString(word) >= trigramLength
	if with.words && strings.ContainsFunc(word, isOfAWord) {
		pattern := phrase
		if last {
			pattern += "*"
		}
		match(wordIndex, pattern)
	}
	if byTrigrams {
		match(trigramIndex, phrase)
	}
	if with.content && (len(found) == 0 || strings.ContainsFunc(word, isCJK)) {
		found = append(found, "instr(m.content, ?) > 0")
		args = append(args, word)
	}
	if len(found) == 0 {
		return "0", nil
	}
	return "(" + strings.Join(found, " OR ") + ")", args
}

// isOfAWord tells whether a character can be part of a word of the word index.
func isOfAWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r)
}

// isCJK tells characters of scripts that put no spaces between words.
func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

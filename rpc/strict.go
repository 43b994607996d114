package rpc

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"session-sidecar/internal/jsontext"
)

// What the decoders of encoding/json pass over without a word, and contract 1.6 and 1.7 refuse: a key that stands twice, and half a
// surrogate pair.

// repeats are the keys that stand twice in one object of a document. The decoder of encoding/json would take the last of
// two without a word.
type repeats struct {
	first *string
	atTop map[string]bool // those of the outermost object
}

// keys are those of an object so far. Few are compared one by one; an array has none.
type keys struct {
	ofArray bool
	few     []string
	many    map[string]bool
}

const fewKeys = 8

// has enters a key and tells whether it was there.
func (k *keys) has(key string) bool {
	if k.many == nil {
		if slices.Contains(k.few, key) {
			return true
		}
		if len(k.few) < fewKeys {
			k.few = append(k.few, key)
			return false
		}
		k.many = map[string]bool{}
		for _, one := range k.few {
			k.many[one] = true
		}
	}
	was := k.many[key]
	k.many[key] = true
	return was
}

// repeatedKeys walks a valid document whose outermost value is an object. It goes over the bytes itself: a decoder's tokens
// would take seconds for a line of many short keys, and nothing else is read meanwhile.
func repeatedKeys(line []byte) repeats {
	var found repeats
	var open []keys // of each object and array around
	wantKey := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{':
			open = append(open, keys{})
			wantKey = true
		case '[':
			open = append(open, keys{ofArray: true})
			wantKey = false
		case '}', ']':
			open = open[:len(open)-1]
			wantKey = false
		case ',':
			wantKey = !open[len(open)-1].ofArray
		case '"':
			end := i + jsontext.StringLength(line[i:])
			if wantKey {
				if key := text(line[i:end]); open[len(open)-1].has(key) {
					found.note(key, len(open) == 1)
				}
				wantKey = false
			}
			i = end - 1
		}
	}
	return found
}

func (r *repeats) note(key string, atTop bool) {
	if r.first == nil {
		r.first = &key
	}
	if atTop {
		if r.atTop == nil {
			r.atTop = map[string]bool{}
		}
		r.atTop[key] = true
	}
}

// hasLoneSurrogate looks for an escape \uD800 to \uDFFF without its other half: it names no character, and decoders
// replace it without a word.
func hasLoneSurrogate(text []byte) bool {
	if bytes.IndexByte(text, '\\') < 0 {
		return false
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		unit, ok := escapedUnit(text[i:])
		switch {
		case !ok:
			i++ // a short escape; the next character is its letter
		case !utf16.IsSurrogate(unit):
			i += 5
		default:
			low, ok := escapedUnit(text[i+6:])
			if !ok || utf16.DecodeRune(unit, low) == utf8.RuneError { // which no pair spells
				return true
			}
			i += 11
		}
	}
	return false
}

// escapedUnit reads \uXXXX at the start of text.
func escapedUnit(text []byte) (unit rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	digits, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(digits), err == nil
}

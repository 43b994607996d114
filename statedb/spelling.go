package statedb

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"session-sidecar/internal/lazyregexp"
)

// How a text may spell a name: with the escapes of JSON, of shells and of addresses, and with other separators (contract 5b.5). All
// functions of text.

// oneSlash spells every separator of a path as one slash: JSON may escape it, and other systems have another one.
func oneSlash(text string) string {
	if !strings.Contains(text, `\`) && !strings.Contains(text, "//") {
		return text
	}
	var out strings.Builder
	separator := false
	for i := range len(text) {
		isOne := text[i] == '/' || text[i] == '\\'
		switch {
		case !isOne:
			out.WriteByte(text[i])
		case !separator:
			out.WriteByte('/')
		}
		separator = isOne
	}
	return out.String()
}

func endsInName(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return before != "" && ofName(last)
}

// goesOn tells whether a name is longer than it seemed. A point that nothing of a name follows ends a sentence.
func goesOn(rest string) bool {
	rest = strings.TrimLeft(rest, ".")
	next, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && ofName(next)
}

func ofName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' || r == '-' || r == '.'
}

// mayBeEncoded tells whether an encoding may spell a word in another way.
func mayBeEncoded(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !ofName(r) })
}

// jsonEscapes are characters as JSON escapes them, also where that JSON is a text in another one.
var jsonEscapes = lazyregexp.New(`(?:\\+u[0-9a-fA-F]{4})+`)

// fromJSON spells such characters as they are.
func fromJSON(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	return jsonEscapes().ReplaceAllStringFunc(text, func(escapes string) string {
		var units []uint16
		for hex := range strings.SplitSeq(strings.ReplaceAll(escapes, `\`, ""), "u") {
			if unit, err := strconv.ParseUint(hex, 16, 16); err == nil {
				units = append(units, uint16(unit))
			}
		}
		return string(utf16.Decode(units))
	})
}

// decoded spells a text as it may be meant, for the question whether a name is in it: without the escapes of JSON, of shells
// and of addresses. Nobody is sure to have meant that, and in doubt a file stays.
func decoded(text string, wanted bool) string {
	if !wanted || !strings.ContainsAny(text, `\%`) {
		return text
	}
	text = strings.ReplaceAll(fromJSON(text), `\`, "")
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "%")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		text = rest
		if b, err := strconv.ParseUint(rest[:min(2, len(rest))], 16, 8); err == nil && len(rest) >= 2 {
			out.WriteByte(byte(b))
			text = rest[2:]
		} else {
			out.WriteByte('%')
		}
	}
}

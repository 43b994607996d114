package jsontext

import "bytes"

// Member is one member of an object, as it is spelled: its name with the quotes, and its value without the space around it.
type Member struct {
	Name, Value []byte
}

// Members takes the text of an object apart, as Each does.
func Members(text []byte) (members []Member, ok bool) {
	ok = Each(text, func(m Member) bool { members = append(members, m); return true })
	if !ok {
		members = nil
	}
	return members, ok
}

// Each takes the text of an object apart, at its first level, until use has enough. The text is an object for some reader: what stands for
// a value is not looked into, so that NaN, which only Python reads, passes. It is not ok where the text is no object at all, nor where use
// has not seen all of it.
func Each(text []byte, use func(Member) bool) (ok bool) {
	rest := space(text)
	if len(rest) == 0 || rest[0] != '{' {
		return false
	}
	rest = space(rest[1:])
	if len(rest) > 0 && rest[0] == '}' {
		return len(space(rest[1:])) == 0
	}
	for {
		if len(rest) == 0 || rest[0] != '"' {
			return false
		}
		n := StringLength(rest)
		m := Member{Name: rest[:n]}
		rest = space(rest[n:])
		if len(rest) == 0 || rest[0] != ':' {
			return false
		}
		rest = space(rest[1:])
		n = valueLength(rest)
		m.Value = bytes.TrimRight(rest[:n], " \t\r\n")
		if len(m.Value) == 0 {
			return false
		}
		if !use(m) {
			return false
		}
		rest = rest[n:]
		if len(rest) == 0 {
			return false
		}
		end := rest[0]
		rest = space(rest[1:])
		switch end {
		case '}':
			return len(rest) == 0
		case ',':
		default:
			return false
		}
	}
}

// valueLength is how much of a text one value takes: up to the comma or the bracket that ends it.
func valueLength(text []byte) int {
	depth := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '"':
			i += StringLength(text[i:])
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(text)
}

func space(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

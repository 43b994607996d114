// Package jsontext walks over JSON text where encoding/json would hide how it is spelled.
package jsontext

// StringLength is the length of the JSON string that text begins with, quotes included, or all of a text that never closes
// it.
func StringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

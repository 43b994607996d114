package statedb

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// document writes JSON that holds SQLite's values exactly. Its writer keeps the first error; failed gives it.
type document struct{ out *bufio.Writer }

func (d document) raw(text string) { _, _ = d.out.WriteString(text) }

// failed is the error of an earlier write, if there was one.
func (d document) failed() error {
	_, err := d.out.Write(nil)
	return err
}

// comma separates the elements of a list: each but the first has one before it, all have lead.
func (d document) comma(before int, lead string) {
	if before > 0 {
		d.raw(",")
	}
	d.raw(lead)
}

// value writes one value of SQLite. Text that no JSON string can spell, and blobs, are {"base64":…}, with "text":true for
// text.
func (d document) value(v any) {
	switch v := v.(type) {
	case nil:
		d.raw("null")
	case int64:
		d.raw(strconv.FormatInt(v, 10))
	case float64:
		d.raw(realText(v))
	case string:
		if utf8.ValidString(v) {
			d.text(v)
			return
		}
		d.base64(strings.NewReader(v), `,"text":true`)
	case []byte:
		d.base64(strings.NewReader(string(v)), "")
	default:
		panic(fmt.Sprintf("the driver gave a %T", v)) // it has no other types; fails this call alone
	}
}

// realText spells a REAL with a point or an exponent, so that it comes back as a REAL. The infinities, which JSON lacks,
// are numbers too large for a REAL, as SQLite itself writes them.
func realText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "9e999"
	case math.IsInf(f, -1):
		return "-9e999"
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if len(text) > 24 {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func (d document) base64(from io.Reader, more string) {
	d.raw(`{"base64":"`)
	encoder := base64.NewEncoder(base64.StdEncoding, d.out)
	_, _ = io.Copy(encoder, from)
	_ = encoder.Close()
	d.raw(`"` + more + `}`)
}

// object writes a row: its columns, in their order, with their values.
func (d document) object(columns []string, cells []any) {
	d.raw("{")
	for i, column := range columns {
		d.comma(i, "")
		d.text(column)
		d.raw(":")
		d.value(cells[i])
	}
	d.raw("}")
}

// text writes a string. Only what must be escaped is; bytes that are no UTF-8 become U+FFFD.
func (d document) text(s string) {
	d.raw(`"`)
	start := 0
	for i := 0; i < len(s); {
		escaped, size := "", 1
		switch b := s[i]; {
		case b == '"' || b == '\\':
			escaped = `\` + string(b)
		case b < 0x20:
			escaped = fmt.Sprintf(`\u%04x`, b)
		case b >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
				escaped = "\uFFFD"
			}
		}
		if escaped != "" {
			d.raw(s[start:i])
			d.raw(escaped)
			start = i + size
		}
		i += size
	}
	d.raw(s[start:])
	d.raw(`"`)
}

package statedb

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"session-sidecar/internal/lazyregexp"
)

// The Agent is a Python program: what it takes for a number or a time decides which rows continue which (contract 5).

var (
	pythonFloat = lazyregexp.New(`^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?$`)
	isoTime     = lazyregexp.New(`^(\d{4})-?(\d{2})-?(\d{2})[T ](\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?` +
		`(Z|[+-]\d{2}(?::?\d{2})?(?::?\d{2})?)$`)
)

// finite reads a column's value as a finite number: a number, or numeric text as Python's float reads it. NULL, ISO
// text, NaN and infinities are none.
func finite(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, false
		}
		return v, true
	case string:
		text := asciiDigits(strings.TrimFunc(v, isPythonSpace))
		if !pythonFloat().MatchString(text) {
			return 0, false
		}
		f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
		return f, err == nil // out of range is an infinity to Python
	}
	return 0, false
}

// instant reads a column's value as a point in time in seconds: a finite number, or ISO 8601 text that says its offset.
// Anything else is uncertain.
func instant(value any) (float64, bool) {
	if seconds, ok := finite(value); ok {
		return seconds, true
	}
	text, ok := value.(string)
	if !ok {
		return 0, false
	}
	m := isoTime().FindStringSubmatch(strings.TrimFunc(text, isPythonSpace))
	if m == nil {
		return 0, false
	}
	if m[6] == "" {
		m[6] = "00"
	}
	t, err := time.Parse("20060102150405", m[1]+m[2]+m[3]+m[4]+m[5]+m[6])
	if err != nil {
		return 0, false
	}
	offset, ok := offsetSeconds(m[8])
	if !ok {
		return 0, false
	}
	fraction, _ := strconv.ParseFloat("0."+m[7]+"0", 64)
	return float64(t.Unix()) - offset + fraction, true
}

func offsetSeconds(text string) (float64, bool) {
	if text == "Z" {
		return 0, true
	}
	digits := strings.ReplaceAll(text[1:], ":", "") + "0000"
	hours, _ := strconv.Atoi(digits[0:2])
	minutes, _ := strconv.Atoi(digits[2:4])
	seconds, _ := strconv.Atoi(digits[4:6])
	if hours > 23 || minutes > 59 || seconds > 59 {
		return 0, false
	}
	total := float64(hours*3600 + minutes*60 + seconds)
	if text[0] == '-' {
		total = -total
	}
	return total, true
}

// asciiDigits turns the decimal digits of every script into ASCII ones, as Python's float does.
func asciiDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.Is(unicode.Nd, r) {
			return r
		}
		for _, block := range unicode.Nd.R16 {
			if rune(block.Lo) <= r && r <= rune(block.Hi) {
				return '0' + (r-rune(block.Lo))%10
			}
		}
		for _, block := range unicode.Nd.R32 {
			if rune(block.Lo) <= r && r <= rune(block.Hi) {
				return '0' + (r-rune(block.Lo))%10
			}
		}
		return r
	}, text)
}

// isPythonSpace is what Python's str.strip takes away.
func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f) }

// folded is a text column as contract 5.1 compares it: trimmed, in any case.
func folded(text string) string { return strings.ToLower(strings.TrimFunc(text, isPythonSpace)) }

// earliest and latest are the times that the Agent itself takes for times (contract 5b.1).
const earliest, latest = -62135596800, 253402300800

// seconds reads a time of a row. Only numbers are times here.
func seconds(value any) (float64, bool) {
	switch value.(type) {
	case int64, float64:
		at, ok := finite(value)
		return at, ok && at >= earliest && at <= latest
	}
	return 0, false
}

// now is the time in seconds since 1970, as the Agent writes it.
func now() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

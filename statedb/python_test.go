package statedb

import (
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
)

func TestFinite(t *testing.T) {
	for _, test := range []struct {
		value any
		want  float64
	}{
		{int64(0), 0},
		{int64(-3), -3},
		{int64(1) << 53, 1 << 53},
		{1790000000.25, 1790000000.25},
		{-0.5, -0.5},
		{"12", 12},
		{" 1_000.5e3 ", 1000500},
		{"\t\n\v\f\r\x1c\x1f12\u00a0\u2003\u3000", 12},
		{"+1.5", 1.5},
		{"-.5", -0.5},
		{"5.", 5},
		{"5.e1", 50},
		{"0012", 12},
		{"1E-2", 0.01},
		{"1e1_0", 1e10},
		{"1_0.0_5", 10.05},
		{"1e-400", 0},
		{"٣٤", 34},       // Arabic
		{"१२.५", 12.5},   // Devanagari
		{"１２３e２", 12300}, // full width
		{"𝟗𝟘", 90},       // bold and double-struck
		{"1_٣", 13},      // mixed
		{"9007199254740993", 9007199254740992},
	} {
		got, ok := finite(test.value)
		assert.True(t, ok, "%q", test.value)
		assert.Equal(t, test.want, got, "%q", test.value)
	}
}

func TestNotFinite(t *testing.T) {
	for _, value := range []any{
		nil, true, []byte("12"), math.NaN(), math.Inf(1), math.Inf(-1),
		"", " ", "inf", "-Infinity", "nan", "+NaN", "0x10", "0b1", "1__0", "_1", "1_", "1_.5", "1._5", "1_e5", "1e_5", "1e5_",
		"1e", "e5", ".", "+", "+-1", "1 2", "1,5", "1f", "1d", "1L", "1e999", "-1e999", "1e5.0", "12\x00", "\ufeff12", "½", "²", "Ⅻ",
		"1.2.3", "--1", "−1", "2026-01-01T00:00:00Z", "2026-01-01", "null",
	} {
		_, ok := finite(value)
		assert.False(t, ok, "%q", value)
	}
}

// Every block of decimal digits in Unicode runs from a zero: what asciiDigits counts on.
func TestDigitsOfEveryScript(t *testing.T) {
	blocks := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nd, r-1) {
			continue
		}
		length := 0
		for unicode.Is(unicode.Nd, r+rune(length)) {
			length++
		}
		assert.Zero(t, length%10, "%U", r)
		var text strings.Builder
		for i := range 10 {
			text.WriteRune(r + rune(i))
		}
		assert.Equal(t, "0123456789", asciiDigits(text.String()), "%U", r)
		blocks++
	}
	assert.Greater(t, blocks, 60)
	assert.Equal(t, "a½Ⅻ-", asciiDigits("a½Ⅻ-"))
}

func TestInstant(t *testing.T) {
	const noon = 1767268800.0 // 2026-01-01T12:00:00Z
	for _, test := range []struct {
		value any
		want  float64
	}{
		{int64(5), 5},
		{1.5, 1.5},
		{" 1_000 ", 1000},
		{"2026-01-01T12:00:00Z", noon},
		{"2026-01-01 12:00:00Z", noon},
		{" 2026-01-01T12:00:00Z\n", noon},
		{"2026-01-01T12:00Z", noon},
		{"2026-01-01T12:00:00+00:00", noon},
		{"2026-01-01T12:00:00-00:00", noon},
		{"2026-01-01T14:00:00+02:00", noon},
		{"2026-01-01T14:00:00+0200", noon},
		{"2026-01-01T14:00:00+02", noon},
		{"2026-01-01T06:30:00-05:30", noon},
		{"2026-01-02T02:00:00+14:00", noon},
		{"2026-01-01T12:00:10+00:00:10", noon},
		{"20260101T120000Z", noon},
		{"2026-01-01T12:00:00.5Z", noon + 0.5},
		{"2026-01-01T12:00:00,25+00:00", noon + 0.25},
		{"2026-01-01T12:00:00.123456Z", noon + 0.123456},
		{"1969-12-31T23:59:59.5Z", -0.5},
		{"2024-02-29T00:00:00Z", 1709164800},
	} {
		got, ok := instant(test.value)
		assert.True(t, ok, "%q", test.value)
		assert.InDelta(t, test.want, got, 1e-6, "%q", test.value)
	}
}

func TestUncertain(t *testing.T) {
	for _, value := range []any{
		nil, "", []byte("2026-01-01T12:00:00Z"), math.NaN(), math.Inf(1), "nan", "yesterday",
		"2026-01-01T12:00:00", "2026-01-01 12:00:00.5", "2026-01-01", "2026-01-01Z", "12:00:00Z",
		"2026-13-01T12:00:00Z", "2026-00-01T12:00:00Z", "2026-02-30T12:00:00Z", "2025-02-29T12:00:00Z", "2026-01-32T12:00:00Z",
		"2026-01-01T24:00:00Z", "2026-01-01T12:60:00Z", "2026-01-01T12:00:61Z", "2026-01-01T12:00:00+24:00",
		"2026-01-01T12:00:00+02:60", "2026-01-01T12:00:00+00:00:60", "2026-01-01T12:00:00+2:00", "2026-01-01T12:00:00 +02:00",
		"2026-01-01T12:00:00.Z", "2026-01-01T12:00:00.1234567890Z", "2026-1-1T12:00:00Z", "26-01-01T12:00:00Z",
		"2026-01-01T12:00:00UTC", "2026-01-01T12:00:00Z ago", "+2026-01-01T12:00:00Z",
	} {
		_, ok := instant(value)
		assert.False(t, ok, "%q", value)
	}
}

func TestFolded(t *testing.T) {
	for text, want := range map[string]string{" CLI\n": "cli", "\x1cFork\u00a0": "fork", "": "", "a b": "a b"} {
		assert.Equal(t, want, folded(text))
	}
}

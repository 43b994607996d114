package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// plainText takes out control characters, the ones that turn the direction of writing, and the ends of lines and paragraphs.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, text)
}

// bytesText is a size for a human.
func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	size, prefix := float64(n)/unit, 0
	for size >= unit && prefix < 3 {
		size /= unit
		prefix++
	}
	return fmt.Sprintf("%.1f %ciB", size, "KMGT"[prefix])
}

// secondsText is a time for a program: seconds since 1970.
func secondsText(at float64) string { return strconv.FormatFloat(at, 'f', -1, 64) }

// momentText is a time for a human, in the time zone of the machine; nothing where none is known.
func momentText(seconds *float64) string {
	if seconds == nil {
		return ""
	}
	return time.Unix(int64(*seconds), 0).Format("2006-01-02 15:04")
}

// dayText is the day of a time for a human.
func dayText(seconds *float64) string {
	day, _, _ := strings.Cut(momentText(seconds), " ")
	return day
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

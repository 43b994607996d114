package demo

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNoLineIsWiderThanThePage(t *testing.T) {
	long := map[string]string{
		"words":      strings.Repeat("word ", 60),
		"one word":   strings.Repeat("x", 300),
		"han":        strings.Repeat("豆腐", 90),
		"emoji":      strings.Repeat("👩‍💻🎂", 90),
		"devanagari": strings.Repeat("हिंदी ", 60),
		"json":       strings.Repeat(`"deleted_ids":"20261118_142233_9fea03",`, 20),
	}
	for name, text := range long {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := newPage(&out)
			p.heading(text[:30])
			p.say("%s", text)
			p.check("%s", text)
			p.frame("->", cyan, text)
			p.line(span{text, bold}, span{text, plain})
			require.NoError(t, p.err)
			for line := range strings.Lines(out.String()) {
				assert.LessOrEqual(t, cells(strings.TrimSuffix(line, "\n")), pageWidth, line)
			}
			assert.NotContains(t, out.String(), "\x1b", "colour is for terminals")
		})
	}
}

// What is wrapped must still be all there: the wire is shown, not told.
func TestAFrameIsShownWhole(t *testing.T) {
	frame := `{"id":1,"detail":"a sentence with several words, and commas","ids":["` + strings.Repeat("豆", 200) + `"]}`
	var out bytes.Buffer
	newPage(&out).frame("<-", green, frame)
	var shown strings.Builder
	for line := range strings.Lines(out.String()) {
		shown.WriteString(strings.TrimSuffix(line[len("  <- "):], "\n"))
	}
	// A line may end with a space, which the page does not write.
	assert.Equal(t, strings.ReplaceAll(frame, " ", ""), strings.ReplaceAll(shown.String(), " ", ""))
}

func TestCutKeepsWholeCharacters(t *testing.T) {
	assert.Equal(t, "abc", cut("abc", 3))
	assert.Equal(t, "ab…", cut("abcd", 3))
	assert.Equal(t, "豆…", cut("豆腐豆腐", 4), "half a character is none")
	assert.Equal(t, "👩‍💻…", cut("👩‍💻👩‍💻", 3), "what is joined stays joined")
	assert.Equal(t, "…", cut("豆腐", 1))
	assert.Equal(t, "", cut("abc", 0))
}

func TestColourTakesNoCells(t *testing.T) {
	var out bytes.Buffer
	p := &page{out: &out, colour: true}
	p.line(span{"豆", cyan}, span{strings.Repeat("x", 100), bold})
	assert.Equal(t, "\x1b[36m豆\x1b[0m\x1b[1m"+strings.Repeat("x", 77)+"…\x1b[0m\n", out.String())
}

func TestAPageKeepsItsFirstFailure(t *testing.T) {
	p := newPage(failingWriter{})
	p.say("one")
	p.say("two")
	assert.EqualError(t, p.err, "nobody reads")
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

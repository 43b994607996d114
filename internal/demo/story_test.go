package demo

import (
	"regexp"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheStoryHangsTogether(t *testing.T) {
	shape := regexp.MustCompile(`^\d{8}_\d{6}_[0-9a-f]{6}$`)
	seen := map[string]bool{}
	for _, c := range story {
		assert.Regexp(t, shape, c.id)
		assert.False(t, seen[c.id], "%s is there twice", c.id)
		_, err := time.Parse(idTime, c.id[:len(idTime)])
		require.NoError(t, err)
		if c.role == roleStart {
			assert.Empty(t, c.parent, c.id)
		} else {
			assert.True(t, seen[c.parent], "%s must come after the one that it hangs below", c.id)
		}
		assert.Equal(t, c.role == roleDelegate, c.source == subagent, c.id)
		seen[c.id] = true
	}
	for _, id := range []string{newestSegment, keptBranch, busyRoot, busyNewest} {
		assert.True(t, seen[id], id)
	}
	assert.True(t, going()[newestSegment])
	assert.False(t, going()[keptBranch])
	for asked, n := range expectedHits(nil) {
		left := expectedHits(going())[asked]
		assert.Positive(t, left, "%v must stay in another conversation", asked)
		assert.Greater(t, n, left, "%v must go with the deleted one", asked)
	}
}

func TestTheStoryIsWrittenInSeveralScripts(t *testing.T) {
	for name, script := range map[string]*unicode.RangeTable{
		"Latin": unicode.Latin, "Han": unicode.Han, "Hiragana": unicode.Hiragana, "Arabic": unicode.Arabic,
		"Hebrew": unicode.Hebrew, "Cyrillic": unicode.Cyrillic, "Devanagari": unicode.Devanagari, "symbols": unicode.So,
	} {
		titles, messages := 0, 0
		for _, c := range story {
			for _, r := range c.title {
				if unicode.Is(script, r) {
					titles++
				}
			}
			for _, text := range c.said {
				for _, r := range text {
					if unicode.Is(script, r) {
						messages++
					}
				}
			}
		}
		assert.Positive(t, messages, name)
		assert.Positive(t, titles, name)
	}
}

package statedb

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// hit is a word, and where it ends.
type hit struct {
	word string
	end  int
}

func hits(words []string, text string) (found []hit) {
	newFinder(words).in(text, func(word string, end int) { found = append(found, hit{word, end}) })
	return found
}

func TestFinderFindsWhatIsThere(t *testing.T) {
	assert.Equal(t, []hit{{"call_1.txt", 10}, {"call_1.txt", 22}}, hits([]string{"call_1.txt", "call_2.txt"}, "Call_1.TXT: call_1.txt"))
	assert.Equal(t, []hit{{"ab", 2}, {"b", 2}}, hits([]string{"b", "ab"}, "ab"), "one within the other")
	assert.Empty(t, hits([]string{"12345678.txt"}, "2345678.txt"))
	assert.Empty(t, hits([]string{"x"}, ""))
	assert.Empty(t, hits(nil, "x"))
}

// However many words there are and however long: what the slow way finds, and nothing else.
func TestFinderIsTheSlowWay(t *testing.T) {
	alphabet := rapid.SampledFrom([]rune("aAbB.1\x00é"))
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfNDistinct(rapid.StringOfN(alphabet, 1, 12, -1), 0, 6, strings.ToLower).Draw(t, "words")
		text := rapid.StringOfN(alphabet, 0, 60, -1).Draw(t, "text")
		for _, word := range words { // or it would hardly ever be there
			if rapid.Bool().Draw(t, "put in") {
				text += word
			}
		}
		var want []hit
		for end := range len(text) + 1 {
			for _, word := range words {
				if end >= len(word) && asciiLower(text[end-len(word):end]) == asciiLower(word) {
					want = append(want, hit{word, end})
				}
			}
		}
		assert.ElementsMatch(t, want, hits(words, text))
	})
}

func asciiLower(text string) string {
	return string(slices.Collect(func(yield func(byte) bool) {
		for i := range len(text) {
			b := text[i]
			if strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ", b) >= 0 {
				b += 32
			}
			if !yield(b) {
				return
			}
		}
	}))
}

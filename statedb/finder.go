package statedb

// finder looks for many words in a text at once: one pass, however many they are, which leaps over most of a text where the
// words are long. Letters of ASCII count as the same in either case.
//
// It looks at the last byte of a window as wide as the shortest word: from there the window can move on until that byte
// stands where it does in the beginning of a word.
type finder struct {
	words  []string
	width  int                 // of the window
	leaps  [256]int            // by the last byte: how far the window may move on; 0 where a word may begin in it
	ending map[uint64][]string // the words, by the end of their beginning
}

// newFinder takes words that are not empty.
func newFinder(words []string) *finder {
	f := &finder{words: words, ending: map[uint64][]string{}}
	for i, word := range words {
		if i == 0 || len(word) < f.width {
			f.width = len(word)
		}
	}
	for b := range f.leaps {
		f.leaps[b] = f.width
	}
	for _, word := range words {
		beginning := word[:f.width]
		for i := range len(beginning) {
			at := lower(beginning[i])
			f.leaps[at] = min(f.leaps[at], f.width-1-i)
		}
		f.ending[endOf(beginning)] = append(f.ending[endOf(beginning)], word)
	}
	return f
}

// in tells use each place of a text where a word stands, and where it ends there.
func (f *finder) in(text string, use func(word string, end int)) {
	if len(f.words) == 0 {
		return
	}
	for end := f.width; end <= len(text); {
		if leap := f.leaps[lower(text[end-1])]; leap > 0 {
			end += leap
			continue
		}
		start := end - f.width
		for _, word := range f.ending[endOf(text[start:end])] {
			if start+len(word) <= len(text) && equalFold(text[start:start+len(word)], word) {
				use(word, start+len(word))
			}
		}
		end++
	}
}

// endOf is the last eight bytes of a text as a number.
func endOf(text string) (end uint64) {
	for i := max(0, len(text)-8); i < len(text); i++ {
		end = end<<8 | uint64(lower(text[i]))
	}
	return end
}

func equalFold(a, b string) bool {
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + ('a' - 'A')
	}
	return b
}

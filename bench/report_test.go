package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

// madeResults are results of two sizes, of which the larger is judged and misses one target.
func madeResults() (results []result) {
	for i, sessions := range []int{targetFrom / 10, targetFrom} {
		r := result{StoreBytes: 1 << 20, Series: []series{
			{Name: "floor", Took: []time.Duration{2 * time.Millisecond, 4 * time.Millisecond, 3 * time.Millisecond}},
			{Name: "delete", Took: []time.Duration{time.Duration(i+1) * 10 * time.Millisecond}},
		}, Notes: []string{"in one go"}}
		r.compare(figure{Name: "delete / floor", Target: 5}, func(p picked) float64 { return p["delete"] / p["floor"] })
		r.compare(figure{Name: "floor / delete", Target: 0.1, AtLeast: true}, func(p picked) float64 { return p["floor"] / p["delete"] })
		r.Figures = append(r.Figures, figure{Name: "peak", Value: 20, Unit: megabytes, Target: 40 + 20*float64(i)})
		r.describe("delete", history{schema: legacySchema, sessions: sessions})
		results = append(results, r)
	}
	return results
}

func TestAReportStandsBetweenItsMarks(t *testing.T) {
	document := filepath.Join(t.TempDir(), "performance.md")
	require.NoError(t, os.WriteFile(document, []byte("before\n"+beginMark+"yesterday\n"+endMark+"after\n"), 0o600))
	for range 2 {
		require.NoError(t, writeReport(document, madeResults()))
	}
	text := content(t, document)
	assert.True(t, strings.HasPrefix(text, "before\n"+beginMark) && strings.HasSuffix(text, endMark+"after\n"), text)
	assert.NotContains(t, text, "yesterday")
	assert.Contains(t, text, "|  | sessions | floor | delete | delete / floor ≤ 5 | floor / delete ≥ 0.1 | peak |\n")
	assert.Contains(t, text, "| legacy | 10000 | 3.000 ms | 10.0 ms | 3.33 | 0.30 | 20.0 MB (≤ 40 MB) |\n")
	assert.Contains(t, text, "| legacy | 100000 | 3.000 ms | 20.0 ms | **6.67** | 0.15 | 20.0 MB (≤ 60 MB) |\n")
	assert.Contains(t, text, "| delete | legacy | delete | × 2.00 |\n")
	assert.Contains(t, text, "- legacy, 100000 sessions: in one go\n")
	assert.Contains(t, text, "](performance.svg)")
	assert.Contains(t, content(t, filepath.Join(filepath.Dir(document), "performance.svg")), "<svg")

	require.NoError(t, os.WriteFile(document, []byte(endMark+beginMark), 0o600))
	require.ErrorContains(t, writeReport(document, nil), "marks")
}

func TestOfResultsOnTheSameStoreTheLastCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results")
	var out bytes.Buffer
	older := madeResults()
	older[0].Notes = []string{"older"}
	for _, r := range append([]result{older[1], older[0]}, madeResults()...) {
		require.NoError(t, printerOf(options{json: true}, &out)(r))
	}
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	got, err := readResults(path, path)
	require.NoError(t, err)
	assert.Equal(t, madeResults(), got, "the smaller store first")
}

func TestTheDocumentOfTheRepositoryHasTheMarks(t *testing.T) {
	_, err := replaceTables(content(t, "../docs/reference/performance.md"), "")
	require.NoError(t, err)
}

func TestBenchstatReadsWhatIsPrinted(t *testing.T) {
	var out bytes.Buffer
	for _, r := range madeResults() {
		require.NoError(t, r.writeGoBench(&out))
	}
	var seconds []float64
	for lines := benchfmt.NewReader(&out, "out"); lines.Scan(); {
		read, ok := lines.Result().(*benchfmt.Result)
		require.True(t, ok, "%v", lines.Result())
		if string(read.Name) == "Delete/schema=legacy/sessions=100000/of=floor" {
			took, found := read.Value("sec/op")
			require.True(t, found)
			seconds = append(seconds, took)
		}
	}
	assert.Equal(t, []float64{0.002, 0.004, 0.003}, seconds)
}

package cleanup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestArtifactsGoAndOthersStay(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Artifacts("x", "y", "..", ".", "xy", "x_y")
	files(home, "request_dump_x_.json", "request_dump_x_*.json", "request_dump_x_[y].json", "sessions.json", "*.json",
		"?.json", "[x].json", "x", "x.json.bak", "sessions.jsonl")
	put(home, "1", `["x","..","."]`)
	home.Write("x.json", "of the home itself")

	report := process(t, home)

	assert.Equal(t, Report{Removed: []string{".", "..", "x"}}, report)
	assert.True(t, report.Complete())
	want := []string{"sessions.json", "*.json", "?.json", "[x].json", "x", "x.json.bak", "sessions.jsonl"}
	for _, id := range []string{"y", "xy", "x_y"} {
		want = append(want, id+".json", id+".jsonl", "session_"+id+".json")
		if id != "x_y" { // which was nobody's live session, so its dump was x's too
			want = append(want, "request_dump_"+id+"_1.json")
		}
	}
	assert.ElementsMatch(t, want, home.Sessions())
	assert.FileExists(t, filepath.Join(home.Path, "x.json"))
}

func TestDumpsBelongToTheLongestLiveOwner(t *testing.T) {
	dumps := []string{"request_dump_a_1.json", "request_dump_a_b_1.json", "request_dump_a_b_c_1.json"}
	for name, test := range map[string]struct {
		manifest string
		live     []string
		left     []string
		removed  []string
	}{
		"nobody else lives":        {`["a"]`, nil, nil, []string{"a"}},
		"a longer one lives":       {`["a"]`, []string{"a_b"}, dumps[1:], []string{"a"}},
		"the longest lives":        {`["a"]`, []string{"a_b_c"}, dumps[2:], []string{"a"}},
		"both live":                {`["a"]`, []string{"a_b", "a_b_c"}, dumps[1:], []string{"a"}},
		"only a shorter one lives": {`["a_b"]`, []string{"a"}, dumps[:1], []string{"a_b"}},
		"all go but the live one":  {`["a","a_b"]`, []string{"a_b_c"}, dumps[2:], []string{"a", "a_b"}},
		"a live one that is asked": {`["a","a_b"]`, []string{"a_b"}, dumps[1:], []string{"a"}},
		"strangers live":           {`["a"]`, []string{"a_bc", "b", "a_b_c_1_2"}, nil, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			home := sidecartest.NewHome(t)
			files(home, dumps...)
			put(home, "1", test.manifest)
			report := process(t, home, test.live...)
			assert.NoError(t, report.Failed)
			assert.Equal(t, test.removed, report.Removed)
			assert.ElementsMatch(t, test.left, slices.DeleteFunc(home.Sessions(), isManifest))
		})
	}
}

func TestSnapshotOfALiveNamesake(t *testing.T) {
	home := sidecartest.NewHome(t)
	files(home, "session_x.json", "x.json")
	put(home, "1", `["x"]`)
	assert.Equal(t, Report{Removed: []string{"x"}}, process(t, home, "session_x"))
	assert.Equal(t, []string{"session_x.json"}, home.Sessions(), "it is the transcript of the live session session_x")
}

func TestLiveIDsKeepTheirFiles(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Artifacts("x", "y")
	name := put(home, "1", `["x", "y"]`)
	report := process(t, home, "x")
	assert.Equal(t, Report{Removed: []string{"y"}, Pending: []Pending{{"x", CauseSessionLive}}}, report)
	assert.False(t, report.Complete())
	assert.Equal(t, []string{name, "request_dump_x_1.json", "session_x.json", "x.json", "x.jsonl"}, home.Sessions())
	assert.Equal(t, `["x"]`, content(t, home, name))

	report = process(t, home)
	assert.Equal(t, Report{Removed: []string{"x"}}, report)
	assert.Empty(t, home.Sessions())
}

func TestUnsafeIDsStay(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Write("x.json", "outside sessions")
	files(home, "ä.json", "a b.json", ".json", "x.json")
	text := `["../x","ä","a b","","x/../x","x\u0000","x\n"]`
	name := put(home, "1", text)
	report := process(t, home)
	assert.Empty(t, report.Removed)
	var ids []string
	for _, p := range report.Pending {
		assert.Equal(t, CauseUnsafeID, p.Cause)
		ids = append(ids, p.SessionID)
	}
	assert.Equal(t, []string{"", "../x", "a b", "x\x00", "x\n", "x/../x", "ä"}, ids)
	assert.Equal(t, text, content(t, home, name))
	assert.Len(t, home.Sessions(), 5)
	assert.FileExists(t, filepath.Join(home.Path, "x.json"))

	assert.Equal(t, CauseSessionLive, process(t, home, "ä").Pending[6].Cause, "a live one is said to live")
}

func TestOneIDInManyManifests(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Artifacts("x")
	put(home, "1", `["x","live"]`)
	put(home, "2", `["x","x","live"]`)
	put(home, "3", `["x"]`)
	report := process(t, home, "live")
	assert.Equal(t, Report{Removed: []string{"x"}, Pending: []Pending{{"live", CauseSessionLive}}}, report)
	assert.Equal(t, []string{manifestName("1"), manifestName("2")}, home.Sessions())
	assert.Equal(t, `["live"]`, content(t, home, manifestName("2")))
}

func TestNobodyKnowsWhoLives(t *testing.T) {
	broken := errors.New("no store")
	for name, live := range map[string]LiveFunc{
		"at once": func(context.Context, []string) (map[string]bool, error) { return nil, broken },
		"when it comes to the rivals": func(_ context.Context, ids []string) (map[string]bool, error) {
			if slices.Contains(ids, "session_x") {
				return nil, broken
			}
			return nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := sidecartest.NewHome(t)
			home.Artifacts("x")
			manifest := put(home, "1", `[ "x"]`)
			before := home.Sessions()
			report := open(t, home).Process(t.Context(), live)
			require.ErrorIs(t, report.Failed, broken)
			assert.False(t, report.Complete())
			assert.Empty(t, report.Removed)
			assert.Equal(t, []Pending{{"x", CauseArtifactStuck}}, report.Pending)
			assert.Equal(t, before, home.Sessions())
			assert.Equal(t, `[ "x"]`, content(t, home, manifest))
		})
	}
}

// The store is asked once for all manifests, however many they are.
func TestOneQuestionForAllManifests(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Artifacts("x", "y")
	put(home, "1", `["y", "x"]`)
	put(home, "2", `["x", "z"]`)
	var asked [][]string
	report := open(t, home).Process(t.Context(), func(_ context.Context, ids []string) (map[string]bool, error) {
		asked = append(asked, ids)
		return map[string]bool{"y": true}, nil
	})
	require.NoError(t, report.Failed)
	assert.Equal(t, [][]string{{"x", "y", "z"}, {"session_x"}}, asked, "the ids, then the rivals for their files")
	assert.Equal(t, []string{"x", "z"}, report.Removed)
}

func TestACancelLeavesTheRest(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Artifacts("x", "y")
	put(home, "2", `["y"]`)
	put(home, "1", `["x"]`)
	before := home.Sessions()
	ctx, cancel := context.WithCancel(t.Context())
	report := open(t, home).Process(ctx, func(context.Context, []string) (map[string]bool, error) {
		cancel()
		return nil, nil
	})
	require.ErrorIs(t, report.Failed, context.Canceled)
	assert.Empty(t, report.Removed)
	assert.Equal(t, before, home.Sessions())
}

func TestFortyThousandIDs(t *testing.T) {
	home := sidecartest.NewHome(t)
	ids := make([]string, 40_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("20260101_%06d_abcdef", i)
	}
	home.Artifacts(ids[7], ids[8], ids[39_999])
	folder := open(t, home)
	manifest, err := folder.WriteManifest(ids)
	require.NoError(t, err)
	var asked [][]string
	live := alive(ids[0], ids[8])
	report := folder.Process(t.Context(), func(ctx context.Context, ids []string) (map[string]bool, error) {
		asked = append(asked, ids)
		return live(ctx, ids)
	})
	require.NoError(t, report.Failed)
	assert.Len(t, report.Removed, 39_998)
	assert.Equal(t, []Pending{{ids[0], CauseSessionLive}, {ids[8], CauseSessionLive}}, report.Pending)
	assert.Equal(t, ids, asked[0], "all at once")
	assert.LessOrEqual(t, len(asked), 2, "and once more for the owners of names that two may have")
	assert.Equal(t, `["`+ids[0]+`","`+ids[8]+`"]`, content(t, home, string(manifest)))
	assert.Len(t, home.Sessions(), 5)
	assert.Equal(t, os.FileMode(0o600), info(t, home, string(manifest)).Mode())
}

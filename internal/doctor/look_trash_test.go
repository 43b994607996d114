package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/trash"
)

// keep writes an entry as a delete would, and tells where it is.
func keep(t *testing.T, home, operation string, deletedAt time.Time, days int) (path string) {
	t.Helper()
	folder, err := trash.Open(home)
	require.NoError(t, err)
	defer folder.Close()
	w, err := folder.Begin(trash.Header{
		OperationID: operation, DeletedAt: float64(deletedAt.Unix()), KeepUntil: float64(deletedAt.AddDate(0, 0, days).Unix()), DeletedIDs: []string{"gone"},
		Title: "canary",
	})
	require.NoError(t, err)
	_, err = w.Write([]byte(`{"table":"sessions","row":{"id":"gone","title":"canary"}}` + "\n"))
	require.NoError(t, err)
	require.NoError(t, w.Commit())
	return trash.Path(home, operation)
}

// TestTheTrash has an entry of each kind, none of which is touched; and what the store is like is another matter.
func TestTheTrash(t *testing.T) {
	home := newHome(t)
	assert.Equal(t, &Trash{}, look(t, home.Path, false).Trash)
	assert.NoDirExists(t, filepath.Join(home.Path, trash.FolderName))
	keep(t, home.Path, "00000000000000000000000000000001", time.Now(), 30)
	keep(t, home.Path, "00000000000000000000000000000002", time.Now().AddDate(0, 0, -2), 1)
	require.NoError(t, os.Truncate(keep(t, home.Path, "00000000000000000000000000000003", time.Now(), 30), 60))
	home.Write("trash/00000000000000000000000000000004.ndjson.gz.0a1b2c3d.tmp", "half")
	before := imprint(t, home.Path)
	for _, full := range []bool{false, true} {
		report := look(t, home.Path, full)
		assert.Equal(t, []Word{WordTrashDamaged, WordTrashOverdue, WordTrashKept, WordTrashUnfinished}, wordsOf(report))
		assert.False(t, report.Healthy)
		require.NotNil(t, report.Trash)
		assert.Positive(t, report.Trash.Bytes)
		report.Trash.Bytes = 0
		assert.Equal(t, &Trash{Entries: 3, Overdue: 1, Unreadable: 1, Unfinished: 1}, report.Trash)
		for _, f := range report.Findings {
			assert.NotContains(t, f.Line, "canary")
		}
	}
	assert.Equal(t, before, imprint(t, home.Path))

	home.Write("state.db", "no database")
	report := look(t, home.Path, false)
	assert.Contains(t, wordsOf(report), WordCorrupt)
	assert.Contains(t, wordsOf(report), WordTrashKept, "what was kept is there all the same")
}

func TestATrashThatCannotBeUsed(t *testing.T) {
	home := newHome(t)
	home.Write(trash.FolderName, "a file")
	report := look(t, home.Path, false)
	assert.Equal(t, []Word{WordTrashUnusable}, wordsOf(report))
	assert.Equal(t, "nothing can be kept or restored: the trash of this home cannot be used: trash: it is not a folder", report.Findings[0].Line)
	assert.Nil(t, report.Trash)
}

package trash

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnErrorSaysANameOnce, whatever the system said of it.
func TestAnErrorSaysANameOnce(t *testing.T) {
	err := unusable("x"+suffix, &fs.PathError{Op: "unlinkat", Path: "x" + suffix, Err: fs.ErrPermission})
	require.EqualError(t, err, "the trash of this home cannot be used: x.ndjson.gz: permission denied")
	require.ErrorIs(t, err, fs.ErrPermission)
	err = unusable(FolderName, &fs.PathError{Op: "openat", Path: "other", Err: fs.ErrPermission})
	require.EqualError(t, err, "the trash of this home cannot be used: trash: openat other: permission denied")
}

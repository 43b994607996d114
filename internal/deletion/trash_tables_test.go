package deletion_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/internal/trash"
	"session-sidecar/statedb"
)

// TestTheTrashHoldsWhatTheStoreCopies: the two do not know each other, and what one writes and the other does not take would make
// every delete that is kept fail.
func TestTheTrashHoldsWhatTheStoreCopies(t *testing.T) {
	require.Equal(t, statedb.CopiedTables(), trash.Tables)
}

package sqlname

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFold(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "id": "id", "ID": "id", "Session_Id": "session_id", "É": "É", "é": "é", "ſeſſion_id": "ſeſſion_id", "\u212aey": "\u212aey", "AZ[\\]az": "az[\\]az",
	} {
		assert.Equal(t, want, Fold(name), "%q", name)
	}
	assert.True(t, Same("ID", "iD"))
	assert.False(t, Same("É", "é"))
}

func TestFind(t *testing.T) {
	cells := map[string]int{"Id": 1, "id": 2, "ſ": 3}
	for column, want := range map[string]int{"id": 2, "Id": 1} {
		name, value, found := Find(cells, column)
		assert.Equal(t, []any{column, want, true}, []any{name, value, found})
	}
	name, value, found := Find(map[string]int{"ID": 1}, "id")
	assert.Equal(t, []any{"ID", 1, true}, []any{name, value, found})
	for _, column := range []string{"s", "S"} {
		_, _, found := Find(cells, column)
		assert.False(t, found, column)
	}
}

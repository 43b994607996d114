package deletion

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestSharesRoutes(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(name string) string { return filepath.Join(root, name) }
	for _, name := range []string{"base", "work"} {
		require.NoError(t, os.Mkdir(at(name), 0o700))
	}
	require.NoError(t, os.WriteFile(at("file"), nil, 0o600))
	require.NoError(t, os.Symlink(at("work"), at("link")))
	require.NoError(t, os.Symlink(at("circle"), at("circle")))
	for base, want := range map[string]bool{
		"": false, at("base"): true, at("work"): false, at("link"): false, at("work") + "/.": false,
		at("not-there"): false,
		at("circle"):    true, // nobody knows what is there
	} {
		assert.Equal(t, want, sharesRoutes(at("work"), base), base)
	}
	if runtime.GOOS != "windows" {
		assert.False(t, sharesRoutes(at("work"), at("file")+"/below"), "a way that leads nowhere")
	}
	request := Request{BaseHome: at("base")}
	first, second := request.toDelete(at("work")), request.toDelete(at("base"))
	assert.Regexp(t, `^[0-9a-f]{32}$`, first.OperationID)
	assert.NotEqual(t, first.OperationID, second.OperationID)
	assert.True(t, first.SharesRoutes)
	assert.False(t, second.SharesRoutes)
}

func TestNamespaceOf(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	base := filepath.Join(root, "main")
	require.NoError(t, os.Mkdir(base, 0o700))
	assert.Equal(t, "main", namespaceOf(base, base))
	assert.Equal(t, "work", namespaceOf(filepath.Join(root, "work"), base))
	assert.Equal(t, "main~", namespaceOf(filepath.Join(root, "profiles", "main"), base))
	assert.Empty(t, namespaceOf(filepath.Join(root, "a:b"), base))
}

// TestOnePursuitForEachHome holds that two never run for one home, and that none ends while there is more to do.
func TestOnePursuitForEachHome(t *testing.T) {
	b := newBackground()
	assert.True(t, b.begin("a"))
	assert.True(t, b.begin("b"))
	assert.True(t, b.finish("a"))
	assert.True(t, b.begin("a"))
	assert.False(t, b.begin("a"))
	assert.False(t, b.begin("a"))
	assert.False(t, b.finish("a"), "it was told of more")
	assert.True(t, b.finish("a"))
	for range 3 { // one for each that has begun
		b.running.Done()
	}
	d := New(sidecartest.Log(t))
	d.Close()
	d.Close()
	assert.False(t, d.background.begin("a"), "after the end")
}

func TestFirstUse(t *testing.T) {
	b := newBackground()
	assert.True(t, b.firstUse("a"))
	assert.False(t, b.firstUse("a"))
	assert.True(t, b.firstUse("b"))
}

package lazyregexp

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheExpressionIsCompiledOnce(t *testing.T) {
	digits := New(`^[0-9]+$`)
	assert.True(t, digits().MatchString("12"))
	assert.False(t, digits().MatchString("1x"))
	assert.Same(t, digits(), digits())
}

func TestATestFindsAnExpressionThatDoesNotCompile(t *testing.T) {
	assert.True(t, inTest)
	assert.Panics(t, func() { New(`(`) })
}

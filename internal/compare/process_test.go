package compare_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestReason: of messages the line counts that speaks of an error, as a compiler's do after its progress.
func TestReason(t *testing.T) {
	for _, test := range []struct {
		lines []string
		want  string
	}{
		{nil, ""},
		{[]string{"no such file", "and more"}, "no such file"},
		{[]string{"   Compiling foo v0.1.0", "error[E0425]: cannot find value `x`", "error: could not compile"}, "error[E0425]: cannot find value `x`"},
		{[]string{"cc -c a.c", "a.c:1:5: error: expected ';'"}, "a.c:1:5: error: expected ';'"},
		{[]string{"0 errors", "it is broken"}, "0 errors"},
	} {
		golden.Equal(t, "reason", test.want, compare.Reason(test.lines))
	}
}

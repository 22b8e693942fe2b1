package goldilocks_test

import (
	"os"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestConstantTime: every package says that it does not promise it, and so does the page.
func TestConstantTime(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"element.go", "poseidon/permutation.go", "poseidon2/poseidon2.go", "merkle/shape.go", "../docs/arithmetic.md"} {
		text := must.Get(os.ReadFile(path))(t)
		head, _, _ := strings.Cut(string(text), "\npackage ")
		if !strings.Contains(strings.ReplaceAll(head, "\n// ", " "), "Nothing here is constant-time") {
			t.Errorf("%s does not say that nothing is constant-time", path)
		}
	}
}

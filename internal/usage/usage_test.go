package usage_test

import (
	"os/exec"
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/usage"
)

// TestQuote: a shell reads a quoted word as that word.
func TestQuote(t *testing.T) {
	for _, word := range []string{"plain", "50..200", "", "two words", "it's", "$HOME `id` \\ *", "a\nb", "~", "#x", "!"} {
		golden.Equal(t, "what a shell reads of "+usage.Quote(word), word, string(must.Get(exec.Command("sh", "-c", "printf %s "+usage.Quote(word)).Output())(t)))
	}
}

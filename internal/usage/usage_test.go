package usage_test

import (
	"os/exec"
	"testing"

	"github.com/zkbench/zkbench/internal/usage"
)

// TestQuote: a shell reads a quoted word as that word.
func TestQuote(t *testing.T) {
	for _, word := range []string{"plain", "50..200", "", "two words", "it's", "$HOME `id` \\ *", "a\nb", "~", "#x", "!"} {
		out, err := exec.Command("sh", "-c", "printf %s "+usage.Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is quoted as %s, which a shell reads as %q (%v)", word, usage.Quote(word), out, err)
		}
	}
}

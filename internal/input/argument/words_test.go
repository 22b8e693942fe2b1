package argument_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestQuote: a shell reads a quoted word as that word.
func TestQuote(t *testing.T) {
	for _, word := range []string{"plain", "50..200", "", "two words", "it's", "$HOME `id` \\ *", "a\nb", "~", "#x", "!"} {
		golden.Equal(t, "what a shell reads of "+argument.Quote(word), word, string(must.Get(exec.Command("sh", "-c", "printf %s "+argument.Quote(word)).Output())(t)))
	}
}

// commands are texts that Words accepts, with their words.
var commands = []struct {
	text string
	want []string
}{
	{"", nil},
	{" \t ", nil},
	{"make bench", []string{"make", "bench"}},
	{"  a\t b  ", []string{"a", "b"}},
	{`go test -bench 'Sum|Product' -run '^$'`, []string{"go", "test", "-bench", "Sum|Product", "-run", "^$"}},
	{`'' "" a''b`, []string{"", "", "ab"}},
	{`a"b c"'d e'f\ g`, []string{"ab cd ef g"}},
	{`"it's" 'say "x"' \' \"`, []string{"it's", `say "x"`, "'", `"`}},
	{`"\$5 \x \\ \" \` + "`" + `"`, []string{`$5 \x \ " ` + "`"}},
	{`\a\\\$`, []string{`a\$`}},
	{"a\\\nb \"c\\\nd\" \\\n e", []string{"ab", "cd", "e"}},
	{"'a\nb' \"a\nb\"", []string{"a\nb", "a\nb"}},
	{`x~ a#b '-bench=.*' "a?" \[b {dir}/work.sh`, []string{"x~", "a#b", "-bench=.*", "a?", "[b", "{dir}/work.sh"}},
}

// TestWords: commands come apart as a shell takes them, or are refused.
func TestWords(t *testing.T) {
	for _, test := range commands {
		words, err := argument.Words("run", test.text)
		must.Do(t, err)
		golden.Equal(t, test.text, test.want, words)
	}
	for _, text := range []string{
		`'`, `a 'b`, `"`, `"a\"`, `"a`, `a\`, `it's`, // of quotes
		"a | b", "a && b", "a; b", "a > b", "a < b", "(a)", "$HOME", `"$HOME"`, "`a`", "\"`a`\"", "a\nb", "~/a", "a #b", "*.go", "a?", "[ab]", // for a shell
	} {
		words, err := argument.Words("run", text)
		refused, ok := errors.AsType[*argument.ValueError](err)
		if !ok || words != nil || refused.Field != "run" || refused.Value != text {
			t.Errorf("%q: %q, %v", text, words, err)
		}
	}
}

// FuzzWords: accepted words, quoted and joined, come back, and a shell takes the text as the
// same words; it expands nothing in it, since Words refuses what it would.
func FuzzWords(f *testing.F) {
	for _, test := range commands {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words, err := argument.Words("run", text)
		if err != nil {
			return
		}
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, argument.Quote(w))
		}
		again := must.Get(argument.Words("run", strings.Join(quoted, " ")))(t)
		if !cmp.Equal(words, again) {
			t.Errorf("%q: %q, quoted and split again %q", text, words, again)
		}
		if strings.Contains(text, "\x00") { // which no shell can be given
			return
		}
		// -f: patterns of files stay as they are. A word comes back as it is, and a 0 after it.
		out := must.Get(exec.Command("sh", "-fc", `w() { for i; do printf '%s\0' "$i"; done; }; w `+text).Output())(t)
		want := ""
		for _, w := range words {
			want += w + "\x00"
		}
		golden.Equal(t, text, want, string(out))
	})
}

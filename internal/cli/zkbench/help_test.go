package zkbench

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestHelp compares the help of the commands that measure workloads with golden files, at two widths.
func TestHelp(t *testing.T) {
	for name, args := range map[string]string{
		"run": "run", "run_sender": "run sender", "run_keccak_pedersen": "run keccak pedersen", "compare": "compare", "compare_sender": "compare sender",
		"leak_sender": "leak sender", "bisect": "bisect", "stages_pedersen": "stages pedersen", "suite": "suite", "exec": "exec",
	} {
		for _, width := range []string{"100", "80"} {
			t.Setenv("COLUMNS", width)
			code, out, _ := call(append([]string{"help"}, strings.Fields(args)...)...)
			golden.Equal(t, name+": exit code", cli.ExitOK, code)
			golden.File(t, "testdata/help/"+name+"_"+width+".txt", out)
		}
	}
}

// TestHelpFits reads the help of every command: no line is wider than the terminal, and no flag has two defaults.
func TestHelpFits(t *testing.T) {
	command := regexp.MustCompile(`^  ([a-z-]+)  +[A-Z]`)
	var read func(path ...string)
	read = func(path ...string) {
		for _, width := range []int{100, 80, 60} {
			t.Setenv("COLUMNS", strconv.Itoa(width))
			_, out, _ := call(append([]string{"help"}, path...)...)
			flag := "" // with its help, which may take several lines
			for line := range strings.Lines(out) {
				line = strings.TrimSuffix(line, "\n")
				if width >= 80 && utf8.RuneCountInString(line) > width && !strings.HasPrefix(line, "  zkbench ") { // an example to copy
					t.Errorf("help %s: %d columns: %s", strings.Join(path, " "), utf8.RuneCountInString(line), line)
				}
				if strings.HasPrefix(line, "  -") {
					flag = ""
				}
				if flag += line; strings.Count(flag, "(default") > 1 {
					t.Errorf("help %s: two defaults: %s", strings.Join(path, " "), flag)
				}
				if found := command.FindStringSubmatch(line); found != nil && width == 100 && found[1] != "help" && found[1] != "completion" {
					read(append(slices.Clone(path), found[1])...)
				}
			}
		}
	}
	read()
	for _, topic := range []string{"axes", "exit-codes", "findings", "metrics", "records"} {
		read(topic)
	}
}

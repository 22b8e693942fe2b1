package zkbench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// TestGuestDocs: the guests that docs/riscv.md prints are built and run by the commands above them, and commit to what
// the page says that they do.
func TestGuestDocs(t *testing.T) {
	testsize.Full(t)
	root := must.Get(filepath.Abs("../../.."))(t)
	page := string(must.Get(os.ReadFile(filepath.Join(root, "docs/riscv.md")))(t))
	// 300 bytes are ten leaves, the last of them not whole: two levels have an odd number of nodes.
	input := []byte(strings.Repeat("one two one three one two ", 12)[:300])
	for _, test := range []struct {
		heading, language, source, output, want string
		needs                                   func(t *testing.T, other *strings.Replacer)
		other                                   *strings.Replacer // to the commands for the other width, of which the page tells
	}{
		{"Guests in C", "c", "guest.c", "hash", digest(input), compilerOfC, strings.NewReplacer("rv64im", "rv32im")},
		{"Guests in C++", "cpp", "guest.cpp", "root", treeRoot(input), compilerOfCxx, strings.NewReplacer("rv64im", "rv32im")},
		{"Guests in Rust", "rust", "guest.rs", "word", "Some((\"one\", 35))\n", compilerOfRust, strings.NewReplacer("rv32im", "rv64im", "riscv32im", "riscv64imac")},
	} {
		build := func(t *testing.T, width *strings.Replacer) {
			test.needs(t, width)
			_, section, _ := strings.Cut(page, "\n## "+test.heading+"\n\n")
			commands, rest, _ := strings.Cut(section, "\n\n```"+test.language+"\n")
			source, _, ok := strings.Cut(rest, "```\n")
			if !ok || strings.Contains(commands, "```") {
				t.Fatalf("no commands and a guest in %s below %q", test.language, test.heading)
			}
			dir := t.TempDir()
			t.Chdir(dir)
			must.Do(t, os.WriteFile(test.source, []byte(source), 0o600))
			must.Do(t, os.WriteFile("README.md", input, 0o600))
			must.Do(t, os.Symlink(filepath.Join(root, "riscv"), "riscv"))
			for line := range strings.Lines(commands) {
				line, _, _ = strings.Cut(strings.TrimSpace(line), "  # ")
				line = width.Replace(line)
				if args, ok := strings.CutPrefix(strings.TrimSpace(line), "zkbench "); ok {
					var stdout, stderr bytes.Buffer
					code := Program().Run(strings.Fields(args), strings.NewReader(""), &stdout, &stderr)
					golden.Equal(t, line+": "+stderr.String(), cli.ExitOK, code)
				} else if out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput(); err != nil || len(out) > 0 {
					t.Fatalf("%s: %v: %s", line, err, out)
				}
			}
			golden.Equal(t, test.output, test.want, string(must.Get(os.ReadFile(test.output))(t)))
		}
		t.Run(test.language, func(t *testing.T) { build(t, strings.NewReplacer()) })
		t.Run(test.language+"/other-width", func(t *testing.T) { build(t, test.other) })
	}
}

func digest(data []byte) string {
	sum := keccak.Sum256(data)
	return string(sum[:])
}

// treeRoot returns the root of the page's tree: Keccak-256 of every 32 bytes, then of every two
// digests. A digest that is left over stays as it is.
func treeRoot(data []byte) string {
	var level []string
	for ; len(data) > 0; data = data[min(32, len(data)):] {
		level = append(level, digest(data[:min(32, len(data))]))
	}
	for len(level) > 1 {
		var above []string
		for ; len(level) > 1; level = level[2:] {
			above = append(above, digest([]byte(level[0]+level[1])))
		}
		level = append(above, level...)
	}
	return level[0]
}

func compilerOfC(t *testing.T, _ *strings.Replacer) {
	t.Helper()
	testsize.Program(t, "riscv-gcc", "riscv64-linux-gnu-gcc")
}

func compilerOfCxx(t *testing.T, _ *strings.Replacer) {
	t.Helper()
	testsize.Program(t, "riscv-g++", "riscv64-linux-gnu-g++")
}

func compilerOfRust(t *testing.T, width *strings.Replacer) {
	t.Helper()
	compilerOfC(t, width)
	testsize.Rust(t, width.Replace("riscv32im-unknown-none-elf"))
}

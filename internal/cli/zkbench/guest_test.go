package zkbench

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	calls "github.com/zkbench/zkbench/riscv/call"
)

// TestGuestCommand: a package of Go is built, executed, counted and costed; what it commits to and its profile
// are written.
func TestGuestCommand(t *testing.T) {
	testsize.Full(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	message := bytes.Repeat([]byte("message"), 100)
	must.Do(t, os.WriteFile(path("in"), message, 0o600))
	run := func(code int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, err bytes.Buffer
		golden.Equal(t, strings.Join(args, " "), code, Program().Run(append([]string{"guest"}, args...), strings.NewReader(""), &out, &err))
		return out.String(), err.String()
	}
	const keccakGuest = "../../../riscv/guests/keccak"

	out, _ := run(cli.ExitOK, "run", keccakGuest, "--input", path("in"), "--output", path("out"), "--profile", path("profile"), "--functions", "3")
	digest := keccak.Sum256(message)
	golden.Equal(t, "output", hex.EncodeToString(digest[:]), hex.EncodeToString(must.Get(os.ReadFile(path("out")))(t)))
	for _, want := range []string{"\n(all) ", "\nhash ", "keccakF1600", "32.0 B of output"} {
		golden.Contains(t, out, want)
	}
	file := must.Get(os.Open(path("profile")))(t)
	defer file.Close()
	total := int64(0)
	for _, s := range must.Get(profile.Parse(file))(t).Sample {
		total += s.Value[0]
	}
	golden.Equal(t, "cycles of the profile", true, strings.HasPrefix(out, grouped(uint64(total))+" cycles in "))

	out, _ = run(cli.ExitOK, "cost", keccakGuest, "--input", path("in"), "--tags", "precompile", "--section", "hash", "--speed", "1000", "--columns", "cpu=10,keccak256=7", "--shard", "1024")
	for line := range strings.Lines(out) {
		golden.Contains(t, line, "a model, not proved:")
	}
	golden.Equal(t, "row of the precompile, of six blocks", "keccak256 6 8 7 56 56.00 ms", rowOf(t, out, "keccak256"))
	golden.Contains(t, rowOf(t, out, "cpu"), " 256 10 2,560 2.560 s")

	for name, test := range map[string]struct {
		code int
		says string
		args []string
	}{
		"no program":              {cli.ExitUsage, "accepted: an ELF file", []string{"run"}},
		"a program that is not":   {cli.ExitUsage, "program: ", []string{"run", path("nothing")}},
		"a file that is no ELF":   {cli.ExitUsage, "no ELF file", []string{"run", path("in")}},
		"a package of no program": {cli.ExitUsage, "riscv/call is not a package main", []string{"run", "../../../riscv/call"}},
		"unknown precompiles":     {cli.ExitUsage, `precompiles: "bn"`, []string{"run", keccakGuest, "--precompiles", "bn"}},
		"a set that lacks":        {cli.ExitFailed, "unknown call", []string{"run", keccakGuest, "--tags", "precompile", "--precompiles", "bn254"}},
		"too little memory":       {cli.ExitFailed, "out of memory", []string{"run", keccakGuest, "--memory", "100000"}},
		"too few cycles":          {cli.ExitFailed, "out of cycles", []string{"run", keccakGuest, "--cycles", "1000"}},
		"unknown section":         {cli.ExitUsage, `section: "x"`, []string{"cost", keccakGuest, "--section", "x"}},
		"columns of nothing":      {cli.ExitUsage, `columns: "keccack256=5"`, []string{"cost", keccakGuest, "--columns", "cpu=5,keccack256=5"}},
		"columns twice":           {cli.ExitUsage, `columns: "cpu=6"`, []string{"cost", keccakGuest, "--columns", "cpu=5,cpu=6"}},
		"a speed of nothing":      {cli.ExitUsage, `speed: "0"`, []string{"cost", keccakGuest, "--cycles", "1", "--speed", "0"}},
		"an output that is not":   {cli.ExitUsage, "output: ", []string{"run", keccakGuest, "--cycles", "1", "--output", path("nowhere/out")}},
		"columns without a name":  {cli.ExitUsage, `columns: "=3"`, []string{"cost", keccakGuest, "--columns", "=3"}},
		"shards of three rows":    {cli.ExitUsage, "accepted: powers of two", []string{"cost", keccakGuest, "--shard", "3"}},
		"an input that is not":    {cli.ExitUsage, "input: ", []string{"run", keccakGuest, "--input", path("nothing")}},
		"no environment":          {cli.ExitUsage, `env: "GOGC"`, []string{"run", keccakGuest, "--env", "GOGC"}},
		"a set for Go":            {cli.ExitUsage, "isa: ", []string{"run", keccakGuest, "--isa", "rv64im"}},
		"a map of one address":    {cli.ExitUsage, `map: "4096"`, []string{"run", keccakGuest, "--map", "4096"}},
		"a map that goes down":    {cli.ExitUsage, `map: "0x20-0x10"`, []string{"run", keccakGuest, "--map", "0x1000-0x2000,0x20-0x10"}},
		"tags of a file":          {cli.ExitUsage, "tags: ", []string{"run", path("in"), "--tags", "precompile"}},
		"an unknown set of RV":    {cli.ExitUsage, `isa: "rv128"`, []string{"run", path("in"), "--isa", "rv128"}},
	} {
		_, err := run(test.code, test.args...)
		golden.Contains(t, err, test.says)
		if strings.Count(err, "\n") != 1 {
			t.Errorf("%s: %q", name, err)
		}
	}
}

// TestGuestMap: a bare program whose stack is in no segment is told of --map, and runs with it.
func TestGuestMap(t *testing.T) {
	const text, stack = 0x10000, 0x8000
	program := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(program, rv.ELF(64, text, rv.Segment{At: text, Flags: 5, Data: rv.Text(
		rv.Lui(2, stack), rv.S(rv.OpStore, 3, 2, 0, -8), rv.Addi(10, 0, 0), rv.Addi(17, 0, 93), rv.Ecall)}), 0o600))
	for _, test := range []struct {
		code int
		args []string
		says string
	}{
		{cli.ExitFailed, nil, "writes 8 bytes at 0x7ff8; nothing is mapped there; map it with Options.Map (--map)"},
		{cli.ExitOK, []string{"--map", "0x7000-0x8000"}, ""},
		{cli.ExitUsage, []string{"--map", "0x7000-0xffffffffffffffff"}, "map[0]: addresses 0x7000 to 0xffffffffffffffff"},
	} {
		var out, err bytes.Buffer
		golden.Equal(t, "code", test.code, Program().Run(append([]string{"guest", "run", program, "--isa", "rv64im"}, test.args...), strings.NewReader(""), &out, &err))
		golden.Contains(t, err.String(), test.says)
	}
}

// TestGuestMissing: a call of Linux that there is not is named with what else the guest did.
func TestGuestMissing(t *testing.T) {
	const text = 0x10000
	program := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(program, rv.ELF(64, text, rv.Segment{At: text, Flags: 5, Data: rv.Text(
		rv.Addi(17, 0, 43), rv.Ecall, rv.Ecall, rv.Addi(10, 0, 0), rv.Addi(17, 0, 93), rv.Ecall)}), 0o600))
	var out, err bytes.Buffer
	golden.Equal(t, "code", cli.ExitOK, Program().Run([]string{"guest", "run", program}, strings.NewReader(""), &out, &err))
	golden.Contains(t, out.String(), "missing call, answered ENOSYS", "statfs (43)")
}

// TestGuestOutput: what a guest commits to is written if it ends with code 0, and a file that was there stays as it was
// otherwise.
func TestGuestOutput(t *testing.T) {
	const text, data = 0x1000, 0x200000
	dir := t.TempDir()
	for _, test := range []struct {
		exit     int32
		code     int
		old, new string
	}{{0, cli.ExitOK, "", "valid"}, {0, cli.ExitOK, "older and longer", "valid"}, {1, cli.ExitFailed, "", ""}, {1, cli.ExitFailed, "old", "old"}} {
		program, out := filepath.Join(dir, "program"), filepath.Join(dir, "out")
		must.Do(t, os.WriteFile(program, rv.ELF(64, text,
			rv.Segment{At: text, Flags: 5, Data: rv.Text(
				rv.Lui(10, data), rv.Addi(11, 0, int32(len("valid"))), rv.Lui(17, calls.Commit), rv.Addi(17, 17, calls.Commit&0xfff), rv.Ecall,
				rv.Addi(10, 0, test.exit), rv.Addi(17, 0, 93), rv.Ecall)},
			rv.Segment{At: data, Flags: 6, Data: []byte("valid")}), 0o600))
		must.Do(t, os.RemoveAll(out))
		if test.old != "" {
			must.Do(t, os.WriteFile(out, []byte(test.old), 0o600))
		}
		var stdout, stderr bytes.Buffer
		golden.Equal(t, "code", test.code, Program().Run([]string{"guest", "run", program, "--isa", "rv64im", "--output", out}, strings.NewReader(""), &stdout, &stderr))
		if test.exit != 0 {
			golden.Contains(t, stderr.String(), "guest: exit code 1")
		}
		written, err := os.ReadFile(out)
		golden.Equal(t, "a file", test.new != "", err == nil)
		golden.Equal(t, "output", test.new, string(written))
	}
}

// TestShortened: a table shows both ends of a name that is wider than a line.
func TestShortened(t *testing.T) {
	for name, want := range map[string]string{
		"main.main":             "main.main",
		strings.Repeat("é", 72): strings.Repeat("é", 72),
		"alloc::collections::btree::node::Handle<alloc::collections::btree::node::NodeRef<K,V>>::insert_recursing": "alloc::collections::btree::node::H...e::NodeRef<K,V>>::insert_recursing",
	} {
		golden.Equal(t, "shortened", want, shortened(name))
	}
}

// rowOf returns the cells of the named table of cost, after the words that all lines have.
func rowOf(t *testing.T, out, name string) string {
	t.Helper()
	for line := range strings.Lines(out) {
		if words := strings.Fields(strings.TrimPrefix(line, "a model, not proved:")); len(words) > 0 && words[0] == name {
			return strings.Join(words, " ")
		}
	}
	t.Fatalf("no row %s in\n%s", name, out)
	return ""
}

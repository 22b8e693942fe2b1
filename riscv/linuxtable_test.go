package riscv

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestCallNames: calls have the names and numbers that golang.org/x/sys has them by, but for those that it has renamed
// or that are no calls.
func TestCallNames(t *testing.T) {
	dir := strings.TrimSpace(string(must.Get(exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output())(t)))
	raw := must.Get(os.ReadFile(filepath.Join(dir, "unix", "zsysnum_linux_riscv64.go")))(t)
	want := make(map[int]string)
	for _, found := range regexp.MustCompile(`SYS_(\w+)\s+= (\d+)`).FindAllStringSubmatch(string(raw), -1) {
		want[must.Get(strconv.Atoi(found[2]))(t)] = strings.ToLower(found[1])
	}
	golden.Within(t, "calls", 300, len(want), mostCalls)
	want[79] = "newfstatat" // fstatat there
	delete(want, 244)       // arch_specific_syscall, where those of an architecture begin
	got := make(map[int]string)
	for number, name := range callNames {
		if name != "" {
			got[number] = name
		}
	}
	golden.Equal(t, "names", want, got)
	golden.Equal(t, "a call without a name", "call 244", callName(244))
	golden.Equal(t, "one beyond all", "call 18446744073709551615", callName(1<<64-1))
}

// callsTable returns the implemented calls as in docs/riscv.md: one row for those with the same answer,
// sorted by number.
func callsTable() string {
	rows := make(map[string][]string) // by what they say
	first := make(map[string]int)
	for number := range linuxCalls {
		c := findCall(uint64(number))
		if c == nil {
			continue
		}
		if _, ok := first[c.says]; !ok {
			first[c.says] = number
		}
		rows[c.says] = append(rows[c.says], fmt.Sprintf("`%s` %d", callNames[number], number))
	}
	table := "| call and number | what it answers |\n|---|---|\n"
	for _, says := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return first[a] - first[b] }) {
		table += fmt.Sprintf("| %s | %s |\n", strings.Join(rows[says], ", "), says)
	}
	return table
}

// TestCallsOfPage: docs/riscv.md has the calls that there are, and what they answer. ZKBENCH_UPDATE writes them there.
func TestCallsOfPage(t *testing.T) {
	for name := range linuxByName {
		if !slices.Contains(callNames[:], name) {
			t.Errorf("%s is no call of Linux", name)
		}
	}
	path := filepath.Join("..", "docs", "riscv.md")
	page := string(must.Get(os.ReadFile(path))(t))
	const begin = "| call and number |"
	head, rest, ok := strings.Cut(page, begin)
	_, tail, ok2 := strings.Cut(rest, "\n\n")
	if !ok || !ok2 {
		t.Fatalf("%s has no table that begins with %q", path, begin)
	}
	golden.File(t, path, head+callsTable()+"\n"+tail)
}

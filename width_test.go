package zkbench_test

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// without64 are the public packages that do not import the root package, and so compile where an int has 32 bits: what they
// compute has a fixed size, or they have benchmarks only, or they are for guests, which are programs for RISC-V of 64 bits.
var without64 = []string{"hash/pedersen", "transcript", "token/issue", "token/transfer", "riscv/c", "riscv/call", "riscv/guest", "riscv/guests/..."}

// TestNeeds64Bits: where an int has 32 bits, the module does not compile, and a constant's name says why.
func TestNeeds64Bits(t *testing.T) {
	build := exec.CommandContext(t.Context(), "go", "build", ".")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=386", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if text := string(out); err == nil || !strings.Contains(text, "needs64Bits") {
		t.Errorf("error %v: %s", err, text)
	}
	imports := packages(t)
	for pkg := range imports {
		free := slices.ContainsFunc(without64, func(name string) bool { return covers(name, pkg) })
		if public(pkg) && pkg != "." && !forTests(pkg) && !slices.Contains(reached(imports, pkg), ".") && !free {
			t.Errorf("%s compiles where an int has 32 bits", pkg)
		}
	}
	for _, name := range without64 {
		if !slices.ContainsFunc(slices.Sorted(maps.Keys(imports)), func(pkg string) bool {
			return covers(name, pkg) && !slices.Contains(reached(imports, pkg), ".")
		}) {
			t.Errorf("%s imports the root package: take it from the list", name)
		}
	}
}

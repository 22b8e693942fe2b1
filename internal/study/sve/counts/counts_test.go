package counts_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/study/sve/counts"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload/sve"
)

// static returns the counts of a kernel's function.
func static(t *testing.T, kernel, function string) *counts.Function {
	t.Helper()
	f := counts.StaticOf(kernel, function)
	if f == nil {
		t.Fatalf("no count of %s on %s", function, kernel)
	}
	return f
}

// TestStatic: every kernel has the study's functions.
func TestStatic(t *testing.T) {
	t.Parallel()
	for _, kernel := range []string{"avx2", "avx512", "sve", "sve2"} {
		for _, name := range sve.Names() {
			c := static(t, kernel, name)
			if c.Registers < 1 || c.Compute < 1 || c.Memory < 2 || c.Control < 3 {
				t.Errorf("%+v", c)
			}
		}
	}
}

// TestPermutations: a permutation takes half the instructions with vectors twice as wide.
func TestPermutations(t *testing.T) {
	t.Parallel()
	all := counts.Executed()
	if len(all) != len(kernels)*len(widths) {
		t.Fatalf("%d counts", len(all))
	}
	for i, p := range all {
		if p.Kernel != kernels[i/len(widths)] || p.Bits != widths[i%len(widths)] {
			t.Errorf("%d: %+v", i, p)
		}
		if i%len(widths) == 0 {
			continue
		}
		golden.Near(t, fmt.Sprintf("twice the bits of %+v", all[i-1]), all[i-1].Instructions/2, p.Instructions, 0.005)
	}
}

// TestUnits: what is executed for a unit of a function is what its loop has.
func TestUnits(t *testing.T) {
	t.Parallel()
	units := make(map[string]int) // elements of a unit's result
	for _, f := range sve.Functions(goldilocks.Portable()) {
		units[f.Name] = f.Dst
	}
	units["mult_128_halves"] = units["mult_128"]
	all := counts.ExecutedUnits()
	if least := len(kernels) * len(widths) * len(sve.Names()); len(all) < least {
		t.Fatalf("%d counts, less than %d", len(all), least)
	}
	for _, u := range all {
		f := static(t, u.Kernel, u.Function)
		pass := float64(f.Registers*u.Bits/64) / float64(units[u.Function])
		golden.Equal(t, fmt.Sprintf("%+v, by its loop", u), float64(f.Compute+f.Memory+f.Control)/pass, u.Instructions)
	}
}

// The kernels of arm64, and the widths of vectors in bits that they are counted at.
var (
	kernels = []string{"sve", "sve2"}
	widths  = []int{128, 256, 512, 1024, 2048}
)

// TestCounted is what TestExecuted counts: all functions of so many units, and as many
// permutations, by the kernel that the environment names.
func TestCounted(t *testing.T) {
	var name string
	var units int
	if _, err := fmt.Sscan(os.Getenv("ZKBENCH_COUNT"), &name, &units); err != nil {
		t.Skip("runs for TestExecuted")
	}
	k := must.Get(goldilocks.KernelNamed(name))(t)
	for _, f := range sve.Functions(k) {
		shared := units
		if f.Shared {
			shared = 1
		}
		f.Run(make([]goldilocks.Element, units*f.Dst), make([]goldilocks.Element, units*f.A), make([]goldilocks.Element, shared*f.B))
	}
	poseidon.PermuteAll(make([]poseidon.State, units), k)
}

// TestTransformed is what TestTransforms counts: one transform by the kernel and from the
// order that the environment names.
func TestTransformed(t *testing.T) {
	var name string
	var from goldilocks.Order
	if _, err := fmt.Sscan(os.Getenv("ZKBENCH_TRANSFORM"), &name, &from); err != nil {
		t.Skip("runs for TestTransforms")
	}
	k := must.Get(goldilocks.KernelNamed(name))(t)
	const n = 1 << 12
	d := must.Get(goldilocks.NewDomain(n))(t)
	must.Do(t, d.NTT(make([]goldilocks.Element, n), from, 1, k))
}

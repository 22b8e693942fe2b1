//go:build !purego

package goldilocks

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"
)

// TestKernelsFound: this processor's kernels are those that the environment says it has.
func TestKernelsFound(t *testing.T) {
	want := os.Getenv("ZKBENCH_KERNELS")
	if want == "" {
		t.Skip("TestEmulated says which kernels there are")
	}
	if got := fmt.Sprint(Kernels()); got != want {
		t.Errorf("kernels are %s, want %s", got, want)
	}
}

// TestMulWide: the products of 128 bits, by umulh and by halves.
func TestMulWide(t *testing.T) {
	type function = func(dstHi, dstLo *uint64, a, b *Element, n int)
	edges := []Element{0, 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, Modulus - 1, 1<<64 - 1}
	var a, b []Element
	for _, x := range edges {
		for _, y := range edges {
			a, b = append(a, x, Element(rand.Uint64())), append(b, y, Element(rand.Uint64()))
		}
	}
	for _, k := range Kernels() {
		for i, f := range map[string][]function{sve: {mulWideSVE, mulWideHalvesSVE}, sve2: {mulWideSVE2}}[k.name] {
			hi, lo := make([]uint64, len(a)), make([]uint64, len(a))
			f(&hi[0], &lo[0], &a[0], &b[0], len(a))
			for j := range a {
				if h, l := bits.Mul64(uint64(a[j]), uint64(b[j])); hi[j] != h || lo[j] != l {
					t.Fatalf("%v, function %d: %x times %x is %x %x", k, i, a[j], b[j], hi[j], lo[j])
				}
			}
		}
	}
}

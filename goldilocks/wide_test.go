package goldilocks

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestWide: each kernel does itself all that fills its registers, and leaves the rest only.
// Its transforms are of its own radix.
func TestWide(t *testing.T) {
	t.Parallel()
	const n = 71
	want := map[string]int{avx2: 68, avx512: 64, sve: n, sve2: n}
	d := must.Get(NewDomain(256))(t)
	for _, k := range Kernels() {
		v := make([]Element, n)
		_, dot := k.dotWide(v, v)
		for name, done := range map[string]int{
			"add": k.addWide(v, v, v), "sub": k.subWide(v, v, v), "mul": k.mulWide(v, v, v),
			"mulAdd": k.mulAddWide(v, v, v), "square": k.squareWide(v, v), "neg": k.negWide(v, v),
			"mulScalar": k.mulScalarWide(v, v, 3), "dot": dot,
		} {
			golden.Equal(t, fmt.Sprintf("%v: %s of %d elements does", k, name, n), want[k.name], done)
		}
		radix := 0
		d.tables4 = func() *tables { radix = 4; return newTables(d.roots, 4) }
		d.tables8 = func() *tables { radix = 8; return newTables(d.roots, 8) }
		d.transform(k, make([]Element, d.n), Natural)
		golden.Equal(t, fmt.Sprintf("%v: radix", k), map[string]int{avx2: 4, avx512: 8}[k.name], radix)
	}
}

// TestKernels: they are in the order of the names, from the portable one, and the zero Kernel,
// or none, is the last of them.
func TestKernels(t *testing.T) {
	t.Parallel()
	all := Kernels()
	order := map[string]int{portable: 0, avx2: 1, avx512: 2, sve: 1, sve2: 2}
	for i, k := range all {
		if order[k.name] != i || chosen([]Kernel{Portable(), k}) != k {
			t.Errorf("%v is at %d of %v", k, i, all)
		}
	}
	last := all[len(all)-1]
	if all[0] != Portable() || chosen(nil) != last || chosen([]Kernel{{}}) != last || (Kernel{}).String() != last.String() {
		t.Errorf("of %v the fastest is %v, by name %v", all, chosen(nil), Kernel{})
	}
}

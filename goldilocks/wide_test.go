package goldilocks

import "testing"

// TestWide: each kernel does itself all that fills its registers, and leaves the rest only.
// Its transforms are of its own radix.
func TestWide(t *testing.T) {
	const n = 71
	want := map[string]int{avx2: 68, avx512: 64, sve: n, sve2: n}
	d, err := NewDomain(256)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Kernels() {
		v, words := make([]Element, n), make([]uint64, n)
		_, dot := k.dotWide(v, v)
		for name, done := range map[string]int{
			"add": k.addWide(v, v, v), "sub": k.subWide(v, v, v), "mul": k.mulWide(v, v, v),
			"mulAdd": k.mulAddWide(v, v, v), "square": k.squareWide(v, v), "neg": k.negWide(v, v),
			"mulScalar": k.mulScalarWide(v, v, 3), "reduce128": k.reduce128Wide(v, words, words), "dot": dot,
		} {
			if done != want[k.name] {
				t.Errorf("%v: %s of %d elements does %d, want %d", k, name, n, done, want[k.name])
			}
		}
		radix := 0
		d.tables4 = func() *tables { radix = 4; return newTables(d.roots, 4) }
		d.tables8 = func() *tables { radix = 8; return newTables(d.roots, 8) }
		d.transform(k, make([]Element, d.n), Natural)
		if want := map[string]int{avx2: 4, avx512: 8}[k.name]; radix != want {
			t.Errorf("%v: transforms by radix %d, want %d", k, radix, want)
		}
	}
}

// TestBest: it is the widest, in the order of the names.
func TestBest(t *testing.T) {
	all := Kernels()
	if all[0] != (Kernel{}) {
		t.Errorf("the first of %v is not the portable kernel", all)
	}
	if got := Best(); got != all[len(all)-1] {
		t.Errorf("the best of %v is %v", all, got)
	}
	order := map[string]int{portable: 0, avx2: 1, avx512: 2, sve: 1, sve2: 2}
	for i, k := range all {
		if order[k.name] != i {
			t.Errorf("%v is at %d of %v", k, i, all)
		}
	}
}

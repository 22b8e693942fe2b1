package goldilocks

import (
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/must"
)

// TestDigits: roots of unity of order up to 2^20 but 2^63 have digits that the kernels'
// products can take, and those of all represent them.
func TestDigits(t *testing.T) {
	t.Parallel()
	log := 20
	if testing.Short() {
		log = 12
	}
	root := must.Get(RootOfUnity(log))(t)
	abs := func(v int64) int64 { return max(v, -v) }
	fits := func(v int64) bool { return v == int64(int32(v)) }
	value := func(low, high int64) Element {
		return signed(high).Mul(1 << 32).Add(signed(low))
	}
	e := Element(1)
	for range 1 << log {
		t0, t1 := digits(e)
		s0, s1 := digits(e.Mul(1 << 32))
		if !fits(t0) || !fits(t1) || !fits(s0) || !fits(s1) || abs(t0)+abs(s0) > 1<<32-4 || abs(t1)+abs(s1) > 1<<32-2 && e != 1<<63 {
			t.Fatalf("%d: digits %d %d, %d %d", e, t0, t1, s0, s1)
		}
		if value(t0, t1) != e || value(s0, s1) != e.Mul(1<<32) {
			t.Fatalf("%d is not what its digits %d %d, %d %d are", e, t0, t1, s0, s1)
		}
		e = e.Mul(root)
	}
}

func signed(v int64) Element {
	if v < 0 {
		return Element(-v).Neg()
	}
	return Element(v)
}

// TestTables: no table has 2^63, whose digits are too large.
func TestTables(t *testing.T) {
	t.Parallel()
	root := must.Get(RootOfUnity(14))(t)
	roots := make([]Element, 1<<13)
	setReversedPowers(roots, 1, root)
	bad, _ := twiddle(1 << 63)
	for _, radix := range []int{4, 8} {
		tables := newTables(roots, radix)
		if slices.Contains(tables.rows, bad) || slices.Contains(tables.groups, bad) {
			t.Errorf("radix %d: 2^63 is a twiddle", radix)
		}
	}
}

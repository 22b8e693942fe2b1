package goldilocks

import (
	"math/big"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
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

// TestMultiplier: the words are what products by it take them for.
func TestMultiplier(t *testing.T) {
	t.Parallel()
	word := new(big.Int).Lsh(big.NewInt(1), 64)
	p := new(big.Int).SetUint64(Modulus)
	inverse := new(big.Int).ModInverse(p, word)
	for _, e := range []Element{0, 1, 2, 7, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, rootOfUnity, Modulus - 1<<32, Modulus - 2, Modulus - 1} {
		z := new(big.Int).Lsh(new(big.Int).SetUint64(uint64(e)), 64)
		z.Mod(z, p)
		q := new(big.Int).Mul(z, inverse)
		q.Mod(q, word)
		if want := (multiplier{z.Uint64(), q.Uint64()}); newMultiplier(e) != want {
			t.Errorf("%d: %v, want %v", e, newMultiplier(e), want)
		}
	}
}

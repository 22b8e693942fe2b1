package poseidon

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
)

// reference computes the permutation as in the paper, on big integers.
func reference(s State) (out State) {
	p := new(big.Int).SetUint64(goldilocks.Modulus)
	var x [Width]*big.Int
	for i := range x {
		x[i] = new(big.Int).SetUint64(uint64(s[i]))
	}
	for r := range rounds {
		for i := range x {
			x[i].Add(x[i], new(big.Int).SetUint64(uint64(roundConstants[r][i])))
			if i == 0 || r < FullRounds/2 || r >= FullRounds/2+PartialRounds {
				x[i].Exp(x[i], big.NewInt(7), p)
			}
		}
		var y [Width]*big.Int
		for i := range y {
			y[i] = new(big.Int)
			for j := range x {
				c := circulant[j]
				if i == 0 && j == 0 {
					c += diagonal
				}
				y[i].Add(y[i], new(big.Int).Mul(x[(i+j)%Width], new(big.Int).SetUint64(c)))
			}
			y[i].Mod(y[i], p)
		}
		x = y
	}
	for i := range out {
		out[i] = goldilocks.Element(x[i].Uint64())
	}
	return out
}

var ends = []goldilocks.Element{0, 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, goldilocks.Modulus - 1<<32, goldilocks.Modulus - 2, goldilocks.Modulus - 1}

// TestReference: the permutation of random elements and of ends is the paper's.
func TestReference(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var s State
		for i := range s {
			s[i] = goldilocks.Reduce(random.Uint64())
			if n < len(ends) {
				s[i] = ends[n]
			} else if n%2 == 0 {
				s[i] = ends[random.IntN(len(ends))]
			}
		}
		want := reference(s)
		if got := s; true {
			if got.Permute(); got != want {
				t.Fatalf("%x: %x, want %x", s, got, want)
			}
		}
	}
}

// TestSchedule: the constants are in the ranges for which the kernels add them without a
// carry, and those of the partial rounds expand what the linear layer makes of the
// round constants.
func TestSchedule(t *testing.T) {
	t.Parallel()
	for _, half := range [][FullRounds / 2][Width]uint64{constants.before, constants.after} {
		for r, row := range half {
			for i, c := range row {
				if c < 1<<43 || c > 1<<64-1<<44 {
					t.Errorf("round %d, element %d: %#x", r, i, c)
				}
			}
		}
	}
	check := func(what string, e expanded, want goldilocks.Element) {
		t.Helper()
		if e.low>>32 != 1<<29 || e.high>>32 != 1<<28 {
			t.Errorf("%s: %#x out of range", what, e)
		}
		if got := goldilocks.Reduce(e.low).Add(goldilocks.Reduce128(e.high>>32, e.high<<32)); got != want {
			t.Errorf("%s: %#x, want %#x", what, got, want)
		}
	}
	for _, c := range append(ends, roundConstants[7][:]...) {
		check("expand", expand(c), c)
	}
}

// TestMultiply: lazy operands at the ends of 64 bits.
func TestMultiply(t *testing.T) {
	t.Parallel()
	p := new(big.Int).SetUint64(goldilocks.Modulus)
	// 2^48 by itself borrows, 2^32 times 2^33 - 1 carries and borrows.
	all := []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<33 - 1, 1 << 48, 1 << 63, goldilocks.Modulus - 1, goldilocks.Modulus, goldilocks.Modulus + 1, 1<<64 - 1<<32, 1<<64 - 2, 1<<64 - 1}
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		all = append(all, random.Uint64())
	}
	for _, x := range all {
		for _, y := range all {
			want := new(big.Int).Mul(new(big.Int).SetUint64(x), new(big.Int).SetUint64(y))
			got := new(big.Int).SetUint64(multiply(x, y))
			if got.Sub(got, want).Mod(got, p).Sign() != 0 {
				t.Fatalf("%#x times %#x: %#x", x, y, multiply(x, y))
			}
		}
		seventh := new(big.Int).Exp(new(big.Int).SetUint64(x), big.NewInt(7), p)
		if uint64(goldilocks.Reduce(power7(x))) != seventh.Uint64() {
			t.Fatalf("%#x to the power of 7", x)
		}
	}
}

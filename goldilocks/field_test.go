package goldilocks_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	reference "github.com/consensys/gnark-crypto/field/goldilocks"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/goldilockstest"
	"github.com/zkbench/zkbench/internal/testing/must"
)

var p = new(big.Int).SetUint64(goldilocks.Modulus)

// anything draws values of 64 bits, goldilockstest.Edges often.
func anything() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.SampledFrom(goldilockstest.Edges), rapid.Uint64())
}

func element() *rapid.Generator[goldilocks.Element] {
	return rapid.Map(anything(), goldilocks.Reduce)
}

func bigOf(e goldilocks.Element) *big.Int { return new(big.Int).SetUint64(uint64(e)) }

func checkElement(t *rapid.T, what string, got goldilocks.Element, want *big.Int) {
	want.Mod(want, p)
	if !got.Canonical() || bigOf(got).Cmp(want) != 0 {
		t.Fatalf("%s: %d, want %d", what, got, want)
	}
}

// TestElement compares with big.Int and with gnark-crypto.
func TestElement(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := element().Draw(t, "a"), element().Draw(t, "b")
		x, y := bigOf(a), bigOf(b)
		checkElement(t, "add", a.Add(b), new(big.Int).Add(x, y))
		checkElement(t, "sub", a.Sub(b), new(big.Int).Sub(x, y))
		checkElement(t, "neg", a.Neg(), new(big.Int).Neg(x))
		checkElement(t, "double", a.Double(), new(big.Int).Add(x, x))
		checkElement(t, "mul", a.Mul(b), new(big.Int).Mul(x, y))
		checkElement(t, "square", a.Square(), new(big.Int).Mul(x, x))
		n := rapid.Uint64().Draw(t, "n")
		checkElement(t, "exp", a.Exp(n), new(big.Int).Exp(x, new(big.Int).SetUint64(n), p))
		if a == 0 {
			checkElement(t, "inverse", a.Inverse(), new(big.Int))
		} else {
			checkElement(t, "inverse", a.Inverse(), new(big.Int).ModInverse(x, p))
		}
		var g, h reference.Element
		g.SetUint64(uint64(a))
		h.SetUint64(uint64(b))
		g.Mul(&g, &h)
		if g.Uint64() != uint64(a.Mul(b)) {
			t.Fatalf("gnark-crypto has %d", g.Uint64())
		}
	})
	for _, a := range goldilockstest.Edges {
		for _, b := range goldilockstest.Edges {
			e, f := goldilocks.Reduce(a), goldilocks.Reduce(b)
			want := new(big.Int).Mul(bigOf(e), bigOf(f))
			if got := e.Mul(f); bigOf(got).Cmp(want.Mod(want, p)) != 0 {
				t.Errorf("%d times %d: %d", e, f, got)
			}
		}
	}
}

// TestReduce128: of any words, against big.Int.
func TestReduce128(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hi, lo := anything().Draw(t, "hi"), anything().Draw(t, "lo")
		want := new(big.Int).SetUint64(hi)
		checkElement(t, "reduce128", goldilocks.Reduce128(hi, lo), want.Lsh(want, 64).Add(want, new(big.Int).SetUint64(lo)))
	})
}

func TestBytes(t *testing.T) {
	t.Parallel()
	golden.Equal(t, "bytes", [8]byte{8, 7, 6, 5, 4, 3, 2, 1}, goldilocks.Element(0x0102030405060708).Bytes())
}

// TestSetBytes: what Bytes gives comes back; all else is refused and changes nothing.
func TestSetBytes(t *testing.T) {
	t.Parallel()
	for _, w := range goldilockstest.Edges {
		b, e := goldilocks.Element(w).Bytes(), goldilocks.Element(5)
		err := e.SetBytes(b[:])
		decode, refused := errors.AsType[*zkbench.DecodeError](err)
		switch canonical := w < goldilocks.Modulus; {
		case canonical && (err != nil || e != goldilocks.Element(w)):
			t.Errorf("%#x: %#x, %v", w, e, err)
		case !canonical && (!refused || decode.Reason != "not below the modulus" || e != 5):
			t.Errorf("%#x: %#x, %v", w, e, err)
		}
	}
	for _, n := range []int{0, 7, 9} {
		e := goldilocks.Element(5)
		if err := e.SetBytes(make([]byte, n)); !errors.Is(err, zkbench.ErrMalformed) || e != 5 {
			t.Errorf("%d bytes: %d, %v", n, e, err)
		}
	}
}

// ends are results that a kernel may hold as words from p-2 to p+2 before its last step.
var ends = []goldilocks.Element{0, 1, 2, goldilocks.Modulus - 2, goldilocks.Modulus - 1}

// TestWordsAtModulus: sums that are p and its neighbours as integers.
func TestWordsAtModulus(t *testing.T) {
	t.Parallel()
	type vector = []goldilocks.Element
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(21, 22))
		const n = 71
		for _, end := range ends {
			ones, want := slices.Repeat(vector{1}, n), slices.Repeat(vector{end}, n)
			x := generate(n, func(int) goldilocks.Element { return 2 + goldilocks.Element(random.Uint64N(goldilocks.Modulus-4)) })
			y := generate(n, func(i int) goldilocks.Element { return end.Sub(x[i]) }) // x + y is end, or p more
			dst := make(vector, n)
			goldilocks.Add(dst, x, y, k)
			equal(t, fmt.Sprint("add to ", end), dst, want)
			dst = slices.Clone(y)
			goldilocks.MulAdd(dst, x, ones, k)
			equal(t, fmt.Sprint("mulAdd to ", end), dst, want)
		}
	})
}

// TestNTTWordsAtModulus: transforms whose results are the ends. The sums that make a
// result of 0 are p as a word about as often as 0.
func TestNTTWordsAtModulus(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(23, 24))
		for _, n := range []int{64, 128, 256, size(4096, 512)} {
			d := domain(t, n)
			for _, from := range orders {
				want := generate(n, func(int) goldilocks.Element { return ends[random.IntN(len(ends))] })
				got := slices.Clone(want)
				must.Do(t, d.InverseNTT(got, opposite(from), 1, goldilocks.Portable()))
				must.Do(t, d.NTT(got, from, 1, k))
				equal(t, fmt.Sprintf("n=%d from=%v", n, from), got, want)
			}
		}
	})
}

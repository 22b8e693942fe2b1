package goldilocks_test

import (
	"errors"
	"math/big"
	"testing"

	reference "github.com/consensys/gnark-crypto/field/goldilocks"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/goldilockstest"
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

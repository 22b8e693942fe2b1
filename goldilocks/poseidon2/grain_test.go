package poseidon2_test

import (
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon2"
)

// grain is Poseidon's generator of constants (ePrint 2019/458, appendix F): an LFSR of 80 bits that
// starts with the parameters. It draws bits in pairs, and outputs the second bit if the first is
// set.
type grain struct{ bits []byte }

func newGrain(width, full, partial int) *grain {
	g := &grain{}
	put := func(v, n int) {
		for i := n - 1; i >= 0; i-- {
			g.bits = append(g.bits, byte(v>>i&1))
		}
	}
	put(1, 2) // a prime field
	put(0, 4) // x^alpha
	put(64, 12)
	put(width, 12)
	put(full, 10)
	put(partial, 10)
	put(1<<30-1, 30)
	for range 160 {
		g.next()
	}
	return g
}

func (g *grain) next() byte {
	b := g.bits
	bit := b[62] ^ b[51] ^ b[38] ^ b[23] ^ b[13] ^ b[0]
	g.bits = append(b[1:], bit)
	return bit
}

func (g *grain) bit() byte {
	for g.next() == 0 {
		g.next()
	}
	return g.next()
}

// element draws 64 bits until they are below the modulus.
func (g *grain) element() goldilocks.Element {
	for {
		var v uint64
		for range 64 {
			v = v<<1 | uint64(g.bit())
		}
		if v < goldilocks.Modulus {
			return goldilocks.Element(v)
		}
	}
}

// TestConstants: the constants are those that the generator gives, nobody chose them.
func TestConstants(t *testing.T) {
	t.Parallel()
	full, partial := poseidon2.Constants()
	g := newGrain(poseidon2.Width, len(full), len(partial))
	check := func(got goldilocks.Element) {
		t.Helper()
		if want := g.element(); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
	}
	for r := range full {
		if r == len(full)/2 {
			for _, c := range partial {
				check(c)
			}
		}
		for _, c := range full[r] {
			check(c)
		}
	}
}

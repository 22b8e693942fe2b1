package words

import (
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/plonkish"
)

// Gates computes with words in circuits of plonkish.TurboPlonk, digit by digit in base 4.
type Gates struct {
	b      *plonkish.Builder
	bits   int
	zero   plonkish.Var
	ranged plonkish.Kind
}

const digitBits = 2

// NewGates returns Gates for words of the given number of bits. It returns zkbench.ErrParams if this number
// is odd, less than 2 or greater than MaxBits.
func NewGates(b *plonkish.Builder, bits int) (*Gates, error) {
	if err := checkBits(bits, digitBits); err != nil {
		return nil, err
	}
	g := &Gates{b: b, bits: bits, zero: b.Var(fr.Element{}), ranged: b.Kind(plonkish.Range())}
	b.Row(b.Kind(plonkish.Arithmetic4(), fr.Element{}, fr.One()), []plonkish.Var{g.zero})
	return g, nil
}

// Range constrains v to be a word. For words of n bits it takes ⌈n / 8⌉ + 1 rows.
func (g *Gates) Range(v plonkish.Var) {
	x := read(g.b, v)
	cells := []plonkish.Var{g.zero}
	for digits := g.bits / digitBits; digits%4 > 0; digits++ { // those above are 0
		cells = append(cells, g.zero)
	}
	for at := g.bits - digitBits; at >= 0; at -= digitBits {
		cells = append(cells, x.rest(g.b, at))
	}
	for ; len(cells) > 4; cells = cells[4:] {
		g.b.Row(g.ranged, cells[:4])
	}
	g.b.Row(0, cells)
}

// And returns x & y, and constrains x and y to be words. For words of n bits it takes n / 2 + 1 rows.
func (g *Gates) And(x, y plonkish.Var) plonkish.Var { return g.operate(and, x, y) }

// Xor returns x ⊕ y, and constrains x and y to be words. For words of n bits it takes n / 2 + 1 rows.
func (g *Gates) Xor(x, y plonkish.Var) plonkish.Var { return g.operate(xor, x, y) }

func (g *Gates) operate(o *operation, v, w plonkish.Var) plonkish.Var {
	x, y := read(g.b, v), read(g.b, w)
	z := o.result(g.b, x, y, g.bits)
	g.rows(o, x, y, z)
	return z.value
}

// rows adds rows that accumulate both operands and the result; a forger passes another result.
func (g *Gates) rows(o *operation, x, y, z word) {
	kind := g.b.Kind(o.gate)
	now := []plonkish.Var{g.zero, g.zero, 0, g.zero}
	for at := g.bits - digitBits; at >= 0; at -= digitBits {
		now[2] = g.b.Var(fr.NewElement(x.digit(at, digitBits) * y.digit(at, digitBits)))
		g.b.Row(kind, now)
		now = []plonkish.Var{x.rest(g.b, at), y.rest(g.b, at), 0, z.rest(g.b, at)}
	}
	g.b.Row(0, now)
}

package pedersen

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"

	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/plonkish"
)

// Plain computes hashes in circuits of plonkish.Plonk. It works like Ladder, but has a row for each product
// and each sum. A digit is d = s (1 + 2 t), where s is 1 or -1 and t is a bit. The bit t selects one of two
// constant points, and the circuit adds s times this point.
type Plain struct {
	b      *plonkish.Builder
	kinds  map[[5]fr.Element]plonkish.Kind
	start  sum
	points [pedersen.Inputs][]multiples // by digit
}

// PlainRows is the number of rows of one hash, not counting rows of constants.
const PlainRows = 4076

// NewPlain returns a Plain that adds the rows of hashes to b. NewPlain itself adds the rows of constants.
func NewPlain(b *plonkish.Builder) *Plain {
	h := &Plain{b: b, kinds: make(map[[5]fr.Element]plonkish.Kind), points: ladderPoints()}
	h.start.point = pedersen.Start(ladderWidth)
	h.start.x, h.start.y = h.constant(fr.Element(h.start.point.X)), h.constant(fr.Element(h.start.point.Y))
	return h
}

// row adds a row that says m x y + p x + q y + s z + c = 0.
func (h *Plain) row(m, p, q, s, c fr.Element, x, y, z plonkish.Var) {
	params := [5]fr.Element{m, p, q, s, c}
	kind, ok := h.kinds[params]
	if !ok {
		kind = h.b.Kind(plonkish.Arithmetic(), params[:]...)
		h.kinds[params] = kind
	}
	h.b.Row(kind, []plonkish.Var{x, y, z})
}

// compute returns m x y + p x + q y + c, and adds the row that says so.
func (h *Plain) compute(m, p, q, c fr.Element, x, y plonkish.Var) plonkish.Var {
	var a, b, e, t fr.Element
	if x != 0 {
		a = h.b.Value(x)
	}
	if y != 0 {
		b = h.b.Value(y)
	}
	e.Mul(&a, &b).Mul(&e, &m).Add(&e, t.Mul(&a, &p)).Add(&e, t.Mul(&b, &q)).Add(&e, &c)
	z := h.b.Var(e)
	h.row(m, p, q, element(-1), c, x, y, z)
	return z
}

func (h *Plain) constant(c fr.Element) plonkish.Var { return h.compute(zero, zero, zero, c, 0, 0) }

func (h *Plain) less(x, y plonkish.Var) plonkish.Var {
	return h.compute(zero, unit, element(-1), zero, x, y)
}

func (h *Plain) product(x, y plonkish.Var) plonkish.Var {
	return h.compute(unit, zero, zero, zero, x, y)
}

// bit returns a value that must be 0 or 1.
func (h *Plain) bit(e fr.Element) plonkish.Var {
	v := h.b.Var(e)
	h.row(unit, element(-1), zero, zero, zero, v, v, 0)
	return v
}

var zero, unit = fr.Element{}, fr.One()

// Hash adds the rows of one hash, and returns the hash of x and y.
func (h *Plain) Hash(x, y plonkish.Var) plonkish.Var { return h.hash(inputs(h.b, x, y)) }

// hash uses the integers of its inputs, which a forger can choose.
func (h *Plain) hash(inputs [pedersen.Inputs]input) plonkish.Var {
	var terms []grumpkin.G1Affine
	for i, in := range inputs {
		for j := ladderDigits - 1; j >= 0; j-- {
			terms = append(terms, h.points[i][j].times(digit(in.integer, j)))
		}
	}
	sums := append([]grumpkin.G1Affine{h.start.point}, partialSums(&h.start.point, terms)...)
	slopes := make([]fr.Element, len(terms)) // of the lines through the sum and the term
	for i := range slopes {
		slopes[i].Sub((*fr.Element)(&terms[i].X), (*fr.Element)(&sums[i].X))
	}
	slopes = fr.BatchInvert(slopes)
	now := h.start
	for i, in := range inputs {
		var acc, high plonkish.Var
		for k := range ladderDigits {
			j, at := ladderDigits-1-k, i*ladderDigits+k
			d := digit(in.integer, j)
			sign, t := h.b.Var(element(1)), h.bit(element((max(d, -d)-1)/2))
			if d < 0 {
				sign = h.b.Var(element(-1))
			}
			h.row(unit, zero, zero, zero, element(-1), sign, sign, 0)
			term := h.compute(element(2), unit, zero, zero, sign, t)
			if k == 0 {
				acc = term
			} else {
				acc = h.compute(zero, element(4), unit, zero, acc, term)
			}
			if k == ladderHigh-1 {
				high = acc
			}
			var slope fr.Element
			slope.Sub((*fr.Element)(&terms[at].Y), (*fr.Element)(&sums[at].Y)).Mul(&slope, &slopes[at])
			now = h.add(now, h.points[i][j], sign, t, h.b.Var(slope))
		}
		// 2x = D + 4^127 - 1.
		h.row(zero, element(-2), unit, zero, ones(ladderDigits), in.value, acc, 0)
		h.canonical(in.value, high, new(big.Int).Rsh(in.integer, lowBits))
	}
	return now.x
}

// add returns P + sign A for one of two points A, given the slope of the line through both.
func (h *Plain) add(p sum, a multiples, sign, t, slope plonkish.Var) (q sum) {
	x1, y1 := fr.Element(a[0].X), fr.Element(a[0].Y)
	var dx, dy fr.Element
	dx.Sub((*fr.Element)(&a[1].X), &x1)
	dy.Sub((*fr.Element)(&a[1].Y), &y1)
	run := h.compute(zero, dx, element(-1), x1, t, p.x)
	both := h.compute(zero, dx, unit, x1, t, p.x)
	ya := h.compute(dy, y1, zero, zero, sign, t)
	h.row(unit, zero, zero, element(-1), zero, slope, run, h.less(ya, p.y))
	q.x = h.less(h.product(slope, slope), both)
	q.y = h.less(h.product(slope, h.less(p.x, q.x)), p.y)
	return q
}

// canonical does what Ladder's does, bit by bit. The high half, of digits D, is (D + 4^63 - 1) / 2.
func (h *Plain) canonical(x, high plonkish.Var, hi *big.Int) {
	order := ladderHighOrder()
	f, v := below(&order, hi, h.b.Value(x))
	flag := h.bit(f)
	half, offset := ladderOffset()
	half.Neg(&half)
	offset.Neg(&offset)
	e := h.compute(zero, half, zero, offset, high, 0)
	h.row(unit, zero, zero, zero, zero, flag, e, 0)
	// v = -f x + e - 1.
	small := h.compute(zero, element(-1), unit, element(-1), h.product(flag, x), e)
	integer := v.BigInt(new(big.Int))
	var acc plonkish.Var
	for i := lowBits - 1; i >= 0; i-- {
		b := h.bit(element(int64(integer.Bit(i))))
		switch i {
		case lowBits - 1:
			acc = b
		case 0:
			h.row(zero, element(2), unit, element(-1), zero, acc, b, small)
		default:
			acc = h.compute(zero, element(2), unit, zero, acc, b)
		}
	}
}

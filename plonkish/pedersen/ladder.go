package pedersen

import (
	"math/big"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"

	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/words"
)

// Ladder computes hashes in circuits of plonkish.TurboPlonk. Each row takes two bits of a scalar, the highest
// first. These bits are a digit e of base 4. The row adds d times a constant point, where d = 2e - 3. The
// rows accumulate D = Σ d_j 4^j, where d_j belongs to digit j of the scalar, counted from the lowest. A
// scalar x has 127 digits, and
//
//	2x = D + 4^127 - 1.
//
// Each d corresponds to exactly one e. So the part of D that is accumulated first, from the highest digits,
// determines the high half of x.
type Ladder struct {
	b      *plonkish.Builder
	zero   plonkish.Var
	start  sum
	points [pedersen.Inputs][]multiples     // by digit
	rows   [pedersen.Inputs][]plonkish.Kind // by digit
	high   fr.Element                       // the order's high half

	low *words.Gates

	whole, bit, gate, canon plonkish.Kind
}

// LadderRows is the number of rows of one hash, not counting rows of constants.
const LadderRows = 296

// multiples holds a point and its triple.
type multiples [2]grumpkin.G1Affine

// sum is a partial sum, and the values of its coordinates.
type sum struct {
	point grumpkin.G1Affine
	x, y  plonkish.Var
}

const (
	ladderWidth  = 2
	ladderHigh   = 63 // digits of the high half
	ladderDigits = (pedersen.ScalarBits + ladderWidth - 1) / ladderWidth
	lowBits      = ladderWidth * (ladderDigits - ladderHigh)
)

// NewLadder returns a Ladder that adds the rows of hashes to b. NewLadder itself adds the rows of constants.
func NewLadder(b *plonkish.Builder) *Ladder {
	h := &Ladder{b: b, points: ladderPoints()}
	for i, points := range h.points {
		for _, m := range points {
			p := plonkish.LadderParams(m[0], m[1])
			h.rows[i] = append(h.rows[i], b.Kind(plonkish.Ladder(), p[:]...))
		}
	}
	constant := func(c fr.Element) plonkish.Var {
		v := b.Var(c)
		c.Neg(&c)
		b.Row(b.Kind(plonkish.Arithmetic4(), fr.Element{}, fr.One(), fr.Element{}, fr.Element{}, fr.Element{}, c), []plonkish.Var{v})
		return v
	}
	h.zero = constant(fr.Element{})
	h.start.point = pedersen.Start(ladderWidth)
	h.start.x, h.start.y = constant(fr.Element(h.start.point.X)), constant(fr.Element(h.start.point.Y))

	// 2 c - d = 4^127 - 1.
	one, two, minus := fr.One(), element(2), element(-1)
	all, none := ones(ladderDigits), fr.Element{}
	all.Neg(&all)
	h.whole = b.Kind(plonkish.Arithmetic4(), none, none, none, two, minus, all)
	h.bit = b.Kind(plonkish.Arithmetic4(), one, minus)
	h.high = ladderHighOrder()
	half, offset := ladderOffset()
	var rest fr.Element
	h.gate = b.Kind(plonkish.Arithmetic4(), half, offset)
	rest.Add(&offset, &one)
	h.canon = b.Kind(plonkish.Arithmetic4(), one, none, none, half, one, rest)
	h.low, _ = words.NewGates(b, lowBits) // an even number
	return h
}

// ladderPoints returns the points of each input's digits. It computes them once, since they take as long as the rows of
// dozens of hashes.
var ladderPoints = sync.OnceValue(func() (all [pedersen.Inputs][]multiples) {
	for i := range all {
		for j := range ladderDigits {
			all[i] = append(all[i], multiples(pedersen.OddMultiples(i, ladderWidth, j, 2)))
		}
	}
	return all
})

// ones returns 4^digits - 1.
func ones(digits int) (c fr.Element) {
	one := fr.One()
	c.SetBigInt(new(big.Int).Lsh(big.NewInt(1), uint(ladderWidth*digits)))
	return *c.Sub(&c, &one)
}

// ladderHighOrder returns the high half of the order.
func ladderHighOrder() (high fr.Element) {
	return *high.SetBigInt(new(big.Int).Rsh(fr.Modulus(), lowBits))
}

// ladderOffset returns half and offset such that the high half, (D_hi + 4^63 - 1) / 2, is half D_hi + offset
// plus the order's high half.
func ladderOffset() (half, offset fr.Element) {
	two, high := element(2), ladderHighOrder()
	half.Inverse(&two)
	offset = ones(ladderHigh)
	offset.Mul(&offset, &half).Sub(&offset, &high)
	return half, offset
}

// Hash adds the rows of one hash, and returns the hash of x and y.
func (h *Ladder) Hash(x, y plonkish.Var) plonkish.Var { return h.hash(inputs(h.b, x, y)) }

// hash uses the integers of its inputs, which a forger can choose.
func (h *Ladder) hash(inputs [pedersen.Inputs]input) plonkish.Var {
	var terms []grumpkin.G1Affine
	for i, in := range inputs {
		for j := ladderDigits - 1; j >= 0; j-- {
			terms = append(terms, h.points[i][j].times(digit(in.integer, j)))
		}
	}
	sums := partialSums(&h.start.point, terms)
	now := h.start
	for i, in := range inputs {
		acc, high := h.zero, plonkish.Var(0)
		var d fr.Element
		for k := range ladderDigits {
			j := ladderDigits - 1 - k
			if k == ladderHigh {
				high = acc
			}
			term := &terms[i*ladderDigits+k]
			h.b.Row(h.rows[i][j], []plonkish.Var{now.x, now.y, h.b.Var(fr.Element(term.X)), acc})
			next := element(digit(in.integer, j))
			d.Double(&d).Double(&d).Add(&d, &next) // d = 4 d + the digit
			acc = h.b.Var(d)
			p := sums[i*ladderDigits+k]
			now = sum{p, h.b.Var(fr.Element(p.X)), h.b.Var(fr.Element(p.Y))}
		}
		h.b.Row(h.whole, []plonkish.Var{now.x, now.y, in.value, acc})
		h.canonical(in.value, high, new(big.Int).Rsh(in.integer, lowBits))
	}
	return now.x
}

// digit returns d_j of an integer.
func digit(integer *big.Int, j int) int64 {
	return 2*int64(integer.Bit(ladderWidth*j)|integer.Bit(ladderWidth*j+1)<<1) - 3
}

func (m *multiples) times(d int64) (p grumpkin.G1Affine) {
	p = m[(max(d, -d)-1)/2]
	if d < 0 {
		p.Neg(&p)
	}
	return p
}

// canonical does what Window's does, with the same f and v, in base 4.
func (h *Ladder) canonical(x, high plonkish.Var, hi *big.Int) {
	f, v := below(&h.high, hi, h.b.Value(x))
	flag := h.b.Var(f)
	h.b.Row(h.bit, []plonkish.Var{flag, flag})
	h.b.Row(h.gate, []plonkish.Var{flag, high})
	small := h.b.Var(v)
	h.low.Range(small)
	h.b.Row(h.canon, []plonkish.Var{flag, x, high, small})
}

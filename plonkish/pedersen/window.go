package pedersen

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/plonkish"
)

// Limits of the width of windows, in bits.
const (
	MinWidth = 2
	MaxWidth = 16
)

// limbs is the number of rows that constrain a value to be small.
const limbs = 12

// Window computes hashes in circuits of plonkish.UltraPlonk. Each row handles one window of a scalar. The row
// looks up a point, and adds it to the sum. This point is the odd multiple of G_i/2 that belongs to the
// window's digit, where G_i is the constant point Generator(i) of package hash/pedersen. The digits of a
// scalar form an integer below 2^254. For some field elements there are two such integers. So for each scalar
// 13 more rows constrain the integer to be below the field's order.
type Window struct {
	b      *plonkish.Builder
	width  int
	start  grumpkin.G1Affine
	startX plonkish.Var
	startY plonkish.Var
	points [pedersen.Inputs][][]grumpkin.G1Affine // by window and digit
	rows   [pedersen.Inputs][]plonkish.Kind       // by window

	split    int // the window that halves a scalar: those from there on are its high half
	high     fr.Element
	limbBits int
	limb     [3]plonkish.Kind // a limb, and arithmetic beside it: none, a bit, a bit that is 0 unless the high half is the order's
	topLimb  plonkish.Kind
	canon    plonkish.Kind // says what the value of the limbs is
}

// NewWindow returns a Window that adds the rows of hashes to b. The parameter width is the number of bits of
// each window. NewWindow adds 2·⌈254 / width⌉ tables of up to 2^width rows, and one table for limbs. It
// returns zkbench.ErrParams if width is not between MinWidth and MaxWidth.
func NewWindow(b *plonkish.Builder, width int) (*Window, error) {
	if width < MinWidth || width > MaxWidth {
		return nil, fmt.Errorf("%w: windows of %d bits, accepted are %d to %d", zkbench.ErrParams, width, MinWidth, MaxWidth)
	}
	h := &Window{b: b, width: width, start: pedersen.Start(width)}
	windows := pedersen.Windows(width)
	for i := range pedersen.Inputs {
		for j := range windows {
			bits := min(width, pedersen.ScalarBits-j*width)
			points := digits(i, width, j, 1<<bits)
			h.points[i] = append(h.points[i], points)
			step := uint64(1) << width
			if j == windows-1 {
				step = 0 // nothing is left
			}
			h.rows[i] = append(h.rows[i], b.LookUp(b.Kind(plonkish.Window(), steps(step)...), 0, table(fmt.Sprintf("window %d of input %d", j, i), points)))
		}
	}
	h.startX, h.startY = h.constant(fr.Element(h.start.X)), h.constant(fr.Element(h.start.Y))

	h.split, h.limbBits = halves(width)
	h.high.SetBigInt(new(big.Int).Rsh(fr.Modulus(), uint(h.split*width)))
	numbers := make([]fr.Element, 1<<h.limbBits)
	for i := range numbers {
		numbers[i].SetUint64(uint64(i))
	}
	t := &plonkish.Table{Name: "limbs", Columns: [][]fr.Element{numbers}}
	one, minus := fr.One(), element(-1)
	var minusHigh, rest fr.Element
	minusHigh.Neg(&h.high)
	rest.Add(&one, &minusHigh)
	for i, params := range [][]fr.Element{{}, {one, {}, minus}, {one, {}, minusHigh}} {
		all := steps(uint64(1) << h.limbBits)
		copy(all, params)
		h.limb[i] = b.LookUp(b.Kind(plonkish.Arithmetic5(), all...), 0, t)
	}
	h.topLimb = b.LookUp(b.Kind(nil), 0, t)
	h.canon = b.Kind(plonkish.Arithmetic5(), one, one, fr.Element{}, fr.Element{}, one, fr.Element{}, rest)
	return h, nil
}

// halves returns the window at which a scalar is halved, and the number of bits of a half's limbs.
func halves(width int) (split, limbBits int) {
	split = (pedersen.ScalarBits/2 + width/2) / width
	low := split * width
	return split, (max(low, pedersen.ScalarBits-low) + limbs - 1) / limbs
}

// WindowRows returns how many rows the given number of hashes takes, not counting rows of constants. It also
// returns how many rows all tables of these hashes have. The parameter width is the number of bits of each
// window.
func WindowRows(width, hashes int) (used, tables int) {
	windows := pedersen.Windows(width)
	_, limbBits := halves(width)
	top := pedersen.ScalarBits - (windows-1)*width
	return pedersen.Inputs * (windows + limbs + 1) * hashes, pedersen.Inputs*((windows-1)<<width+1<<top) + 1<<limbBits
}

// BestWidth returns the width of windows for which a circuit with this many hashes is smallest. If several
// widths give the same size, it returns the largest, which needs the fewest rows.
func BestWidth(hashes int) (best int) {
	const few = 4 // constants, a public value, and one row of the caller
	least := bits.UintSize
	for width := MinWidth; width <= MaxWidth; width++ {
		used, tables := WindowRows(width, hashes)
		if log := bits.Len(uint(max(used+few, tables) + plonkish.BlindedRows - 1)); log <= least {
			best, least = width, log
		}
	}
	return best
}

// steps returns the parameters of a row that accumulates, up to those of lookups.
func steps(step uint64) []fr.Element {
	all := make([]fr.Element, 8)
	all[7].SetUint64(step)
	return all
}

// digits returns the points of a window. The point of digit e is 2e - (2^width - 1) times G_i/2 and the
// window's weight.
func digits(i, width, window, n int) []grumpkin.G1Affine {
	odd := pedersen.OddMultiples(i, width, window, 1<<(width-1))
	points := make([]grumpkin.G1Affine, n)
	for e := range points {
		if d := 2*e - (1<<width - 1); d > 0 {
			points[e] = odd[d/2]
		} else {
			points[e].Neg(&odd[-d/2])
		}
	}
	return points
}

func table(name string, points []grumpkin.G1Affine) *plonkish.Table {
	t := &plonkish.Table{Name: name, Columns: make([][]fr.Element, 3)}
	for e, p := range points {
		for i, c := range []fr.Element{fr.NewElement(uint64(e)), fr.Element(p.X), fr.Element(p.Y)} {
			t.Columns[i] = append(t.Columns[i], c)
		}
	}
	return t
}

// constant returns a value that a row of its own fixes.
func (h *Window) constant(c fr.Element) plonkish.Var {
	v := h.b.Var(c)
	c.Neg(&c)
	params := make([]fr.Element, 7)
	params[1], params[6] = fr.One(), c
	h.b.Row(h.b.Kind(plonkish.Arithmetic5(), params...), []plonkish.Var{v})
	return v
}

// Hash adds the rows of one hash, and returns the hash of x and y.
func (h *Window) Hash(x, y plonkish.Var) plonkish.Var { return h.hash(inputs(h.b, x, y)) }

// hash uses the integers of its inputs, which a forger can choose.
func (h *Window) hash(inputs [pedersen.Inputs]input) plonkish.Var {
	var terms []grumpkin.G1Affine
	for i, in := range inputs {
		for j, points := range h.points[i] {
			terms = append(terms, points[h.digit(in.integer, j)])
		}
	}
	sums := partialSums(&h.start, terms)
	var middle [pedersen.Inputs]plonkish.Var
	sumX, sumY := h.startX, h.startY
	for i, in := range inputs {
		acc := in.value
		for j, kind := range h.rows[i] {
			if j > 0 {
				var rest fr.Element
				acc = h.b.Var(*rest.SetBigInt(new(big.Int).Rsh(in.integer, uint(j*h.width))))
			}
			if j == h.split {
				middle[i] = acc
			}
			at := i*len(h.rows[i]) + j
			p, q := &terms[at], &sums[at]
			h.b.Row(kind, []plonkish.Var{acc, sumX, sumY, h.b.Var(fr.Element(p.X))}, fr.Element(p.Y))
			sumX, sumY = h.b.Var(fr.Element(q.X)), h.b.Var(fr.Element(q.Y))
		}
	}
	for i, in := range inputs {
		// The last window reads its sum in the row after it, a limb's.
		var beside []plonkish.Var
		if i == 0 {
			beside = []plonkish.Var{sumX, sumY}
		}
		h.canonical(in, middle[i], beside)
	}
	return sumX
}

func (h *Window) digit(integer *big.Int, window int) int {
	d := 0
	for i := min(h.width, pedersen.ScalarBits-window*h.width) - 1; i >= 0; i-- {
		d = d<<1 | int(integer.Bit(window*h.width+i))
	}
	return d
}

// canonical constrains an input's integer to be below the order, by limbs of v (see the function below).
func (h *Window) canonical(in input, middle plonkish.Var, beside []plonkish.Var) {
	b := h.b
	f, v := below(&h.high, new(big.Int).Rsh(in.integer, uint(h.split*h.width)), b.Value(in.value))
	flag, small := b.Var(f), b.Var(v)
	acc, left := small, v.BigInt(new(big.Int))
	for i := range limbs {
		kind, cells := h.limb[0], []plonkish.Var{acc}
		switch i {
		case 0:
			cells = append(cells, beside...)
		case 1:
			kind, cells = h.limb[1], []plonkish.Var{acc, flag, flag}
		case 2:
			kind, cells = h.limb[2], []plonkish.Var{acc, flag, middle}
		case limbs - 1:
			kind = h.topLimb
		}
		b.Row(kind, cells)
		left.Rsh(left, uint(h.limbBits))
		var rest fr.Element
		acc = b.Var(*rest.SetBigInt(left))
	}
	b.Row(h.canon, []plonkish.Var{small, flag, in.value, middle})
}

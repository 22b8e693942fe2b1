package keccak

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/plonkish"
)

const base = 7

// powers are base^(i - LaneBits).
var powers = func() (all [2*keccak.LaneBits + 1]fr.Element) {
	step := fr.NewElement(base)
	all[0].Exp(step, big.NewInt(-keccak.LaneBits))
	for i := range all[1:] {
		all[i+1].Mul(&all[i], &step)
	}
	return all
}()

// power is base^e, e from -LaneBits to LaneBits.
func power(e int) *fr.Element { return &powers[keccak.LaneBits+e] }

// number is digits of base 7, the lowest first.
func number(digits []uint64) (n uint64) {
	for i := len(digits) - 1; i >= 0; i-- {
		n = n*base + digits[i]
	}
	return n
}

// spread has the bits of a number below 2^20 as its digits.
func spread(bits uint64) fr.Element {
	var digits [20]uint64
	for i := range digits {
		digits[i] = bits >> i & 1
	}
	return fr.NewElement(number(digits[:]))
}

// spread64 has the bits of a lane as its digits.
func spread64(bits uint64) (e fr.Element) {
	for i := range keccak.LaneBits / 16 {
		s := spread(bits >> (16 * i) & 0xffff)
		e.Add(&e, s.Mul(&s, power(16*i)))
	}
	return e
}

// family is tables of what digits below len(results) become, up to so many digits a slice.
type family struct {
	name    string
	bits    int
	results []uint8
	tables  [7]*plonkish.Table // by number of digits
}

func (f *family) table(digits int) *plonkish.Table {
	if f.tables[digits] == nil {
		t := &plonkish.Table{Name: fmt.Sprintf("%s, %d digits", f.name, digits), Columns: make([][]fr.Element, 2)}
		slice := make([]uint64, digits)
		for {
			t.Columns[0] = append(t.Columns[0], fr.NewElement(number(slice)))
			t.Columns[1] = append(t.Columns[1], fr.NewElement(number(f.of(slice))))
			i := 0
			for i < digits && slice[i] == uint64(len(f.results)-1) {
				slice[i] = 0
				i++
			}
			if i == digits {
				break
			}
			slice[i]++
		}
		f.tables[digits] = t
	}
	return f.tables[digits]
}

// of are the results of digits; others than the table has become 0.
func (f *family) of(digits []uint64) []uint64 {
	results := make([]uint64, len(digits))
	for i, d := range digits {
		if d < uint64(len(f.results)) {
			results[i] = uint64(f.results[d])
		}
	}
	return results
}

// slice is neighbouring digits of an operand.
type slice struct {
	at     int // of the lowest
	digits []uint64
}

// parts are ranges of an operand's digits, in the order in which the result has them. No slice is
// of two: so each digit of the operand is in one, and a slice has no more digits than are its own.
type parts [][2]int

var (
	whole    = parts{{0, keccak.LaneBits}}
	topApart = parts{{0, keccak.LaneBits - 1}, {keccak.LaneBits - 1, keccak.LaneBits}}
)

// rotated is of a result that is rotated to the left.
func rotated(r int) parts {
	if r == 0 {
		return whole
	}
	return parts{{keccak.LaneBits - r, keccak.LaneBits}, {0, keccak.LaneBits - r}}
}

// operand is byX x + byY y + constant, and the digits that this has.
type operand struct {
	digits   func(i int) uint64
	x, y     plonkish.Var
	byX, byY int64
	constant fr.Element
}

// slices cuts an operand into slices for a family's tables.
func (f *family) slices(p parts, of operand) (slices []slice) {
	for _, part := range p {
		for at := part[0]; at < part[1]; at += f.bits {
			s := slice{at: at}
			for i := at; i < min(at+f.bits, part[1]); i++ {
				s.digits = append(s.digits, of.digits(i))
			}
			slices = append(slices, s)
		}
	}
	return slices
}

// normalise is the lane of an operand's digits' results, and the value of its last slice.
func (h *Lookup) normalise(f *family, p parts, of operand) (lane, plonkish.Var) {
	return h.chain(f, f.slices(p, of), of)
}

// chain is a row for each slice: the operand from this slice on in units of base^at, and the
// result.
func (h *Lookup) chain(f *family, slices []slice, of operand) (out lane, last plonkish.Var) {
	n := len(slices)
	operands, results := make([]fr.Element, n+1), make([]fr.Element, n+1)
	steps := make([]int, n)
	for i := n - 1; i >= 0; i-- {
		s := slices[i]
		if i < n-1 {
			steps[i] = slices[i+1].at - s.at
		}
		bits := f.of(s.digits)
		e, r := fr.NewElement(number(s.digits)), fr.NewElement(number(bits))
		operands[i].Mul(&operands[i+1], power(steps[i])).Add(&operands[i], &e)
		results[i].Mul(&results[i+1], power(len(bits))).Add(&results[i], &r)
		for j := len(bits) - 1; j >= 0; j-- {
			out.bits = out.bits<<1 | bits[j]
		}
	}
	for i, s := range slices {
		k := rowKind{table: f.table(len(s.digits)), operand: steps[i], result: len(s.digits), last: i == n-1}
		cells := []plonkish.Var{h.b.Var(operands[i]), 0, 0, h.b.Var(results[i])}
		if i == 0 {
			out.value = cells[3]
			cells[1], cells[2] = of.x, of.y
			k.arithmetic = true
			k.params[1].Neg(power(s.at))
			k.params[2].SetInt64(of.byX)
			k.params[3].SetInt64(of.byY)
			k.params[6] = of.constant
		}
		last = cells[3]
		h.b.Row(h.kind(k), cells)
	}
	return out, last
}

// rowKind is what a kind of rows differs in.
type rowKind struct {
	arithmetic      bool
	params          [7]fr.Element // of it
	table           *plonkish.Table
	operand, result int  // digits that the next row's are further
	last            bool // of its chain
}

func (h *Lookup) kind(k rowKind) plonkish.Kind {
	if known, ok := h.kinds[k]; ok {
		return known
	}
	params := make([]fr.Element, 9)
	copy(params, k.params[:])
	var gate *plonkish.Gate
	if k.arithmetic {
		gate = plonkish.Arithmetic5
	}
	if k.table != nil && !k.last {
		if k.table != h.bytes { // whose rows have a value each
			params[7] = *power(k.operand)
		}
		params[8] = *power(k.result)
	}
	kind := h.b.Kind(gate, params...)
	if k.table != nil {
		kind = h.b.LookUp(kind, 0, k.table)
	}
	h.kinds[k] = kind
	return kind
}

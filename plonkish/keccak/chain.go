package keccak

import (
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/plonkish"
)

// operand is byX x + byY y + constant, and the digits of that number.
type operand struct {
	digits   func(i int) uint64
	x, y     plonkish.Var
	byX, byY int64
	constant fr.Element
}

// normalise returns the lane of the results of an operand's digits, and the value of its last slice.
func (h *Lookup) normalise(f *family, p parts, of operand) (lane, plonkish.Var) {
	return h.chain(f, f.slices(p, of.digits), of)
}

// chain adds a row for each slice. It holds the operand from this slice on, in units of base^at, and the
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
		bits := f.apply(s.digits)
		e, r := fr.NewElement(f.number(s.digits)), fr.NewElement(f.number(bits))
		operands[i].Mul(&operands[i+1], f.power(steps[i])).Add(&operands[i], &e)
		results[i].Mul(&results[i+1], f.power(len(bits))).Add(&results[i], &r)
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
			k.params[1].Neg(f.power(s.at))
			k.params[2].SetInt64(of.byX)
			k.params[3].SetInt64(of.byY)
			k.params[6] = of.constant
		}
		last = cells[3]
		h.b.Row(h.kind(k), cells)
	}
	return out, last
}

// rowKind holds what distinguishes one kind of rows from another.
type rowKind struct {
	arithmetic      bool
	params          [7]fr.Element // of it
	table           *plonkish.Table
	operand, result int  // number of digits by which the next row's are shifted
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
		gate = plonkish.Arithmetic5()
	}
	if k.table != nil && !k.last {
		if k.table != h.bytes { // whose rows have a value each
			params[7] = *h.power(k.operand)
		}
		params[8] = *h.power(k.result)
	}
	kind := h.b.Kind(gate, params...)
	if k.table != nil {
		kind = h.b.LookUp(kind, 0, k.table)
	}
	h.kinds[k] = kind
	return kind
}

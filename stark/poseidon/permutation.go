package poseidon

import (
	"fmt"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// Boxes is the number of columns for each S-box of a permutation.
type Boxes int

// The values of Boxes. Plain takes fewer columns, and Cubed has a lower degree.
const (
	Plain Boxes = 1 // one column for x⁷, of degree 7
	Cubed Boxes = 2 // a column c for x³ and a column for c c x, both of degree 3
)

// Columns returns how many columns State uses for a permutation.
func (b Boxes) Columns() int {
	return int(b) * (poseidon.FullRounds*poseidon.Width + poseidon.PartialRounds)
}

// full reports whether all elements of a round's state have S-boxes, and not only the first.
func full(round int) bool {
	return round < poseidon.FullRounds/2 || round >= poseidon.FullRounds/2+poseidon.PartialRounds
}

// State constrains a row to hold Poseidon's permutation of a state, which is given as an array of expressions
// of degree 1. State uses boxes.Columns() adjacent columns. The parameter first is the index of the first of
// them. State returns the state after the permutation; the elements of this state have degree 1 too.
func State(b *air.Builder, in [poseidon.Width]air.Expr, boxes Boxes, first int) [poseidon.Width]air.Expr {
	state := in
	box := func(r, i int, x air.Expr) (seventh air.Expr) {
		cube := x.Mul(x).Mul(x)
		if boxes == Cubed {
			b.Zero(air.Everywhere, fmt.Sprintf("round %d, x³ of element %d", r, i), b.Here(first).Sub(cube))
			cube = b.Here(first)
			first++
		}
		seventh = b.Here(first)
		b.Zero(air.Everywhere, fmt.Sprintf("round %d, x⁷ of element %d", r, i), seventh.Sub(cube.Mul(cube).Mul(x)))
		first++
		return seventh
	}
	for r, row := range roundConstants {
		if !full(r) {
			partial := r - poseidon.FullRounds/2
			seventh := box(r, 0, state[0].Add(air.Element(uint64(sparse.before[partial]))))
			state[0] = seventh.Mul(air.Element(uint64(sparse.corner)))
			for i, e := range sparse.rows[partial] {
				state[0] = state[0].Add(state[i+1].Mul(air.Element(uint64(e))))
			}
			for i, e := range sparse.columns[partial] {
				state[i+1] = state[i+1].Add(seventh.Mul(air.Element(uint64(e))))
			}
			if partial == poseidon.PartialRounds-1 {
				z := state
				state[0] = state[0].Add(air.Element(uint64(sparse.first)))
				for i, row := range sparse.last {
					state[i+1] = air.Element(uint64(sparse.others[i]))
					for j, e := range row {
						state[i+1] = state[i+1].Add(z[j+1].Mul(air.Element(uint64(e))))
					}
				}
			}
			continue
		}
		for i, c := range row {
			state[i] = box(r, i, state[i].Add(air.Element(uint64(c))))
		}
		var mixed [poseidon.Width]air.Expr
		for i, row := range mix {
			for j, c := range row {
				mixed[i] = mixed[i].Add(state[j].Times(int64(c)))
			}
		}
		state = mixed
	}
	return state
}

// Fill sets the cells of a row in the columns that State uses, and returns the state after the permutation.
func Fill(cells *stark.Cells, row int, boxes Boxes, first int, state poseidon.State) poseidon.State {
	box := func(x element) element {
		cube := x.Mul(x).Mul(x)
		if boxes == Cubed {
			cells.Set(row, first, uint64(cube))
			first++
		}
		seventh := cube.Mul(cube).Mul(x)
		cells.Set(row, first, uint64(seventh))
		first++
		return seventh
	}
	for r, constants := range roundConstants {
		if full(r) {
			for i, c := range constants {
				state[i] = box(state[i].Add(c))
			}
			state = mixed(&state)
			continue
		}
		partial := r - poseidon.FullRounds/2
		others := (*vector)(state[1:])
		seventh := box(state[0].Add(sparse.before[partial]))
		state[0] = sparse.corner.Mul(seventh).Add(sparse.rows[partial].dot(*others))
		for i, e := range sparse.columns[partial] {
			others[i] = others[i].Add(e.Mul(seventh))
		}
		if partial == poseidon.PartialRounds-1 {
			state[0] = state[0].Add(sparse.first)
			*others = sparse.last.times(*others)
			for i, e := range sparse.others {
				others[i] = others[i].Add(e)
			}
		}
	}
	return state
}

var roundConstants, mix = poseidon.RoundConstants(), poseidon.Mix()

// mixed computes the linear layer. Its numbers are small, so a sum of products is reduced only once.
func mixed(state *poseidon.State) (out poseidon.State) {
	for i, row := range mix {
		var low, high uint64
		for j, c := range row {
			low += uint64(uint32(state[j])) * c
			high += uint64(state[j]) >> 32 * c
		}
		// The sum is low + 2^32 high, each below 2^45.
		out[i] = element(low).Add(goldilocks.Reduce(high).Mul(1 << 32))
	}
	return out
}

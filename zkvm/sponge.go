package zkvm

import (
	"fmt"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark/air"
	starkposeidon "github.com/zkbench/zkbench/stark/poseidon"
)

// The streams of bytes that a statement has the digests of. Rows of no stream would ask for elements of stream 0, which has
// none.
const (
	streamInput = 1 + iota
	streamOutput
)

// digest is what a statement says about a stream of bytes.
type digest struct {
	length uint64
	hash   poseidon.Digest // poseidon.Hash of the stream's elements
}

// digestOf returns the digest of bytes.
func digestOf(data []byte) digest { return digest{uint64(len(data)), poseidon.Hash(elementsOf(data))} }

// elementsOf returns the elements of a stream: its length in bytes, and then seven bytes an element, as a little-endian number.
// In the last element, bytes behind the stream are 0.
func elementsOf(data []byte) []goldilocks.Element {
	all := []goldilocks.Element{goldilocks.Element(len(data))}
	for ; len(data) > 0; data = data[min(elementBytes, len(data)):] {
		var e goldilocks.Element
		for i, v := range data[:min(elementBytes, len(data))] {
			e |= goldilocks.Element(v) << (8 * i)
		}
		all = append(all, e)
	}
	return all
}

// sponge is the table that hashes the streams, the input first: a permutation of Poseidon in each row, for up to eight elements.
// They take the place of the state's first eight elements. The other four are those of the row before or, in a stream's first
// row, 1 plus the number of the stream's elements and zeros. That is poseidon.Hash.
type sponge struct {
	columns
	stream   [2]column                 // whether the row is one of the input, or one of the output
	begins   column                    // whether it is the stream's first row: its first element is the stream's length
	ends     column                    // whether it is the stream's last row; 1 in rows of no stream
	before   column                    // number of the stream's elements in rows before
	left     column                    // number of the stream's elements from this row on
	has      [poseidon.Rate - 1]column // whether the row has the elements behind the first one
	elements [poseidon.Rate]column
	capacity [poseidon.Width - poseidon.Rate]column
	boxes    column // the first of the permutation
}

func newSponge() *sponge {
	t := &sponge{}
	t.stream = [2]column{t.bit("input"), t.bit("output")}
	t.begins, t.ends = t.bit("begins"), t.bit("ends")
	t.before, t.left = t.column("before", 32), t.column("left", 32)
	for i := range t.has {
		t.has[i] = t.bit("has")
	}
	for i := range t.elements {
		t.elements[i] = t.column("element", free)
	}
	for i := range t.capacity {
		t.capacity[i] = t.column("capacity", free)
	}
	t.boxes = t.column("box", free)
	for range starkposeidon.Cubed.Columns() - 1 {
		t.column("box", free)
	}
	return t
}

func (*sponge) name() string        { return "sponge" }
func (t *sponge) shapeOf() *columns { return &t.columns }

func (t *sponge) state(b builder) {
	input, output, begins, ends := b.at(t.stream[0]), b.at(t.stream[1]), b.at(t.begins), b.at(t.ends)
	before, left := b.at(t.before), b.at(t.left)
	next := func(c column) air.Expr { return b.Next(int(c)) }
	goesOn, real := one.Sub(ends), input.Add(output)

	// The rows of the input come first, then those of the output, and then rows of no stream. By induction a row is one of one
	// stream at most.
	b.bit("ends", t.ends)
	b.Zero(air.First, "the input comes first", input.Sub(one))
	b.Zero(air.First, "the output does not", output)
	b.Zero(air.First, "the input begins", begins.Sub(one))
	b.Zero(air.Transition, "rows of the input", next(t.stream[0]).Sub(goesOn.Mul(input)))
	b.Zero(air.Transition, "rows of the output", next(t.stream[1]).Sub(ends.Mul(input)).Sub(goesOn.Mul(output)))
	b.Zero(air.Transition, "the output begins", next(t.begins).Sub(ends.Mul(input)))
	b.Zero(air.Last, "the input has ended", input)
	b.Zero(air.Last, "the output ends", goesOn.Mul(output))

	// Those who answer with the elements of a stream answer with all of them, once each. So the rows of a stream have all of its
	// elements. They have no more rows, because a row has a first element.
	has := [poseidon.Rate]air.Expr{real}
	count := real
	b.Ask(busElement, real.Sub(begins), input.Times(streamInput).Add(output.Times(streamOutput)), before, b.at(t.elements[0]))
	for i, column := range t.has {
		has[i+1] = b.at(column)
		count = count.Add(has[i+1])
		element := b.at(t.elements[i+1])
		b.bit("has", column)
		b.zero("no element", element.Mul(one.Sub(has[i+1])))
		b.Ask(busElement, has[i+1], input.Times(streamInput).Add(output.Times(streamOutput)), before.Plus(int64(i+1)), element)
	}
	length := input.Mul(b.Public(publicInput)).Add(output.Mul(b.Public(publicOutput)))
	b.zero("length", begins.Mul(b.at(t.elements[0]).Sub(length)))
	b.Zero(air.First, "elements before the first row", before)
	b.Zero(air.Transition, "elements before the next row", next(t.before).Sub(goesOn.Mul(before.Plus(poseidon.Rate))))
	b.Zero(air.Transition, "elements left", goesOn.Mul(next(t.left).Sub(left).Add(count)))
	b.zero("no elements are left", ends.Mul(real).Mul(left.Sub(count)))

	var state [poseidon.Width]air.Expr
	for i, column := range t.elements {
		state[i] = b.at(column)
	}
	for i, column := range t.capacity {
		state[poseidon.Rate+i] = b.at(column)
	}
	after := starkposeidon.State(b.Builder, state, starkposeidon.Cubed, int(t.boxes))
	for i, column := range t.capacity {
		var first, second air.Expr // at the beginning of the input and of the output
		if i == 0 {
			first, second = left.Plus(1), ends.Mul(input).Mul(next(t.left).Plus(1))
		}
		b.Zero(air.First, fmt.Sprintf("element %d of the input's capacity", i), b.at(column).Sub(first))
		b.Zero(air.Transition, fmt.Sprintf("element %d of the next capacity", i), next(column).Sub(goesOn.Mul(after[poseidon.Rate+i])).Sub(second))
	}
	for i := range poseidon.DigestLen {
		of := input.Mul(after[i].Sub(b.Public(publicInput + 1 + i))).Add(output.Mul(after[i].Sub(b.Public(publicOutput + 1 + i))))
		b.zero(fmt.Sprintf("element %d of the digest", i), ends.Mul(of))
	}
}

// absorbed is a row of a stream.
type absorbed struct {
	stream       int
	before, left int            // elements of the stream in rows before, and from this row on
	state        poseidon.State // before the permutation
}

// absorbedBy returns the rows of a stream.
func absorbedBy(stream int, data []byte) (all []absorbed) {
	elements := elementsOf(data)
	var state poseidon.State
	state[poseidon.Rate] = goldilocks.Element(len(elements) + 1)
	for before := 0; before < len(elements); before += poseidon.Rate {
		n := copy(state[:poseidon.Rate], elements[before:])
		clear(state[n:poseidon.Rate])
		all = append(all, absorbed{stream, before, len(elements) - before, state})
		state.Permute()
	}
	return all
}

// spongeRows returns the number of rows of a stream with the given number of bytes.
func spongeRows(length int) int {
	return (1 + (length+elementBytes-1)/elementBytes + poseidon.Rate - 1) / poseidon.Rate
}

// fill fills the row of a stream, or one of no stream if a is nil.
func (t *sponge) fill(w *writer, a *absorbed) {
	if a == nil {
		a = &absorbed{}
	} else {
		w.set(t.stream[a.stream-streamInput], 1)
	}
	w.set(t.begins, flag(a.stream != 0 && a.before == 0))
	w.set(t.ends, flag(a.left <= poseidon.Rate))
	w.set(t.before, uint64(a.before))
	w.set(t.left, uint64(a.left))
	for i, column := range t.has {
		w.set(column, flag(i+1 < a.left))
	}
	for i, column := range t.elements {
		w.set(column, uint64(a.state[i]))
	}
	for i, column := range t.capacity {
		w.set(column, uint64(a.state[poseidon.Rate+i]))
	}
	starkposeidon.Fill(w.all, w.row, starkposeidon.Cubed, int(t.boxes), a.state)
}

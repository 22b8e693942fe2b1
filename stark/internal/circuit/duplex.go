package circuit

import (
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark/internal/challenger"
)

// ratePairs and digestPairs are the lengths, in pairs, of a sponge's rate and of a digest.
const (
	ratePairs   = poseidon.Rate / 2
	digestPairs = poseidon.DigestLen / 2
)

// Digest is a Poseidon digest.
type Digest [digestPairs]Value

// Duplex is the sponge of challenger.NewDuplex as a program.
type Duplex struct {
	b     *Builder
	state [Pairs]Value
}

// NewDuplex returns a Duplex that has absorbed the protocol's name and nothing else.
func NewDuplex(b *Builder, protocol string) *Duplex {
	d := &Duplex{b: b}
	for i := range d.state {
		d.state[i] = Zero
	}
	d.Pairs("zkbench/v1/"+protocol, 0, nil)
	return d
}

// overwrite absorbs pairs: they replace the state's rate, ratePairs at a time, and the state is permuted
// after each time.
func overwrite(b *Builder, state [Pairs]Value, pairs []Value) [Pairs]Value {
	for len(pairs) > 0 {
		pairs = pairs[copy(state[:ratePairs], pairs):]
		state = b.Permute(state, Zero)
	}
	return state
}

// Pairs absorbs the given number of elements under a label, two in each pair. If the number is odd, the last
// pair must end with 0.
func (d *Duplex) Pairs(label string, elements int, pairs []Value) {
	d.state = overwrite(d.b, d.state, append([]Value{Constant(X{challenger.Label(label), E(elements)})}, pairs...))
}

// Elements absorbs constants under a label.
func (d *Duplex) Elements(label string, elements []E) {
	var pairs []Value
	for i := 0; i < len(elements); i += 2 {
		var x X
		copy(x[:2], elements[i:])
		pairs = append(pairs, Constant(x))
	}
	d.Pairs(label, len(elements), pairs)
}

// Bytes absorbs constant bytes under a label, as challenger.Elements encodes them.
func (d *Duplex) Bytes(label string, data []byte) { d.Elements(label, challenger.Elements(data)) }

// Digests absorbs digests under a label.
func (d *Duplex) Digests(label string, digests []Digest) {
	var pairs []Value
	for _, digest := range digests {
		pairs = append(pairs, digest[:]...)
	}
	d.Pairs(label, len(digests)*poseidon.DigestLen, pairs)
}

// draw leaves the sponge in a state whose rate begins with a challenge.
func (d *Duplex) draw(label string) {
	d.state = overwrite(d.b, d.state, []Value{Constant(X{challenger.Label(label), goldilocks.Modulus - 1})})
}

// Challenge draws an element of the extension. If the element must be outside the field, the caller must
// state that.
func (d *Duplex) Challenge(label string) Value {
	d.draw(label)
	if d.b.Degree == 2 {
		return d.state[0]
	}
	return d.b.Triples(d.state[:2], 1)[0]
}

// Index draws a number below 2^log and returns its bits, the lowest first.
func (d *Duplex) Index(label string, log int) []Value {
	d.draw(label)
	return d.b.Bits(d.b.First(d.state[0]), 0, "%s: bits", label)[:log]
}

// CheckGrind absorbs a nonce, which must be an element of the field. The second argument is a number of
// bits. CheckGrind states that the nonce is a proof of work of this many bits. If the number is 0,
// CheckGrind states that the nonce is 0.
func (d *Duplex) CheckGrind(label string, work int, nonce Value) {
	d.Pairs(label, 1, []Value{nonce})
	if work == 0 {
		d.b.Equal(nonce, Zero, "%s: the nonce is not 0", label)
		return
	}
	d.b.Bits(d.b.First(d.state[0]), work, "%s: the nonce has fewer than %d bits of work", label, work)
}

// Hash returns poseidon.HashNoPad of the given number of elements, two in each pair. If the number is odd,
// the last pair must end with 0.
func Hash(b *Builder, elements int, pairs []Value) Digest {
	var state [Pairs]Value
	for i := range state {
		state[i] = Zero
	}
	whole := (elements - 1) / poseidon.Rate * ratePairs // before the last block
	state = overwrite(b, state, pairs[:whole])
	if pairs = pairs[whole:]; elements%2 == 1 {
		last := len(pairs) - 1
		pairs = append(pairs[:last:last], b.Joined([]Value{pairs[last], b.Second(state[last])}))
	}
	state = overwrite(b, state, pairs)
	return Digest(state[:digestPairs])
}

// Above returns the parent of a digest and its sibling. The sibling is on the left if right is 1.
func Above(b *Builder, digest, sibling Digest, right Value) Digest {
	in := [Pairs]Value{digest[0], digest[1], sibling[0], sibling[1], Zero, Zero}
	out := b.Permute(in, right)
	return Digest(out[:digestPairs])
}

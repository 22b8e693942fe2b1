package stark

import (
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// This file has the part of the verifier in a circuit that checks FRI and each query.

// receive does what friVerifier.receive does.
func (v *circuitVerifier[X]) receive() {
	for i, fold := range v.layout.folds {
		layer := v.digests(v.proof.fri.layers[i])
		v.challenger.Digests("layer", layer)
		v.layers = append(v.layers, layer)
		var rs, halves []value
		for range fold {
			r := v.challenger.Challenge("fold")
			half := v.system.field.New(2).Inverse()
			rs = append(rs, r)
			halves = append(halves, v.cached(r.Neg().Plus(number{1}).Times(half)))
		}
		v.rs, v.halves = append(v.rs, rs), append(v.halves, halves)
	}
	v.final = v.absorbed("final", v.proof.fri.final)
}

// cached returns x with a cell, so that the cell is computed only once.
func (v *circuitVerifier[X]) cached(x value) value { return v.FromCell(v.Cell(x)) }

// query does what friVerifier.query does. It returns the bits of each position.
func (v *circuitVerifier[X]) query() (places [][]value) {
	l := v.layout
	v.challenger.CheckGrind("grinding", l.params.Grinding, v.First(v.Hint(number{cell(v.proof.fri.nonce)})))
	for range l.params.Queries {
		places = append(places, v.challenger.Index("place", l.size+l.params.LogBlowup))
	}
	return places
}

// scaled returns x e^n, where n is the number with these bits.
func (v *circuitVerifier[X]) scaled(x value, e cell, bits []value) value {
	for _, bit := range bits {
		x = v.MulAdd(x, bit.Times(e.Sub(1)), x)
		e = e.Mul(e)
	}
	return x
}

// mux returns the one of 2^n values that n bits select.
func (v *circuitVerifier[X]) mux(bits, values []value) value {
	for _, bit := range bits {
		var half []value
		for i := 0; i < len(values); i += 2 {
			half = append(half, v.Select(bit, values[i+1], values[i]))
		}
		values = half
	}
	return values[0]
}

// leadsTo states that a leaf's path leads to the digest of the cap that the bits of its number select.
func (v *circuitVerifier[X]) leadsTo(digest circuit.Digest, path []tree.Digest, top []circuit.Digest, bits []value, name string, args ...any) {
	for i, sibling := range path {
		digest = circuit.Above(v.Builder, digest, v.digest(sibling), bits[i])
	}
	for k := range digest {
		var all []value
		for _, d := range top {
			all = append(all, d[k])
		}
		v.Equal(v.mux(bits[len(path):], all), digest[k], name, args...)
	}
}

// follow checks what is opened for a query.
func (v *circuitVerifier[X]) follow(q int, place []value) {
	l, f := v.layout, v.system.field
	full := f.Root(l.size + l.params.LogBlowup)
	local, coset := place[:l.size], place[l.size:]
	leafBits := func(size int) []value { return slices.Concat(local[:size], coset) }
	x := v.scaled(circuit.Base(firstPoint(f, l)), full, slices.Concat(coset, local))
	word := v.word(q, x, place)
	inverse := v.Inverse(x, "a place of 0")
	size := l.size
	for i, fold := range l.folds {
		at := local[size-fold : size]
		size -= fold
		leaf, pairs := v.numbersOf(v.shown.folds[i][q])
		v.leadsTo(circuit.Hash(v.Builder, len(v.shown.folds[i][q]), pairs), v.shown.routes[i][q], v.layers[i], leafBits(size), "layer %d: rows do not lead to the cap", i)
		v.Equal(v.mux(at, leaf), word, "layer %d differs from the value that is folded into it", i)
		root := f.Root(fold)
		first, step := v.scaled(inverse, root, at), root.Inverse()
		for j, r := range v.rs[i] {
			n := len(leaf) / 2
			m, power := v.Mul(r.Times(f.New(2).Inverse()), first), f.New(1)
			var folded []value
			for part := range n {
				g, h := leaf[part], leaf[part+n]
				folded = append(folded, v.Add(v.BothTimes(v.halves[i][j], g, h), v.BothLess(m.Times(power), g, h)))
				power = power.Mul(step)
			}
			leaf, first, step = folded, v.Mul(first, first), step.Mul(step)
		}
		word, inverse = leaf[0], first
	}
	x = v.Inverse(inverse, "a place of 0")
	v.Equal(v.reversed(v.final, x), word, "the last polynomial differs from the value that is folded into it")
}

// reversed evaluates a polynomial at x. It takes 2^n coefficients in bit-reversed order.
func (v *circuitVerifier[X]) reversed(coefficients []value, x value) value {
	log, sum := bits.Len(uint(len(coefficients)-1)), circuit.Zero
	for i := len(coefficients) - 1; i >= 0; i-- {
		sum = v.MulAdd(sum, x, coefficients[bits.Reverse64(uint64(i))>>(64-log)])
	}
	return sum
}

// word returns the value of the batched codeword at a position, computed from the stacks that are opened
// there.
func (v *circuitVerifier[X]) word(q int, x value, place []value) value {
	l, f := v.layout, v.system.field
	local, coset := place[:l.size], place[l.size:]
	// add adds a phase's element, times the weight of a codeword, to a sum.
	var add [phases]func(sum value, element, word int) value
	for phase := range phases {
		n := l.leaf(phase)
		if n == 0 {
			continue
		}
		elements := v.shown.leaves[phase][q]
		pairs := v.pairs(elements)
		size := l.leaves(phase)
		v.leadsTo(circuit.Hash(v.Builder, len(elements), pairs), v.shown.paths[phase][q], v.caps[phase], slices.Concat(local[:size], coset), "tree %d: rows do not lead to the cap", phase)
		if l.shared[phase] == 0 {
			add[phase] = func(sum value, i, word int) value {
				if i%2 == 0 {
					return v.FirstTimes(pairs[i/2], v.weights[word], sum)
				}
				return v.SecondTimes(pairs[i/2], v.over[word], sum)
			}
			continue
		}
		there := make([]value, n)
		for i := range there {
			var parts []value
			for at := i; at < len(elements); at += n {
				if at%2 == 0 {
					parts = append(parts, v.First(pairs[at/2]))
				} else {
					parts = append(parts, v.Second(pairs[at/2]))
				}
			}
			there[i] = v.mux(local[size:l.sizes[phase]], parts)
		}
		add[phase] = func(sum value, i, word int) value { return v.MulAdd(there[i], v.weights[word], sum) }
	}
	sum := circuit.Zero
	words := l.words()
	for t, rows := range l.rows {
		stack, slots := l.size-rows, bits.TrailingZeros(uint(len(v.members[t][0])))
		// The members' sum is a polynomial in the lowest power of x that multiplies one of them.
		least := x
		for range stack - slots {
			least = v.Mul(least, least)
		}
		u := least
		for range slots {
			u = v.Mul(u, u)
		}
		for which, point := range []value{v.y, v.y.Times(f.Root(rows))} {
			numerator, any := circuit.Zero, false
			for i, word := range words {
				if word.table == t && word.next == (which == 1) {
					numerator, any = add[word.phase](numerator, word.cell, i), true
				}
			}
			if !any {
				continue
			}
			numerator = v.Add(numerator, v.reversed(v.members[t][which], least))
			sum = v.MulAdd(numerator, v.Inverse(v.Sub(u, point), "a place is the point"), sum)
		}
	}
	return sum
}

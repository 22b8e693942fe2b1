package vec52

import (
	"math/bits"
	"slices"
)

// An entry of a four-word field is one cache line.

// Pair is an addition of eight points to eight points, lane by lane. The points come in groups of eight (places). A
// and B are the indices of the places to add, and Sum is the index of the place for the result. Sum may be equal to
// A.
type Pair struct {
	A, B, Sum uint32
	Idle      uint32 // one bit for each lane that is not added and stays as it is
}

// Rule selects the formula for adding points.
type Rule int

const (
	// Chord adds the points at A and B (see Pair). Their x coordinates must differ in every lane.
	Chord Rule = iota
	// Tangent doubles the points at A (see Pair). No y coordinate may be 0.
	Tangent
)

// Adder holds scratch memory for Add. The zero value is ready to use.
type Adder struct {
	products []uint64
	blocks   [9]block
	words    [6]uint64
}

type block [Width * maxLimbs]uint64

// chains is the number of running products that are computed side by side. In a single one each multiplication
// would wait for the one before. The number of pairs is a multiple of chains.
const chains = 2

// PadPairs appends an idle pair if the number of pairs is odd, because Add needs an even number.
func PadPairs(pairs []Pair) []Pair {
	if len(pairs)%chains != 0 {
		pairs = append(pairs, Pair{Idle: 1<<Width - 1})
	}
	return pairs
}

// Resize returns a slice of length n whose contents are unspecified. If the capacity of s suffices, this is s with
// length n. Otherwise it is a new slice, which begins at a cache line. If s is not nil, the new slice has room for up
// to an eighth more, so that slices of nearly the same length do not each need a new one.
func Resize(s []uint64, n int) []uint64 {
	if cap(s) >= n {
		return s[:n]
	}
	room := n
	if s != nil { // may grow again
		step := 1 << max(0, bits.Len(uint(n))-4)
		room = (n + step - 1) &^ (step - 1)
	}
	return aligned(room)[:n]
}

// PlaceWords returns the number of 64-bit words that eight affine points (one place) take.
func (f *Field) PlaceWords() int { return 2 * f.Block() }

// Add performs the additions listed in pairs, by the formula that r selects. The operands are in the slice points,
// in groups of eight (places). Add writes the sums to the same slice. Add takes one inversion in all, and five
// multiplications and a squaring for each pair. The number of pairs must be even (see PadPairs), and no pair may
// read a place that another pair writes. To invert an element x, Add calls the function invert with the words of x
// R, the Montgomery form of x. The function must replace them by the words of R/x. If the rule does not apply to
// some pair, Add returns false and leaves points unchanged.
func (f *Field) Add(a *Adder, r Rule, points []uint64, pairs []Pair, invert func(words []uint64)) bool {
	if len(pairs)%chains != 0 {
		panic("vec52: odd number of pairs")
	}
	if len(pairs) == 0 {
		return true
	}
	size := chains * f.Block()
	n := len(pairs) / chains
	a.products = Resize(a.products, (n+1)*size)
	one := f.one()
	for c := range chains {
		f.fill(a.products[c*f.Block():], &one)
	}
	f.forward(r, points, pairs, a.products)
	last := a.products[n*size:]
	if !f.invertLanes(a, last, invert) {
		return false
	}
	f.backward(r, points, pairs, a.products)
	return true
}

// fill sets all elements of a block to e.
func (f *Field) fill(block []uint64, e *element) {
	for i := range f.limbs {
		for k := range Width {
			block[Width*i+k] = e[i]
		}
	}
}

// invertLanes inverts all elements of two blocks with one inversion. It returns false if one of them is 0.
func (f *Field) invertLanes(a *Adder, two []uint64, invert func(words []uint64)) bool {
	b := f.Block()
	v := func(i int) []uint64 { return a.blocks[i][:b] }
	x, y := two[:b], two[b:2*b]
	// After step s each element of all is the product of 2^(s+1) lanes, and each element of others the product
	// of the same lanes except its own.
	all, turned, others := v(0), v(1), v(2)
	f.Mul(all, x, y)
	for step := range 3 {
		for i := range b {
			turned[i] = all[i^1<<step]
		}
		if step == 0 {
			copy(others, turned)
		} else {
			f.Mul(others, others, turned)
		}
		f.Mul(all, all, turned)
	}
	words := a.words[:f.words]
	f.Get(words, all, 0)
	if !slices.ContainsFunc(words, func(w uint64) bool { return w != 0 }) {
		return false
	}
	invert(words)
	for k := range Width {
		f.Set(all, k, words)
	}
	f.Mul(all, all, others) // 1/(x y)
	copy(turned, x)
	f.Mul(x, all, y)
	f.Mul(y, all, turned)
	return true
}

// forward sets block 2i+c of products to the product of the denominators of pairs c, 2+c, ..., 2(i-1)+c.
func (f *Field) forward(r Rule, points []uint64, pairs []Pair, products []uint64) {
	n := len(pairs) / chains
	switch {
	case !f.wide:
		f.forwardPortable(r, points, pairs, products)
	case f.limbs == 5 && r == Chord:
		chordForward5(&points[0], &pairs[0], &products[0], &f.constants[0], n)
	case f.limbs == 5:
		tangentForward5(&points[0], &pairs[0], &products[0], &f.constants[0], n)
	case r == Chord:
		chordForward8(&points[0], &pairs[0], &products[0], &f.constants[0], n)
	default:
		tangentForward8(&points[0], &pairs[0], &products[0], &f.constants[0], n)
	}
}

// backward computes the sums from these products and from the inverses of both whole products, which follow them.
func (f *Field) backward(r Rule, points []uint64, pairs []Pair, products []uint64) {
	n := len(pairs) / chains
	size := chains * f.Block()
	pair, product, inverse := &pairs[chains*(n-1)], &products[(n-1)*size], &products[n*size]
	switch {
	case !f.wide:
		f.backwardPortable(r, points, pairs, products)
	case f.limbs == 5 && r == Chord:
		chordBackward5(&points[0], pair, product, inverse, &f.constants[0], n)
	case f.limbs == 5:
		tangentBackward5(&points[0], pair, product, inverse, &f.constants[0], n)
	case r == Chord:
		chordBackward8(&points[0], pair, product, inverse, &f.constants[0], n)
	default:
		tangentBackward8(&points[0], pair, product, inverse, &f.constants[0], n)
	}
}

// Distinct compares the lowest limbs x and y of two elements. It returns true only if these limbs prove that the
// elements differ modulo p. If the elements differ, it rarely returns false. Both elements must be below 2p, so that
// elements that are equal modulo p differ by 0 or p.
func (f *Field) Distinct(x, y uint64) bool {
	d := (x - y) & low52
	p := f.constants[0]
	return d != 0 && d != p && d != low52+1-p
}

// Negated is a bit that can be set in an index to make Gather negate the point.
const Negated = 1 << 31

// Gather copies affine points from a table into the parameter points, one group of eight (place) after the other.
// The table holds points as entries (see the package comment), and the parameter picks holds the indices of the
// entries to copy. If the bit Negated is set in an index, Gather negates the point. For each place, picks must have
// Width indices. The parameter entries is the address of the first entry of the table, which must be contiguous and
// not empty.
func (f *Field) Gather(points []uint64, entries *uint64, picks []uint32) {
	n := len(picks) / Width
	if len(picks)%Width != 0 || len(points) < n*f.PlaceWords() {
		panic("vec52: lengths")
	}
	switch {
	case n == 0:
	case !f.wide:
		f.gatherPortable(points, entries, picks)
	case f.limbs == 5:
		gather5(&points[0], entries, &picks[0], &f.constants[0], n)
	default:
		gather8(&points[0], entries, &picks[0], &f.constants[0], n)
	}
}

// Pack converts affine points to entries of a table, as Gather reads them. The parameter points holds the points in
// groups of eight (places). The parameter entries is the address at which Pack writes the first entry.
func (f *Field) Pack(entries *uint64, points []uint64) {
	n := len(points) / f.PlaceWords()
	switch {
	case n == 0:
	case !f.wide:
		f.packPortable(entries, points)
	case f.limbs == 5:
		pack5(entries, &points[0], &f.constants[0], n)
	default:
		pack8(entries, &points[0], &f.constants[0], n)
	}
}

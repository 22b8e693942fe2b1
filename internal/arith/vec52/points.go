package vec52

import "slices"

// Points lie in places: eight x, then eight y, each a block; coordinates are below 1.1 p. Where
// they wait, in tables, they are entries: x and y below p, in as few words of 64 bits as hold
// them, so that the entry of four-word fields is a cache line.

// Pair is an addition of eight points to eight, lane by lane: the places of both and of their
// sums, which may be the first's.
type Pair struct {
	A, B, Sum uint32
	Idle      uint32 // lanes that take no part and keep what they have, a bit each
}

// Rule is how points are added.
type Rule int

const (
	// Chord adds A and B, of which no x are equal.
	Chord Rule = iota
	// Tangent doubles A, whose y are not 0.
	Tangent
)

// Adder is scratch of Add.
type Adder struct {
	products []uint64
	blocks   [9]block
	words    [6]uint64
}

type block [Width * maxLimbs]uint64

// chains is the number of products that are formed side by side: of one alone each factor would
// wait for the last. Pairs are a multiple of it.
const chains = 2

// Even is pairs, and as many idle ones that they are a multiple of what Add takes.
func Even(pairs []Pair) []Pair {
	if len(pairs)%chains != 0 {
		pairs = append(pairs, Pair{Idle: 1<<Width - 1})
	}
	return pairs
}

// Resize is s or a new slice, of length n, that begins at a cache line; its contents are
// unspecified.
func Resize(s []uint64, n int) []uint64 {
	if cap(s) >= n {
		return s[:n]
	}
	v := aligned(n + n/4)
	return v[:n]
}

// PlaceWords is the number of words of eight points.
func (f *Field) PlaceWords() int { return 2 * f.Block() }

// Add adds pairs, which are Even, by one inversion and five multiplications and a square each:
// no pair reads what another writes. invert inverts the words of x R to those of R/x. Where some
// pair has no sum by the rule, Add reports false and has changed nothing.
func (f *Field) Add(a *Adder, r Rule, points []uint64, pairs []Pair, invert func(words []uint64)) bool {
	if len(pairs)%chains != 0 {
		panic("lanes: odd pairs")
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

// invertLanes inverts all elements of two blocks by one inversion, or reports false, where one
// is 0.
func (f *Field) invertLanes(a *Adder, two []uint64, invert func(words []uint64)) bool {
	b := f.Block()
	v := func(i int) []uint64 { return a.blocks[i][:b] }
	x, y := two[:b], two[b:2*b]
	// After step s an element of all is the product of 2^(s+1) lanes, and of others that of the
	// lanes but its own.
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

// forward leaves the products of the denominators of the pairs before pair 2i+c at block 2i+c of
// products.
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

// backward takes them, and the inverses of both whole products behind them.
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

// Distinct tells, of the lowest limbs of two elements below 2p, whether they are certain to
// stand for different ones: such differ by 0 or p otherwise.
func (f *Field) Distinct(x, y uint64) bool {
	d := (x - y) & low52
	p := f.constants[0]
	return d != 0 && d != p && d != low52+1-p
}

// Negated is the bit of a pick that negates its point.
const Negated = 1 << 31

// Gather sets points to the entries that picks name by their index, Width a place. Entries
// begin at entries, of which there is at least one, and lie behind each other.
func (f *Field) Gather(points []uint64, entries *uint64, picks []uint32) {
	n := len(picks) / Width
	if len(picks)%Width != 0 || len(points) < n*f.PlaceWords() {
		panic("lanes: lengths")
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

// Pack sets entries to points, place by place.
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

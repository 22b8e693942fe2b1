package group

import (
	"math/big"
	"sync"
	"unsafe"

	"github.com/zkbench/zkbench/internal/arith/vec52"
)

// wide implements rows in SIMD vectors of eight, in radix 52. An entry x is in Montgomery form of
// that radix, packed into the words of one of gnark-crypto's elements.
type wide[E comparable, PE elementPtr[E]] struct {
	*radix52[E, PE]
	points   []uint64
	pairs    []vec52.Pair
	adder    vec52.Adder
	inverter func(words []uint64)
	picks    []uint32
	tail     [vec52.Width]affine[E]
	beta     []uint64 // in every lane
	element  E

	projective []uint64 // of horner
	z          []E
}

func newWide[E comparable, PE elementPtr[E]](form *radix52[E, PE]) *wide[E, PE] {
	w := &wide[E, PE]{radix52: form}
	w.inverter = w.invert
	return w
}

// radix52 converts between the two Montgomery forms. With R = 2^(52 limbs) and S = 2^(64 words), a
// product of gnark-crypto's with R/S turns x S into x R.
type radix52[E comparable, PE elementPtr[E]] struct {
	field           *vec52.Field
	in, out, square E        // R/S, S/R, (R/S)²
	inward          []uint64 // R²/S in every lane: a product with it turns x S into x R
}

func newRadix52[E comparable, PE elementPtr[E]](p *big.Int, b uint64, k vec52.Kernel) *radix52[E, PE] {
	c := &radix52[E, PE]{field: vec52.New(p, b, k)}
	r := c.field.Represent(big.NewInt(1))
	s := new(big.Int).Lsh(big.NewInt(1), uint(8*unsafe.Sizeof(c.in)))
	s.ModInverse(s, p)
	PE(&c.in).SetBigInt(s.Mul(s, r).Mod(s, p))
	PE(&c.out).Inverse(&c.in)
	PE(&c.square).Square(&c.in)
	ratio := new(big.Int).ModInverse(new(big.Int).Lsh(big.NewInt(1), uint(8*unsafe.Sizeof(c.in))), p)
	c.inward = c.field.Constant(c.field.Represent(ratio.Mul(ratio, r)))
	return c
}

// powers raises vectors of elements to one exponent.
type powers[E comparable, PE elementPtr[E]] struct {
	*radix52[E, PE]
	exponent vec52.Exponent
	outward  []uint64 // S in every lane: a product with it turns x R into x S
	scratch  sync.Pool
}

func newPowers[E comparable, PE elementPtr[E]](form *radix52[E, PE], p, exponent *big.Int) *powers[E, PE] {
	c := &powers[E, PE]{radix52: form, exponent: vec52.NewExponent(exponent)}
	s := new(big.Int).Lsh(big.NewInt(1), uint(8*unsafe.Sizeof(c.in)))
	c.outward = c.field.Constant(s.Mod(s, p))
	c.scratch.New = func() any { return new([]uint64) }
	return c
}

// raise sets y to the powers of x.
func (c *powers[E, PE]) raise(y, x []E) {
	n := (len(x) + vec52.Width - 1) / vec52.Width * c.field.Block()
	scratch := c.scratch.Get().(*[]uint64)
	defer c.scratch.Put(scratch)
	*scratch = vec52.Resize(*scratch, 2*n+vec52.PowerWords(n))
	v, z := (*scratch)[:n], (*scratch)[n:2*n]
	clear(v)
	for i := range x {
		c.field.Set(v[i/vec52.Width*c.field.Block():], i%vec52.Width, wordsOf(&x[i]))
	}
	c.field.Scale(v, c.inward)
	c.field.Power(z, v, c.exponent, (*scratch)[2*n:])
	c.field.Scale(z, c.outward)
	for i := range y {
		c.field.Get(wordsOf(&y[i]), z[i/vec52.Width*c.field.Block():], i%vec52.Width)
	}
}

// wordsOf returns the words of an element.
func wordsOf[E any](e *E) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(e)), unsafe.Sizeof(*e)/8)
}

// firstWord returns a pointer to the first word of values, whose type consists of words.
func firstWord[T any](values []T) *uint64 {
	return (*uint64)(unsafe.Pointer(unsafe.SliceData(values)))
}

func (w *wide[E, PE]) lanes() int { return vec52.Width }

// toEntry converts p to the form of entries; fromEntry converts it to gnark-crypto's.
func (c *radix52[E, PE]) toEntry(p *affine[E]) {
	PE(&p.X).Mul(&p.X, &c.in)
	PE(&p.Y).Mul(&p.Y, &c.in)
}

func (c *radix52[E, PE]) fromEntry(e *affine[E]) {
	PE(&e.X).Mul(&e.X, &c.out)
	PE(&e.Y).Mul(&e.Y, &c.out)
}

// edge is the number of points that are converted at once.
const edge = 8 * vec52.Width

// through sets dst to the entries that picks selects (nil: all of them), after change has changed
// them, eight values of x and y at a time.
func (w *wide[E, PE]) through(dst, entries []affine[E], picks []uint32, change func(x, y []uint64)) {
	for at := 0; at < len(dst); at += edge {
		n := min(edge, len(dst)-at)
		whole := (n + vec52.Width - 1) &^ (vec52.Width - 1)
		w.picks = resize(w.picks, whole)
		for i := range w.picks {
			k := at + min(i, n-1)
			if w.picks[i] = uint32(k); picks != nil {
				w.picks[i] = picks[k]
			}
		}
		w.resize(whole)
		w.gather(0, entries, w.picks)
		for i := int32(0); int(i) < whole; i += vec52.Width {
			x, y, _ := w.locate(i)
			change(x[:w.field.Block()], y[:w.field.Block()])
		}
		w.pack(dst[at:at+n], 0)
	}
}

func (w *wide[E, PE]) enter(dst, points []affine[E], picks []uint32) {
	w.through(dst, points, picks, func(x, y []uint64) {
		w.field.Scale(x, w.inward)
		w.field.Scale(y, w.inward)
	})
}

func (w *wide[E, PE]) enterGathered(at int32, n int) {
	size := w.field.PlaceWords()
	w.field.Scale(w.points[int(at)/vec52.Width*size:][:n/vec52.Width*size], w.inward)
}

func (w *wide[E, PE]) images(dst, entries []affine[E], beta *E) {
	if w.beta == nil {
		e := *beta
		PE(&e).Mul(&e, &w.in)
		w.beta = make([]uint64, w.field.Block())
		for lane := range vec52.Width {
			w.field.Set(w.beta, lane, wordsOf(&e))
		}
	}
	w.through(dst, entries, nil, func(x, _ []uint64) { w.field.Scale(x, w.beta) })
}

func (w *wide[E, PE]) resize(n int) {
	w.points = vec52.Resize(w.points, n/vec52.Width*w.field.PlaceWords())
}

func (w *wide[E, PE]) gather(at int32, entries []affine[E], picks []uint32) {
	place := w.points[int(at)/vec52.Width*w.field.PlaceWords():]
	w.field.Gather(place, firstWord(entries), picks)
}

func (w *wide[E, PE]) pack(entries []affine[E], at int32) {
	place := w.points[int(at)/vec52.Width*w.field.PlaceWords():]
	whole := len(entries) / vec52.Width
	size := w.field.PlaceWords()
	w.field.Pack(firstWord(entries), place[:whole*size])
	if rest := entries[whole*vec52.Width:]; len(rest) > 0 {
		w.field.Pack(firstWord(w.tail[:]), place[whole*size:(whole+1)*size])
		copy(rest, w.tail[:])
	}
}

// locate returns the vectors and the lane of a position.
func (w *wide[E, PE]) locate(at int32) (x, y []uint64, lane int) {
	place := w.points[int(at)/vec52.Width*w.field.PlaceWords():]
	return place, place[w.field.Block():], int(at) % vec52.Width
}

// load sets e to a point in the form of entries.
func (w *wide[E, PE]) load(e *affine[E], at int32) {
	x, y, lane := w.locate(at)
	w.field.Get(wordsOf(&e.X), x, lane)
	w.field.Get(wordsOf(&e.Y), y, lane)
}

func (w *wide[E, PE]) get(p *affine[E], at int32) {
	w.load(p, at)
	w.fromEntry(p)
}

func (w *wide[E, PE]) set(at int32, p *affine[E]) {
	w.toEntry(p)
	x, y, lane := w.locate(at)
	w.field.Set(x, lane, wordsOf(&p.X))
	w.field.Set(y, lane, wordsOf(&p.Y))
}

func (w *wide[E, PE]) special(spans []span, found func(pair, l, r int32)) {
	var identity affine[E]
	a, b := &w.tail[0], &w.tail[1]
	size := w.field.PlaceWords()
	pair := int32(0)
	for _, s := range spans {
		for k := range s.n {
			l, r := s.left+k, s.right+k
			left := w.points[int(l)/vec52.Width*size+int(l)%vec52.Width]
			right := w.points[int(r)/vec52.Width*size+int(r)%vec52.Width]
			// The lowest limbs distinguish most pairs.
			if w.field.Distinct(left, right) && w.field.Distinct(left, 0) && w.field.Distinct(right, 0) {
				pair++
				continue
			}
			w.load(a, l)
			w.load(b, r)
			if a.X == b.X || *a == identity || *b == identity {
				found(pair, l, r)
			}
			pair++
		}
	}
}

func (w *wide[E, PE]) add(spans []span, _ int, aside []fixup[E]) bool {
	w.pairs = w.pairs[:0]
	first := int32(0)
	for _, s := range spans {
		for k := int32(0); k < s.n; k += vec52.Width {
			a, b := uint32(s.left+k)/vec52.Width, uint32(s.right+k)/vec52.Width
			idle := uint32(0)
			if rest := s.n - k; rest < vec52.Width {
				idle = 1<<vec52.Width - 1<<rest
			}
			for len(aside) > 0 && aside[0].pair < first+min(k+vec52.Width, s.n) {
				idle |= 1 << (aside[0].pair - first - k)
				aside = aside[1:]
			}
			w.pairs = append(w.pairs, vec52.Pair{A: a, B: b, Sum: a, Idle: idle})
		}
		first += s.n
	}
	return w.run(vec52.Chord)
}

func (w *wide[E, PE]) double(n int) {
	w.pairs = w.pairs[:0]
	for k := 0; k < n; k += vec52.Width {
		idle := uint32(0)
		if rest := n - k; rest < vec52.Width {
			idle = 1<<vec52.Width - 1<<rest
		}
		at := uint32(k) / vec52.Width
		w.pairs = append(w.pairs, vec52.Pair{A: at, B: at, Sum: at, Idle: idle})
	}
	w.run(vec52.Tangent)
}

func (w *wide[E, PE]) run(rule vec52.Rule) bool {
	w.pairs = vec52.PadPairs(w.pairs)
	return w.field.Add(&w.adder, rule, w.points, w.pairs, w.inverter)
}

// invert inverts words of x R. gnark-crypto reads them as x R/S in its own form, and the inverse in
// that form is S²/(x R).
func (w *wide[E, PE]) invert(words []uint64) {
	e := PE(&w.element)
	copy(wordsOf(&w.element), words)
	e.Inverse(&w.element)
	e.Mul(&w.element, &w.square)
	copy(words, wordsOf(&w.element))
}

package vec52

import (
	"unsafe"

	"github.com/zkbench/zkbench/internal/arith/vec52/layout"
)

func (f *Field) one() element { return f.constant(layout.Limbs(f.limbs).One) }

// operands holds the coordinates of a pair in one lane.
type operands struct{ x1, y1, x2, y2 element }

func (f *Field) operands(r Rule, points []uint64, p Pair, lane int) (o operands) {
	size, y := f.PlaceWords(), f.Block()
	f.load(&o.x1, points[int(p.A)*size:], lane)
	f.load(&o.y1, points[int(p.A)*size+y:], lane)
	if r == Tangent {
		o.x2, o.y2 = o.x1, o.y1
		return o
	}
	f.load(&o.x2, points[int(p.B)*size:], lane)
	f.load(&o.y2, points[int(p.B)*size+y:], lane)
	return o
}

func (f *Field) denominator(r Rule, o *operands, idle bool) element {
	switch {
	case idle:
		return f.one()
	case r == Chord:
		return f.difference(o.x2, o.x1)
	}
	return f.carried(f.plus(o.y1, o.y1))
}

func (f *Field) numerator(r Rule, o *operands) element {
	if r == Chord {
		return f.difference(o.y2, o.y1)
	}
	s := f.product(&o.x1, &o.x1)
	return f.carried(f.plus(f.plus(s, s), s))
}

func (f *Field) forwardPortable(r Rule, points []uint64, pairs []Pair, products []uint64) {
	for k, p := range pairs {
		for lane := range Width {
			o := f.operands(r, points, p, lane)
			var product element
			f.load(&product, products[k*f.Block():], lane)
			product = f.mul(product, f.denominator(r, &o, p.Idle>>lane&1 == 1))
			f.store(&product, products[(k+chains)*f.Block():], lane)
		}
	}
}

func (f *Field) backwardPortable(r Rule, points []uint64, pairs []Pair, products []uint64) {
	inverses := products[len(pairs)*f.Block():]
	for k := len(pairs) - 1; k >= 0; k-- {
		p := pairs[k]
		for lane := range Width {
			o := f.operands(r, points, p, lane)
			idle := p.Idle>>lane&1 == 1
			inverse := inverses[k%chains*f.Block():]
			var rest, before element
			f.load(&rest, inverse, lane)
			f.load(&before, products[k*f.Block():], lane)
			quotient := f.mul(rest, before)
			rest = f.mul(rest, f.denominator(r, &o, idle))
			f.store(&rest, inverse, lane)
			if idle {
				continue
			}
			slope := f.mul(quotient, f.numerator(r, &o))
			x3 := f.reduced(f.plus(f.minus(f.minus(f.product(&slope, &slope), o.x1), o.x2), f.multiple(3)))
			d := f.difference(o.x1, x3)
			y3 := f.reduced(f.plus(f.minus(f.product(&slope, &d), o.y1), f.multiple(2)))
			at := int(p.Sum) * f.PlaceWords()
			f.store(&x3, points[at:], lane)
			f.store(&y3, points[at+f.Block():], lane)
		}
	}
}

// entry returns entry number i of the table that begins at first.
func (f *Field) entry(first *uint64, i int) []uint64 {
	n := 2 * f.words
	return unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(first), 8*n*i)), n)
}

func (f *Field) gatherPortable(points []uint64, entries *uint64, picks []uint32) {
	for i, pick := range picks {
		place, lane := points[i/Width*f.PlaceWords():], i%Width
		e := f.entry(entries, int(pick&^Negated))
		f.Set(place, lane, e[:f.words])
		f.Set(place[f.Block():], lane, e[f.words:])
		if pick&Negated != 0 {
			var y element
			f.load(&y, place[f.Block():], lane)
			y = f.carried(f.minus(f.multiple(1), y))
			f.store(&y, place[f.Block():], lane)
		}
	}
}

func (f *Field) packPortable(entries *uint64, points []uint64) {
	for i := range len(points) / f.PlaceWords() * Width {
		place, e := points[i/Width*f.PlaceWords():], f.entry(entries, i)
		f.Get(e[:f.words], place, i%Width)
		f.Get(e[f.words:], place[f.Block():], i%Width)
	}
}

package zkvm

import "github.com/zkbench/zkbench/stark/air"

// inWord is the number of halves in a word.
const inWord = 4

// quarters is a word whose limbs are in columns by halves, the least significant first.
type quarters struct {
	halves [inWord]column
	signs  map[int]column // the highest bits of some halves
}

// quarters returns columns for a word and for the highest bits of the given halves.
func (c *columns) quarters(name string, s shape, signs ...int) quarters {
	q := quarters{signs: make(map[int]column)}
	for i := range q.halves {
		q.halves[i] = c.column(name, s.half)
	}
	for _, i := range signs {
		q.signs[i] = c.bit(name + ".sign")
	}
	return q
}

// quarters states the ranges of a word's halves, and of their signs, in rows where real is 1. It returns the halves.
func (b builder) quarters(q quarters, real air.Expr) (halves [inWord]air.Expr) {
	for i, c := range q.halves {
		halves[i] = b.at(c)
		if sign, ok := q.signs[i]; ok {
			b.rangeSign(real, halves[i], b.at(sign))
		} else {
			b.rangeHalf(real, halves[i])
		}
	}
	return halves
}

// joined returns the limbs that consist of halves.
func (b builder) joined(halves [inWord]air.Expr) limbs {
	limb := func(lower, upper air.Expr) air.Expr { return lower.Add(upper.Times(b.halves())) }
	return limbs{limb(halves[0], halves[1]), limb(halves[2], halves[3])}
}

// quarters returns the halves of a word.
func (s shape) quarters(word uint64) (halves [inWord]uint64) {
	for i := range halves {
		halves[i] = word >> (i * s.half) & uint64(s.halves()-1)
	}
	return halves
}

// quarters sets the halves of a word and their signs, and counts the look-ups.
func (w *writer) quarters(q quarters, word uint64) {
	for i, half := range w.shape.quarters(word) {
		w.set(q.halves[i], half)
		if sign, ok := q.signs[i]; ok {
			w.set(sign, w.signOf(half))
		} else {
			w.half(half)
		}
	}
}

// carry is what one equation of limbs leaves to the next: a half, and bits above it.
type carry struct {
	lower column
	above []column
}

func (c *columns) carry(name string, s shape, above int) (y carry) {
	y.lower = c.column(name, s.half)
	for range above {
		y.above = append(y.above, c.bit(name+".above"))
	}
	return y
}

// carry states the range of a carry in rows where real is 1, and returns it.
func (b builder) carry(name string, y carry, real air.Expr) air.Expr {
	b.rangeHalf(real, b.at(y.lower))
	all := b.at(y.lower)
	for i, c := range y.above {
		b.bit(name, c)
		all = all.Add(b.at(c).Times(b.halves() << i))
	}
	return all
}

// carry sets a carry and counts its look-up.
func (w *writer) carry(y carry, v uint64) {
	lower := v & uint64(w.halves()-1)
	w.half(lower)
	w.set(y.lower, lower)
	for i, c := range y.above {
		w.set(c, v>>(w.shape.half+i)&1)
	}
}

// convolution returns the product of two words by halves: the sums of x[i] y[k-i], by k. The last sum is empty.
func convolution[T any](x, y [inWord]T, add, mul func(T, T) T) (sums [2 * inWord]T) {
	for i := range x {
		for j := range y {
			sums[i+j] = add(sums[i+j], mul(x[i], y[j]))
		}
	}
	return sums
}

// convolution returns the limbs of the product of two words, without carries. Each is below 2^51.
func (b builder) convolution(x, y [inWord]air.Expr) (limbs [inWord]air.Expr) {
	sums := convolution(x, y, air.Expr.Add, air.Expr.Mul)
	for i := range limbs {
		limbs[i] = sums[2*i].Add(sums[2*i+1].Times(b.halves()))
	}
	return limbs
}

// convolution returns the limbs of the product of two words, without carries.
func (s shape) convolution(x, y uint64) (limbs [inWord]uint64) {
	add := func(x, y uint64) uint64 { return x + y }
	mul := func(x, y uint64) uint64 { return x * y }
	sums := convolution(s.quarters(x), s.quarters(y), add, mul)
	for i := range limbs {
		limbs[i] = sums[2*i] + sums[2*i+1]<<s.half
	}
	return limbs
}

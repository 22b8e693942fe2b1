// Package poseidon implements the Poseidon permutation over the Goldilocks field, and hashes built
// on it (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, "Poseidon: A New Hash Function for
// Zero-Knowledge Proof Systems", ePrint 2019/458). The width is 12, the rate is 8, the capacity is
// 4, and the S-box is x^7. There are 8 full rounds and 22 partial rounds. The constants are those
// of Polygon's Hermez prover and plonky2, so digests equal theirs. Nothing here is constant-time.
package poseidon

import (
	"math/bits"

	"github.com/zkbench/zkbench/goldilocks"
)

// These are the sizes of the state and its parts, in elements.
const (
	Width    = 12
	Rate     = 8
	Capacity = Width - Rate
)

// Half of the full rounds come first, then the partial rounds, then the other half.
const (
	FullRounds    = 8
	PartialRounds = 22
	rounds        = FullRounds + PartialRounds
)

// State is the input and output of the permutation: the rate, then the capacity.
type State [Width]goldilocks.Element

// circulant is the first row of the linear layer, before diagonal is added to its first element.
// Row i is circulant rotated right by i.
var circulant = [Width]uint64{17, 15, 41, 16, 2, 28, 13, 13, 39, 18, 34, 20}

const diagonal = 8

// Permute applies the permutation.
//
// Between its steps, elements are not reduced: they are any 64-bit numbers. The linear layer has
// small constants and works on the elements' halves, as integers.
func (s *State) Permute() {
	var x [Width]uint64
	for i, e := range s {
		x[i] = uint64(e.Add(constants.first[i]))
	}
	for r := range constants.before {
		fullRound(&x, &constants.before[r])
	}
	partialRoundsOf(&x)
	for r := range constants.after {
		fullRound(&x, &constants.after[r])
	}
	for i := range s {
		s[i] = goldilocks.Reduce(x[i]).Sub(1 << 63)
	}
}

func fullRound(x, row *[Width]uint64) {
	var low, high [Width]uint64
	for i, e := range x {
		e2 := multiply(e, e) // power7, which is too long to be inlined
		e4 := multiply(e2, e2)
		y := multiply(multiply(e, e2), e4)
		low[i], high[i] = y&epsilon, y>>32
	}
	mix(&low)
	mix(&high)
	for i := range x {
		// Below 2^64: low is below 2^32 264 and the row below 2^64 - 2^44.
		x[i] = lazy(low[i]+row[i], high[i])
	}
}

// partialRoundsOf computes the 22 partial rounds. Between them the state is two spectra, of the
// lower and of the upper halves. They are not reduced to elements, and grow by a factor of 264 each
// round.
func partialRoundsOf(x *[Width]uint64) {
	var low, high spectrum
	for i, e := range x {
		low[i], high[i] = e&epsilon, e>>32
	}
	// The first element, and its parts as the spectra include them.
	first, firstLow, firstHigh := x[0], low[0], high[0]
	low.setRemainders((*[Width]uint64)(&low))
	high.setRemainders((*[Width]uint64)(&high))
	for r := range PartialRounds {
		y := power7(first)
		yLow, yHigh := y&epsilon, y>>32
		low.addFirst(yLow - firstLow)
		high.addFirst(yHigh - firstHigh)
		low.multiply()
		high.multiply()
		if r == PartialRounds-1 {
			var l, h [Width]uint64
			low.vector(&l)
			high.vector(&h)
			l[0] += diagonal * yLow
			h[0] += diagonal * yHigh
			for i := range x {
				c := &constants.exit[i]
				x[i] = lazy(l[i]+c.low, h[i]+c.high)
			}
			return
		}
		firstLow, firstHigh = low.first(), high.first()
		c := &constants.partial[r]
		first = lazy(firstLow+diagonal*yLow+c.low, firstHigh+diagonal*yHigh+c.high)
		if r%roundsBetween == roundsBetween-1 {
			normalize(&low, &high)
			firstLow, firstHigh = low.first(), high.first()
		}
	}
}

const epsilon = 1<<32 - 1 // 2^64 modulo p

// power7 returns x^7. Both are lazy.
func power7(x uint64) uint64 {
	x2 := multiply(x, x)
	x4 := multiply(x2, x2)
	return multiply(multiply(x, x2), x4)
}

// multiply returns x y. All are lazy. With hi = h 2^32 + l, the product is lo + l 2^32 - (h + l)
// modulo p.
//
// The sum s may carry and the difference may borrow. Each is worth 2^32 - 1, and both together
// cancel. After only a carry, s is below 2^64 - 2^32. After only a borrow, the difference is at
// least 2^64 - 2^33. So neither correction wraps.
func multiply(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	s, carry := bits.Add64(lo, hi<<32, 0)
	less := hi>>32 + hi&epsilon
	d := s - less + -carry&epsilon
	if s < less { // of random products one in 2^32
		d -= borrowed
	}
	return d
}

// borrowed equals epsilon. It is a variable because the compiler leaves a load inside the branch,
// but would always run the subtraction of a constant.
var borrowed uint64 = epsilon

// lazy returns low + high 2^32 modulo p. It takes low of at most 2^63 and high of at most 2^62, or
// low below 2^64 - 2^43 and high below 2^43.
//
// With h = high >> 32 it adds low + h (2^32-1), which is below 2^64 - 2^32, and high << 32. A carry
// leaves room for the correction.
func lazy(low, high uint64) uint64 {
	s, carry := bits.Add64(low+(high>>32)*epsilon, high<<32, 0)
	return s + -carry&epsilon
}

// RoundConstants returns the constants that are added to the state before each round's S-boxes. A
// proof system for the permutation needs these constants and the matrix of Mix.
func RoundConstants() [FullRounds + PartialRounds][Width]goldilocks.Element { return roundConstants }

// Mix returns the matrix m of the linear layer. This layer replaces element i of the state by the
// sum of m[i][j] times element j over all j.
func Mix() (m [Width][Width]uint64) {
	for i := range m {
		for j := range m[i] {
			m[i][j] = circulant[(j-i+Width)%Width]
		}
	}
	m[0][0] += diagonal
	return m
}

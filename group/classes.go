package group

import (
	"math/bits"

	"github.com/zkbench/zkbench/group/internal/integer"
)

// Scalars of provers are often short, or short and negative: bits, bytes, words. They are
// classified by their length in bits. The last class has scalars of any length, which are split
// along the endomorphism. A class with fewer terms than smallClass does not get a sum of its own.
var classes = [...]int{1, 16, 64, 0}

const smallClass = 256

// A kind is the class of a scalar, plus a flag if its point is to be negated. Kind none marks a
// term that contributes nothing.
const (
	unit  = 0
	full  = uint8(len(classes) - 1)
	none  = uint8(len(classes))
	minus = 1 << 7
)

// kindOf returns the kind of 0, 1 and -1, and full for any other scalar. It distinguishes the three
// without a branch, since no predictor knows a prover's bits.
func kindOf(s [4]uint64, one, minusOne *[4]uint64) uint8 {
	not0 := func(x uint64) uint8 { return uint8((x | -x) >> 63) }
	differs := func(x *[4]uint64) uint8 {
		return not0((s[0] ^ x[0]) | (s[1] ^ x[1]) | (s[2] ^ x[2]) | (s[3] ^ x[3]))
	}
	if not0(s[0])&not0(s[0]^one[0])&not0(s[0]^minusOne[0]) != 0 {
		return full
	}
	notZero, notOne, notMinusOne := differs(&[4]uint64{}), differs(one), differs(minusOne)
	return none*(1-notZero) | minus*(1-notMinusOne) | full*(notZero&notOne&notMinusOne)
}

// classOf returns the class of a magnitude of one word, above 1.
func classOf(k uint64) uint8 {
	class := uint8(unit + 1)
	for bits.Len64(k) > classes[class] {
		class++
	}
	return class
}

// classCounts has a number for each class, and one for none.
type classCounts [len(classes) + 1]int

// terms holds the terms of a sum, by class.
type terms struct {
	kinds      []uint8
	magnitudes []integer.Limbs       // except for units
	counted    []classCounts         // for each piece of the terms; then where the piece's terms begin in picks
	sumOf      classCounts           // the class whose sum a class's terms are in
	begin      [len(classes) + 1]int // for each class, where the terms of its sum begin in picks
	picks      []uint32              // terms by the class in whose sum they are
	memory     *offHeap
}

// reset makes room for n terms in pieces.
func (t *terms) reset(n, pieces int) {
	t.kinds, t.magnitudes, t.picks = room(t.memory, t.kinds, n), room(t.memory, t.magnitudes, n), room(t.memory, t.picks, n)
	t.counted = resize(t.counted, pieces)
	clear(t.counted) // no count of another sum stays, even if an executor leaves out the task that counts
}

// join decides in which class's sum the terms of each class go, and where each piece's picks go.
func (t *terms) join() {
	var count classCounts
	for _, c := range t.counted {
		for class, n := range c {
			count[class] += n
		}
	}
	for class := range t.sumOf {
		if t.sumOf[class] = class; class < int(full) && count[class] < smallClass {
			t.sumOf[class] = int(full)
		}
	}
	at := 0
	for sum := range t.begin {
		t.begin[sum] = at
		for i := range t.counted {
			for class, n := range t.counted[i] {
				if t.sumOf[class] == sum {
					t.counted[i][class], at = at, at+n
				}
			}
		}
	}
}

// place sets the picks of a piece.
func (t *terms) place(lo, hi, piece int) {
	next := &t.counted[piece]
	for i := lo; i < hi; i++ {
		k := t.kinds[i]
		at := &next[k&^minus]
		t.picks[*at] = uint32(i) | uint32(k&minus)<<24
		*at++
	}
}

// picksFor returns the picks of a class's sum.
func (t *terms) picksFor(class int) []uint32 { return t.picks[t.begin[class]:t.begin[class+1]] }

// magnitude returns the magnitude of term i.
func (t *terms) magnitude(i uint32) integer.Limbs {
	if t.kinds[i]&^minus == unit {
		return integer.Limbs{1}
	}
	return t.magnitudes[i]
}

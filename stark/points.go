package stark

import (
	"math/bits"

	"github.com/zkbench/zkbench/stark/internal/field"
)

// points are the points at which codewords are evaluated: shift times the roots of unity of order
// 2^(size+blowup), as 2^blowup cosets of the group H of order 2^size. Point i of coset c is shift[c] ω^i.
// Codewords list the cosets one after the other, each in this natural order.
//
// Squared 2^(size-j) times, coset c is a coset of the group of order 2^j. A table of 2^j rows is extended to
// it, and FRI folds to it.
type points[E field.Element[E], X field.Extension[E, X]] struct {
	field        field.Field[E, X]
	size, blowup int // logarithms
	shifts       []E
	halves       [][][]E // [c][j]: the first half of the points of coset c of the group of order 2^j
	memory       *memory[E]
	few          map[int]*few[E, X] // by the logarithm of a table's rows; nil without zero knowledge
}

func newPoints[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], size, blowup int, m *memory[E]) *points[E, X] {
	p := &points[E, X]{field: f, size: size, blowup: blowup, memory: m}
	root, shift := f.Root(size+blowup), f.Generator()
	for range 1 << blowup {
		p.shifts = append(p.shifts, shift)
		shift = shift.Mul(root)
	}
	for _, s := range p.shifts {
		halves := make([][]E, size+1)
		for j := size; j > 0; j-- {
			halves[j] = make([]E, 1<<(j-1))
			setPowers[E, X](f, halves[j], s, f.Root(j))
			s = s.Mul(s)
		}
		halves[0] = []E{s} // the one point, which has no half
		p.halves = append(p.halves, halves)
	}
	return p
}

// shift returns the first point of coset c of the group of order 2^j.
func (p *points[E, X]) shift(c, j int) E { return p.halves[c][j][0] }

// all returns the points of coset c of the group of order 2^j.
func (p *points[E, X]) all(c, j int) []E {
	if j == 0 {
		return p.halves[c][0]
	}
	half := p.halves[c][j]
	all := make([]E, 2*len(half))
	copy(all, half)
	var zero E
	for i, e := range half {
		all[len(half)+i] = zero.Sub(e) // ω^(n/2) is -1
	}
	return all
}

// point returns the point of a codeword's position.
func (p *points[E, X]) point(place int) E {
	c, i := place>>p.size, place&(1<<p.size-1)
	half := p.halves[c][p.size]
	if i < len(half) {
		return half[i]
	}
	var zero E
	return zero.Sub(half[i-len(half)])
}

// interpolate replaces the values of polynomials at shift times the roots of unity by coefficients. t must
// have the length of the values.
func interpolate[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], t field.Transform[E], values [][]E, shift E) {
	unscale := reversedPowers(bits.Len(uint(len(values[0])))-1, f.New(1), shift.Inverse())
	for _, v := range values {
		t.Interpolate(v)
		f.Mul(v, v, unscale)
	}
}

// setPowers sets dst[i] to first ratio^i. The length of dst must be a power of two.
func setPowers[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], dst []E, first, ratio E) {
	dst[0] = first
	for i := 1; i < len(dst); i *= 2 {
		f.MulScalar(dst[i:2*i], dst[:i], ratio)
		ratio = ratio.Mul(ratio)
	}
}

// reversedPowers returns first ratio^i for 2^log numbers i, in bit-reversed order.
func reversedPowers[E interface{ Mul(E) E }](log int, first, ratio E) []E {
	powers := make([]E, 1<<log)
	powers[0] = first
	for i := len(powers) / 2; i > 0; i /= 2 {
		// Indices that are odd multiples of i have the bit that counts len(powers) / 2i.
		for j := i; j < len(powers); j += 2 * i {
			powers[j] = powers[j-i].Mul(ratio)
		}
		ratio = ratio.Mul(ratio)
	}
	return powers
}

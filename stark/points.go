package stark

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// points are the points at which codewords are evaluated: shift times the roots of unity of order
// 2^(size+blowup), as 2^blowup cosets of the group H of order 2^size. Point i of coset c is shift[c] ω^i.
// Codewords list the cosets one after the other, each in this natural order.
//
// Squared size-j times, coset c is a coset of the group of order 2^j. A table of 2^j rows is extended to
// it, and FRI folds to it.
type points[E field.Element[E], X field.Extension[E, X]] struct {
	field        field.Field[E, X]
	size, blowup int // logarithms
	shifts       []E
	halves       [][][]E // [c][j]: the first half of the points of coset c of the group of order 2^j
	scales       [][][]E // [c][j]: the powers of the first of these points, if tables have 2^j rows, as scaleOf returns them
	transforms   *transforms[E]
	memory       *memory[E]
	few          map[int]*few[E, X] // by the logarithm of a table's rows; nil without zero knowledge
}

// firstPoint returns the first point of all, shift[0].
//
// It is a power 2^i of the generator, so its order is a multiple of (p-1)/2^TwoAdicity, which is odd and not 1.
// That also holds for its squares. So neither it nor its squares are roots of unity of an order 2^j. Hence no point
// is in H, and none of those to which a table is extended is in the group of the table's rows. Cosets are disjoint
// because the roots of order 2^(size+blowup) are.
//
// If domains are nested, the points of length 2^size, squared size-j times, are those of length 2^j: the first one
// becomes generator^(2^(TwoAdicity-j)), whatever the size is. So the values of fixed columns do not depend on it.
func firstPoint[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], l *layout) E {
	if !l.nested {
		return f.Generator()
	}
	return squares(f.Generator(), f.TwoAdicity()-l.size)
}

// newPoints returns the points for words and tables of a layout.
func newPoints[E field.Element[E], X field.Extension[E, X]](ctx context.Context, ex executor.Executor, f field.Field[E, X], l *layout, t *transforms[E], m *memory[E]) (*points[E, X], error) {
	size, blowup := l.size, l.params.LogBlowup
	p := &points[E, X]{field: f, size: size, blowup: blowup, transforms: t, memory: m, halves: make([][][]E, 1<<blowup), scales: make([][][]E, 1<<blowup)}
	root, shift := f.Root(size+blowup), firstPoint(f, l)
	for c := range p.halves {
		p.shifts = append(p.shifts, shift)
		p.halves[c], p.scales[c] = make([][]E, size+1), make([][]E, size+1)
		shift = shift.Mul(root)
	}
	err := ex.Do(ctx, len(p.halves)*(size+1), func(_ context.Context, i int) error {
		c, j := i%len(p.halves), size-i/len(p.halves) // the longest first
		s := squares(p.shifts[c], size-j)
		if j == 0 {
			p.halves[c][j] = []E{s} // the one point, which has no half
		} else {
			p.halves[c][j] = make([]E, 1<<(j-1))
			setPowers(f, p.halves[c][j], s, f.Root(j))
		}
		if slices.Contains(l.rows, j) {
			p.scales[c][j] = scaleOf(f, j, s)
		}
		return nil
	})
	return p, err
}

// shift returns the first point of coset c of the group of order 2^j.
func (p *points[E, X]) shift(c, j int) E { return p.halves[c][j][0] }

// all returns the points of coset c of the group of order 2^j.
func (p *points[E, X]) all(c, j int) []E {
	all := make([]E, 1<<j)
	p.fill(all, c, j, 0)
	return all
}

// fill sets dst to points of coset c of the group of order 2^j, from number lo on.
func (p *points[E, X]) fill(dst []E, c, j, lo int) {
	half := p.halves[c][j]
	if lo < len(half) {
		n := copy(dst, half[lo:])
		dst, lo = dst[n:], lo+n
	}
	var zero E
	for i := range dst {
		dst[i] = zero.Sub(half[lo-len(half)+i]) // ω^(n/2) is -1
	}
}

// point returns the point of a position in codewords with cosets of 2^size.
func (p *points[E, X]) point(place, size int) E {
	c, i := place>>size, place&(1<<size-1)
	half := p.halves[c][size]
	if i < len(half) {
		return half[i]
	}
	var zero E
	return zero.Sub(half[i-len(half)])
}

// interpolate replaces the values of polynomials at shift times the roots of unity by coefficients. t must
// have the length of the values.
func interpolate[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], t field.Transform[E], values [][]E, shift E) {
	unscale := scaleOf(f, bits.Len(uint(len(values[0])))-1, shift.Inverse())
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

// scaleOf returns the powers of a shift below 2^log, in bit-reversed order. The coefficients of a polynomial, times
// these, are those of the polynomial on a coset with that shift.
func scaleOf[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], log int, shift E) []E {
	powers := make([]E, 1<<log)
	powers[0] = f.New(1)
	ratios := make([]E, log) // the power that each bit of an index stands for, that of the highest bit first
	for i := range ratios {
		ratios[i] = shift
		shift = shift.Mul(shift)
	}
	for bit := range log {
		f.MulScalar(powers[1<<bit:2<<bit], powers[:1<<bit], ratios[log-1-bit])
	}
	return powers
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

// transforms holds transforms with their tables, which all proofs of a system share.
type transforms[E any] struct {
	mu   sync.Mutex
	made map[int]field.Transform[E] // by the logarithm of their length
}

// transform returns the transform of length 2^log.
func (p *points[E, X]) transform(log int) (field.Transform[E], error) {
	t := p.transforms
	t.mu.Lock()
	defer t.mu.Unlock()
	if made, ok := t.made[log]; ok {
		return made, nil
	}
	made, err := p.field.Transform(log)
	if err != nil {
		return nil, err
	}
	if t.made == nil {
		t.made = make(map[int]field.Transform[E])
	}
	t.made[log] = made
	return made, nil
}

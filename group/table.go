package group

import (
	"unsafe"

	"github.com/zkbench/zkbench/group/internal/integer"
)

// Defaults of TableOptions: 12 MiB for 128 generators of BN254.
// docs/msm.md has the measurements behind them.
const (
	defaultWindow  = 10
	defaultSpacing = 9
)

// fixedPoints hold the multiples of their layout, point by point.
type fixedPoints[E comparable, PE elementPtr[E]] struct {
	integer.Layout
	sums      *sums[E, PE]
	n         int
	multiples []affine[E] // ((point·Positions + position) << (Window-1)) + m-1
}

func newFixedPoints[E comparable, PE elementPtr[E]](s *sums[E, PE], points []affine[E], layout integer.Layout) *fixedPoints[E, PE] {
	t := &fixedPoints[E, PE]{Layout: layout, sums: s, n: len(points)}
	half := 1 << (t.Window - 1)
	t.multiples = make([]affine[E], len(points)*t.Positions*half)
	// One point at a time: all its positions are a row that is extended to the
	// 2^(c-1) multiples.
	sc := s.newScratch()
	mx, my := make([]E, half*t.Positions), make([]E, half*t.Positions)
	for i := range points {
		sc.acc.reset(t.Positions)
		sc.acc.add(0, &points[i].X, &points[i].Y)
		for p := range t.Positions {
			if p > 0 {
				sc.acc.merge(p, p-1)
				for range t.Window * t.Spacing {
					sc.acc.double(p)
				}
			}
			a := sc.acc.affine(p)
			mx[p], my[p] = a.X, a.Y
		}
		sc.tree.extendMultiples(mx, my, t.Positions)
		for p := range t.Positions {
			base := (i*t.Positions + p) * half
			for m := range half {
				t.multiples[base+m] = affine[E]{mx[m*t.Positions+p], my[m*t.Positions+p]}
			}
		}
	}
	return t
}

func (t *fixedPoints[E, PE]) Len() int { return t.n }

func (t *fixedPoints[E, PE]) Bytes() int {
	return len(t.multiples) * int(unsafe.Sizeof(affine[E]{}))
}

// term is one selected multiple on its way into a tree.
type term struct {
	index   int32 // into multiples
	segment int32
}

// begin prepares sc for the terms of some sums, which are worked on in one tree
// with 2·Spacing segments each: the multiples to be added and those to be
// subtracted, for every partial sum. Signs are as random as the digits, and
// telling them apart by segment takes no branch.
func (t *fixedPoints[E, PE]) begin(sc *scratch[E, PE], sums int) {
	sc.tree.count = resize(sc.tree.count, 2*sums*t.Spacing)
	clear(sc.tree.count)
	sc.digits = resize(sc.digits, t.Digits)
	sc.terms = sc.terms[:0]
}

// addTerm adds k times point i to sum j.
func (t *fixedPoints[E, PE]) addTerm(sc *scratch[E, PE], j, i int, k *integer.Limbs) {
	integer.Recode(sc.digits, k, t.Window)
	base, segments := int32(i*t.Positions<<(t.Window-1)), int32(2*j*t.Spacing)
	partial := int32(0)
	for _, d := range sc.digits {
		if d != 0 {
			sign := int32(d) >> 31 // 0 or -1
			segment := segments + 2*partial - sign
			sc.tree.count[segment]++
			sc.terms = append(sc.terms, term{base + (int32(d) ^ sign - sign) - 1, segment})
		}
		if partial++; int(partial) == t.Spacing {
			partial = 0
			base += 1 << (t.Window - 1)
		}
	}
}

// finish sets n accumulators from first on to the sums.
func (t *fixedPoints[E, PE]) finish(sc *scratch[E, PE], acc accumulators[E], first, n int) {
	tr := &sc.tree
	tr.layout()
	for _, m := range sc.terms {
		at := tr.place(int(m.segment))
		a := &t.multiples[m.index]
		tr.x[at], tr.y[at] = a.X, a.Y
	}
	rows := tr.reduce(minPairs)
	for j := range n {
		for q := t.Spacing - 1; q >= 0; q-- {
			if q < t.Spacing-1 {
				for range t.Window {
					acc.double(first + j)
				}
			}
			segment := 2 * (j*t.Spacing + q)
			tr.addColumn(acc, first+j, segment, rows, false)
			tr.addColumn(acc, first+j, segment+1, rows, true)
		}
	}
}

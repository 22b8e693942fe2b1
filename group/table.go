package group

import (
	"unsafe"

	"github.com/zkbench/zkbench/group/internal/integer"
)

// These are the defaults of TableOptions, which take 12 MiB for 128 generators of BN254.
// docs/arithmetic.md has the measurements behind them.
const (
	defaultWindow  = 10
	defaultSpacing = 9
)

// fixedPoints holds the multiples of its layout, point by point.
type fixedPoints[E comparable, PE elementPtr[E]] struct {
	integer.Layout
	sums      *sums[E, PE]
	n         int
	multiples []affine[E] // entries: ((point·Positions + position) << (Window-1)) + m-1
}

func newFixedPoints[E comparable, PE elementPtr[E]](s *sums[E, PE], points []affine[E], layout integer.Layout) *fixedPoints[E, PE] {
	t := &fixedPoints[E, PE]{Layout: layout, sums: s, n: len(points)}
	half := 1 << (t.Window - 1)
	t.multiples = make([]affine[E], len(points)*t.Positions*half)
	// One point at a time: all its positions are a row that is extended to the
	// 2^(c-1) multiples.
	sc := s.newScratch()
	row := make([]affine[E], half*t.Positions)
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
			row[p] = sc.acc.affine(p)
		}
		sc.tree.rows.enter(row[:t.Positions], row[:t.Positions], nil)
		sc.tree.extendMultiples(row, t.Positions)
		for p := range t.Positions {
			base := (i*t.Positions + p) * half
			for m := range half {
				t.multiples[base+m] = row[m*t.Positions+p]
			}
		}
	}
	return t
}

func (t *fixedPoints[E, PE]) Len() int { return t.n }

func (t *fixedPoints[E, PE]) Bytes() int {
	return len(t.multiples) * int(unsafe.Sizeof(affine[E]{}))
}

// begin prepares sc for the terms of several sums, each over the given number of points. One tree
// computes them all, with a segment for each partial sum.
func (t *fixedPoints[E, PE]) begin(sc *scratch[E, PE], sums, points int) {
	sc.tree.begin(sums*t.Spacing, points*t.Positions)
	sc.digits = resize(sc.digits, t.Digits)
}

// addTerm adds k times point i to sum j.
func (t *fixedPoints[E, PE]) addTerm(sc *scratch[E, PE], j, i int, k *integer.Limbs) {
	integer.Recode(sc.digits, 1, k, t.Window)
	base, segment := uint32(i*t.Positions<<(t.Window-1)), int32(j*t.Spacing)
	last := segment + int32(t.Spacing)
	for _, d := range sc.digits {
		if d != 0 {
			sc.tree.add(segment, base+pickOf(int32(d)))
		}
		if segment++; segment == last {
			segment -= int32(t.Spacing)
			base += 1 << (t.Window - 1)
		}
	}
}

// pickOf returns the pick of |d| times a point among its multiples from 1 on, negated if d < 0.
func pickOf(d int32) uint32 {
	sign := d >> 31 // 0 or -1
	return uint32(d^sign-sign-1) | uint32(sign)&negated
}

// finish sets the first n accumulators to the sums of the tree's terms, which are entries.
func (t *fixedPoints[E, PE]) finish(sc *scratch[E, PE], entries []affine[E], n int) {
	tr, acc := &sc.tree, sc.acc
	if least := tr.rows.leastHorner(); least > 0 && n >= least {
		tr.reduce(entries, 1)
		sc.partial, sc.lines = resize(sc.partial, n*t.Spacing), resize(sc.lines, n)
		for k := range sc.partial {
			sc.partial[k] = tr.position(k%n*t.Spacing + k/n)
		}
		tr.rows.horner(sc.lines, sc.partial, t.Window)
		for j := range n {
			acc.add(j, &sc.lines[j].X, &sc.lines[j].Y)
		}
		return
	}
	tr.reduce(entries, minPairs)
	for j := range n {
		for q := t.Spacing - 1; q >= 0; q-- {
			if q < t.Spacing-1 {
				for range t.Window {
					acc.double(j)
				}
			}
			tr.addColumn(acc, j, j*t.Spacing+q)
		}
	}
}

package group

import (
	"context"

	"github.com/zkbench/zkbench/executor"
)

// adapterStraus is the digit width of Straus' method: 2^(c-1) multiples of each
// point are computed, windows(bits, c) of them are added.
const adapterStraus = 4

// adapterPiece is the least number of points that are worth a task of their
// own, which pays the doublings again.
const adapterPiece = 16

func (g *adapter[T]) MSM(ctx context.Context, ex executor.Executor, points []AdapterPoint, scalars []AdapterScalar) (AdapterPoint, error) {
	sameLength(len(points), len(scalars))
	pieces := min(taskCount(ex), max(1, len(points)/adapterPiece))
	partial := make([]AdapterPoint, pieces)
	err := ex.Do(ctx, pieces, func(_ context.Context, k int) error {
		from, to := k*len(points)/pieces, (k+1)*len(points)/pieces
		g.msm(&partial[k], points[from:to], scalars[from:to])
		return nil
	})
	if err != nil {
		return AdapterPoint{}, err
	}
	for k := 1; k < pieces; k++ {
		g.AddPoints(&partial[0], &partial[0], &partial[k])
	}
	return partial[0], nil
}

// msm chooses the method that takes fewer additions.
func (g *adapter[T]) msm(dst *AdapterPoint, points []AdapterPoint, scalars []AdapterScalar) {
	l := g.open()
	var zero AdapterPoint
	acc := l.load(&zero)
	loaded := make([]T, 0, len(points))
	integers := make([]limbs, 0, len(points))
	for i := range points {
		if points[i] != zero && !g.IsZero(&scalars[i]) {
			loaded = append(loaded, l.load(&points[i]))
			integers = append(integers, g.canonical(&scalars[i]))
		}
	}
	n := len(loaded)
	best, c := n*(1<<(adapterStraus-1)+windows(g.orderBits, adapterStraus)), 0
	for w := 2; w <= 12; w++ {
		if cost := windows(g.orderBits, w) * (n + 2<<(w-1)); cost < best {
			best, c = cost, w
		}
	}
	if c == 0 {
		g.straus(l, acc, loaded, integers)
	} else {
		g.buckets(l, acc, loaded, integers, c)
	}
	l.store(dst, acc)
}

// recodeAll returns the digits of width c of all scalars, nw each.
func recodeAll(integers []limbs, nw, c int) []int16 {
	digits := make([]int16, len(integers)*nw)
	for i := range integers {
		recode(digits[i*nw:(i+1)*nw], &integers[i], c)
	}
	return digits
}

// straus sets acc to Σ integers[i]·points[i]: multiples of every point, one run
// of doublings for all.
func (g *adapter[T]) straus(l library[T], acc T, points []T, integers []limbs) {
	nw := windows(g.orderBits, adapterStraus)
	digits := recodeAll(integers, nw, adapterStraus)
	multiples := g.multiples(l, points, 1<<(adapterStraus-1))
	for w := nw - 1; w >= 0; w-- {
		for range adapterStraus {
			l.double(acc)
		}
		for i := range points {
			addDigit(l, acc, multiples[i<<(adapterStraus-1):], digits[i*nw+w])
		}
	}
}

// multiples returns 1..m times each point, point by point, ready to be added.
func (g *adapter[T]) multiples(l library[T], points []T, m int) []T {
	var zero AdapterPoint
	all := make([]T, 0, len(points)*m)
	for _, p := range points {
		for k := range m {
			z := l.load(&zero)
			if k > 0 {
				l.set(z, all[len(all)-1])
			}
			l.add(z, p)
			all = append(all, z)
		}
	}
	l.normalise(all)
	return all
}

// addDigit adds d times the point whose multiples from 1 on are given.
func addDigit[T any](l library[T], acc T, multiples []T, d int16) {
	switch {
	case d > 0:
		l.add(acc, multiples[d-1])
	case d < 0:
		l.sub(acc, multiples[-d-1])
	}
}

// buckets sets acc to Σ integers[i]·points[i] by Pippenger's method: in each
// window the points of one digit are summed first, then the sums are weighted
// by running totals.
func (g *adapter[T]) buckets(l library[T], acc T, points []T, integers []limbs, c int) {
	nw := windows(g.orderBits, c)
	digits := recodeAll(integers, nw, c)
	var zero AdapterPoint
	identity, running := l.load(&zero), l.load(&zero)
	bucket := make([]T, 1<<(c-1))
	for b := range bucket {
		bucket[b] = l.load(&zero)
	}
	for w := nw - 1; w >= 0; w-- {
		for range c {
			l.double(acc)
		}
		for b := range bucket {
			l.set(bucket[b], identity)
		}
		for i := range points {
			switch d := digits[i*nw+w]; {
			case d > 0:
				l.add(bucket[d-1], points[i])
			case d < 0:
				l.sub(bucket[-d-1], points[i])
			}
		}
		l.set(running, identity)
		for b := len(bucket) - 1; b >= 0; b-- {
			l.add(running, bucket[b])
			l.add(acc, running)
		}
	}
}

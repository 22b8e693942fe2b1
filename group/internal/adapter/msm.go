package adapter

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// strausWidth is the digit width of Straus' method, which computes 2^(c-1) multiples of each point
// and adds integer.Digits(bits, c) of them.
const strausWidth = 4

// minPiece is the smallest number of points for which a separate task is worthwhile, since each
// task repeats the doublings.
const minPiece = 16

func (g *adapter[T]) MSM(ctx context.Context, ex executor.Executor, points []Point, scalars []Scalar) (Point, error) {
	sameLength(len(points), len(scalars))
	pieces := executor.Cut(ex, len(points), minPiece)
	partial := make([]Point, pieces)
	err := ex.Do(ctx, pieces, func(_ context.Context, k int) error {
		from, to := k*len(points)/pieces, (k+1)*len(points)/pieces
		g.msm(&partial[k], points[from:to], scalars[from:to])
		return nil
	})
	if err != nil {
		return Point{}, err
	}
	for k := 1; k < pieces; k++ {
		g.AddPoints(&partial[0], &partial[0], &partial[k])
	}
	return partial[0], nil
}

// msm sets dst to the sum, by the method that needs fewer additions.
func (g *adapter[T]) msm(dst *Point, points []Point, scalars []Scalar) {
	l := g.access()
	var zero Point
	acc := l.load(&zero)
	loaded := make([]T, 0, len(points))
	integers := make([]integer.Limbs, 0, len(points))
	for i := range points {
		if points[i] != zero && !g.IsZero(&scalars[i]) {
			loaded = append(loaded, l.load(&points[i]))
			integers = append(integers, g.canonical(&scalars[i]))
		}
	}
	n := len(loaded)
	best, c := n*(1<<(strausWidth-1)+integer.Digits(g.orderBits, strausWidth)), 0
	for w := 2; w <= 12; w++ {
		if cost := integer.Digits(g.orderBits, w) * (n + 2<<(w-1)); cost < best {
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

// recodeAll returns the digits of width c of all scalars, nw for each.
func recodeAll(integers []integer.Limbs, nw, c int) []int16 {
	digits := make([]int16, len(integers)*nw)
	for i := range integers {
		integer.Recode(digits[i*nw:(i+1)*nw], 1, &integers[i], c)
	}
	return digits
}

// straus sets acc to Σ integers[i]·points[i] by Straus' method: multiples of every point, and one
// run of doublings for all.
func (g *adapter[T]) straus(l access[T], acc T, points []T, integers []integer.Limbs) {
	nw := integer.Digits(g.orderBits, strausWidth)
	digits := recodeAll(integers, nw, strausWidth)
	multiples := g.multiples(l, points, 1<<(strausWidth-1))
	for w := nw - 1; w >= 0; w-- {
		for range strausWidth {
			l.Double(acc)
		}
		for i := range points {
			addDigit(l, acc, multiples[i<<(strausWidth-1):], digits[i*nw+w])
		}
	}
}

// multiples returns 1..m times each point, point by point, ready to be added.
func (g *adapter[T]) multiples(l access[T], points []T, m int) []T {
	var zero Point
	all := make([]T, 0, len(points)*m)
	for _, p := range points {
		for k := range m {
			z := l.load(&zero)
			if k > 0 {
				l.Set(z, all[len(all)-1])
			}
			l.Add(z, p)
			all = append(all, z)
		}
	}
	l.Normalise(all)
	return all
}

// addDigit adds d times a point, given the point's multiples from 1 on.
func addDigit[T any](l access[T], acc T, multiples []T, d int16) {
	switch {
	case d > 0:
		l.Add(acc, multiples[d-1])
	case d < 0:
		l.Sub(acc, multiples[-d-1])
	}
}

// buckets sets acc to Σ integers[i]·points[i] by Pippenger's method. Each window first sums the
// points that share a digit, and then weights these sums by running totals.
func (g *adapter[T]) buckets(l access[T], acc T, points []T, integers []integer.Limbs, c int) {
	nw := integer.Digits(g.orderBits, c)
	digits := recodeAll(integers, nw, c)
	var zero Point
	identity, running := l.load(&zero), l.load(&zero)
	bucket := make([]T, 1<<(c-1))
	for b := range bucket {
		bucket[b] = l.load(&zero)
	}
	for w := nw - 1; w >= 0; w-- {
		for range c {
			l.Double(acc)
		}
		for b := range bucket {
			l.Set(bucket[b], identity)
		}
		for i := range points {
			switch d := digits[i*nw+w]; {
			case d > 0:
				l.Add(bucket[d-1], points[i])
			case d < 0:
				l.Sub(bucket[-d-1], points[i])
			}
		}
		l.Set(running, identity)
		for b := len(bucket) - 1; b >= 0; b-- {
			l.Add(running, bucket[b])
			l.Add(acc, running)
		}
	}
}

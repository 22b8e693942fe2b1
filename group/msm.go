package group

import (
	"context"
	"sync"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// sums are multi-scalar multiplications on a curve y² = x³ + b with an
// endomorphism. They see points as coordinates and scalars as integers.
type sums[E comparable, PE elementPtr[E]] struct {
	ops       *vectorOps[E]
	b         E
	orderBits int
	torsion   bool // there are points outside the prime-order subgroup
	glv       *glv
	beta      E // φ(x, y) = (βx, y)

	complete        func(z, a, b *affine[E])
	newAccumulators func() accumulators[E]
	scratch         *sync.Pool // *scratch
}

// scratch is the working memory of one task.
type scratch[E comparable, PE elementPtr[E]] struct {
	shape    // of the sum of dynamic points
	tree     tree[E, PE]
	acc      accumulators[E]
	digits   []int16
	terms    []term
	mx, my   []E // multiples of dynamic points
	mx2, my2 []E // bucket sums
}

// shape is how a sum of n dynamic points is computed: by buckets or by Straus'
// method, with windows of width bits.
type shape struct {
	n              int
	buckets        bool
	width, windows int
	multiples      int // of each point that are added
}

func (s *sums[E, PE]) newScratch() *scratch[E, PE] {
	return &scratch[E, PE]{
		tree: tree[E, PE]{ops: s.ops, complete: s.complete, torsion: s.torsion},
		acc:  s.newAccumulators(),
	}
}

// Window widths by number of points, from the cost in point additions of n
// points (2n half-length scalars after the endomorphism): Straus 2^(c-1)-1 a
// point for multiples plus 2n a window; buckets 2n a window plus (c-1)·2^(c-2) a
// window to weigh them. docs/msm.md has the measurements.
const (
	strausWindow = 5
	strausMax    = 80 // above this many points, buckets
)

func bucketWindow(n, halfBits int) int {
	best, cost := 0, 0
	for c := 5; c <= 12; c++ {
		if w := integer.Digits(halfBits, c) * (2*n + (c-1)<<(c-2) + 24); best == 0 || w < cost {
			best, cost = c, w
		}
	}
	return best
}

// A sum of dynamic points begins with begin, takes its terms by setTerm, and
// ends with finish. Every scalar is split along the endomorphism and the halves
// are written as signed digits. Up to strausMax points the multiples that the
// digits select are summed for each window, the windows being the segments of
// one tree; above, buckets are. Horner's rule joins the windows. Window ranges
// are the tasks of the executor.
func (s *sums[E, PE]) begin(sc *scratch[E, PE], n int) {
	sc.shape = shape{n: n, width: strausWindow, multiples: 1 << (strausWindow - 1)}
	if n > strausMax {
		sc.shape = shape{n: n, buckets: true, width: bucketWindow(n, s.glv.halfBits), multiples: 1}
	}
	sc.windows = integer.Digits(s.glv.halfBits, sc.width)
	sc.digits = resize(sc.digits, 2*n*sc.windows)
	sc.mx, sc.my = resize(sc.mx, 2*n*sc.multiples), resize(sc.my, 2*n*sc.multiples)
}

// setTerm sets term i to k·p. digits[(2i+h)·windows + w] is that of window w in
// half h of k. An identity point counts for nothing, and keeps the trees free of
// identities: its digits are zero.
func (s *sums[E, PE]) setTerm(sc *scratch[E, PE], i int, p *affine[E], k *integer.Limbs) {
	sc.mx[i], sc.my[i] = p.X, p.Y
	nw := sc.windows
	d := sc.digits[2*i*nw : (2*i+2)*nw]
	var zero E
	if p.X == zero && p.Y == zero {
		clear(d)
		return
	}
	k1, k2, neg1, neg2 := s.glv.split(k)
	integer.Recode(d[:nw], &k1, sc.width)
	integer.Recode(d[nw:], &k2, sc.width)
	negateDigits(d[:nw], neg1)
	negateDigits(d[nw:], neg2)
}

func (s *sums[E, PE]) finish(ctx context.Context, ex executor.Executor, sc *scratch[E, PE]) (sum affine[E], err error) {
	s.multiples(sc)
	nw := sc.windows
	sc.acc.reset(nw)
	tasks := min(executor.Tasks(ex), nw)
	err = ex.Do(ctx, tasks, func(_ context.Context, t int) error {
		task := sc
		if tasks > 1 {
			task = s.scratch.Get().(*scratch[E, PE])
			defer s.scratch.Put(task)
		}
		lo, hi := t*nw/tasks, (t+1)*nw/tasks
		if !sc.buckets {
			sc.strausSums(&task.tree, lo, hi)
			return nil
		}
		// Few windows at a time keep the rows in the second-level cache.
		step := max(1, 8192/(2*sc.n))
		for w := lo; w < hi; w += step {
			sc.bucketSums(task, w, min(w+step, hi))
		}
		return nil
	})
	if err != nil {
		return sum, err
	}
	for w := nw - 2; w >= 0; w-- {
		for range sc.width {
			sc.acc.double(nw - 1)
		}
		sc.acc.merge(nw-1, w)
	}
	return sc.acc.affine(nw - 1), nil
}

func negateDigits(d []int16, neg bool) {
	if neg {
		for i := range d {
			d[i] = -d[i]
		}
	}
}

// multiples completes sc.mx, sc.my, whose first row holds the points, to m·P_i
// for m = 1..sc.multiples, a power of two, at index (m-1)·n + i: one for
// buckets. Behind them sc.mx has the x of their images under φ, which keeps y,
// and sc.my the y of their negatives, which keep x: so put picks a multiple, its
// image and its sign without a branch. Each step goes from k multiples to 2k:
// (k+i)P = kP + iP for i < k by one tree level, and 2kP by the doubling formula.
func (s *sums[E, PE]) multiples(sc *scratch[E, PE]) {
	total := sc.multiples * sc.n
	sc.tree.extendMultiples(sc.mx[:total], sc.my[:total], sc.n)
	s.ops.scale(sc.mx[total:], sc.mx[:total], &s.beta)
	clear(sc.my[total:])
	s.ops.sub(sc.my[total:], sc.my[total:], sc.my[:total])
}

// strausSums sets accumulators lo..hi-1 to the sums of their windows.
func (s *scratch[E, PE]) strausSums(t *tree[E, PE], lo, hi int) {
	n, nw := s.n, s.windows
	t.count = resize(t.count, hi-lo)
	clear(t.count)
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if s.digits[j*nw+w] != 0 {
				t.count[w-lo]++
			}
		}
	}
	t.layout()
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if d := int(s.digits[j*nw+w]); d != 0 {
				s.put(t, t.place(w-lo), j, d)
			}
		}
	}
	// A dynamic point of small order has the identity among its multiples.
	t.hasIdentity = t.torsion
	rows := t.reduce(minPairs)
	for w := lo; w < hi; w++ {
		t.addColumn(s.acc, w, w-lo, rows, false)
	}
}

// put stores the multiple |d| of point j/2, or of its image for odd j, negated
// for d < 0.
func (s *scratch[E, PE]) put(t *tree[E, PE], at int32, j, d int) {
	i, half := j/2, j%2
	sign := d >> 63 // 0 or -1
	k := i + (d^sign-sign-1)*s.n
	total := len(s.mx) / 2
	t.x[at], t.y[at] = s.mx[k+half*total], s.my[k-sign*total]
}

// bucketSums does the same by buckets: bucket k of a window collects
// the points whose digit there is ±(k+1); the sum of (k+1)·bucket_k is then
// Σ_b 2^b·(sum of the buckets whose k+1 has bit b), again by a tree, with a
// short Horner on top.
func (s *scratch[E, PE]) bucketSums(task *scratch[E, PE], lo, hi int) {
	t := &task.tree
	n, nw, c := s.n, s.windows, s.width
	nb := 1 << (c - 1)
	t.count = resize(t.count, (hi-lo)*nb)
	clear(t.count)
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if d := int(s.digits[j*nw+w]); d != 0 {
				t.count[(w-lo)*nb+abs(d)-1]++
			}
		}
	}
	t.layout()
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if d := int(s.digits[j*nw+w]); d != 0 {
				sign := d>>63 | 1 // 1 or -1
				s.put(t, t.place((w-lo)*nb+abs(d)-1), j, sign)
			}
		}
	}
	t.reduce(1)
	// One row is left; take it out and spread it over the bits.
	width := len(t.count)
	task.mx2, task.my2 = resize(task.mx2, width), resize(task.my2, width)
	for k, filled := range t.count {
		if filled == 0 {
			task.mx2[k], task.my2[k] = *new(E), *new(E)
			continue
		}
		at := t.start[0] + t.rank[k]
		task.mx2[k], task.my2[k] = t.x[at], t.y[at]
	}
	var zero E
	empty := func(k int) bool { return task.mx2[k] == zero && task.my2[k] == zero }
	t.count = resize(t.count, (hi-lo)*c)
	clear(t.count)
	for pass := range 2 {
		if pass == 1 {
			t.layout()
		}
		for k := range width {
			if empty(k) {
				continue
			}
			w, weight := k/nb, k%nb+1
			for b := range c {
				if weight>>b&1 == 0 {
					continue
				}
				if pass == 0 {
					t.count[w*c+b]++
				} else {
					at := t.place(w*c + b)
					t.x[at], t.y[at] = task.mx2[k], task.my2[k]
				}
			}
		}
	}
	rows := t.reduce(minPairs)
	for w := lo; w < hi; w++ {
		for b := c - 1; b >= 0; b-- {
			s.acc.double(w)
			t.addColumn(s.acc, w, (w-lo)*c+b, rows, false)
		}
	}
}

func abs(d int) int {
	sign := d >> 63
	return d ^ sign - sign
}

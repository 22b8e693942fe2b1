package group

import (
	"context"
	"math/bits"
	"sync"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// sums are multi-scalar multiplications on a curve y² = x³ + b with an
// endomorphism. They see points as coordinates and scalars as integers.
type sums[E comparable, PE elementPtr[E]] struct {
	b    E
	glv  *glv
	beta E // φ(x, y) = (βx, y)

	complete        func(z, a, b *affine[E])
	newAccumulators func() accumulators[E]
	newRows         func() rows[E]
	form            form[E]    // of entries
	scratch         *sync.Pool // *scratch
}

// scratch is the working memory of one task.
type scratch[E comparable, PE elementPtr[E]] struct {
	shape     // of the sum of dynamic points
	tree      tree[E]
	acc       accumulators[E]
	digits    []int16
	multiples []affine[E] // of dynamic points
	sums      []affine[E] // of buckets
	at        []int32     // bucket -> which of them; -1: none
}

// shape is how a sum of n dynamic points is computed: by buckets or by Straus'
// method, with windows of width bits.
type shape struct {
	n              int
	buckets        bool
	width, windows int
	copies         int  // multiples of each point that are added
	identities     bool // are among them
}

func (s *sums[E, PE]) newScratch() *scratch[E, PE] {
	return &scratch[E, PE]{
		tree: tree[E]{rows: s.newRows(), complete: s.complete},
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
	sc.shape = shape{n: n, width: strausWindow, copies: 1 << (strausWindow - 1)}
	if n > strausMax {
		sc.shape = shape{n: n, buckets: true, width: bucketWindow(n, s.glv.halfBits), copies: 1}
	}
	sc.windows = integer.Digits(s.glv.halfBits, sc.width)
	sc.digits = resize(sc.digits, 2*n*sc.windows)
	sc.multiples = resize(sc.multiples, 2*n*sc.copies)
}

// setTerm sets term i to k·p, p not the identity. digits[(2i+h)·windows + w] is
// that of window w in half h of k.
func (s *sums[E, PE]) setTerm(sc *scratch[E, PE], i int, p *affine[E], k *integer.Limbs) {
	sc.multiples[i] = *p
	s.form.toEntry(&sc.multiples[i])
	nw := sc.windows
	d := sc.digits[2*i*nw : (2*i+2)*nw]
	k1, k2, neg1, neg2 := s.glv.split(k)
	integer.Recode(d[:nw], &k1, sc.width)
	integer.Recode(d[nw:], &k2, sc.width)
	negateDigits(d[:nw], neg1)
	negateDigits(d[nw:], neg2)
}

func (s *sums[E, PE]) finish(ctx context.Context, ex executor.Executor, sc *scratch[E, PE]) (sum affine[E], err error) {
	s.extend(sc)
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

// extend completes sc.multiples, whose first row holds the points, to m·P_i for
// m = 1..sc.copies, a power of two, at index (m-1)·n + i: one for buckets. Behind
// them are their images under φ, which keeps y.
func (s *sums[E, PE]) extend(sc *scratch[E, PE]) {
	total := sc.copies * sc.n
	sc.tree.extendMultiples(sc.multiples[:total], sc.n)
	for i := range total {
		z := &sc.multiples[total+i]
		*z = sc.multiples[i]
		PE(&z.X).Mul(&z.X, &s.beta)
	}
	sc.identities = sc.tree.hasIdentity
}

// pick is the multiple |d| of point j/2, or of its image for odd j, negated for
// d < 0.
func (s *shape) pick(j, d int) uint32 {
	i, half := j/2, j%2
	sign := d >> 63 // 0 or -1
	return uint32(i+(d^sign-sign-1)*s.n+half*s.copies*s.n) | uint32(sign)&negated
}

// strausSums sets accumulators lo..hi-1 to the sums of their windows.
func (s *scratch[E, PE]) strausSums(t *tree[E], lo, hi int) {
	n, nw := s.n, s.windows
	t.begin(hi-lo, 2*n)
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if d := int(s.digits[j*nw+w]); d != 0 {
				t.add(int32(w-lo), s.pick(j, d))
			}
		}
	}
	t.hasIdentity = s.identities
	t.reduce(s.multiples, minPairs)
	for w := lo; w < hi; w++ {
		t.addColumn(s.acc, w, w-lo)
	}
}

// bucketSums does the same by buckets: bucket k of a window collects
// the points whose digit there is ±(k+1); the sum of (k+1)·bucket_k is then
// Σ_b 2^b·(sum of the buckets whose k+1 has bit b), again by a tree, with a
// short Horner on top.
func (s *scratch[E, PE]) bucketSums(task *scratch[E, PE], lo, hi int) {
	t := &task.tree
	n, nw, c := s.n, s.windows, s.width
	nb := 1 << (c - 1)
	t.begin((hi-lo)*nb, 0) // buckets are short
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if d := int(s.digits[j*nw+w]); d != 0 {
				t.add(int32((w-lo)*nb+abs(d)-1), s.pick(j, d>>63|1))
			}
		}
	}
	t.reduce(s.multiples, 1)
	if t.left == 0 {
		return
	}
	// One row is left; take it out and spread it over the bits.
	task.sums = resize(task.sums, int(t.start[1]))
	t.rows.pack(task.sums, 0)
	identities := t.hasIdentity
	segments := len(t.count)
	at := resize(task.at, segments)
	task.at = at
	for k, filled := range t.count {
		at[k] = -1
		if filled > 0 {
			at[k] = t.rank[k]
		}
	}
	t.begin((hi-lo)*c, nb)
	for k, place := range at {
		if place < 0 {
			continue
		}
		w, weight := k/nb, k%nb+1
		for ; weight != 0; weight &= weight - 1 {
			t.add(int32(w*c+bits.TrailingZeros(uint(weight))), uint32(place))
		}
	}
	t.hasIdentity = identities
	t.reduce(task.sums, minPairs)
	for w := lo; w < hi; w++ {
		for b := c - 1; b >= 0; b-- {
			s.acc.double(w)
			t.addColumn(s.acc, w, (w-lo)*c+b)
		}
	}
}

func abs(d int) int {
	sign := d >> 63
	return d ^ sign - sign
}

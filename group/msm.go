package group

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// scratch is the working memory of one task.
type scratch[S, E comparable, P interface{ ~struct{ X, Y E } }, J any, PE elementPtr[E], PP pointPtr[P, J]] struct {
	tree     tree[E, P, J, PE, PP]
	digits   []int16
	terms    []term
	mx, my   []E // multiples of dynamic points
	mx2, my2 []E // bucket sums
	inv      []S
	invTmp   []S
	scalInv  inverter[S]
	sums     []J // per window, or per task and sum
	dec      []E
	largest  []bool
	coord    []byte
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) newScratch() *scratch[S, E, P, J, PE, PP] {
	sc := &scratch[S, E, P, J, PE, PP]{}
	sc.tree.ops = g.base
	return sc
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

// MSM splits every scalar along the endomorphism and writes the halves as signed
// digits. Up to strausMax points it sums, for each window, the multiples that its
// digits select, the windows being the segments of one tree; above, it sums
// buckets. Horner's rule joins the windows. Window ranges are the tasks of the
// executor.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) MSM(ctx context.Context, ex executor.Executor, points []P, scalars []S) (P, error) {
	if len(points) != len(scalars) {
		panic("group: MSM lengths")
	}
	var result P
	n := len(points)
	if n == 0 {
		return result, ctx.Err()
	}
	sc := g.scratch.Get().(*scratch[S, E, P, J, PE, PP])
	defer g.scratch.Put(sc)

	buckets := n > strausMax
	c := strausWindow
	if buckets {
		c = bucketWindow(n, g.glv.halfBits)
	}
	nw := integer.Digits(g.glv.halfBits, c)
	// digits[(2i+h)·nw + w]: half h of scalar i. An identity point counts for
	// nothing, and keeps the trees free of identities: its digits are zero.
	sc.digits = resize(sc.digits, 2*n*nw)
	for i := range points {
		d := sc.digits[2*i*nw : (2*i+2)*nw]
		if PP(&points[i]).IsInfinity() {
			clear(d)
			continue
		}
		k := integer.Limbs(PS(&scalars[i]).Bits())
		k1, k2, neg1, neg2 := g.glv.split(&k)
		integer.Recode(d[:nw], &k1, c)
		integer.Recode(d[nw:], &k2, c)
		negateDigits(d[:nw], neg1)
		negateDigits(d[nw:], neg2)
	}
	// multiples[m·n + i] = (m+1)·P_i for Straus, only m = 0 for buckets, and
	// their images under φ behind.
	count := 1
	if !buckets {
		count = 1 << (c - 1)
	}
	g.multiples(sc, points, count)

	sc.sums = resize(sc.sums, nw)
	sums := sc.sums
	tasks := min(executor.Tasks(ex), nw)
	err := ex.Do(ctx, tasks, func(_ context.Context, t int) error {
		task := sc
		if tasks > 1 {
			task = g.scratch.Get().(*scratch[S, E, P, J, PE, PP])
			defer g.scratch.Put(task)
		}
		lo, hi := t*nw/tasks, (t+1)*nw/tasks
		if buckets {
			// Few windows at a time keep the rows in the second-level cache.
			step := max(1, 8192/(2*n))
			for w := lo; w < hi; w += step {
				g.bucketSums(sums, sc, task, n, nw, c, w, min(w+step, hi))
			}
		} else {
			g.strausSums(sums, sc, task, n, nw, lo, hi)
		}
		return nil
	})
	if err != nil {
		return result, err
	}
	acc := &sums[nw-1]
	for w := nw - 2; w >= 0; w-- {
		for range c {
			PJ(acc).DoubleAssign()
		}
		PJ(acc).AddAssign(&sums[w])
	}
	PP(&result).FromJacobian(acc)
	return result, nil
}

func negateDigits(d []int16, neg bool) {
	if neg {
		for i := range d {
			d[i] = -d[i]
		}
	}
}

// multiples fills sc.mx, sc.my with m·P_i for m = 1..count, a power of two, at
// index (m-1)·n + i. Behind them, count·n further, sc.mx has the x of their
// images under φ, which keeps y, and sc.my the y of their negatives, which keep
// x: so put picks a multiple, its image and its sign without a branch. Each step
// goes from k multiples to 2k: (k+i)P = kP + iP for i < k by one tree
// level, and 2kP by the doubling formula.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) multiples(sc *scratch[S, E, P, J, PE, PP], points []P, count int) {
	n := len(points)
	total := count * n
	sc.mx, sc.my = resize(sc.mx, 2*total), resize(sc.my, 2*total)
	for i := range points {
		a := affine[E](points[i])
		sc.mx[i], sc.my[i] = a.X, a.Y
	}
	g.extendMultiples(&sc.tree, sc.mx[:total], sc.my[:total], n)
	g.base.scale(sc.mx[total:], sc.mx[:total], &g.beta)
	clear(sc.my[total:])
	g.base.sub(sc.my[total:], sc.my[total:], sc.my[:total])
}

// extendMultiples completes rows of n points: row 0 holds P_i, row m gets
// (m+1)·P_i.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) extendMultiples(t *tree[E, P, J, PE, PP], mx, my []E, n int) {
	x, y := t.x, t.y
	defer func() { t.x, t.y = x, y }()
	rows := len(mx) / n
	for k := 1; k < rows; k *= 2 {
		// Row k-1 is kP. Rows k..2k-2 become kP + iP, i = 1..k-1; row 2k-1 = 2(kP).
		for i := range k - 1 {
			copy(mx[(k+i)*n:(k+i+1)*n], mx[(k-1)*n:k*n])
			copy(my[(k+i)*n:(k+i+1)*n], my[(k-1)*n:k*n])
		}
		if k > 1 {
			t.x, t.y, t.hasIdentity = mx, my, !g.primeOrder // a point of small order reaches the identity
			t.spans = append(t.spans[:0], span{int32(k * n), 0, int32((k - 1) * n)})
			t.addSpans((k - 1) * n)
		}
		g.doubleRow(t, mx[(2*k-1)*n:2*k*n], my[(2*k-1)*n:2*k*n], mx[(k-1)*n:k*n], my[(k-1)*n:k*n])
	}
}

// doubleRow sets (zx, zy) = 2·(x, y): λ = 3x²/2y, x3 = λ²-2x, y3 = λ(x-x3)-y.
// The identity doubles to itself: y = 0 occurs for it alone, since no point of
// these curves has order two.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) doubleRow(t *tree[E, P, J, PE, PP], zx, zy, x, y []E) {
	n := len(x)
	ops := g.base
	t.den, t.num, t.tmp = resize(t.den, 2*n+64), resize(t.num, n), resize(t.tmp, n)
	den, num, tmp := t.den[:n], t.num, t.tmp
	var zero E
	PE(&t.inv.acc).SetUint64(1)
	ops.add(den, y, y)
	for i := range den {
		if den[i] == zero {
			den[i] = t.inv.acc
		}
	}
	invertAll[E, PE](ops, t.den, n, tmp, &t.inv)
	ops.mul(num, x, x)
	ops.add(tmp, num, num)
	ops.add(num, num, tmp)
	ops.mul(num, num, den) // λ
	ops.mul(den, num, num)
	ops.sub(den, den, x)
	ops.sub(den, den, x)
	ops.sub(tmp, x, den)
	ops.mul(tmp, tmp, num)
	ops.sub(zy, tmp, y)
	copy(zx, den)
	for i := range x {
		if x[i] == zero && y[i] == zero {
			zx[i], zy[i] = zero, zero
		}
	}
}

// strausSums sets sums[w] for windows lo..hi-1 from the digits and multiples in
// in, working in task.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) strausSums(sums []J, in, task *scratch[S, E, P, J, PE, PP], n, nw, lo, hi int) {
	t := &task.tree
	t.count = resize(t.count, hi-lo)
	clear(t.count)
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if in.digits[j*nw+w] != 0 {
				t.count[w-lo]++
			}
		}
	}
	t.layout()
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if d := int(in.digits[j*nw+w]); d != 0 {
				in.put(t, t.place(w-lo), j/2, j%2, n, d)
			}
		}
	}
	// A dynamic point of small order has the identity among its multiples.
	t.hasIdentity = !g.primeOrder
	rows := t.reduce(minPairs)
	for w := lo; w < hi; w++ {
		g.column(&sums[w], t, w-lo, rows)
	}
}

// put stores the multiple |d| of point i, or of its image for half = 1, negated
// for d < 0. count·n is the number of multiples.
func (s *scratch[S, E, P, J, PE, PP]) put(t *tree[E, P, J, PE, PP], at int32, i, half, n, d int) {
	sign := d >> 63 // 0 or -1
	k := i + (d^sign-sign-1)*n
	total := len(s.mx) / 2
	t.x[at], t.y[at] = s.mx[k+half*total], s.my[k-sign*total]
}

// column sets z to the sum of a segment's column over the rows left.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) column(z *J, t *tree[E, P, J, PE, PP], segment, rows int) {
	*z = g.infinity
	col := t.rank[segment]
	for j := range rows {
		if col >= t.width(j) {
			break
		}
		at := t.start[j] + col
		t.p = P(affine[E]{t.x[at], t.y[at]})
		if !PP(&t.p).IsInfinity() {
			PJ(z).AddMixed(&t.p)
		}
	}
}

// bucketSums sets sums[w] for windows lo..hi-1: bucket k of a window collects
// the points whose digit there is ±(k+1); the sum of (k+1)·bucket_k is then
// Σ_b 2^b·(sum of the buckets whose k+1 has bit b), again by a tree, with a
// short Horner on top.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) bucketSums(sums []J, in, task *scratch[S, E, P, J, PE, PP], n, nw, c, lo, hi int) {
	t := &task.tree
	nb := 1 << (c - 1)
	t.count = resize(t.count, (hi-lo)*nb)
	clear(t.count)
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if d := int(in.digits[j*nw+w]); d != 0 {
				t.count[(w-lo)*nb+abs(d)-1]++
			}
		}
	}
	t.layout()
	for j := range 2 * n {
		for w := lo; w < hi; w++ {
			if d := int(in.digits[j*nw+w]); d != 0 {
				sign := d>>63 | 1 // 1 or -1
				in.put(t, t.place((w-lo)*nb+abs(d)-1), j/2, j%2, n, sign)
			}
		}
	}
	t.reduce(1)
	// One row is left; take it out and spread it over the bits.
	width := len(t.count)
	task.mx2, task.my2 = resize(task.mx2, width), resize(task.my2, width)
	for s, filled := range t.count {
		if filled == 0 {
			task.mx2[s], task.my2[s] = *new(E), *new(E)
			continue
		}
		at := t.start[0] + t.rank[s]
		task.mx2[s], task.my2[s] = t.x[at], t.y[at]
	}
	var zero E
	empty := func(s int) bool { return task.mx2[s] == zero && task.my2[s] == zero }
	t.count = resize(t.count, (hi-lo)*c)
	clear(t.count)
	for pass := range 2 {
		if pass == 1 {
			t.layout()
		}
		for s := range width {
			if empty(s) {
				continue
			}
			w, weight := s/nb, s%nb+1
			for b := range c {
				if weight>>b&1 == 0 {
					continue
				}
				if pass == 0 {
					t.count[w*c+b]++
				} else {
					at := t.place(w*c + b)
					t.x[at], t.y[at] = task.mx2[s], task.my2[s]
				}
			}
		}
	}
	rows := t.reduce(minPairs)
	for w := lo; w < hi; w++ {
		acc := &sums[w]
		*acc = g.infinity
		for b := c - 1; b >= 0; b-- {
			PJ(acc).DoubleAssign()
			g.column(&t.part, t, (w-lo)*c+b, rows)
			PJ(acc).AddAssign(&t.part)
		}
	}
}

func abs(d int) int {
	sign := d >> 63
	return d ^ sign - sign
}

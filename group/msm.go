package group

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// sums computes multi-scalar multiplications on a curve y² = x³ + b with an endomorphism. It takes
// points as coordinates and scalars as integers.
type sums[E comparable, PE elementPtr[E]] struct {
	b    E
	glv  *glv
	beta E // φ(x, y) = (βx, y)

	complete        func(z, a, b *affine[E])
	newAccumulators func() accumulators[E]
	newRows         func() rows[E]

	// Scratches of whole sums, of their tasks and of tables are kept apart. That of a sum is large: from one pool, each
	// would in time be as large.
	ofSums, ofTables pool // of *scratch
	ofTasks          *shared
}

// scratch is the working memory of a sum, of one of its tasks or of a table's sums.
type scratch[E comparable, PE elementPtr[E]] struct {
	shape     // of the current sum
	tree      tree[E]
	acc       accumulators[E]
	digits    []int16
	where     []uint32    // integer -> its point's entry
	stored    *stored[E]  // stored points to sum; nil: dynamic points
	entries   []affine[E] // of the points: stored, or multiples
	multiples []affine[E] // of dynamic points
	sortings  kept        // of *sorting
	sums      []affine[E] // of buckets
	lines     []affine[E] // sums of rows and columns of buckets
	row       []affine[E]
	partial   []int32 // positions of partial sums over fixed points
	given     terms
	words     []uint64 // of scalars in lanes
	memory    *offHeap // of the largest of all these
	ofTasks   *kept    // of *scratch: those of a sum's tasks
}

// shape says how a sum of n points is computed: by buckets or by Straus' method, with windows of
// width bits.
type shape struct {
	n              int
	parts          int // integers that make a scalar
	buckets        bool
	width, windows int
	copies         int  // multiples of each point that are added
	identities     bool // are among them
}

func (s *sums[E, PE]) newScratch() *scratch[E, PE] {
	m := new(offHeap)
	sc := &scratch[E, PE]{
		tree:     tree[E]{rows: s.newRows(), complete: s.complete},
		acc:      s.newAccumulators(),
		sortings: kept{made: func() any { return &sorting[E]{memory: m} }},
		given:    terms{memory: m},
		memory:   m,
		ofTasks:  s.ofTasks.get(),
	}
	runtime.AddCleanup(sc, (*offHeap).release, m)
	return sc
}

// The window width depends on the number of points, by the cost in point additions for m integers.
// Straus' method takes 2^(c-1)-1 per point for multiples, plus m per window. Buckets take m per
// window, plus 2^c per window to weigh them. docs/arithmetic.md has the measurements.
const (
	strausWindow = 5
	strausMax    = 80 // above this many points, buckets
	widestWindow = 15 // of an int16
)

func bucketWindow(m, bits int) int {
	best, cost := 0, 0
	for c := 2; c <= widestWindow; c++ {
		if w := integer.Digits(bits, c) * (m + 1<<c + 24); best == 0 || w < cost {
			best, cost = c, w
		}
	}
	return best
}

// sum computes the sum of the terms that given has for a class, over points that arrive with the
// call or are stored.
//
// Each scalar of any length (bits 0) becomes several integers, by the endomorphism or by the stored
// multiples. Integers are written as signed digits. For up to strausMax dynamic points, each window
// is one segment of a tree that sums the multiples that the digits select. For more points, each
// bucket is summed. Horner's rule joins the windows. The executor's tasks are ranges of terms
// first, then ranges of windows, and within a window with many terms, ranges of terms and of buckets.
func (s *sums[E, PE]) sum(ctx context.Context, ex executor.Executor, sc *scratch[E, PE], points []affine[E], class int) (sum affine[E], err error) {
	picks := sc.given.picksFor(class)
	if class == unit {
		return s.unitSum(ctx, ex, sc, points, picks)
	}
	s.begin(sc, len(picks), classes[class])
	tasks := pieces{len(picks), (len(picks) + leastSplit - 1) / leastSplit}
	err = s.each(ctx, ex, sc, tasks.count, func(task *scratch[E, PE], i int) {
		lo, hi := tasks.bounds(i)
		s.set(sc, task, points, picks, lo, hi)
	})
	if err != nil {
		return sum, err
	}
	return s.finish(ctx, ex, sc)
}

// unitSum sums the points that picks selects, in pieces, each in a tree of its own.
func (s *sums[E, PE]) unitSum(ctx context.Context, ex executor.Executor, sc *scratch[E, PE], points []affine[E], picks []uint32) (sum affine[E], err error) {
	entries := points
	if sc.stored != nil {
		entries = sc.stored.entries
	}
	terms := treeTerms(ex)
	pieces := (len(picks) + terms - 1) / terms
	sc.shape = shape{windows: pieces} // of weight 1
	return s.join(ctx, ex, sc, 1, pieces, func(_ context.Context, task *scratch[E, PE], i, lo, hi int) error {
		some := picks[lo*terms : min(hi*terms, len(picks))]
		t := &task.tree
		t.begin(1, len(some))
		t.raw = sc.stored == nil
		t.fill(some, []int32{0, int32(len(some))})
		t.reduce(entries, minPairs)
		t.addColumn(sc.acc, i, 0)
		return nil
	})
}

// begin makes room for n terms with scalars of the given number of bits.
func (s *sums[E, PE]) begin(sc *scratch[E, PE], n, bits int) {
	sc.shape = shape{n: n, parts: 1, width: strausWindow, copies: 1 << (strausWindow - 1)}
	if bits == 0 {
		sc.parts, bits = 2, s.glv.halfBits
		if sc.stored != nil {
			sc.parts, bits = sc.stored.positions, sc.stored.spacing
		}
	}
	if n > strausMax || sc.stored != nil {
		sc.buckets, sc.width, sc.copies = true, bucketWindow(sc.parts*n, bits), 1
	}
	sc.windows = integer.Digits(bits, sc.width)
	sc.where = room(sc.memory, sc.where, sc.parts*n)
	sc.digits = room(sc.memory, sc.digits, sc.parts*n*sc.windows)
	if sc.stored != nil {
		sc.entries = sc.stored.entries
		return
	}
	sc.multiples = room(sc.memory, sc.multiples, sc.parts*n*sc.copies)
	sc.entries = sc.multiples
}

// set sets terms lo to hi-1, with a task's own scratch.
func (s *sums[E, PE]) set(sc, task *scratch[E, PE], points []affine[E], picks []uint32, lo, hi int) {
	rows := task.tree.rows
	if sc.stored == nil {
		rows.enter(sc.multiples[lo:hi], points, picks[lo:hi])
	}
	for t := lo; t < hi; t++ {
		k := sc.given.magnitude(picks[t] &^ negated)
		switch {
		case sc.stored != nil:
			sc.setStored(t, picks[t], &k)
		case sc.parts == 1:
			sc.setInteger(t, uint32(t), &k)
		default:
			k1, k2, neg1, neg2 := s.glv.split(&k)
			sc.setInteger(2*t, uint32(t)|signOf(neg1), &k1)
			sc.setInteger(2*t+1, uint32(sc.copies*sc.n+t)|signOf(neg2), &k2)
		}
	}
	if sc.parts == 2 && sc.copies == 1 && sc.stored == nil {
		rows.images(sc.multiples[sc.n+lo:sc.n+hi], sc.multiples[lo:hi], &s.beta)
	}
}

// setStored sets term t, whose point is stored.
func (s *scratch[E, PE]) setStored(t int, pick uint32, k *integer.Limbs) {
	for p := range s.parts {
		part := *k
		if s.parts > 1 {
			part = s.stored.part(k, p)
		}
		s.setInteger(s.parts*t+p, pick+uint32(p*s.stored.n), &part)
	}
}

// signOf returns the bit of a pick that negates its point.
func signOf(negative bool) uint32 {
	if negative {
		return negated
	}
	return 0
}

// setInteger sets integer j and the pick of its point. It cuts the integer into digits:
// digits[w·parts·n + j] is the digit of window w.
func (s *scratch[E, PE]) setInteger(j int, pick uint32, k *integer.Limbs) {
	s.where[j] = pick
	integer.Recode(s.digits[j:], s.parts*s.n, k, s.width)
}

// window returns the digits of window w.
func (s *scratch[E, PE]) window(w int) []int16 {
	m := s.parts * s.n
	return s.digits[w*m : (w+1)*m]
}

func (s *sums[E, PE]) finish(ctx context.Context, ex executor.Executor, sc *scratch[E, PE]) (sum affine[E], err error) {
	m := sc.parts * sc.n
	if !sc.buckets {
		s.extend(sc)
		return s.join(ctx, ex, sc, sc.windowsAtOnce(ex, m), sc.windows, func(_ context.Context, task *scratch[E, PE], i, lo, hi int) error {
			sc.strausSums(task, i, lo, hi)
			return nil
		})
	}
	nb := sc.bucketCount()
	if 2*nb >= termsInCache { // each window is weighed alone, so its buckets need not outlast its task
		return s.join(ctx, ex, sc, 1, sc.windowsTogether(), func(ctx context.Context, task *scratch[E, PE], i, lo, hi int) error {
			by := sc.sortings.Get().(*sorting[E])
			defer sc.sortings.Put(by)
			by.sums = resize(by.sums, nb)
			if err := s.sortedSums(ctx, ex, sc, task, by, by.sums, lo, hi); err != nil {
				return err
			}
			return s.weighAlone(ctx, ex, sc, task, by, i, lo)
		})
	}
	sc.sums = resize(sc.sums, sc.windows*nb)
	// Few windows at a time keep their buckets in the second-level cache.
	few := min(sc.windowsAtOnce(ex, m), max(1, termsInCache/m))
	err = s.eachTask(ctx, ex, sc, (sc.windows+few-1)/few, func(ctx context.Context, task *scratch[E, PE], i int) error {
		return s.bucketSums(ctx, ex, sc, task, i*few, min((i+1)*few, sc.windows))
	})
	if err != nil {
		return sum, err
	}
	few = min(sc.windowsAtOnce(ex, 2*nb), termsInCache/(2*nb))
	return s.join(ctx, ex, sc, few, sc.windows, func(_ context.Context, task *scratch[E, PE], i, lo, hi int) error {
		sc.weigh(task, sc.sums[lo*nb:hi*nb], i, lo, hi)
		return nil
	})
}

// join returns the weighted sum of all windows. add sets accumulator i to the weighted sum of
// windows lo to hi-1, step windows at a time. At most the given number of calls of add run at once.
func (s *sums[E, PE]) join(ctx context.Context, ex executor.Executor, sc *scratch[E, PE], step, most int, add func(ctx context.Context, task *scratch[E, PE], i, lo, hi int) error) (sum affine[E], err error) {
	last := (sc.windows+step-1)/step - 1
	sc.acc.reset(last + 1)
	tasks := min(last+1, most)
	err = s.eachTask(ctx, ex, sc, tasks, func(ctx context.Context, task *scratch[E, PE], first int) error {
		for i := first; i <= last; i += tasks {
			if err := add(ctx, task, i, i*step, min((i+1)*step, sc.windows)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return sum, err
	}
	for i := last - 1; i >= 0; i-- {
		for range step * sc.width {
			sc.acc.double(last)
		}
		sc.acc.merge(last, i)
	}
	return sc.acc.affine(last), nil
}

// each calls do for all i below n, each in a task of its own, with a scratch that no other task uses.
func (s *sums[E, PE]) each(ctx context.Context, ex executor.Executor, sc *scratch[E, PE], n int, do func(task *scratch[E, PE], i int)) error {
	return s.eachTask(ctx, ex, sc, n, func(_ context.Context, task *scratch[E, PE], i int) error {
		do(task, i)
		return nil
	})
}

// eachTask is each with tasks that may have tasks of their own. The scratch sc is lent to one task at
// a time, so an executor that runs one after the other needs no other scratch.
func (s *sums[E, PE]) eachTask(ctx context.Context, ex executor.Executor, sc *scratch[E, PE], n int, do func(ctx context.Context, task *scratch[E, PE], i int) error) error {
	if n == 1 {
		return ex.Do(ctx, 1, func(ctx context.Context, i int) error { return do(ctx, sc, i) })
	}
	return s.inTasks(ctx, ex, sc, n, do)
}

func (s *sums[E, PE]) inTasks(ctx context.Context, ex executor.Executor, sc *scratch[E, PE], n int, do func(ctx context.Context, task *scratch[E, PE], i int) error) error {
	var lent atomic.Bool
	return ex.Do(ctx, n, func(ctx context.Context, i int) error {
		task := sc
		if lent.CompareAndSwap(false, true) {
			defer lent.Store(false)
		} else {
			task = sc.ofTasks.Get().(*scratch[E, PE])
			defer sc.ofTasks.Put(task)
		}
		return do(ctx, task, i)
	})
}

// The least work of a task, so that it takes far longer than a call of Do: terms that are classified, terms that are
// split into integers and digits, and additions. Fewer additions than these in a tree also take
// longer each.
const (
	leastTerms     = 1 << 12
	leastSplit     = 1 << 10
	leastAdditions = 1 << 11
)

// windowsAtOnce returns how many windows a task gets, if each takes the given number of additions. A
// tree of several windows shares its inversions, so there are no more tasks than run at once.
func (s *shape) windowsAtOnce(ex executor.Executor, additions int) int {
	tasks := min(s.windows, executor.Cut(ex, s.windows*additions, leastAdditions))
	return (s.windows + tasks - 1) / tasks
}

// pieces are ranges of n terms.
type pieces struct{ n, count int }

// piecesOf returns as many pieces as are large enough for a task each.
func piecesOf(n int) pieces {
	return pieces{n, (n + leastTerms - 1) / leastTerms}
}

func (p pieces) bounds(i int) (lo, hi int) { return i * p.n / p.count, (i + 1) * p.n / p.count }

// extend completes sc.multiples, whose first row holds the points, to m·P_i for m = 1..sc.copies, a
// power of two, at index (m-1)·n + i. If scalars are split, the images of these under φ, which
// keeps y, follow.
func (s *sums[E, PE]) extend(sc *scratch[E, PE]) {
	t, total := &sc.tree, sc.copies*sc.n
	t.extendMultiples(sc.multiples[:total], sc.n)
	if sc.parts == 2 {
		t.rows.images(sc.multiples[total:2*total], sc.multiples[:total], &s.beta)
	}
	sc.identities = t.hasIdentity
}

// pick returns the pick of |d| times the point of integer j, negated if d < 0.
func (s *scratch[E, PE]) pick(j, d int) uint32 {
	sign := d >> 63 // 0 or -1
	return (s.where[j] + uint32((d^sign-sign-1)*s.n)) ^ uint32(sign)&negated
}

// strausSums sets accumulator i to the weighted sum of windows lo to hi-1.
func (s *scratch[E, PE]) strausSums(task *scratch[E, PE], i, lo, hi int) {
	t := &task.tree
	t.begin(hi-lo, s.parts*s.n)
	for w := lo; w < hi; w++ {
		for j, d := range s.window(w) {
			if d != 0 {
				t.add(int32(w-lo), s.pick(j, int(d)))
			}
		}
	}
	t.hasIdentity = s.identities
	t.reduce(s.entries, minPairs)
	for w := hi - 1; w >= lo; w-- {
		for range s.width {
			s.acc.double(i)
		}
		t.addColumn(s.acc, i, w-lo)
	}
}

func abs(d int) int {
	sign := d >> 63
	return d ^ sign - sign
}

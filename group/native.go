package group

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/curve"
	"github.com/zkbench/zkbench/group/internal/integer"
	"github.com/zkbench/zkbench/group/internal/seal"
	"github.com/zkbench/zkbench/internal/arith/vec52"
)

// native implements Group on gnark-crypto's types, once for all its curves y² = x³ + b with an
// endomorphism. S and E are elements of the scalar and base fields, P and J affine and Jacobian
// points. Each part knows only the types that it works on; the methods here convert between them.
type native[S scalarElement, E comparable, P affinePoint[E], J any,
	PS scalarPtr[S], PE elementPtr[E], PP pointPtr[P, J], PJ jacobianPtr[J, P]] struct {
	seal.Sealed
	name, domain string
	form         *radix52[E, PE] // nil: no SIMD vectors
	modulus      *big.Int        // of the base field
	orderLimbs   integer.Limbs
	scalars[S, PS]
	points[P, J, PP, PJ]
	compressed *decompressor[E, PE]
	sums       *sums[E, PE]
}

// constants are the data that distinguish a curve: the modulus p of the base field, with p = 3 mod
// 4, b, and the endomorphism φ(x, y) = (βx, y) with its eigenvalue λ.
type constants[E any] struct {
	modulus      *big.Int
	b            uint64
	lambda, beta string // decimal
	flags        curve.Flags
	ops          *vectorOps[E] // of the base field
}

func newNative[S scalarElement, E comparable, P affinePoint[E], J any,
	PS scalarPtr[S], PE elementPtr[E], PP pointPtr[P, J], PJ jacobianPtr[J, P]](
	name, domain string, on Kernel, s scalars[S, PS], p points[P, J, PP, PJ], c constants[E],
) Group[S, P] {
	c.ops = c.ops.cleared()
	sum := &sums[E, PE]{glv: newGLV(s.order, decimal(c.lambda))}
	var form *radix52[E, PE] // nil: no SIMD vectors
	sum.newRows = func() rows[E] { return &vectors[E, PE]{ops: c.ops} }
	if k, ok := on.lanes(); ok {
		form = newRadix52[E, PE](c.modulus, c.b, k)
		sum.newRows = func() rows[E] { return newWide(form) }
		s.inLanes(k)
	}
	PE(&sum.b).SetUint64(c.b)
	PE(&sum.beta).SetBigInt(decimal(c.beta))
	sum.complete = func(z, a, b *affine[E]) {
		p, q := P(*a), P(*b)
		PP(&p).Add(&p, &q)
		*z = affine[E](p)
	}
	sum.newAccumulators = func() accumulators[E] { return new(jacobians[E, P, J, PP, PJ]) }
	made := func() any { return sum.newScratch() }
	sum.ofSums, sum.ofTables, sum.ofTasks = &sync.Pool{New: made}, &sync.Pool{New: made}, &shared{made: made}
	return &native[S, E, P, J, PS, PE, PP, PJ]{
		name: name, domain: domain, form: form, modulus: c.modulus, orderLimbs: integer.FromBig(s.order), scalars: s, points: p, sums: sum,
		compressed: newDecompressor(c, form, p.pointLen),
	}
}

// decimal parses a decimal constant. It panics if digits is not a number.
func decimal(digits string) *big.Int {
	v, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		panic("group: bad constant " + digits)
	}
	return v
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) Name() string   { return g.name }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) Domain() string { return g.domain }

func (g *native[S, E, P, J, PS, PE, PP, PJ]) MulPoint(z, a *P, s *S) {
	k := g.limbs(s)
	*z = g.multiply(*a, &k)
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) DecodePoints(dst []P, src []byte, check PointCheck) error {
	n := g.pointLen
	if len(src) != len(dst)*n {
		return &zkbench.DecodeError{Path: "points", Reason: fmt.Sprintf("%d bytes, want %d", len(src), len(dst)*n)}
	}
	out := g.compressed.scratch.Get().(*decompressed[E])
	defer g.compressed.scratch.Put(out)
	i, reason := g.compressed.decompress(out, src, len(dst))
	for k := range i {
		dst[k] = P(affine[E]{out.x[k], out.y[k]})
		if check == Subgroup && !g.primeOrder() && !PP(&dst[k]).IsInSubGroup() {
			i, reason = k, "point outside the prime-order subgroup"
			break
		}
	}
	if reason != "" {
		return &zkbench.DecodeError{Path: fmt.Sprintf("[%d]", i), Offset: i * n, Reason: reason}
	}
	return nil
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) MSM(ctx context.Context, ex executor.Executor, points []P, scalars []S) (sum P, err error) {
	if len(points) != len(scalars) {
		panic("group: MSM lengths")
	}
	return g.sum(ctx, ex, points, nil, scalars)
}

// sum returns the sum over points, or over the stored points if stored is not nil.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) sum(ctx context.Context, ex executor.Executor, points []P, stored *stored[E], scalars []S) (sum P, err error) {
	if len(scalars) == 0 {
		return sum, context.Cause(ctx)
	}
	sc := g.sums.ofSums.Get().(*scratch[E, PE])
	defer func() {
		sc.stored, sc.entries = nil, nil // the pool must not keep a caller's memory alive
		g.sums.ofSums.Put(sc)
	}()
	sc.stored = stored
	affine := affines[E](points)
	pieces := piecesOf(len(scalars))
	given := &sc.given
	given.reset(len(scalars), pieces.count)
	err = g.sums.each(ctx, ex, sc, pieces.count, func(task *scratch[E, PE], i int) {
		lo, hi := pieces.bounds(i)
		given.counted[i] = g.classify(given, affine, scalars, lo, hi, &task.words)
	})
	if err != nil {
		return sum, err
	}
	given.join()
	err = g.sums.each(ctx, ex, sc, pieces.count, func(_ *scratch[E, PE], i int) {
		lo, hi := pieces.bounds(i)
		given.place(lo, hi, i)
	})
	if err != nil {
		return sum, err
	}
	for class := range classes {
		if len(given.picksFor(class)) == 0 {
			continue
		}
		part, err := g.sums.sum(ctx, ex, sc, affine, class)
		if err != nil {
			return sum, err
		}
		p := P(part)
		PP(&sum).Add(&sum, &p)
	}
	return sum, nil
}

// classify sets the kinds and magnitudes of terms lo to hi-1 and counts them by class. It ignores
// terms with a zero scalar or an identity point; an identity would also make the trees look for
// others. Stored points include no identity.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) classify(given *terms, points []affine[E], scalars []S, lo, hi int, words *[]uint64) (count classCounts) {
	const some = 32 * vec52.Width // are brought out of lanes together
	var identity affine[E]
	one, minusOne := [4]uint64(g.one), [4]uint64(g.minusOne)
	for end := lo; lo < hi; lo = end {
		end = min(lo+some, hi)
		before := count[full]
		for i := lo; i < end; i++ {
			kind := kindOf([4]uint64(scalars[i]), &one, &minusOne)
			if len(points) > 0 && points[i] == identity {
				kind = none
			}
			given.kinds[i] = kind
			count[kind&^minus]++
		}
		if count[full] == before {
			continue
		}
		g.integers(given.magnitudes[lo:end], scalars[lo:end], words)
		for i := lo; i < end; i++ {
			if given.kinds[i] == full {
				kind := g.shorten(&given.magnitudes[i])
				given.kinds[i] = kind
				count[full]--
				count[kind&^minus]++
			}
		}
	}
	return count
}

// shorten returns the kind of k. If the negative of k is short, shorten replaces k by it.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) shorten(k *integer.Limbs) (kind uint8) {
	if k[3]|k[2]|k[1] == 0 {
		return classOf(k[0])
	}
	if negative := subLow(&g.orderLimbs, k); negative[3]|negative[2]|negative[1] == 0 {
		*k = negative
		return classOf(k[0]) | minus
	}
	return full
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) NewTable(points []P, opts TableOptions) (Table[S, P], error) {
	layout, err := integer.NewLayout(g.orderBits, cmp.Or(opts.Window, defaultWindow), cmp.Or(opts.Spacing, defaultSpacing))
	if err != nil {
		return nil, err
	}
	fixed := make([]affine[E], len(points))
	for i := range points {
		if PP(&points[i]).IsInfinity() {
			return nil, fmt.Errorf("%w: fixed point %d is the identity", zkbench.ErrParams, i)
		}
		fixed[i] = affine[E](points[i])
	}
	t := &table[S, E, P, J, PS, PE, PP, PJ]{g: g, fixedPoints: newFixedPoints(g.sums, fixed, layout)}
	if g.form != nil {
		t.secret = sync.OnceValue(func() *constantWide[S, E, PE] {
			return newConstantWide[S](g.form, g.modulus, g.order, t.fixedPoints)
		})
	}
	return t, nil
}

// table implements Table.
type table[S scalarElement, E comparable, P affinePoint[E], J any,
	PS scalarPtr[S], PE elementPtr[E], PP pointPtr[P, J], PJ jacobianPtr[J, P]] struct {
	seal.Sealed
	g *native[S, E, P, J, PS, PE, PP, PJ]
	*fixedPoints[E, PE]
	secret func() *constantWide[S, E, PE] // made at the first use; nil: no SIMD vectors
}

// check panics if a caller breaks the contract of Table.
func (t *table[S, E, P, J, PS, PE, PP, PJ]) check(dst []P, scalars [][]S) {
	if len(dst) != len(scalars) {
		panic("group: sums and destinations of a table differ in number")
	}
	for _, v := range scalars {
		if len(v) > t.n {
			panic("group: more scalars than points of a table")
		}
	}
}

func (t *table[S, E, P, J, PS, PE, PP, PJ]) MSM(ctx context.Context, ex executor.Executor, dst []P, scalars [][]S) error {
	t.check(dst, scalars)
	sc := t.sums.ofTables.Get().(*scratch[E, PE])
	defer t.sums.ofTables.Put(sc)
	sc.acc.reset(len(dst))
	terms := 0
	for _, v := range scalars {
		terms += len(v)
	}
	tasks := executor.Cut(ex, terms, leastFixed)
	if tasks == 1 {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		t.addTerms(sc, scalars, 0, 1)
		t.finish(sc, t.multiples, len(dst))
	} else if err := t.inTasks(ctx, ex, sc, tasks, scalars); err != nil {
		return err
	}
	for j := range dst {
		dst[j] = P(sc.acc.affine(j))
	}
	return nil
}

// addTerms adds the terms of every sum over the points first, first+step and so on.
func (t *table[S, E, P, J, PS, PE, PP, PJ]) addTerms(sc *scratch[E, PE], scalars [][]S, first, step int) {
	longest := 0
	for _, v := range scalars {
		longest = max(longest, (len(v)+step-1-first)/step)
	}
	t.begin(sc, len(scalars), longest)
	var zero S
	for j, v := range scalars {
		for i := first; i < len(v); i += step {
			if v[i] != zero {
				k := t.g.limbs(&v[i])
				t.addTerm(sc, j, i, &k)
			}
		}
	}
}

// inTasks computes the sums in tasks that share out the points of every sum. A task adds the points of
// each weight together. The doublings are then done once, as if these partial sums were all terms.
func (t *table[S, E, P, J, PS, PE, PP, PJ]) inTasks(ctx context.Context, ex executor.Executor, sc *scratch[E, PE], tasks int, scalars [][]S) error {
	segments := len(scalars) * t.Spacing
	partial := make([]affine[E], tasks*segments)
	err := ex.Do(ctx, tasks, func(_ context.Context, task int) error {
		own := t.sums.ofTables.Get().(*scratch[E, PE])
		defer t.sums.ofTables.Put(own)
		t.addTerms(own, scalars, task, tasks)
		own.tree.reduce(t.multiples, 1)
		for k := range segments {
			if at := own.tree.position(k); at >= 0 {
				own.tree.rows.get(&partial[task*segments+k], at)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	sc.tree.begin(segments, tasks)
	sc.tree.raw = true
	var identity affine[E]
	for i := range partial {
		if partial[i] != identity {
			sc.tree.add(int32(i%segments), uint32(i))
		}
	}
	t.finish(sc, partial, len(scalars))
	return nil
}

// leastFixed is the least number of terms over fixed points in a task. Fewer take no longer than waking a processor.
const leastFixed = 160

func (t *table[S, E, P, J, PS, PE, PP, PJ]) MSMConstantTime(ctx context.Context, dst []P, scalars [][]S) error {
	t.check(dst, scalars)
	if t.secret != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		sums := make([]affine[E], len(dst))
		t.secret().sum(sums, scalars)
		for j := range dst {
			dst[j] = P(sums[j])
		}
		return nil
	}
	longest := 0
	for _, v := range scalars {
		longest = max(longest, len(v))
	}
	c := newConstantTime(t.fixedPoints, longest)
	for j, v := range scalars {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := make([]integer.Limbs, len(v))
		for i := range v {
			k[i] = t.g.limbs(&v[i])
		}
		dst[j] = P(c.sum(k))
	}
	return nil
}

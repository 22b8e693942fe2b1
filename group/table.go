package group

import (
	"cmp"
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// Defaults of TableOptions: 12 MiB for 128 generators of BN254.
// docs/msm.md has the measurements behind them.
const (
	defaultWindow  = 10
	defaultSpacing = 9
)

// table holds the multiples of its layout, point by point.
type table[S comparable, E comparable, P interface{ ~struct{ X, Y E } }, J any,
	PS scalarPtr[S], PE elementPtr[E], PP pointPtr[P, J], PJ jacobianPtr[J, P]] struct {
	integer.Layout
	g         *native[S, E, P, J, PS, PE, PP, PJ]
	points    []P
	multiples []affine[E] // ((point·Positions + position) << (Window-1)) + m-1
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) NewTable(points []P, opts TableOptions) (Table[S, P], error) {
	layout, err := integer.NewLayout(g.orderBits, cmp.Or(opts.Window, defaultWindow), cmp.Or(opts.Spacing, defaultSpacing))
	if err != nil {
		return nil, err
	}
	c, s := layout.Window, layout.Spacing
	for i := range points {
		if PP(&points[i]).IsInfinity() {
			return nil, fmt.Errorf("%w: fixed point %d is the identity", zkbench.ErrParams, i)
		}
	}
	t := &table[S, E, P, J, PS, PE, PP, PJ]{Layout: layout, g: g, points: append([]P(nil), points...)}
	t.multiples = make([]affine[E], len(points)*t.Positions<<(c-1))
	// One point at a time: all its positions are a row that is extended to the
	// 2^(c-1) multiples.
	sc := g.newScratch()
	row := make([]J, t.Positions)
	half := 1 << (c - 1)
	mx, my := make([]E, half*t.Positions), make([]E, half*t.Positions)
	for i := range points {
		PJ(&row[0]).FromAffine(&points[i])
		for p := 1; p < t.Positions; p++ {
			row[p] = row[p-1]
			for range c * s {
				PJ(&row[p]).DoubleAssign()
			}
		}
		var a P
		for p := range row {
			PP(&a).FromJacobian(&row[p])
			mx[p], my[p] = affine[E](a).X, affine[E](a).Y
		}
		g.extendMultiples(&sc.tree, mx, my, t.Positions)
		for p := range row {
			base := (i*t.Positions + p) << (c - 1)
			for m := range half {
				t.multiples[base+m] = affine[E]{mx[m*t.Positions+p], my[m*t.Positions+p]}
			}
		}
	}
	return t, nil
}

func (t *table[S, E, P, J, PS, PE, PP, PJ]) Len() int { return len(t.points) }

func (t *table[S, E, P, J, PS, PE, PP, PJ]) Bytes() int {
	// A coordinate takes a whole number of 64-bit integer.Limbs.
	return len(t.multiples) * 2 * ((t.g.pointLen + 7) / 8 * 8)
}

// term is one selected multiple on its way into a tree.
type term struct {
	index   int32 // into multiples
	segment int32
}

func (t *table[S, E, P, J, PS, PE, PP, PJ]) MSM(ctx context.Context, ex executor.Executor, dst []P, scalars [][]S) error {
	if len(dst) != len(scalars) {
		panic("group: Table.MSM lengths")
	}
	for _, v := range scalars {
		if len(v) > len(t.points) {
			panic("group: Table.MSM: more scalars than points")
		}
	}
	// Tasks share out the points of every sum; their partial sums are added.
	tasks := min(executor.Tasks(ex), max(1, len(t.points)/16))
	own := t.g.scratch.Get().(*scratch[S, E, P, J, PE, PP])
	defer t.g.scratch.Put(own)
	own.sums = resize(own.sums, tasks*len(dst))
	partial := own.sums
	err := ex.Do(ctx, tasks, func(_ context.Context, k int) error {
		sc := own
		if tasks > 1 {
			sc = t.g.scratch.Get().(*scratch[S, E, P, J, PE, PP])
			defer t.g.scratch.Put(sc)
		}
		t.sums(sc, partial[k*len(dst):(k+1)*len(dst)], scalars, k, tasks)
		return nil
	})
	if err != nil {
		return err
	}
	for j := range dst {
		for k := 1; k < tasks; k++ {
			PJ(&partial[j]).AddAssign(&partial[k*len(dst)+j])
		}
		PP(&dst[j]).FromJacobian(&partial[j])
	}
	return nil
}

// sums sets dst[j] to the part of sum j over points task, task+tasks, ... All
// sums are worked on in one tree with 2·Spacing segments each: the multiples to
// be added and those to be subtracted, for every partial sum. Signs are as random
// as the digits, and telling them apart by segment takes no branch.
func (t *table[S, E, P, J, PS, PE, PP, PJ]) sums(sc *scratch[S, E, P, J, PE, PP], dst []J, scalars [][]S, task, tasks int) {
	tr := &sc.tree
	tr.count = resize(tr.count, 2*len(dst)*t.Spacing)
	clear(tr.count)
	sc.digits = resize(sc.digits, t.Digits)
	sc.terms = sc.terms[:0]
	var zero S
	for j, v := range scalars {
		for i := task; i < len(v); i += tasks {
			if v[i] == zero {
				continue
			}
			k := integer.Limbs(PS(&v[i]).Bits())
			integer.Recode(sc.digits, &k, t.Window)
			// Digit w belongs to position w/s and partial sum w%s.
			base, segments := int32(i*t.Positions<<(t.Window-1)), int32(2*j*t.Spacing)
			partial := int32(0)
			for _, d := range sc.digits {
				if d != 0 {
					sign := int32(d) >> 31 // 0 or -1
					segment := segments + 2*partial - sign
					tr.count[segment]++
					sc.terms = append(sc.terms, term{base + (int32(d) ^ sign - sign) - 1, segment})
				}
				if partial++; int(partial) == t.Spacing {
					partial = 0
					base += 1 << (t.Window - 1)
				}
			}
		}
	}
	tr.layout()
	for _, m := range sc.terms {
		at := tr.place(int(m.segment))
		a := &t.multiples[m.index]
		tr.x[at], tr.y[at] = a.X, a.Y
	}
	rows := tr.reduce(minPairs)
	for j := range dst {
		acc := &dst[j]
		*acc = t.g.infinity
		for q := t.Spacing - 1; q >= 0; q-- {
			if q < t.Spacing-1 {
				for range t.Window {
					PJ(acc).DoubleAssign()
				}
			}
			segment := 2 * (j*t.Spacing + q)
			t.g.column(&tr.part, tr, segment, rows)
			PJ(acc).AddAssign(&tr.part)
			t.g.column(&tr.part, tr, segment+1, rows)
			PJ(acc).SubAssign(&tr.part)
		}
	}
}

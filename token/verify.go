package token

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/token/internal/statement"
	"github.com/zkbench/zkbench/transcript"
)

// claim implements statement.Claim.
type claim[S, P any] struct {
	p               *params[S, P]
	st              statement.Statement
	l               layout
	inputs, outputs []P
	points          []P // of the proof
	scalars         []S
}

func (c *claim[S, P]) WithAnchor(anchor []byte) statement.Claim {
	with := *c
	with.st.Anchor = anchor
	return &with
}

func (p *params[S, P]) Decode(st *statement.Statement, proof statement.Field) (statement.Claim, error) {
	if err := checkCounts(len(st.Inputs), len(st.Outputs)); err != nil {
		return nil, err
	}
	g := p.g
	n, m := len(st.Inputs), len(st.Outputs)
	l := p.layout(n, m)
	if want := l.points*g.PointLen() + l.scalars*g.ScalarLen(); len(proof.Bytes) != want {
		return nil, &zkbench.DecodeError{Path: "proof", Offset: proof.Offset, Reason: fmt.Sprintf("%d bytes, want %d", len(proof.Bytes), want)}
	}
	c := &claim[S, P]{p: p, st: *st, l: l}
	all := make([]P, n+m+l.points)
	c.inputs, c.outputs, c.points = all[:n], all[n:n+m], all[n+m:]

	fields := slices.Concat(st.Inputs, st.Outputs)
	fail := func(i int, reason string) error {
		path := fmt.Sprintf("inputs[%d].commitment", i)
		if i >= n {
			path = fmt.Sprintf("outputs[%d].commitment", i-n)
		}
		return &zkbench.DecodeError{Path: path, Offset: fields[i].Offset, Reason: reason}
	}
	commitments := make([]byte, 0, (n+m)*g.PointLen())
	for i, f := range fields {
		if len(f.Bytes) != g.PointLen() {
			return nil, fail(i, fmt.Sprintf("%d bytes, want %d", len(f.Bytes), g.PointLen()))
		}
		commitments = append(commitments, f.Bytes...)
	}
	if err := g.DecodePoints(all[:n+m], commitments, group.Subgroup); err != nil {
		if d, ok := errors.AsType[*zkbench.DecodeError](err); ok {
			return nil, fail(d.Offset/g.PointLen(), d.Reason)
		}
		return nil, err
	}
	within := func(err error, path string, offset int) error {
		if d, ok := errors.AsType[*zkbench.DecodeError](err); ok {
			return d.Within(path, offset)
		}
		return err
	}
	split := l.points * g.PointLen()
	if err := g.DecodePoints(c.points, proof.Bytes[:split], group.OnCurve); err != nil {
		return nil, within(err, "proof.points", proof.Offset)
	}
	c.scalars = make([]S, l.scalars)
	if err := g.DecodeScalars(c.scalars, proof.Bytes[split:]); err != nil {
		return nil, within(err, "proof.scalars", proof.Offset+split)
	}
	return c, nil
}

// replayed is a claim whose transcript has been run to its end. Its equations are those of its sub-proofs.
type replayed[S, P any] struct {
	claim  *claim[S, P]
	ts     typeSum[S, P]
	ranges []rangeproof.Equations[S, P]
}

// leastReplayed is the least number of range proofs whose transcripts run in a task. Fewer take no longer than waking a processor.
const leastReplayed = 4

// replay runs the claim's transcript. The range proofs' forks run under the executor. If the proof is bad,
// replay sets item.Err; it returns only the executor's error.
func (c *claim[S, P]) replay(ctx context.Context, ex executor.Executor, r *replayed[S, P], item *rangeproof.Replayed[S, P]) error {
	p, g := c.p, c.p.g
	np, ns := typeSumShape(kindOf(len(c.inputs)))
	r.ts = typeSum[S, P]{points: c.points[:np:np], scalars: c.scalars[:ns:ns]}
	t := p.start(&c.st)
	r.ts.absorbFirst(g, &t)
	r.ts.absorbLast(g, &t)

	r.ranges = make([]rangeproof.Equations[S, P], len(c.l.ranges))
	forks := make([]transcript.Transcript, len(c.l.ranges))
	failed := make([]error, len(c.l.ranges))
	V := make([]P, len(c.outputs))
	err := executor.Ranges(ctx, ex, len(c.l.ranges), leastReplayed, func(ctx context.Context, lo, hi int) error {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			at := &c.l.ranges[i]
			for j := at.first; j < at.last; j++ {
				g.SubPoints(&V[j], &c.outputs[j], &c.points[0])
			}
			forks[i] = t.Fork("range", uint32(i))
			r.ranges[i], failed[i] = p.rp.Replay(&forks[i], V[at.first:at.last], cut(at, c.points, c.scalars))
		}
		return context.Cause(ctx)
	})
	t.Join(forks...)
	item.Equations, item.State, item.Err = r, t.State(), errors.Join(failed...)
	item.Points = len(c.inputs) + 2*len(c.outputs) + len(c.points)
	return err
}

// Accumulate adds all equations of the claim.
func (r *replayed[S, P]) Accumulate(acc *group.Accumulator[S, P], weights *group.Weights[S, P]) {
	r.ts.accumulate(r.claim.p, acc, r.claim.inputs, r.claim.outputs, weights)
	for _, eq := range r.ranges {
		eq.Accumulate(acc, weights)
	}
}

func (p *params[S, P]) Verify(ctx context.Context, ex executor.Executor, claims ...statement.Claim) error {
	rs := make([]replayed[S, P], len(claims))
	for i, c := range claims {
		mine, ok := c.(*claim[S, P])
		if !ok || mine.p != p {
			return fmt.Errorf("%w: claim %d was decoded under other parameters", zkbench.ErrParams, i)
		}
		rs[i].claim = mine
	}
	items := make([]rangeproof.Replayed[S, P], len(claims))
	if err := ex.Do(ctx, len(rs), func(ctx context.Context, i int) error {
		return rs[i].claim.replay(ctx, ex, &rs[i], &items[i])
	}); err != nil {
		return err
	}
	return rangeproof.VerifyBatch(ctx, ex, p.public, "proof", items)
}

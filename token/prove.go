package token

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/token/internal/statement"
	"github.com/zkbench/zkbench/transcript"
	"golang.org/x/crypto/cryptobyte"
)

// layout is the shape of an action's proof. Points come first, then scalars; within each, the type-and-sum
// proof is before the range proofs.
type layout struct {
	points, scalars int
	ranges          []rangeLayout
}

// rangeLayout says which outputs a range proof covers, and where its points and scalars start in the action's
// proof.
type rangeLayout struct {
	first, last     int
	points, scalars int // where they start
	shape           rangeproof.Shape
}

// cut returns the range proof's own points and scalars.
func cut[S, P any](r *rangeLayout, points []P, scalars []S) *rangeproof.Proof[S, P] {
	points, scalars = points[r.points:r.points+r.shape.Points], scalars[r.scalars:r.scalars+r.shape.Scalars]
	return &rangeproof.Proof[S, P]{Points: points[:len(points):len(points)], Scalars: scalars[:len(scalars):len(scalars)]}
}

func (p *params[S, P]) layout(inputs, outputs int) layout {
	var l layout
	l.points, l.scalars = typeSumShape(kindOf(inputs))
	if inputs == 1 && outputs == 1 {
		return l // the output's value is the input's, which is in range
	}
	for first := 0; first < outputs; {
		last := min(outputs, first+p.rp.MaxCommitments())
		s := p.rp.Shape(last - first)
		l.ranges = append(l.ranges, rangeLayout{first, last, l.points, l.scalars, s})
		l.points += s.Points
		l.scalars += s.Scalars
		first = last
	}
	return l
}

func (p *params[S, P]) ProofLen(inputs, outputs int) int {
	l := p.layout(inputs, outputs)
	return l.points*p.g.PointLen() + l.scalars*p.g.ScalarLen()
}

// start opens the one transcript of an action. It appends protocol, group, parameters, kind, counts, anchor,
// the action with its owners and ids, and all commitments.
func (p *params[S, P]) start(st *statement.Statement) transcript.Transcript {
	t := transcript.New("token")
	t.Append("group", []byte(p.g.Domain()))
	t.Append("params", p.digest[:])
	t.Append("kind", []byte{byte(kindOf(len(st.Inputs)))})
	t.AppendUint64("inputs", uint64(len(st.Inputs)))
	t.AppendUint64("outputs", uint64(len(st.Outputs)))
	t.Append("context", st.Anchor)
	t.Append("action", st.Action)
	for i := range st.Inputs {
		t.Append("input", st.Inputs[i].Bytes)
	}
	for i := range st.Outputs {
		t.Append("output", st.Outputs[i].Bytes)
	}
	return t
}

// encodeWitness returns a canonical encoding of the witness without its seed, from which nonces and blindings
// are derived. It returns an error if a type or a blinding has 2^16 bytes or more.
func encodeWitness(w *witness) ([]byte, error) {
	var b cryptobyte.Builder
	for _, list := range [][]Opening{w.Inputs, w.Outputs} {
		b.AddUint16(uint16(len(list)))
		for _, o := range list {
			b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(o.Type)) })
			b.AddUint64(o.Value)
			b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(o.Blinding) })
		}
	}
	return b.Bytes()
}

func (p *params[S, P]) Prove(ctx context.Context, ex executor.Executor, st *statement.Statement, w *witness) ([]byte, error) {
	if len(st.Inputs) != len(w.Inputs) || len(st.Outputs) != len(w.Outputs) {
		return nil, fmt.Errorf("%w: witness opens %d inputs and %d outputs, the statement has %d and %d", zkbench.ErrParams, len(w.Inputs), len(w.Outputs), len(st.Inputs), len(st.Outputs))
	}
	if err := p.checkWitness(w, st.Anchor); err != nil {
		return nil, err
	}
	return p.prove(ctx, ex, st, w)
}

// prove proves like Prove, but does not check the witness.
func (p *params[S, P]) prove(ctx context.Context, ex executor.Executor, st *statement.Statement, w *witness) ([]byte, error) {
	g := p.g
	kind := kindOf(len(st.Inputs))
	l := p.layout(len(st.Inputs), len(st.Outputs))
	points, scalars := make([]P, l.points), make([]S, l.scalars)
	np, ns := typeSumShape(kind)
	ts := &typeSum[S, P]{points: points[:np], scalars: scalars[:ns]}

	var tw typeSumWitness[S]
	var err error
	if tw.inputs, err = p.open(w.Inputs); err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	if tw.outputs, err = p.open(w.Outputs); err != nil {
		return nil, fmt.Errorf("outputs: %w", err)
	}
	tw.t = tw.outputs[0].t
	t := p.start(st)
	encoded, err := encodeWitness(w)
	if err != nil {
		return nil, err
	}
	nonces := transcript.Nonces{Protocol: "type-and-sum", Seed: w.Seed}
	k, r := make([]S, ns), make([]S, 1)
	group.RandomScalars(g, k, nonces.Stream(encoded, &t))
	group.RandomScalars(g, r, openStream(w.Seed, kind, encoded, st.Anchor, []byte("type")))
	tw.r = r[0]
	var committed rangeWitness[S, P]
	if len(l.ranges) > 0 {
		committed = p.rangeWitness(w, &tw)
	}
	// No challenge stands between these sums, so that one call computes all.
	sums := make([]P, np+len(committed.rows))
	if err := p.basis.Table.MSM(ctx, ex, sums, append(p.typeSumRows(&tw, k, np), committed.rows...)); err != nil {
		return nil, err
	}
	copy(ts.points, sums)
	committed.V = sums[np:]
	ts.absorbFirst(g, &t)
	ts.respond(g, &tw, k)
	ts.absorbLast(g, &t)

	if err := p.proveRanges(ctx, ex, w.Seed, &committed, &t, &l, points, scalars); err != nil {
		return nil, err
	}
	out := make([]byte, 0, l.points*g.PointLen()+l.scalars*g.ScalarLen())
	out = g.AppendPoints(out, points...)
	return g.AppendScalars(out, scalars...), nil
}

// rangeWitness is what the range proofs of all outputs prove: V_j = Out_j - C = v_j·G + (r_j - r)·H.
type rangeWitness[S, P any] struct {
	V         []P
	values    []uint64
	blindings []S
	rows      [][]S // scalars of V over the basis
}

// rangeWitness returns the witness of the range proofs, without V.
func (p *params[S, P]) rangeWitness(w *witness, tw *typeSumWitness[S]) rangeWitness[S, P] {
	m := len(w.Outputs)
	c := rangeWitness[S, P]{values: make([]uint64, m), blindings: make([]S, m), rows: rowsOf[S](m, 2)}
	for j := range m {
		c.values[j] = w.Outputs[j].Value
		p.g.Sub(&c.blindings[j], &tw.outputs[j].r, &tw.r)
		c.rows[j][p.value], c.rows[j][p.blinding] = tw.outputs[j].v, c.blindings[j]
	}
	return c
}

// proveRanges proves the range of every output under the executor. Each proof has its own fork of t. The proofs
// of one task run in step, so that they share their sums.
func (p *params[S, P]) proveRanges(ctx context.Context, ex executor.Executor, seed [transcript.SeedLen]byte, w *rangeWitness[S, P], t *transcript.Transcript, l *layout, points []P, scalars []S) error {
	proveRange := func(ctx context.Context, rp rangeproof.Protocol[S, P], i int) error {
		r := &l.ranges[i]
		fork := t.Fork("range", uint32(i))
		nonces := transcript.Nonces{Protocol: p.rp.Name(), Label: "range", Index: uint32(i), Seed: seed}
		proof, err := rp.Prove(ctx, ex, &fork, w.V[r.first:r.last], rangeproof.Witness[S]{Values: w.values[r.first:r.last], Blindings: w.blindings[r.first:r.last]}, nonces)
		if err != nil {
			return fmt.Errorf("range proof %d: %w", i, err)
		}
		copy(points[r.points:], proof.Points)
		copy(scalars[r.scalars:], proof.Scalars)
		return nil
	}
	return executor.Ranges(ctx, ex, len(l.ranges), 1, func(ctx context.Context, first, end int) error {
		return group.Together(ctx, ex, p.basis.Table, end-first, func(i int, table group.Table[S, P]) error {
			return proveRange(ctx, p.rp.WithTable(table), first+i)
		})
	})
}

// checkWitness refuses witnesses that an honest prover cannot have, and an anchor that is empty or too long.
// The message names the field and never the value.
func (p *params[S, P]) checkWitness(w *witness, anchor []byte) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", zkbench.ErrParams, fmt.Sprintf(format, args...))
	}
	if err := checkCounts(len(w.Inputs), len(w.Outputs)); err != nil {
		return err
	}
	if err := checkAnchor(anchor); err != nil {
		return err
	}
	sameType := func(what string, i int, typ string) error {
		if err := checkType(typ); err != nil {
			return fmt.Errorf("%s %d: %w", what, i, err)
		}
		if typ != w.Outputs[0].Type {
			return bad("%s %d: type differs from that of output 0", what, i)
		}
		return nil
	}
	var inHi, inLo, outHi, outLo, carry uint64
	if err := sameType("output", 0, w.Outputs[0].Type); err != nil { // which the others are compared with
		return err
	}
	for i, o := range w.Inputs {
		if err := sameType("input", i, o.Type); err != nil {
			return err
		}
		inLo, carry = bits.Add64(inLo, o.Value, 0)
		inHi += carry
	}
	for j, o := range w.Outputs {
		if err := sameType("output", j, o.Type); err != nil {
			return err
		}
		if p.cfg.Bits < 64 && o.Value>>p.cfg.Bits != 0 {
			return bad("output %d: value needs more than %d bits", j, p.cfg.Bits)
		}
		outLo, carry = bits.Add64(outLo, o.Value, 0)
		outHi += carry
	}
	if len(w.Inputs) > 0 && (inHi != outHi || inLo != outLo) {
		return bad("outputs are not worth the inputs")
	}
	return nil
}

func checkType(typ string) error {
	switch n := len(typ); {
	case n == 0:
		return badConfig("bytes of token type:", n, fmt.Sprintf("1 to %d", MaxType))
	case n > MaxType:
		return &zkbench.LimitError{What: "bytes of token type", Estimate: int64(n), Max: MaxType}
	}
	return nil
}

// checkAnchor refuses anchors that a proof cannot be bound to. A proof with an empty anchor would be valid in
// any transaction.
func checkAnchor(anchor []byte) error {
	switch n := len(anchor); {
	case n == 0:
		return badConfig("bytes of anchor:", n, fmt.Sprintf("1 to %d", MaxBound))
	case n > MaxBound:
		return &zkbench.LimitError{What: "bytes of what a proof is bound to", Estimate: int64(n), Max: MaxBound}
	}
	return nil
}

// kindOf returns the kind of an action with that number of inputs: an issue has none.
func kindOf(inputs int) Kind {
	if inputs == 0 {
		return Issue
	}
	return Transfer
}

func checkCounts(inputs, outputs int) error {
	if inputs > MaxTokens {
		return badConfig("number of inputs", inputs, fmt.Sprintf("0 to %d", MaxTokens))
	}
	if outputs < 1 || outputs > MaxTokens {
		return badConfig("number of outputs", outputs, fmt.Sprintf("1 to %d", MaxTokens))
	}
	return nil
}

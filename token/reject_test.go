package token

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

func mustReject(t *testing.T, name string, err error) {
	t.Helper()
	if !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
		t.Errorf("%s: %v", name, err)
	}
}

// TestEverythingIsBound changes everything that the transcript absorbs, one
// item after the other.
func TestEverythingIsBound(t *testing.T) {
	for _, proofType := range ProofTypes() {
		pp := newBN(t, Config{Bits: 8, ProofType: proofType})
		e := newExample(t, pp, "bound", []uint64{100, 50}, []uint64{90, 45, 15})
		proof := e.prove(t, pp)
		must.Do(t, check(pp, &e.st, proof))
		other := newExample(t, pp, "other", []uint64{100, 50}, []uint64{90, 45, 15})
		for name, change := range map[string]func(st *Statement){
			"context":          func(st *Statement) { st.Anchor[3] ^= 1 },
			"longer context":   func(st *Statement) { st.Anchor = append(st.Anchor, 0) },
			"action":           func(st *Statement) { st.Action[0] ^= 0x80 },
			"moved boundary":   func(st *Statement) { st.Action, st.Anchor = st.Action[1:], append(st.Anchor, st.Action[0]) },
			"input 0":          func(st *Statement) { st.Inputs[0] = other.st.Inputs[0] },
			"input 1":          func(st *Statement) { st.Inputs[1] = other.st.Inputs[1] },
			"output 0":         func(st *Statement) { st.Outputs[0] = other.st.Outputs[0] },
			"output 2":         func(st *Statement) { st.Outputs[2] = other.st.Outputs[2] },
			"inputs swapped":   func(st *Statement) { st.Inputs[0], st.Inputs[1] = st.Inputs[1], st.Inputs[0] },
			"outputs swapped":  func(st *Statement) { st.Outputs[0], st.Outputs[1] = st.Outputs[1], st.Outputs[0] },
			"output dropped":   func(st *Statement) { st.Outputs = st.Outputs[:2] },
			"output repeated":  func(st *Statement) { st.Outputs[1] = st.Outputs[0] },
			"output added":     func(st *Statement) { st.Outputs = append(st.Outputs, other.st.Outputs[0]) },
			"input dropped":    func(st *Statement) { st.Inputs = st.Inputs[:1] },
			"input to output":  func(st *Statement) { st.Inputs[0], st.Outputs[0] = st.Outputs[0], st.Inputs[0] },
			"kind, no inputs":  func(st *Statement) { st.Inputs = nil },
			"other commitment": func(st *Statement) { st.Outputs[2] = other.st.Outputs[1] },
		} {
			st := cloned(&e.st)
			change(st)
			mustReject(t, proofType+": "+name, check(pp, st, proof))
		}
		// The same statement under other parameters. Sizes may already differ.
		for _, cfg := range []Config{{Bits: 7, ProofType: proofType}, {Bits: 9, ProofType: proofType}, {Bits: 8, ProofType: proofType, Stop: 1}} {
			mustReject(t, fmt.Sprintf("%s: under %+v", proofType, cfg), check(newBN(t, cfg), &e.st, proof))
		}
	}
}

// TestEveryElement replaces every point and every scalar of a proof by another
// valid one.
func TestEveryElement(t *testing.T) {
	for _, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 8, ProofType: proofType})
		e := newExample(t, p, "elements", []uint64{100, 50}, []uint64{90, 60})
		proof := e.prove(t, p)
		l := p.layout(2, 2)
		n := p.g.PointLen()
		point := p.g.AppendPoints(nil, p.basis.Points[0])
		scalar := p.g.AppendScalars(nil, p.g.ScalarFromUint64(12345))
		for i := range l.points {
			bad := append([]byte(nil), proof...)
			copy(bad[i*n:], point)
			mustReject(t, fmt.Sprintf("%s: point %d", proofType, i), check(p, &e.st, bad))
			bad = append([]byte(nil), proof...)
			bad[i*n] ^= 0x40 // the negated point
			mustReject(t, fmt.Sprintf("%s: point %d negated", proofType, i), check(p, &e.st, bad))
		}
		for i := range l.scalars {
			bad := append([]byte(nil), proof...)
			copy(bad[l.points*n+32*i:], scalar)
			mustReject(t, fmt.Sprintf("%s: scalar %d", proofType, i), check(p, &e.st, bad))
		}
	}
}

// TestWrongWitness forces wrong witnesses past the prover's check.
func TestWrongWitness(t *testing.T) {
	for _, proofType := range []string{Bulletproof, CSP} {
		p := newBN(t, Config{Bits: 8, ProofType: proofType})
		type openings = func(w *Witness)
		for name, c := range map[string]struct {
			inputs, outputs []uint64
			change          openings
		}{
			"sum too large":            {[]uint64{10, 5}, []uint64{10, 6}, nil},
			"sum too small":            {[]uint64{10, 5}, []uint64{10, 4}, nil},
			"1 in, 1 out":              {[]uint64{10}, []uint64{11}, nil},
			"type of an input":         {[]uint64{10, 5}, []uint64{15}, func(w *Witness) { w.Inputs[1].Type = "EUR" }},
			"type of an output":        {[]uint64{15}, []uint64{10, 5}, func(w *Witness) { w.Outputs[1].Type = "EUR" }},
			"types of all outputs":     {[]uint64{15}, []uint64{10, 5}, func(w *Witness) { w.Outputs[0].Type, w.Outputs[1].Type = "EUR", "EUR" }},
			"type, 1 in 1 out":         {[]uint64{15}, []uint64{15}, func(w *Witness) { w.Outputs[0].Type = "EUR" }},
			"type of an issued output": {nil, []uint64{10, 5}, func(w *Witness) { w.Outputs[1].Type = "EUR" }},
		} {
			e := newExample(t, p, name, c.inputs, c.outputs)
			if c.change != nil {
				c.change(&e.w)
				// Commit to the changed openings, as a cheating sender would.
				for _, side := range []struct {
					o []Opening
					f []Field
				}{{e.w.Inputs, e.st.Inputs}, {e.w.Outputs, e.st.Outputs}} {
					commitments := must.Get(p.Commit(context.Background(), executor.Serial(), side.o))(t)
					for i := range commitments {
						side.f[i].Bytes = commitments[i]
					}
				}
			}
			must.FailGet(p.Prove(context.Background(), executor.Serial(), &e.st, &e.w))(t, zkbench.ErrParams, "%s: %s: the prover", proofType, name)
			proof, err := p.prove(context.Background(), executor.Serial(), &e.st, &e.w)
			must.Do(t, err, proofType, name)
			must.Fail(t, check(p, &e.st, proof), zkbench.ErrProof, "%s: %s", proofType, name)
		}
	}
}

// TestProveRefuses: what no honest prover asks for is refused, and the largest of everything is not.
func TestProveRefuses(t *testing.T) {
	t.Parallel()
	p := newBN(t, Config{Bits: 8})
	pair, issue := []uint64{15}, []uint64(nil)
	for name, c := range map[string]struct {
		inputs, outputs []uint64
		change          func(e *example)
		want            error
	}{
		"longest anchor and type": {issue, pair, func(e *example) {
			e.st.Anchor, e.w.Outputs[0].Type = make([]byte, MaxBound), strings.Repeat("A", MaxType)
		}, nil},
		"longer anchor":              {issue, pair, func(e *example) { e.st.Anchor = make([]byte, MaxBound+1) }, zkbench.ErrLimit},
		"longer type":                {issue, pair, func(e *example) { e.w.Outputs[0].Type = strings.Repeat("A", MaxType+1) }, zkbench.ErrLimit},
		"no outputs":                 {issue, nil, func(*example) {}, zkbench.ErrParams},
		"too many outputs":           {issue, make([]uint64, MaxTokens+1), func(*example) {}, zkbench.ErrParams},
		"an input without a witness": {pair, pair, func(e *example) { e.w.Inputs = nil }, zkbench.ErrParams},
		"one of two inputs without":  {[]uint64{7, 8}, pair, func(e *example) { e.w.Inputs = e.w.Inputs[:1] }, zkbench.ErrParams},
		"a witness without an input": {issue, pair, func(e *example) { e.w.Inputs = e.w.Outputs }, zkbench.ErrParams},
		"an output too few":          {issue, pair, func(e *example) { e.st.Outputs = append(e.st.Outputs, Field{}) }, zkbench.ErrParams},
		"out of range":               {[]uint64{256}, []uint64{256, 0}, func(*example) {}, zkbench.ErrParams},
		"out of range, 1 in 1 out":   {[]uint64{256}, []uint64{256}, func(*example) {}, zkbench.ErrParams},
	} {
		e := newExample(t, p, name, c.inputs, c.outputs)
		c.change(e)
		must.FailGet(p.Prove(context.Background(), executor.Serial(), &e.st, &e.w))(t, c.want, "%s", name)
	}
}

// TestSchnorrForgery is a prover who sends A_sum after c, for outputs worth more
// than the inputs. He convinces a verifier who does not absorb A_sum, and is
// rejected by ours.
func TestSchnorrForgery(t *testing.T) {
	p := newBN(t, Config{Bits: 8})
	g := p.g
	e := newExample(t, p, "forgery", []uint64{1}, []uint64{2})
	ctx, ex := context.Background(), executor.Serial()
	var w typeSumWitness[fr.Element]
	w.inputs = must.Get(p.open(e.w.Inputs))(t)
	w.outputs = must.Get(p.open(e.w.Outputs))(t)
	w.t, w.r = w.outputs[0].t, g.ScalarFromUint64(4242)
	k := make([]fr.Element, 5)
	group.RandomScalars(g, k, transcript.XOF("nonces of the forger"))
	ts := typeSum[fr.Element, bn254.G1Affine]{points: make([]bn254.G1Affine, 4), scalars: make([]fr.Element, 5)}
	must.Do(t, p.basis.Table.MSM(ctx, ex, ts.points, p.typeSumRows(&w, k, len(ts.points))))
	weak := ts
	weak.points = ts.points[:3] // the transcript of a verifier who forgets A_sum
	tr := p.start(&e.st)
	weak.absorbFirst(g, &tr)
	ts.rho, ts.c = weak.rho, weak.c
	ts.respond(g, &w, k)
	// A_sum = z·H - c·D, where D = In - Out is no multiple of H.
	var in, out [1]bn254.G1Affine
	for _, side := range []struct {
		dst []bn254.G1Affine
		enc []byte
	}{{in[:], e.st.Inputs[0].Bytes}, {out[:], e.st.Outputs[0].Bytes}} {
		must.Do(t, g.DecodePoints(side.dst, side.enc, group.Subgroup))
	}
	var d bn254.G1Affine
	g.SubPoints(&d, &in[0], &out[0])
	g.MulPoint(&d, &d, &ts.c)
	g.MulPoint(&ts.points[3], &p.basis.Points[p.blinding], &ts.scalars[4])
	g.SubPoints(&ts.points[3], &ts.points[3], &d)

	acc := group.NewAccumulator(p.basis, 8)
	ts.accumulate(p, acc, in[:], out[:], group.NewWeights(g, transcript.XOF("weights")))
	if ok, err := acc.IsZero(ctx, ex); err != nil || !ok {
		t.Fatalf("the forgery does not convince the weak verifier: %v, %v", ok, err)
	}
	raw := g.AppendScalars(g.AppendPoints(nil, ts.points...), ts.scalars...)
	must.Fail(t, check(p, &e.st, raw), zkbench.ErrProof, "forged")
}

// TestTorsion adds points outside the prime-order subgroup of BLS12-381 to a
// proof: they change the transcript and nothing else, so no proof that was
// wrong becomes right, and single and batch verification agree.
func TestTorsion(t *testing.T) {
	for _, proofType := range []string{Bulletproof, CSP} {
		pp := newTestParams(t, Config{Curve: "BLS12_381_BBS_GURVY", Bits: 4, ProofType: proofType})
		p := pp.(*params[blsfr.Element, bls12381.G1Affine])
		torsion := torsionPoint(t)
		good := newExample(t, p, "torsion", []uint64{7, 4}, []uint64{9, 2})
		bad := newExample(t, p, "false", []uint64{7, 4}, []uint64{9, 3})
		honest := must.Get(proofs(pp).Decode(&good.st, Field{Bytes: good.prove(t, pp)}))(t)
		for name, e := range map[string]*example{"true statement": good, "false statement": bad} {
			proof := must.Get(p.prove(context.Background(), executor.Serial(), &e.st, &e.w))(t)
			for i := range p.layout(2, 2).points {
				c := must.Get(p.Decode(&e.st, Field{Bytes: proof}))(t).(*claim[blsfr.Element, bls12381.G1Affine])
				c.points[i].Add(&c.points[i], &torsion)
				single := p.Verify(context.Background(), executor.Serial(), c)
				batch := p.Verify(context.Background(), executor.Serial(), c, honest)
				if !errors.Is(single, zkbench.ErrProof) || !errors.Is(batch, zkbench.ErrProof) {
					t.Errorf("%s: %s, point %d: single %v, batch %v", proofType, name, i, single, batch)
				}
			}
		}
		// A commitment outside the subgroup does not enter at all.
		var out bls12381.G1Affine
		must.Get(out.SetBytes(good.st.Outputs[0].Bytes))(t)
		out.Add(&out, &torsion)
		st := cloned(&good.st)
		enc := out.Bytes()
		st.Outputs[0] = Field{Bytes: enc[:], Offset: 17}
		var d *zkbench.DecodeError
		if err := check(pp, st, good.prove(t, pp)); !errors.As(err, &d) || d.Path != "outputs[0].commitment" || d.Offset != 17 {
			t.Errorf("%s: commitment outside the subgroup: %v", proofType, err)
		}
	}
}

// TestTorsionBeforeHashing is a prover who adds a torsion point to a message
// before he hashes it. Verifiers, single and in a batch, then accept exactly the
// true statements (docs/token.md, section 8).
func TestTorsionBeforeHashing(t *testing.T) {
	for _, proofType := range ProofTypes() {
		p := newTestParams(t, Config{Curve: "BLS12_381_BBS_GURVY", Bits: 4, ProofType: proofType}).(*params[blsfr.Element, bls12381.G1Affine])
		torsion := torsionPoint(t)
		honest := newExample(t, p, "honest", []uint64{7, 4}, []uint64{9, 2})
		good := must.Get(p.Decode(&honest.st, Field{Bytes: honest.prove(t, p)}))(t)
		for change, outputs := range map[uint64][]uint64{0: {9, 2}, 1: {9, 3}} {
			for target := range 4 {
				e := newExample(t, p, fmt.Sprint("torsion before hashing ", target), []uint64{7, 4}, outputs)
				c := must.Get(p.Decode(&e.st, Field{Bytes: proveWithTorsion(t, p, e, target, torsion)}))(t)
				single := p.Verify(context.Background(), executor.Serial(), c)
				batch := p.Verify(context.Background(), executor.Serial(), good, c, good)
				if (single == nil) != (change == 0) || (batch == nil) != (change == 0) {
					t.Errorf("proof=%s, point %d, outputs worth %d more: single %v, batch %v", proofType, target, change, single, batch)
				}
			}
		}
	}
}

// proveWithTorsion proves as params.prove does, but adds torsion to one point of the type-and-sum proof before it is
// absorbed.
func proveWithTorsion(t *testing.T, p *params[blsfr.Element, bls12381.G1Affine], e *example, target int, torsion bls12381.G1Affine) []byte {
	t.Helper()
	ctx, ex, g := context.Background(), executor.Serial(), p.g
	l := p.layout(len(e.st.Inputs), len(e.st.Outputs))
	points, scalars := make([]bls12381.G1Affine, l.points), make([]blsfr.Element, l.scalars)
	np, ns := typeSumShape(kindOf(len(e.st.Inputs)))
	ts := &typeSum[blsfr.Element, bls12381.G1Affine]{points: points[:np], scalars: scalars[:ns]}
	var w typeSumWitness[blsfr.Element]
	w.inputs = must.Get(p.open(e.w.Inputs))(t)
	w.outputs = must.Get(p.open(e.w.Outputs))(t)
	w.t, w.r = w.outputs[0].t, g.ScalarFromUint64(987654321)
	k := make([]blsfr.Element, ns)
	group.RandomScalars(g, k, transcript.XOF("nonces", []byte{byte(target)}))
	must.Do(t, p.basis.Table.MSM(ctx, ex, ts.points, p.typeSumRows(&w, k, len(ts.points))))
	ts.points[target].Add(&ts.points[target], &torsion)
	tr := p.start(&e.st)
	ts.absorbFirst(g, &tr)
	ts.respond(g, &w, k)
	ts.absorbLast(g, &tr)
	for i := range l.ranges {
		at := &l.ranges[i]
		V, wit := make([]bls12381.G1Affine, len(e.st.Outputs)), rangeproof.Witness[blsfr.Element]{}
		for j := at.first; j < at.last; j++ {
			must.Do(t, g.DecodePoints(V[j:j+1], e.st.Outputs[j].Bytes, group.Subgroup))
			g.SubPoints(&V[j], &V[j], &ts.points[0])
			var r blsfr.Element
			g.Sub(&r, &w.outputs[j].r, &w.r)
			wit.Values, wit.Blindings = append(wit.Values, e.w.Outputs[j].Value), append(wit.Blindings, r)
		}
		fork := tr.Fork("range", uint32(i))
		proof := must.Get(p.rp.Prove(ctx, ex, &fork, V[at.first:at.last], wit, transcript.Nonces{Index: uint32(i)}))(t)
		copy(points[at.points:], proof.Points)
		copy(scalars[at.scalars:], proof.Scalars)
	}
	return g.AppendScalars(g.AppendPoints(nil, points...), scalars...)
}

// torsionPoint returns a point of E(Fp) whose order divides the cofactor.
func torsionPoint(t *testing.T) bls12381.G1Affine {
	t.Helper()
	g := group.BLS12381()
	for x := byte(1); x < 200; x++ {
		enc := make([]byte, 48)
		enc[0], enc[47] = 0x80, x
		var p [1]bls12381.G1Affine
		if g.DecodePoints(p[:], enc, group.OnCurve) != nil {
			continue
		}
		var j bls12381.G1Jac
		j.FromAffine(&p[0])
		// r·p by double-and-add: the scalar methods reduce modulo r.
		r := g.Order()
		var acc bls12381.G1Jac
		for i := r.BitLen() - 1; i >= 0; i-- {
			acc.DoubleAssign()
			if r.Bit(i) == 1 {
				acc.AddAssign(&j)
			}
		}
		var q bls12381.G1Affine
		if q.FromJacobian(&acc); !q.IsInfinity() {
			return q
		}
	}
	t.Fatal("no torsion point found")
	return bls12381.G1Affine{}
}

func TestDecodeRefuses(t *testing.T) {
	pp := newBN(t, Config{Bits: 8})
	e := newExample(t, pp, "decode", []uint64{10}, []uint64{4, 6})
	proof := e.prove(t, pp)
	n := pp.PointLen()
	l := pp.layout(1, 2)
	for name, c := range map[string]struct {
		change func(st *Statement, proof []byte) []byte
		path   string
		offset int
	}{
		"truncated":         {func(_ *Statement, p []byte) []byte { return p[:len(p)-1] }, "proof", 1000},
		"trailing byte":     {func(_ *Statement, p []byte) []byte { return append(p, 0) }, "proof", 1000},
		"empty":             {func(*Statement, []byte) []byte { return nil }, "proof", 1000},
		"scalar r":          {func(_ *Statement, p []byte) []byte { pp.g.Order().FillBytes(p[len(p)-32:]); return p }, fmt.Sprintf("proof.scalars[%d]", l.scalars-1), 1000 + len(proof) - 32},
		"identity":          {func(_ *Statement, p []byte) []byte { clear(p[n : 2*n]); p[n] = 0x40; return p }, "proof.points[1]", 1000 + n},
		"uncompressed flag": {func(_ *Statement, p []byte) []byte { p[0] &= 0x3f; return p }, "proof.points[0]", 1000},
		"coordinate too large": {func(_ *Statement, p []byte) []byte {
			for i := range n {
				p[2*n+i] = 0xff
			}
			return p
		}, "proof.points[2]", 1000 + 2*n},
		"identity commitment": {func(st *Statement, p []byte) []byte {
			st.Inputs[0].Bytes = make([]byte, n)
			st.Inputs[0].Bytes[0] = 0x40
			return p
		}, "inputs[0].commitment", 5},
		"short commitment": {func(st *Statement, p []byte) []byte {
			st.Outputs[1].Bytes = st.Outputs[1].Bytes[:n-1]
			return p
		}, "outputs[1].commitment", 8},
		"off the curve": {func(st *Statement, p []byte) []byte {
			st.Outputs[0].Bytes = offCurve(pp)
			return p
		}, "outputs[0].commitment", 7},
	} {
		st := cloned(&e.st)
		st.Inputs[0].Offset, st.Outputs[0].Offset, st.Outputs[1].Offset = 5, 7, 8
		bad := c.change(st, append([]byte(nil), proof...))
		_, err := proofs(pp).Decode(st, Field{Bytes: bad, Offset: 1000})
		if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != c.path || d.Offset != c.offset {
			t.Errorf("%s: %v, want %s at %d", name, err, c.path, c.offset)
		}
	}
	// A claim of other parameters.
	claim := must.Get(proofs(pp).Decode(&e.st, Field{Bytes: proof}))(t)
	for _, curve := range []string{"BN254", "BLS12_381_BBS_GURVY"} {
		other := newTestParams(t, Config{Curve: curve, Bits: 8})
		must.Fail(t, proofs(other).Verify(context.Background(), executor.Serial(), claim), zkbench.ErrParams, "claim of other parameters, on %s", curve)
	}
	// More tokens than an action has.
	many := &Statement{Outputs: make([]Field, MaxTokens+1)}
	must.FailGet(proofs(pp).Decode(many, Field{}))(t, zkbench.ErrParams, "%d outputs", len(many.Outputs))
}

// offCurve returns the compressed form of an x that no point has.
func offCurve(p *bnParams) []byte {
	enc := make([]byte, p.PointLen())
	enc[0] = 0x80
	var q [1]bn254.G1Affine
	for p.g.DecodePoints(q[:], enc, group.OnCurve) == nil {
		enc[len(enc)-1]++
	}
	return enc
}

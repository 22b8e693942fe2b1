package csp

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/transcript"
)

func cloneProof(p *prf) *prf {
	return &prf{Points: slices.Clone(p.Points), Scalars: slices.Clone(p.Scalars)}
}

// tampered yields proofs of the same shape that differ in one place.
func tampered(proof *prf) iter.Seq2[string, *prf] {
	gen := testBasis().Points[0]
	return func(yield func(string, *prf) bool) {
		for i := range proof.Points {
			for _, tc := range []struct {
				name   string
				change func(q *prf)
			}{
				{"shifted", func(q *prf) { q.Points[i] = addPoints(q.Points[i], gen) }},
				{"negated", func(q *prf) { q.Points[i].Neg(&q.Points[i]) }},
				{"swapped", func(q *prf) {
					j := (i + 1) % len(q.Points)
					q.Points[i], q.Points[j] = q.Points[j], q.Points[i]
				}},
			} {
				q := cloneProof(proof)
				tc.change(q)
				if !yield(fmt.Sprintf("point=%d/%s", i, tc.name), q) {
					return
				}
			}
		}
		for i := range proof.Scalars {
			for _, tc := range []struct {
				name   string
				change func(s *scalar)
			}{
				{"incremented", func(s *scalar) { one := fr.One(); s.Add(s, &one) }},
				{"negated", func(s *scalar) { s.Neg(s) }},
				{"zeroed", func(s *scalar) { s.SetZero() }},
			} {
				q := cloneProof(proof)
				tc.change(&q.Scalars[i])
				if !yield(fmt.Sprintf("scalar=%d/%s", i, tc.name), q) {
					return
				}
			}
		}
	}
}

func TestTamperedProofs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ bits, stop int }{{8, 2}, {8, 100}, {64, 0}} {
		p := newProtocol(t, tc.bits, tc.stop)
		name := fmt.Sprintf("bits=%d/stop=%d", tc.bits, tc.stop)
		V, proof := prove(t, p, name, 99)
		for what, bad := range tampered(proof) {
			if err := verify(p, name, V, bad); !errors.Is(err, zkbench.ErrProof) {
				t.Errorf("%s/%s: %v, want ErrProof", name, what, err)
			}
		}
	}
}

func TestTamperedStatement(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 8, 4)
	g := group.BN254()
	V, proof := prove(t, p, "one", 10)
	W, other := prove(t, p, "two", 10)
	G, H := p.basis.Points[p.posG], p.basis.Points[p.posH]
	var neg point
	g.NegPoint(&neg, &V)
	for _, tc := range []struct {
		name    string
		p       *proto
		context string
		V       point
		proof   *prf
	}{
		{"V=value+1", p, "one", addPoints(V, G), proof},
		{"V=blinding+1", p, "one", addPoints(V, H), proof},
		{"V=negated", p, "one", neg, proof},
		{"V=identity", p, "one", point{}, proof},
		{"V=other", p, "one", W, proof},
		{"proof=other", p, "one", V, other},
		{"context=other", p, "two", V, proof},
		{"bits=7", newProtocol(t, 7, 4), "one", V, proof},
		{"bits=9", newProtocol(t, 9, 4), "one", V, proof},
		{"stop=3", newProtocol(t, 8, 3), "one", V, proof},
		{"stop=5", newProtocol(t, 8, 5), "one", V, proof},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := verify(tc.p, tc.context, tc.V, tc.proof); !errors.Is(err, zkbench.ErrProof) {
				t.Errorf("%v, want ErrProof", err)
			}
		})
	}
}

func TestMalformedProofs(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 8, 4)
	V, proof := prove(t, p, "malformed", 10)
	identity := cloneProof(proof)
	identity.Points[3] = point{}
	for _, tc := range []struct {
		name  string
		V     []point
		proof *prf
		want  error
	}{
		{"proof=nil", []point{V}, nil, zkbench.ErrProof},
		{"proof=empty", []point{V}, &prf{}, zkbench.ErrProof},
		{"points=short", []point{V}, &prf{Points: proof.Points[1:], Scalars: proof.Scalars}, zkbench.ErrProof},
		{"points=long", []point{V}, &prf{Points: append(slices.Clip(proof.Points), V), Scalars: proof.Scalars}, zkbench.ErrProof},
		{"scalars=short", []point{V}, &prf{Points: proof.Points, Scalars: proof.Scalars[1:]}, zkbench.ErrProof},
		{"scalars=long", []point{V}, &prf{Points: proof.Points, Scalars: append(slices.Clip(proof.Scalars), fr.One())}, zkbench.ErrProof},
		{"points=identity", []point{V}, identity, zkbench.ErrProof},
		{"commitments=0", nil, proof, zkbench.ErrParams},
		{"commitments=2", []point{V, V}, proof, zkbench.ErrParams},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := start(p, "malformed")
			if _, err := p.Replay(&tr, tc.V, tc.proof); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
}

// Every message changes every challenge that follows it, none that precedes it,
// and the final state, so that nothing that enters an equation is unbound.
func TestEveryMessageIsBound(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 4, 3)
	V, proof := prove(t, p, "bound", 9)
	replay := func(V point, proof *prf) ([]scalar, [transcript.StateLen]byte) {
		tr := start(p, "bound")
		eq := must.Get(p.Replay(&tr, []point{V}, proof))(t)
		ch := eq.(*equation[scalar, point]).ch
		return append([]scalar{ch.link, ch.x, ch.theta, ch.c, ch.kappa}, ch.xi...), tr.State()
	}
	base, baseState := replay(V, proof)
	test := func(name string, before int, V point, proof *prf) {
		t.Helper()
		got, state := replay(V, proof)
		for i := range got {
			if same := got[i].Equal(&base[i]); same != (i < before) {
				t.Errorf("%s: challenge %d unchanged: %v, want %v", name, i, same, i < before)
			}
		}
		if state == baseState {
			t.Errorf("%s: final state unchanged", name)
		}
	}
	G := testBasis().Points[0]
	test("V", 0, addPoints(V, G), proof)
	pointBefore := []int{0, 0} // P, M
	for k := range p.rounds() {
		pointBefore = append(pointBefore, 5+k, 5+k)
	}
	for i, before := range pointBefore {
		q := cloneProof(proof)
		q.Points[i] = addPoints(q.Points[i], G)
		test(fmt.Sprintf("point=%d", i), before, V, q)
	}
	scalarBefore := []int{2, 3, 4} // ax, mu, phi
	for i := range proof.Scalars {
		before := len(base)
		if i < headScalars {
			before = scalarBefore[i]
		}
		q := cloneProof(proof)
		q.Scalars[i].Double(&q.Scalars[i])
		test(fmt.Sprintf("scalar=%d", i), before, V, q)
	}
}

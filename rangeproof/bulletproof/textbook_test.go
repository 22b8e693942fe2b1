package bulletproof

import (
	"testing"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/transcript"
)

// This file is the second verifier: the transcript written out, then the
// paper's equations one by one with double-and-add and folded generators. It
// shares no code with the fast one but the group.

// weakTape is the transcript of docs/rangeproofs.md. A verifier that forgot to
// absorb the message skip, or that an extractor rewinds and answers with chosen
// challenges, is a variation of it.
type weakTape struct {
	g      group.Group[scalar, point]
	tr     transcript.Transcript
	skip   string
	chosen map[string]scalar // by label; x_0, x_1, .. for the rounds
}

func (w *weakTape) points(label string, p ...point) {
	if label != w.skip {
		w.tr.Append(label, w.g.AppendPoints(nil, p...))
	}
}

func (w *weakTape) scalars(label string, s ...scalar) {
	if label != w.skip {
		w.tr.Append(label, w.g.AppendScalars(nil, s...))
	}
}

func (w *weakTape) challenge(label, name string) scalar {
	wide := w.tr.Challenge(label)
	if c, ok := w.chosen[name]; ok {
		return c
	}
	return w.g.ScalarFromWide(wide[:])
}

func (w *weakTape) statement(V []point) {
	w.tr.AppendUint64("m", uint64(len(V)))
	w.points("V", V...)
}

// replay returns the challenges of a whole proof.
func (w weakTape) replay(V []point, pf *proof) challenges[scalar] {
	var c challenges[scalar]
	w.statement(V)
	w.points("A", pf.Points[0])
	w.points("S", pf.Points[1])
	c.y = w.challenge("y", "y")
	c.z = w.challenge("z", "z")
	w.points("T1", pf.Points[2])
	w.points("T2", pf.Points[3])
	c.x = w.challenge("x", "x")
	w.scalars("taux", pf.Scalars[0])
	w.scalars("mu", pf.Scalars[1])
	w.scalars("tHat", pf.Scalars[2])
	c.cU = w.challenge("U", "U")
	for i := 4; i < len(pf.Points); i += 2 {
		w.points("L", pf.Points[i])
		w.points("R", pf.Points[i+1])
		c.rounds = append(c.rounds, w.challenge("x_j", roundName(i/2-2)))
	}
	return c
}

func roundName(j int) string { return "x_" + string(rune('0'+j)) }

// slow is arithmetic written as in the paper.
type slow struct{ g group.Group[scalar, point] }

func (s slow) mul(p point, c scalar) (z point) { s.g.MulPoint(&z, &p, &c); return z }

func (s slow) add(ps ...point) (z point) {
	for i := range ps {
		s.g.AddPoints(&z, &z, &ps[i])
	}
	return z
}

func (s slow) neg(p point) (z point) { s.g.NegPoint(&z, &p); return z }

func (s slow) sum(c []scalar, p []point) (z point) {
	for i := range c {
		z = s.add(z, s.mul(p[i], c[i]))
	}
	return z
}

func times(a, b scalar) (z scalar)    { z.Mul(&a, &b); return z }
func plus(a, b scalar) (z scalar)     { z.Add(&a, &b); return z }
func minus(a, b scalar) (z scalar)    { z.Sub(&a, &b); return z }
func quotient(a, b scalar) (z scalar) { z.Div(&a, &b); return z }
func num(v uint64) (z scalar)         { z.SetUint64(v); return z }

func inner(a, b []scalar) (z scalar) {
	for i := range a {
		z = plus(z, times(a[i], b[i]))
	}
	return z
}

func powers(x scalar, n int) []scalar {
	z := make([]scalar, n)
	for i := range z {
		z[i] = num(1)
		if i > 0 {
			z[i] = times(z[i-1], x)
		}
	}
	return z
}

// public holds the parts of both equations, computed from the challenges.
type public struct {
	slow
	g, h, U point
	G, H    []point // H is H', y^-i·H_i
	yN, w   []scalar
	delta   scalar
}

func newPublic(p *bp, m int, c challenges[scalar]) public {
	pts, N := p.basis.Points, p.cfg.dims(m).N
	pub := public{slow: slow{p.g}, g: pts[p.posValue], h: pts[p.posBlinding], U: pts[p.posU]}
	pub.G = pts[p.posG : p.posG+N]
	pub.yN = powers(c.y, N)
	for i := range N {
		pub.H = append(pub.H, pub.mul(pts[p.posH+i], quotient(num(1), pub.yN[i])))
	}
	pub.w = make([]scalar, N)
	for j, zj := range powers(c.z, m+2)[2:] {
		for i, two := range powers(num(2), p.Bits()) {
			pub.w[j*p.Bits()+i] = times(zj, two)
		}
	}
	one := powers(num(1), N)
	zz := times(c.z, c.z)
	pub.delta = minus(times(minus(c.z, zz), inner(one, pub.yN)), times(c.z, inner(one, pub.w)))
	return pub
}

// vectorCommitment returns the P of the inner-product argument before U is added.
func (pub public) vectorCommitment(pf *proof, c challenges[scalar]) point {
	P := pub.add(pf.Points[0], pub.mul(pf.Points[1], c.x), pub.neg(pub.mul(pub.h, pf.Scalars[1])))
	for i := range pub.G {
		P = pub.add(P, pub.neg(pub.mul(pub.G[i], c.z)),
			pub.mul(pub.H[i], plus(times(c.z, pub.yN[i]), pub.w[i])))
	}
	return P
}

// textbook checks both equations under the challenges c.
func textbook(p *bp, V []point, pf *proof, c challenges[scalar]) bool {
	pub := newPublic(p, len(V), c)
	taux, tHat := pf.Scalars[0], pf.Scalars[2]

	left := pub.add(pub.mul(pub.g, tHat), pub.mul(pub.h, taux))
	right := pub.add(pub.mul(pub.g, pub.delta), pub.mul(pf.Points[2], c.x), pub.mul(pf.Points[3], times(c.x, c.x)))
	for j, zj := range powers(c.z, len(V)+2)[2:] {
		right = pub.add(right, pub.mul(V[j], zj))
	}
	if !p.g.EqualPoints(&left, &right) {
		return false
	}

	P := pub.add(pub.vectorCommitment(pf, c), pub.mul(pub.U, times(c.cU, tHat)))
	G, H := pub.G, pub.H
	for j, x := range c.rounds {
		xInv, h := quotient(num(1), x), len(G)/2
		P = pub.add(P, pub.mul(pf.Points[4+2*j], x), pub.mul(pf.Points[5+2*j], xInv))
		G2, H2 := make([]point, h), make([]point, h)
		for i := range h {
			G2[i] = pub.add(G[i], pub.mul(G[h+i], x))
			H2[i] = pub.add(H[i], pub.mul(H[h+i], xInv))
		}
		G, H = G2, H2
	}
	ab := pf.Scalars[3:]
	a, b := ab[:len(ab)/2], ab[len(ab)/2:]
	want := pub.add(pub.sum(a, G), pub.sum(b, H), pub.mul(pub.U, times(c.cU, inner(a, b))))
	return p.g.EqualPoints(&P, &want)
}

// textbookAccepts runs textbook with the transcript's own challenges.
func textbookAccepts(p *bp, tr transcript.Transcript, V []point, pf *proof) bool {
	return textbook(p, V, pf, weakTape{g: p.g, tr: tr}.replay(V, pf))
}

func TestTextbookVerifierAgrees(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{
		{Bits: 8, MaxCommitments: 1, Stop: 1},
		{Bits: 5, MaxCommitments: 1, Stop: 4},
		{Bits: 3, MaxCommitments: 3, Stop: 2},
	} {
		p := newProtocol(t, cfg)
		st := newStatement(t, p, 7, []uint64{maxValue(cfg.Bits), 0, 2}[:cfg.MaxCommitments]...)
		good := prove(t, p, st)
		check := func(name string, V []point, pf *proof, want bool) {
			t.Helper()
			fast := must.Get(verify(t, p, bound(p, "ctx"), V, pf))(t)
			if slow := textbookAccepts(p, bound(p, "ctx"), V, pf); fast != want || slow != want {
				t.Errorf("bits=%d/m=%d/stop=%d: %s: fast verifier %t, textbook %t, want %t",
					cfg.Bits, cfg.MaxCommitments, cfg.Stop, name, fast, slow, want)
			}
		}
		check("good", st.V, good, true)
		for i := range good.Scalars {
			if i >= 5 && i < len(good.Scalars)-1 {
				continue // one of each vector is enough here; rangeproof's tests alter all
			}
			bad := clone(good)
			bad.Scalars[i] = plus(bad.Scalars[i], num(1))
			check("scalar altered", st.V, bad, false)
		}
		for _, i := range []int{0, 3, len(good.Points) - 1} {
			bad := clone(good)
			p.g.NegPoint(&bad.Points[i], &bad.Points[i])
			check("point negated", st.V, bad, false)
		}
		V := append([]point(nil), st.V...)
		p.g.AddPoints(&V[0], &V[0], &p.basis.Points[p.posValue])
		check("V altered", V, good, false)
	}
}

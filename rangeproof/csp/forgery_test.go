package csp

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// forger starts from the honest moves for the bits of v and lets a cheat change
// the witness vector before it is committed.
func forger(p *proto, v uint64, r scalar, cheat func(w []scalar, pr *prover[scalar, point])) *prover[scalar, point] {
	pr := prepare(p, "forger", v, r)
	if cheat != nil {
		cheat(pr.w, pr)
	}
	return pr
}

// The driver that the forgeries use proves honest statements, so a rejected
// forgery is rejected for its cheat.
func TestDriverIsFaithful(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 8, 4)
	r := randomScalar("driver")
	V := commitTo(p, fr.NewElement(200), r)
	tr := start(p, "driver")
	proof := runTranscript(t, forger(p, 200, r, nil), &tr, V)
	must.Do(t, verify(p, "driver", V, proof))
	ch := chosen(p, "driver")
	if !equationHolds(t, p, V, runWith(t, forger(p, 200, r, nil), ch), ch) {
		t.Error("honest run with chosen challenges rejected")
	}
}

func TestForgedWitnesses(t *testing.T) {
	t.Parallel()
	const bits = 8
	p := newProtocol(t, bits, 4)
	r := randomScalar("forged")
	for _, tc := range []struct {
		name  string
		value uint64 // in V
		cheat func(w []scalar, pr *prover[scalar, point])
	}{
		{"value=256, bits of 0", 256, nil},
		{"value=2^64-1, low bits", 1<<64 - 1, nil},
		{"value=300, bit 2", 300, func(w []scalar, pr *prover[scalar, point]) {
			// 300 = 44 + 2·128 with a(8) = 2 and b as a polynomial would have it.
			w[bits].SetUint64(2)
			p.values.multiply(w, pr.tmp)
		}},
		{"value=300, bit 2, b unchanged", 300, func(w []scalar, _ *prover[scalar, point]) { w[bits].SetUint64(2) }},
		{"value=256, difference in the coefficient of G", 256, func(w []scalar, _ *prover[scalar, point]) {
			w[len(w)-1].SetUint64(256)
			w[len(w)-1].Neg(&w[len(w)-1])
		}},
		{"value=1, b(0) shifted", 1, func(w []scalar, _ *prover[scalar, point]) {
			one := fr.One()
			w[bits+1].Add(&w[bits+1], &one)
		}},
		{"value=1, last b shifted", 1, func(w []scalar, _ *prover[scalar, point]) {
			one := fr.One()
			w[2*bits+1].Add(&w[2*bits+1], &one)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			V := commitTo(p, fr.NewElement(tc.value), r)
			tr := start(p, "forged")
			proof := runTranscript(t, forger(p, tc.value, r, tc.cheat), &tr, V)
			if verify(p, "forged", V, proof) == nil {
				t.Error("accepted")
			}
			if textbook(p, "forged", V, proof) {
				t.Error("accepted by the textbook verifier")
			}
		})
	}
}

// Cheats that pass where one challenge is known beforehand, and only there.
func TestChallengesStopCheats(t *testing.T) {
	t.Parallel()
	const bits = 8
	p := newProtocol(t, bits, 100)
	for _, tc := range []struct {
		name      string
		value     uint64 // in V
		challenge func(ch *challenges[scalar]) *scalar
		cheat     func(w []scalar, pr *prover[scalar, point], guess *scalar)
	}{
		// The excess of a value out of range is hidden in P's coefficient of G:
		// c'·Σ 2^(i-1)·b_i - (p_G + c'·v) = 0 with all bits 0: p_G = -c'·v.
		{
			"link", 256, func(ch *challenges[scalar]) *scalar { return &ch.link },
			func(w []scalar, _ *prover[scalar, point], guess *scalar) {
				excess := fr.NewElement(256)
				w[len(w)-1].Mul(guess, &excess).Neg(&w[len(w)-1])
			},
		},
		// A value of a is no bit, and b(0) makes up for the product that is missing at its node.
		{
			"x", 300, func(ch *challenges[scalar]) *scalar { return &ch.x },
			func(w []scalar, pr *prover[scalar, point], guess *scalar) {
				w[bits].SetUint64(2)
				p.values.multiply(w, pr.tmp)
				form := make([]scalar, p.size)
				if !p.values.lagrange(form, guess, pr.tmp) {
					t.Fatal("guess is a node")
				}
				g := p.basis.Group
				ax, bx := g.InnerProduct(form[:bits+1], w[:bits+1]), g.InnerProduct(form[bits+1:2*bits+2], w[bits+1:2*bits+2])
				var gap scalar
				gap.Square(&ax).Sub(&gap, &ax).Sub(&gap, &bx).Div(&gap, &form[bits+1])
				w[bits+1].Add(&w[bits+1], &gap)
			},
		},
	} {
		r, guess := randomScalar(tc.name), randomScalar("guessed "+tc.name)
		V := commitTo(p, fr.NewElement(tc.value), r)
		for _, known := range []bool{true, false} {
			ch := chosen(p, tc.name)
			if known {
				*tc.challenge(&ch) = guess
			}
			pr := forger(p, tc.value, r, func(w []scalar, pr *prover[scalar, point]) { tc.cheat(w, pr, &guess) })
			golden.Equal(t, fmt.Sprintf("%s known=%v: accepted", tc.name, known), known, equationHolds(t, p, V, runWith(t, pr, ch), ch))
		}
	}
}

// simulate builds a proof for any V without a witness, later messages first:
// the response, then the masks that fit it. It is the zero-knowledge simulator,
// and the forgery of a prover who could choose its messages after the
// challenges.
func simulate(p *proto, name string, V point, ch challenges[scalar]) *prf {
	pr := p.newProver(0, scalar{})
	copy(pr.z, scalars("z/"+name, p.size))
	copy(pr.tmp, scalars("rest/"+name, 3))
	ax, phi, gamma := pr.tmp[0], pr.tmp[1], pr.tmp[2]
	pr.ch = ch
	pr.ch.xi = pr.ch.xi[:0]
	p.values.lagrange(pr.form, &ch.x, pr.tmp)
	mu := pr.maskForm() // L(z), as z stands where the mask does

	var y, one scalar
	one.SetOne()
	y.Sub(&ax, &one).Mul(&y, &ax).Mul(&y, &ch.theta).Add(&y, &ax).Mul(&y, &ch.c)
	mu.Sub(&mu, &y)

	shape := p.Shape(1)
	proof := &prf{Points: make([]point, shape.Points), Scalars: make([]scalar, shape.Scalars)}
	proof.Scalars[scalarAx], proof.Scalars[scalarMu], proof.Scalars[scalarPhi] = ax, mu, phi
	P := mulPoint(p.basis.Points[p.posH], gamma)
	// M = <z, (Gvec, G)> + φ·H - c·(P + c'·V).
	gens := append(append([]point(nil), p.basis.Points[p.posVec:p.posVec+p.size-1]...), p.basis.Points[p.posG])
	M := sum(p.basis.Group, gens, pr.z)
	M = addPoints(M, mulPoint(p.basis.Points[p.posH], phi))
	back := mulPoint(addPoints(P, mulPoint(V, ch.link)), ch.c)
	M = addPoints(M, *back.Neg(&back))
	proof.Points[pointP], proof.Points[pointM] = P, M
	return finish(p, pr, proof, ch)
}

func TestSimulatedProofNeedsTheChallengesFirst(t *testing.T) {
	t.Parallel()
	for _, stop := range []int{3, 100} {
		p := newProtocol(t, 8, stop)
		V := commitTo(p, randomScalar("any value at all"), randomScalar("sim"))
		ch := chosen(p, "sim")
		proof := simulate(p, "sim", V, ch)
		if !equationHolds(t, p, V, proof, ch) {
			t.Errorf("stop=%d: simulated proof rejected under its own challenges", stop)
		}
		if verify(p, "sim", V, proof) == nil {
			t.Errorf("stop=%d: simulated proof of a false statement accepted", stop)
		}
	}
}

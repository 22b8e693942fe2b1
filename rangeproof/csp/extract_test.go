package csp

import (
	"context"
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// finish folds pr.z to the end with the challenges of ch.
func finish(p *proto, pr *prover[scalar, point], proof *prf, ch challenges[scalar]) *prf {
	for k := range p.rounds() {
		if err := pr.cross(context.Background(), executor.Serial(), proof.Points[headPoints+2*k:headPoints+2*k+2]); err != nil {
			panic(err)
		}
		pr.fold(ch.xi[k])
	}
	copy(proof.Scalars[headScalars:], pr.folded())
	return proof
}

// From four accepted transcripts, c rewound twice under each of two link
// challenges, the extractor of docs/rangeproofs.md recovers the witness.
func TestExtractor(t *testing.T) {
	t.Parallel()
	const bits, value = 8, 173
	p := newProtocol(t, bits, 100)
	r := randomScalar("extract r")
	V := commitTo(p, fr.NewElement(value), r)

	// w and γ + c'·r under one link challenge, from two values of c.
	extract := func(link scalar) (w []scalar, h scalar) {
		var z [2][]scalar
		var phi, c [2]scalar
		for i := range 2 {
			ch := chosen(p, "extract")
			ch.link, ch.c = link, scalars("extract c", 2)[i]
			proof := runWith(t, prepare(p, "extract", value, r), ch)
			if !equationHolds(t, p, V, proof, ch) {
				t.Fatal("transcript rejected")
			}
			z[i], phi[i], c[i] = proof.Scalars[headScalars:], proof.Scalars[scalarPhi], ch.c
		}
		var inv scalar
		inv.Sub(&c[0], &c[1]).Inverse(&inv)
		w = make([]scalar, len(z[0]))
		for i := range w {
			w[i].Sub(&z[0][i], &z[1][i]).Mul(&w[i], &inv)
		}
		h.Sub(&phi[0], &phi[1]).Mul(&h, &inv)
		return w, h
	}
	links := scalars("extract link", 2)
	w0, h0 := extract(links[0])
	w1, h1 := extract(links[1])

	golden.Equal(t, "committed values under another link challenge", w0[:2*bits+2], w1[:2*bits+2])
	var inv, gotV, gotR scalar
	inv.Sub(&links[0], &links[1]).Inverse(&inv)
	gotV.Sub(&w0[2*bits+2], &w1[2*bits+2]).Mul(&gotV, &inv)
	gotR.Sub(&h0, &h1).Mul(&gotR, &inv)
	if want := fr.NewElement(value); !gotV.Equal(&want) || !gotR.Equal(&r) {
		t.Errorf("extracted value %v and blinding %v, want %v and %v", gotV, gotR, value, r)
	}
	for i := range bits {
		if want := fr.NewElement(value >> i & 1); !w0[i+1].Equal(&want) {
			t.Errorf("bit %d extracted as %v, want %v", i, w0[i+1], want)
		}
	}
	// The opening is one of V and of P.
	if got := commitTo(p, gotV, gotR); got != V {
		t.Error("extracted value and blinding do not open V")
	}
}

// From three values of ξ in one round the vector before the round is recovered,
// at even and odd lengths.
func TestExtractorOfOneRound(t *testing.T) {
	t.Parallel()
	const bits = 8 // vector of 19, then 10, then 5
	for _, stop := range []int{10, 5} {
		p := newProtocol(t, bits, stop)
		r := randomScalar("round r")
		V := commitTo(p, fr.NewElement(7), r)
		last := p.rounds() - 1
		l, h := p.lens[last], p.lens[last+1]

		var z [3][]scalar
		xi := scalars("round xi", 3)
		for j := range xi {
			ch := chosen(p, "round")
			ch.xi[last] = xi[j]
			proof := runWith(t, prepare(p, "round", 7, r), ch)
			if !equationHolds(t, p, V, proof, ch) {
				t.Fatal("transcript rejected")
			}
			z[j] = proof.Scalars[headScalars:]
		}
		// λ with Σ λ_j·ξ_j^k = 1 for k = 1, 0 for k = 0 and 2: the middle
		// coefficient of interpolation.
		var lambda [3]scalar
		for j := range lambda {
			a, b := &xi[(j+1)%3], &xi[(j+2)%3]
			var den, d scalar
			den.Sub(&xi[j], a).Mul(&den, d.Sub(&xi[j], b))
			lambda[j].Add(a, b).Neg(&lambda[j]).Div(&lambda[j], &den)
		}
		got := make([]scalar, 2*h)
		for j := range lambda {
			var lx scalar
			lx.Mul(&lambda[j], &xi[j])
			for i := range h {
				var term scalar
				got[i].Add(&got[i], term.Mul(&lx, &z[j][i]))
				got[h+i].Add(&got[h+i], term.Mul(&lambda[j], &z[j][i]))
			}
		}

		// The vector before the round, from a run that stops there.
		before := newProtocol(t, bits, l)
		want := runWith(t, prepare(before, "round", 7, r), chosen(p, "round"))
		golden.Equal(t, fmt.Sprintf("length=%d: extracted vector", l), want.Scalars[headScalars:], got[:l])
	}
}

package csp

import (
	"errors"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/rangeproof"
)

func TestDefaultStop(t *testing.T) {
	t.Parallel()
	if got := newProtocol(t, 8, 0).Stop(); got != DefaultStop {
		t.Errorf("default stop %d, want %d", got, DefaultStop)
	}
}

// Errors of the equations of two proofs do not make up for each other.
func TestEquationsAreWeightedApart(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 8, 4)
	var eqs [2]rangeproof.Equations[scalar, point]
	for i, name := range []string{"one", "two"} {
		V, proof := prove(t, p, name, 40)
		tr := start(p, name)
		eqs[i] = must.Get(p.Replay(&tr, []point{V}, proof))(t)
	}
	must.Do(t, check(p, nil, eqs[:]...))
	one := fr.One()
	more, less := &eqs[0].(*equation[scalar, point]).coefK, &eqs[1].(*equation[scalar, point]).coefK
	more.Add(more, &one)
	less.Sub(less, &one)
	if check(p, nil, eqs[:]...) == nil {
		t.Error("opposite errors of two proofs cancel")
	}
}

// A node as evaluation point would reveal a bit: both sides refuse it.
func TestNodesAreRefused(t *testing.T) {
	t.Parallel()
	const bits = 5
	p := newProtocol(t, bits, 4)
	V, proof := prove(t, p, "node", 21)
	for x := range uint64(2*bits + 2) {
		want := x <= 2*bits
		pr := prepare(p, "node", 21, randomScalar("node"))
		pr.ch.x = fr.NewElement(x)
		if _, err := pr.evaluate(); errors.Is(err, zkbench.ErrProof) != want {
			t.Errorf("x=%d: prover: %v, want refused=%v", x, err, want)
		}
		e := p.newEquation(V, proof)
		e.ch = chosen(p, "node")
		e.ch.x = fr.NewElement(x)
		if err := e.collect(); errors.Is(err, zkbench.ErrProof) != want {
			t.Errorf("x=%d: verifier: %v, want refused=%v", x, err, want)
		}
	}
}

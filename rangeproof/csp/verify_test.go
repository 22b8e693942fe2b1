package csp

import (
	"errors"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
)

func TestDefaultStop(t *testing.T) {
	t.Parallel()
	golden.Equal(t, "default stop", DefaultStop, newProtocol(t, 8, 0).Stop())
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

// nodeGroup reduces one wide number to 1, which is a node, when left others have been reduced.
type nodeGroup struct {
	group.Group[scalar, point]
	left *int
}

func (z nodeGroup) ScalarFromWide(wide []byte) scalar {
	*z.left--
	if *z.left == -1 {
		return fr.One()
	}
	return z.Group.ScalarFromWide(wide)
}

// TestChallengeIsANode: a transcript that leads to a node has no proof, and no proof holds for it.
func TestChallengeIsANode(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, 5, 4)
	V, proof := prove(t, p, "node", 21)
	basis, left := *testBasis(), new(int)
	basis.Group = nodeGroup{basis.Group, left}
	q := must.Get(New(&basis, Config{Bits: 5, Stop: 4}))(t)
	proveAt := func(n int) (*prf, error) {
		*left = n
		tr := start(p, "node")
		return q.Prove(t.Context(), executor.Serial(), &tr, []point{V}, witnessOf(21, randomScalar("node")), nonces("node"))
	}
	replayAt := func(n int) error {
		*left = n
		tr := start(p, "node")
		_, err := q.Replay(&tr, []point{V}, proof)
		return err
	}
	const never, x = 1 << 20, 1 // of Replay's challenges x is the second
	must.Get(proveAt(never))(t)
	drawn := never - *left // nonces, then as many challenges as of Replay
	must.Do(t, replayAt(never))
	drawn -= never - *left
	if pf, err := proveAt(drawn + x); pf != nil || !errors.Is(err, zkbench.ErrProof) {
		t.Errorf("prover: %v, %v", pf, err)
	}
	must.Fail(t, replayAt(x), zkbench.ErrProof, "verifier")
}

package token

import (
	"context"
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// replayClaim decodes a proof, lets change spoil it, and replays its transcript.
func replayClaim(t *testing.T, p *bnParams, st *Statement, proof []byte, change func(c *claim[scalar, point])) (*claim[scalar, point], *replayed[scalar, point], *rangeproof.Replayed[scalar, point]) {
	t.Helper()
	c := must.Get(p.Decode(st, Field{Bytes: proof}))(t).(*claim[scalar, point])
	change(c)
	r, item := &replayed[scalar, point]{claim: c}, new(rangeproof.Replayed[scalar, point])
	if err := c.replay(context.Background(), executor.Serial(), r, item); err != nil || item.Err != nil {
		t.Fatal(err, item.Err)
	}
	return c, r, item
}

// TestInflation: were the inputs' and the sum's equations weighted alike, an
// inputs' response that is off by c·199 on G would make up for outputs that are
// worth 199 more than the input.
func TestInflation(t *testing.T) {
	p := newBN(t, Config{Bits: 8})
	e := newExample(t, p, "inflate", []uint64{1}, []uint64{200})
	proof := must.Get(p.prove(context.Background(), executor.Serial(), &e.st, &e.w))(t)
	c, r, _ := replayClaim(t, p, &e.st, proof, func(*claim[scalar, point]) {})
	off := p.g.ScalarFromUint64(199)
	off.Mul(&off, &r.ts.c)
	c.scalars[2].Sub(&c.scalars[2], &off)
	must.Fail(t, p.Verify(context.Background(), executor.Serial(), c), zkbench.ErrProof, "1 in, 200 out")
}

// TestEquationsAreWeightedApart: errors of two equations that cancel where both
// have one weight.
func TestEquationsAreWeightedApart(t *testing.T) {
	p := newBN(t, Config{Bits: 8})
	e := newExample(t, p, "apart", []uint64{9}, []uint64{9}) // no range proof: nothing follows the responses
	proof := e.prove(t, p)
	one := fr.One()
	for _, pair := range [][2]int{{1, 3}, {1, 4}, {3, 4}} { // responses on H
		c, _, _ := replayClaim(t, p, &e.st, proof, func(c *claim[scalar, point]) {
			c.scalars[pair[0]].Add(&c.scalars[pair[0]], &one)
			c.scalars[pair[1]].Sub(&c.scalars[pair[1]], &one)
		})
		must.Fail(t, p.Verify(context.Background(), executor.Serial(), c), zkbench.ErrProof, "responses %v off by +1 and -1", pair)
	}
}

// TestEveryElementIsInTheState: the state that weights are drawn from depends on
// every element of the proof, the last ones of the forks too.
func TestEveryElementIsInTheState(t *testing.T) {
	for _, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 4, ProofType: proofType})
		e := newExample(t, p, "state", []uint64{9, 4}, []uint64{1, 10, 2})
		proof := e.prove(t, p)
		seen := make(map[[transcript.StateLen]byte]string)
		note := func(name string, change func(c *claim[scalar, point])) {
			_, _, item := replayClaim(t, p, &e.st, proof, change)
			if other, dup := seen[item.State]; dup {
				t.Errorf("proof=%s: %s ends in the state of %s", proofType, name, other)
			}
			seen[item.State] = name
		}
		note("the good proof", func(*claim[scalar, point]) {})
		l := p.layout(2, 3)
		for i := range l.points {
			note(fmt.Sprint("point ", i), func(c *claim[scalar, point]) { c.points[i].Neg(&c.points[i]) })
		}
		for i := range l.scalars {
			note(fmt.Sprint("scalar ", i), func(c *claim[scalar, point]) { c.scalars[i].Neg(&c.scalars[i]) })
		}
	}
}

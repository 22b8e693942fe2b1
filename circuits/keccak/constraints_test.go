package keccak

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/forgery"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// TestConstraints holds each statement of the circuits by a forgery: the digest is the one that the
// false message, or the false length, leads to.
func TestConstraints(t *testing.T) {
	testsize.Full(t)
	message := make([]byte, 100)
	for i := range message {
		message[i] = byte(i * 37)
	}
	message[20] = 0
	digest := hash.Sum256(message)
	matrix := func(name string, c Circuit, forgeries map[string]circuittest.Forgery) *circuittest.Matrix {
		other := digest
		other[0] ^= 1
		forgeries["assertDigest/equal"] = circuittest.Forgery{Assignment: must.Get(c.Assign(message, other))(t)}
		return &circuittest.Matrix{
			Name: name, Circuit: c, Honest: must.Get(c.Assign(message, digest))(t), Builders: []string{"scs"},
			Forgeries: forgeries, Output: "assertDigest/equal", WithResult: withDigest,
		}
	}

	fixed := must.Get(NewFixed(len(message), hash.Keccak256))(t)
	bit := must.Get(fixed.Assign(message, digest))(t).(*Fixed)
	bit.Message[3] = 2
	all := matrix("fixed", fixed, map[string]circuittest.Forgery{"Define/boolean": {Assignment: bit}}).Constraints(t)

	variable := must.Get(NewVariable(1, hash.Keccak256))(t)
	of := func(change func(a *Variable), opts ...circuittest.Option) circuittest.Forgery {
		a := must.Get(variable.Assign(message, digest))(t).(*Variable)
		change(a)
		return circuittest.Forgery{Assignment: a, Options: opts}
	}
	afterEnd := func(a *Variable) { a.Message[8*120] = 1 }
	all = append(all, matrix("variable", variable, map[string]circuittest.Forgery{
		// A message that ends in its byte 20, goes on from byte 21 and ends again.
		"Define/boolean": of(func(a *Variable) { a.Length[20], a.Length[21] = 1, -1 }),
		// Without a length every message has the digest 0.
		"Define/equal":     of(func(a *Variable) { a.Length[len(message)] = 0 }),
		"Define/boolean 2": of(func(a *Variable) { a.Message[3] = 2 }),
		"Define/equal 2":   of(afterEnd),
		// The product of a bit and whether the message has ended.
		"Define/product": of(afterEnd, circuittest.Change(circuittest.Free, func(_, out []*big.Int) { out[0].SetUint64(0) })),
	}).Constraints(t)...)
	forgery.Check(t, "circuits/keccak", all)
}

// withDigest is an assignment with another digest.
func withDigest(a frontend.Circuit, result []*big.Int) frontend.Circuit {
	halves := [2]frontend.Variable{result[0], result[1]}
	switch a := a.(type) {
	case *Fixed:
		c := *a
		c.Digest = halves
		return &c
	case *Variable:
		c := *a
		c.Digest = halves
		return &c
	}
	return a
}

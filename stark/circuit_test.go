package stark_test

import (
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/internal/circuit"
)

// circuitSystems are those whose verifiers have circuits, each with a proof.
func circuitSystems(t *testing.T) (all []circuitSystem) {
	for _, stack := range []int{0, 1, 3} {
		s := must.Get(stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: small(2, stack)}, squares(), walk()))(t)
		traces, about := traces(16, 0)
		about.Context = []byte("context")
		proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, stark.Options{}))(t)
		all = append(all, circuitSystem{s, []int{traces[0].Rows, traces[1].Rows}, proof, about})
	}
	return all
}

type circuitSystem struct {
	*stark.System
	rows  []int
	proof []byte
	about stark.Statement
}

// TestCircuit: the program is the same without a proof and with any, and accepts what the verifier does: good
// proofs, and none of which a byte is another.
func TestCircuit(t *testing.T) {
	t.Parallel()
	for _, s := range circuitSystems(t) {
		form, good := circuit.New(), circuit.New()
		like := must.Get(s.Circuit(form, s.rows, nil, s.about))(t)
		cells := must.Get(s.Circuit(good, s.rows, s.proof, s.about))(t)
		must.Do(t, good.Err())
		golden.Equal(t, "cells of the statement", like, cells)
		same := func(name string, b *circuit.Builder) {
			t.Helper()
			if !slices.Equal(form.Rows, b.Rows) || !slices.Equal(form.Permutations, b.Permutations) || len(form.Values) != len(b.Values) {
				t.Errorf("%s: another program", name)
			}
		}
		same("a good proof", good)
		step := testsize.Pick(1499, 41, 1)
		for at := step % 5; at < len(s.proof); at += step {
			bad := slices.Clone(s.proof)
			bad[at] ^= 1 << (at % 8)
			b := circuit.New()
			_, err := s.Circuit(b, s.rows, bad, s.about)
			verified := s.Verify(bad, s.about)
			if verified == nil || err == nil && b.Err() == nil {
				t.Errorf("byte %d: verified %v, in the circuit %v, %v", at, verified, err, b.Err())
			}
			if err == nil {
				same("a bad proof", b)
			}
		}
	}
}

// TestCircuitStatement: the circuit takes a statement's numbers from the cells that it returns, and rejects another's.
func TestCircuitStatement(t *testing.T) {
	t.Parallel()
	for _, s := range circuitSystems(t) {
		for name, change := range map[string]func(a *stark.Statement){
			"a public value": func(a *stark.Statement) { a.Publics[1]++ },
			"the context":    func(a *stark.Statement) { a.Context[3] ^= 1 },
			"its length":     func(a *stark.Statement) { a.Context = append(a.Context, 0) },
		} {
			about := s.about
			about.Publics, about.Context = slices.Clone(about.Publics), slices.Clone(about.Context)
			change(&about)
			b := circuit.New()
			if _, err := s.Circuit(b, s.rows, s.proof, about); err == nil {
				must.Fail(t, b.Err(), zkbench.ErrProof, "%s", name)
			}
		}
	}
}

// TestCircuitRefused: of other systems there is no circuit.
func TestCircuitRefused(t *testing.T) {
	t.Parallel()
	hidden := small(2, 1)
	hidden.ZeroKnowledge = true
	for name, c := range map[string]stark.Config{
		"Keccak":              {Field: stark.Goldilocks, Hash: stark.Keccak, Set: small(2, 1)},
		"the cubic extension": {Field: stark.Goldilocks, Hash: stark.Poseidon, Set: small(3, 1)},
		"another field":       {Field: stark.KoalaBear, Hash: stark.Keccak, Set: small(4, 1)},
		"zero knowledge":      {Field: stark.Goldilocks, Hash: stark.Poseidon, Set: hidden},
	} {
		s := must.Get(stark.New(c, squares(), walk()))(t)
		_, about := traces(16, 0)
		_, err := s.Circuit(circuit.New(), []int{16, 16}, nil, about)
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
	}
}

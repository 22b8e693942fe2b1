package stark

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// TestCircuitFolds: a prover who goes on with another word than what is folded, from any layer on, is seen by the program
// as by the verifier: the word is a polynomial, its leaves lead to the cap, and what is wrong is one number.
func TestCircuitFolds(t *testing.T) {
	t.Parallel()
	set := smallSet(2)
	set.Queries, set.LogFold, set.LogFinal = 2, 2, 1
	s := must.Get(New(Config{Goldilocks, Poseidon, set}, fixedTables(nil)...))(t)
	y := s.engine.(*system[cell, ext.Quadratic])
	traces, about := fixedTraces(nil)
	layers := len(must.Get(s.layoutOf([]int{stepRows, cellRows}))(t).folds)
	for at := range layers + 2 {
		for coordinate := range 2 {
			p := must.Get(y.prover(t.Context(), executor.Serial(), s.statement, traces, about, Options{}))(t)
			for _, step := range []func() error{p.commitColumns, p.sums, p.quotients, p.open} {
				must.Do(t, step())
			}
			must.Do(t, foldOther(p, at, coordinate))
			must.Do(t, p.queries())
			proof := p.encode()
			b := circuit.New(2)
			must.Get(s.Circuit(b, []int{stepRows, cellRows}, proof, about))(t)
			says := fmt.Sprintf("layer %d has another value than what is folded into it", at)
			if at == layers {
				says = "the last polynomial has another value"
			}
			for where, err := range map[string]error{"verified": s.Verify(proof, about), "in the circuit": b.Err()} {
				if at > layers {
					must.Do(t, err, where)
					continue
				}
				must.Fail(t, err, zkbench.ErrProof, "layer %d, %s", at, where)
				if err != nil {
					golden.Contains(t, err.Error(), says)
				}
			}
		}
	}
}

// foldOther folds the word of all, to which 1 is added in a coordinate in one layer: behind the last one is what is sent.
func foldOther(p *prover[cell, ext.Quadratic], at, coordinate int) error {
	word, err := p.batched()
	if err != nil {
		return err
	}
	f, size := p.proximity.(*friProver[cell, ext.Quadratic]), p.layout.size
	for i := 0; ; i++ {
		if i == at {
			for _, coset := range word {
				for j, x := range coset[coordinate] {
					coset[coordinate][j] = x.Add(1)
				}
			}
		}
		if i == len(p.layout.folds) {
			break
		}
		fold := p.layout.folds[i]
		if err := f.commitLayer(layer[cell]{word: word, size: size, fold: fold}); err != nil {
			return err
		}
		for range fold {
			r := f.challenger.Challenge("fold", false)
			next := make([]field.Vector[cell], len(word))
			for c := range word {
				next[c] = f.half(word[c], c, size, r)
			}
			word = next
			size--
		}
	}
	if err := f.last(word[0], size); err != nil {
		return err
	}
	f.sendFinal()
	return nil
}

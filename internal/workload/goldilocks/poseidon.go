package goldilocks

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/hwcounter"
	"github.com/zkbench/zkbench/internal/workload"
)

// PoseidonPermutation returns the workload that applies Poseidon's permutation to many states.
func PoseidonPermutation() workload.Def {
	states := workload.IntAxis(workload.Axis{Name: "states", Usage: "numbers of states that are permuted together", Smoke: "1024"}, 1, 1<<20, 1024)
	return workload.Def{
		Name: "PoseidonPermutation", Noun: "permuting states with Poseidon", Doc: "apply Poseidon's permutation of width 12 to a copy of many states; the time is for all states",
		Axes: []workload.Axis{states, kernelAxis()},
		Memory: func(c workload.Case) (workload.Memory, error) {
			n, err := states.Int(c)
			all := uint64(n) * poseidon.Width * elementBytes
			return workload.Memory{Base: 2 * all, Input: all, Operation: 2 * all}, err
		},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			n, err := states.Int(c)
			if err != nil {
				return nil, err
			}
			s, err := settingOf(ctx, c, seed)
			return &permutation{setting: s, states: n}, err
		},
	}
}

type permutation struct {
	setting
	states  int
	buffers scratch[poseidon.State]
}

func (p *permutation) Input(_ context.Context, seq uint64) (any, error) {
	flat := corpus(p.seed, seq, p.states*poseidon.Width)
	states := make([]poseidon.State, p.states)
	for i := range states {
		states[i] = poseidon.State(flat[i*poseidon.Width:])
	}
	return states, nil
}

// Run permutes a copy of its input, and returns a fold of the results.
func (p *permutation) Run(_ context.Context, input any) ([]byte, error) {
	states := p.buffers.copyOf(input.([]poseidon.State))
	defer p.buffers.put(states)
	poseidon.PermuteAll(*states, p.kernel)
	return foldStates(*states), nil
}

// foldStates returns the exclusive or of the states.
func foldStates(states []poseidon.State) []byte {
	var x poseidon.State
	for i := range states {
		for j := range x {
			x[j] ^= states[i][j]
		}
	}
	return appendElements(nil, x[:])
}

// Check permutes the states one after the other.
func (p *permutation) Check(_ context.Context, input any, output []byte) error {
	states := slices.Clone(input.([]poseidon.State))
	for i := range states {
		states[i].Permute()
	}
	if !slices.Equal(output, foldStates(states)) {
		return fmt.Errorf("%d permutations on %v are wrong", p.states, p.kernel)
	}
	return nil
}

func (p *permutation) Metrics(ctx context.Context) ([]record.Metric, error) {
	counters, err := hwcounter.Counters(ctx, p)
	return append([]record.Metric{record.Permutations.Metric(float64(p.states))}, counters...), err
}

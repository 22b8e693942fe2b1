// Package circuit measures circuits of gnark with everything that package bench has: stage by
// stage, under load, for timing leaks, and PLONK against Groth16 on the same circuit.
package circuit

import (
	"fmt"
	"math/rand/v2"

	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/bench"
	"github.com/zkbench/zkbench/bench/internal/convert"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
)

// Circuit is the workload of a circuit over BN254's scalars. Beside its own axes, which may be
// none, it has system (plonk, groth16) and stage: what an operation is, prove or verify or one of the
// others.
//
// circuit returns the circuit of a case, to be built. assign returns an assignment that satisfies
// it, drawn from a stream of random bytes and nothing else; the public inputs of two streams
// differ, or that a proof is refused for others cannot be checked.
//
// The reference string of plonk is insecure, made of the seed, unless --srs names a file; keys and
// proofs are for measuring.
func Circuit(name string, axes []bench.Axis, circuit func(c bench.Case) (frontend.Circuit, error),
	assign func(c bench.Case, random *rand.ChaCha8) (frontend.Circuit, error),
) bench.Def {
	inner, err := convert.Axes(axes)
	if err == nil && (circuit == nil || assign == nil) {
		err = fmt.Errorf("%w: circuit or assign is nil; accepted: functions", zkbench.ErrParams)
	}
	return convert.Def(circuits.Foreign{
		Name: name, Doc: fmt.Sprintf("a proof of the circuit %s", name), Axes: inner,
		Circuit: func(c workload.Case) (frontend.Circuit, error) {
			built, err := circuit(outer(c))
			if err == nil && built == nil {
				err = fmt.Errorf("%w: %s: no circuit", zkbench.ErrParams, name)
			}
			return built, err
		},
		Assign: func(c workload.Case, seed, seq uint64) (frontend.Circuit, error) {
			return assign(outer(c), workload.Random(seed, seq))
		},
	}.Def(), err).(bench.Def)
}

// outer is a case as package bench has it.
func outer(c workload.Case) bench.Case { return convert.Case(c).(bench.Case) }

// Package circuit measures gnark circuits with all the tools of package bench. These tools time a
// circuit stage by stage and under load, look for timing leaks, and compare PLONK with Groth16 on
// the same circuit.
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

// Circuit returns a workload that measures a circuit over BN254's scalar field. Besides the given
// axes, of which there may be none, the workload has two axes. The axis named system has the values
// plonk and groth16. The axis named stage has the operations that can be timed, for example prove
// and verify.
//
// The function circuit must return the circuit of a case; this package compiles it. The function assign
// must return an assignment that satisfies the circuit. It must draw only from the given stream of random
// bytes. Different streams must give different public inputs; otherwise the workload cannot check that a
// proof is rejected for other public inputs.
//
// PLONK needs a reference string. The workload reads it from the file that the flag --srs names. Without
// this flag, the workload makes the string from the seed (flag --seed), which is insecure. Use the keys
// and proofs for measurement only.
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

// outer converts a case to that of package bench.
func outer(c workload.Case) bench.Case { return convert.Case(c).(bench.Case) }

// Package circuits defines the workloads with circuits, from arithmetic gates to pairings. The circuits are
// proved with gnark's proof systems and with this module's own. Each stage is measured by itself.
package circuits

import (
	"context"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Defs returns all workloads of the package.
func Defs() []workload.Def {
	return []workload.Def{Gates(), Pedersen(), Keccak(), Pairing(), MSM(), FFT()}
}

// The stages, in their order. Making both keys is one stage, because gnark does it in one call.
const (
	stageBuild   = "build"
	stageSRS     = "srs"
	stageKeys    = "keys"
	stageWitness = "witness"
	stageProve   = "prove"
	stageVerify  = "verify"
)

// Stages returns the stages that a workload can measure as its operation. The stage "srs" is not one of them.
func Stages() []string {
	return []string{stageProve, stageVerify, stageBuild, stageKeys, stageWitness}
}

// needsKeys reports whether an operation of the stage needs keys, and so a reference string. With an
// empty name, which stands for all stages together, it returns true.
func needsKeys(stage string) bool { return stage != stageBuild && stage != stageWitness }

// stageAxis returns the axis of stages. Its small case is smoke, which must end within the window of a
// smoke test.
func stageAxis(smoke string) workload.Axis {
	a := workload.NameAxis(workload.Axis{Name: "stage", Key: record.StageKey, Usage: "stages to measure"}, Stages(), []string{stageProve, stageVerify})
	a.Smoke = smoke
	return a
}

// task is a circuit and its prover, before anything is built.
type task struct {
	prover   prover
	estimate estimate
}

// define returns a workload with a circuit. The axes sizes give the circuit's size, and the axes of the offers
// the system that proves it. A load test runs the stage smoke unless another is given.
func define(name, noun, doc, smoke string, sizes []workload.Axis, choices offers, newTask func(c workload.Case, seed uint64) (task, error)) workload.Def {
	readyTask := func(c workload.Case, seed uint64) (task, error) {
		resolved, err := choices.resolve(c)
		if err != nil {
			return task{}, err
		}
		t, err := newTask(resolved[0], seed)
		if err != nil {
			return task{}, err
		}
		return t, t.estimate.fits(t.prover.needsReference())
	}
	ready := func(c workload.Case, seed uint64) (prover, error) {
		t, err := readyTask(c, seed)
		return t.prover, err
	}
	return workload.Def{
		Name: name, Noun: noun, Doc: doc, Axes: append(append(sizes, choices.axes()...), stageAxis(smoke)), Resolve: choices.resolve,
		Properties: func(c workload.Case) record.Properties {
			if implOf(c) == implGnark {
				return gnarkProperties(c.Get("system"))
			}
			return record.Properties{ZeroKnowledge: record.Yes, Setup: record.SetupUniversal, Audited: record.No}
		},
		SRS: func(c workload.Case) bool {
			return c.Get("system") != systemGroth16 && needsKeys(c.Get(record.StageKey))
		},
		Memory: func(c workload.Case) (workload.Memory, error) {
			t, err := readyTask(c, 0)
			return t.estimate.load(c.Get(record.StageKey)), err
		},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			p, err := ready(c, seed)
			if err != nil {
				return nil, err
			}
			return newInstance(ctx, p, c.Get(record.StageKey))
		},
		Stages: func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
			p, err := ready(c, seed)
			if err != nil {
				return workload.Staged{}, err
			}
			return goThrough(ctx, p, r)
		},
	}
}

// figures holds the metrics that are known of a case before its circuit is built.
type figures []record.Metric

func (f figures) exact() []record.Metric { return f }

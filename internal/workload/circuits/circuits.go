// Package circuits defines the workloads of circuits, on gnark's proof systems and on our own: from
// small gates to pairings, stage by stage.
package circuits

import (
	"context"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Defs returns the workloads.
func Defs() []workload.Def {
	return []workload.Def{Gates(), Pedersen(), Keccak(), Pairing(), MSM(), FFT()}
}

// The stages, in their order. gnark makes both keys in one call, and so they are one stage.
const (
	stageBuild   = "build"
	stageSRS     = "srs"
	stageKeys    = "keys"
	stageWitness = "witness"
	stageProve   = "prove"
	stageVerify  = "verify"
)

// Stages are the stages that an operation can be.
func Stages() []string {
	return []string{stageProve, stageVerify, stageBuild, stageKeys, stageWitness}
}

// needsKeys tells whether an operation of the stage needs keys, and so a reference string; as
// do all stages together, which have no name.
func needsKeys(stage string) bool { return stage != stageBuild && stage != stageWitness }

// stageAxis has as its small case one that ends within a smoke test's window.
func stageAxis(smoke string) workload.Axis {
	a := workload.NameAxis(workload.Axis{Name: "stage", Key: record.StageKey, Usage: "stages that an operation is"}, Stages(), []string{stageProve, stageVerify})
	a.Smoke = smoke
	return a
}

// task is a circuit with what proves it, before anything is built.
type task struct {
	prover   prover
	estimate estimate
}

// define makes a workload of circuits whose size the axes give, of what the axes of the offers
// choose. A load test does the stage smoke unless it is told another.
func define(name, doc, smoke string, sizes []workload.Axis, of offers, newTask func(c workload.Case, seed uint64) (task, error)) workload.Def {
	readyTask := func(c workload.Case, seed uint64) (task, error) {
		resolved, err := of.resolve(c)
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
		Name: name, Doc: doc, Axes: append(append(sizes, of.axes()...), stageAxis(smoke)), Resolve: of.resolve,
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

// figures are metrics that a prover's case has before it is built.
type figures []record.Metric

func (f figures) exact() []record.Metric { return f }

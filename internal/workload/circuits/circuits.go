// Package circuits defines the workloads on gnark's proof systems: circuits from small
// gates to pairings, stage by stage.
package circuits

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/witness"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/memory"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/stage"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/srs"
)

// Defs returns the workloads.
func Defs() []workload.Def {
	return []workload.Def{Gates(), Pedersen(), Keccak(), Pairing(), MSM(), FFT()}
}

// The stages, in their order. gnark makes both keys in one call, so they are one stage.
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
	a := workload.NameAxis(workload.Axis{Name: "stage", Key: workload.StageKey, Usage: "stages that an operation is"}, Stages(), []string{stageProve, stageVerify})
	a.Smoke = smoke
	return a
}

func systemAxis() workload.Axis {
	return workload.NameAxis(workload.Axis{Name: "proof system", Key: "system", Flag: "system", Usage: "proof systems"}, []string{systemPlonk, systemGroth16}, []string{systemPlonk})
}

// estimate is what a circuit will be, as far as it is known before it is built.
type estimate struct {
	constraints int
	// largest tells, for a size that does not fit so many bytes, the one that does.
	largest func(bytes int64) string
}

// define makes a workload of circuits whose size the axes give. A load test does the stage
// smoke unless it is told another.
func define(name, doc, smoke string, sizes []workload.Axis, newTask func(c workload.Case, seed uint64) (task, estimate, error)) workload.Def {
	build := func(c workload.Case, seed uint64) (*prover, error) {
		t, e, err := newTask(c, seed)
		if err != nil {
			return nil, err
		}
		p := &prover{task: t, system: c.Get("system"), seed: seed}
		return p, e.fits(p.system)
	}
	return workload.Def{
		Name: name, Doc: doc, Axes: append(sizes, systemAxis(), stageAxis(smoke)),
		SRS: func(c workload.Case) bool {
			return c.Get("system") == systemPlonk && needsKeys(c.Get(workload.StageKey))
		},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			p, err := build(c, seed)
			if err != nil {
				return nil, err
			}
			return newInstance(ctx, p, c.Get(workload.StageKey))
		},
		Stages: func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
			p, err := build(c, seed)
			if err != nil {
				return workload.Staged{}, err
			}
			return stages(ctx, p, r)
		},
	}
}

// Memory of all stages, at most, fitted to what was measured (docs/circuits.md): bytes for
// each point of the domain and for each constraint, and of the process.
const (
	plonkDomainBytes         = 2000
	groth16DomainBytes       = 1200
	constraintBytes          = 450
	baseBytes          int64 = 64 << 20
)

func bytesOf(system string, constraints int) int64 {
	domain := int64(ecc.NextPowerOfTwo(uint64(constraints)))
	each := int64(plonkDomainBytes)
	if system == systemGroth16 {
		each = groth16DomainBytes
	}
	return baseBytes + domain*each + int64(constraints)*constraintBytes
}

// fits refuses what needs more memory than there is, or a larger reference string, before
// anything is built.
func (e estimate) fits(system string) error {
	have := int64(memory.Available()) // 0: not known
	limit := &zkbench.LimitError{What: "bytes of memory", Estimate: bytesOf(system, e.constraints), Max: have}
	if domain := int64(ecc.NextPowerOfTwo(uint64(e.constraints))); system == systemPlonk && domain > srs.MaxSize {
		limit = &zkbench.LimitError{What: "points of the domain", Estimate: domain, Max: srs.MaxSize}
	} else if have == 0 || limit.Estimate <= have {
		return nil
	}
	if e.largest != nil && have > 0 {
		limit.What += fmt.Sprintf(" (what fits: %s)", e.largest(have))
	}
	return limit
}

// stages goes through all of them once.
func stages(ctx context.Context, p *prover, r *stage.Recorder) (out workload.Staged, err error) {
	defer func() { err = errors.Join(err, p.close()) }()
	out.Metrics = append(out.Metrics, p.metrics...)
	var full, public witness.Witness
	var proof []byte
	for _, s := range []struct {
		name string
		do   func() ([]record.Metric, error)
	}{
		{stageBuild, func() ([]record.Metric, error) {
			if err := p.build(); err != nil {
				return nil, err
			}
			return []record.Metric{record.Constraints.Metric(float64(p.constraints.GetNbConstraints())), record.Domain.Metric(float64(p.domain()))}, nil
		}},
		{stageSRS, func() ([]record.Metric, error) {
			if err := p.reference(ctx, p.domain(), nil); err != nil { // made anew: that is the stage
				return nil, err
			}
			return []record.Metric{record.SRSSize.Metric(float64(p.srs.Bytes()))}, nil
		}},
		{stageWitness, func() (_ []record.Metric, err error) {
			if full, err = p.witness(0); err == nil {
				public, err = full.Public()
			}
			return nil, err
		}},
		{stageKeys, func() ([]record.Metric, error) { return nil, p.keys() }},
		{stageProve, func() (_ []record.Metric, err error) {
			if proof, err = p.prove(full); err != nil {
				return nil, err
			}
			return []record.Metric{record.ProofSize.Metric(float64(len(proof)))}, nil
		}},
		{stageVerify, func() ([]record.Metric, error) { return nil, p.verify(proof, public) }},
	} {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		if s.name == stageSRS && p.system != systemPlonk {
			continue
		}
		runtime.GC() // so that a stage's greatest memory is its own
		running := r.Start(s.name)
		sizes, err := s.do()
		if err != nil {
			return out, fmt.Errorf("%s: %w", s.name, err)
		}
		running.End(sizes...)
		out.Metrics = append(out.Metrics, sizes...)
	}
	pk, vk, err := p.keySizes()
	if err != nil {
		return out, err
	}
	out.Metrics = append(out.Metrics, record.ProvingKeySize.Metric(float64(pk)), record.VerifyingKeySize.Metric(float64(vk)))
	out.Findings = append(out.Findings, p.notes...)
	out.Findings = append(out.Findings, record.Finding{Name: "solving", Text: "gnark solves the constraints when it proves: the stage witness is the assignment, prove contains the solver"})
	out.Findings = append(out.Findings, record.Finding{Name: "joint keys", Text: "gnark makes proving and verifying key in one call: the stage keys is both"})
	return out, p.refuses(proof)
}

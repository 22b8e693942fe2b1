package circuits

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/consensys/gnark/backend/witness"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/record"
)

// instance is a circuit set up as far as its stage needs.
type instance struct {
	*prover
	stage string
}

func newInstance(ctx context.Context, p *prover, stage string) (_ *instance, err error) {
	i := &instance{p, stage}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if err := p.build(); err != nil {
		return nil, err
	}
	if !needsKeys(stage) {
		return i, nil
	}
	if err := p.reference(ctx, p.domain(), p.userCache()); err != nil {
		return nil, err
	}
	return i, p.keys()
}

// input is what an operation of some stage takes.
type input struct {
	seq          uint64
	full, public witness.Witness
	proof        []byte
}

func (i *instance) Input(_ context.Context, seq uint64) (any, error) {
	in := &input{seq: seq}
	var err error
	if in.full, err = i.witness(seq); err != nil {
		return nil, err
	}
	if in.public, err = in.full.Public(); err != nil {
		return nil, err
	}
	if i.stage == stageVerify {
		in.proof, err = i.prove(in.full)
	}
	return in, err
}

func (i *instance) Run(ctx context.Context, in any) ([]byte, error) {
	input := in.(*input)
	switch i.stage {
	case stageBuild:
		p := &prover{task: i.task, system: i.system}
		return nil, p.build()
	case stageKeys:
		p := *i.prover
		return nil, p.keys()
	case stageWitness:
		_, err := i.witness(input.seq)
		return nil, err
	case stageProve:
		return i.prove(input.full)
	}
	return nil, i.verify(input.proof, input.public)
}

// Check makes sure that a proof holds, and that what was timed can say no.
func (i *instance) Check(_ context.Context, in any, output []byte) error {
	input := in.(*input)
	switch i.stage {
	case stageBuild, stageKeys:
		return nil // what they make is used by the other stages
	case stageWitness:
		return i.constraints.IsSolved(input.full, i.solverOptions()...)
	case stageVerify:
		return i.refuses(input.proof)
	}
	return i.verify(output, input.public)
}

// refuses sees to it that a proof does not verify for the public inputs of the next
// assignment.
func (p *prover) refuses(proof []byte) error {
	other, err := p.witness(1 << 20)
	if err != nil {
		return err
	}
	public, err := other.Public()
	if err != nil {
		return err
	}
	if err := p.verify(proof, public); !errors.Is(err, zkbench.ErrProof) {
		return fmt.Errorf("a proof for other public inputs was not rejected: %w", err)
	}
	return nil
}

func (i *instance) Metrics(context.Context) ([]record.Metric, error) {
	metrics := append(slices.Clone(i.metrics),
		record.Constraints.Metric(float64(i.constraints.GetNbConstraints())), record.Domain.Metric(float64(i.domain())))
	if i.stage == stageProve || i.stage == stageVerify {
		w, err := i.witness(0)
		if err != nil {
			return nil, err
		}
		proof, err := i.prove(w)
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, record.ProofSize.Metric(float64(len(proof))))
	}
	return metrics, nil
}

// Findings implements workload.Noted.
func (i *instance) Findings() []record.Finding { return i.notes }

func (i *instance) Close() error { return i.close() }

package circuits

import (
	"context"
	"errors"
	"slices"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
)

// instance is a circuit that is set up as far as its stage needs.
type instance struct {
	prover
	stage string
}

func newInstance(ctx context.Context, p prover, stage string) (_ *instance, err error) {
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
	if _, err := p.reference(ctx, p.domain(), true); err != nil {
		return nil, err
	}
	return i, p.keys(ctx, nil)
}

// input is the input of an operation of any stage.
type input struct {
	seq       uint64
	statement statement
	proof     []byte
}

func (i *instance) Input(ctx context.Context, seq uint64) (any, error) {
	in := &input{seq: seq}
	var err error
	if in.statement, err = i.statement(seq); err != nil {
		return nil, err
	}
	if i.stage == stageVerify {
		in.proof, _, err = i.prove(ctx, in.statement, nil)
	}
	return in, err
}

// oneWitness is the sequence number of the assignment with the fixed witness. No other input has this number.
const oneWitness = 1 << 62

// SecretInput implements workload.Secret for the stages that use a witness. It returns the same assignment each time if
// fixed is set, and another one each time if not. For other stages it returns an *argument.ValueError.
func (i *instance) SecretInput(ctx context.Context, seq uint64, fixed bool) (any, error) {
	if i.stage != stageProve && i.stage != stageWitness {
		return nil, &argument.ValueError{Field: record.StageKey, Value: i.stage, Accepted: stageProve + ", " + stageWitness + ", which use the witness"}
	}
	if fixed {
		seq = oneWitness
	}
	return i.Input(ctx, seq)
}

func (i *instance) Run(ctx context.Context, in any) ([]byte, error) {
	input := in.(*input)
	switch i.stage {
	case stageBuild:
		return nil, i.rebuild()
	case stageKeys:
		return nil, i.rekey(ctx)
	case stageWitness:
		_, err := i.statement(input.seq)
		return nil, err
	case stageProve:
		proof, _, err := i.prove(ctx, input.statement, nil)
		return proof, err
	}
	return nil, i.verify(input.proof, input.statement)
}

// Check verifies a new proof, or checks a witness. If the operation is a verification, Check makes sure that it rejects
// other public inputs.
func (i *instance) Check(_ context.Context, in any, output []byte) error {
	input := in.(*input)
	switch i.stage {
	case stageBuild, stageKeys:
		return nil // the other stages use what these make
	case stageWitness:
		return i.solved(input.statement)
	case stageVerify:
		return refuses(i, input.proof)
	}
	return i.verify(output, input.statement)
}

func (i *instance) Metrics(ctx context.Context) ([]record.Metric, error) {
	metrics := append(slices.Clone(i.exact()), record.Constraints.Metric(float64(i.rows())), record.Domain.Metric(float64(i.domain())))
	if i.stage == stageProve || i.stage == stageVerify {
		w, err := i.statement(0)
		if err != nil {
			return nil, err
		}
		proof, _, err := i.prove(ctx, w, nil)
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, record.ProofSize.Metric(float64(len(proof))))
	}
	return metrics, nil
}

// Findings implements workload.Noted.
func (i *instance) Findings() []record.Finding { return i.notes() }

func (i *instance) Close() error { return i.close() }

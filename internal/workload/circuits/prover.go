package circuits

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
)

// prover is a circuit on its way through the stages of a proof system, one after the other. What
// does not set it up is safe for concurrent use.
type prover interface {
	build() error
	rows() int              // constraints of what is built
	domain() int            // of it
	exact() []record.Metric // figures of the case

	// reference makes the reference string of a domain, and returns its size in bytes; from the
	// user's cache where that is asked for.
	reference(ctx context.Context, size int, cached bool) (bytes int, err error)
	needsReference() bool
	// keys makes both keys, and tells the recorder, where there is one, how.
	keys(ctx context.Context, r *stage.Recorder) error
	sizes() (proving, verifying int64, err error) // of the keys, in bytes

	rebuild() error                  // again, to be timed
	rekey(ctx context.Context) error // the same

	// statement is what a sequence number proves, with its witness.
	statement(seq uint64) (statement, error)
	// solved is nil for a witness that the circuit accepts.
	solved(s statement) error
	// prove tells the recorder, where there is one, of its phases, and returns figures of them.
	prove(ctx context.Context, s statement, r *stage.Recorder) (proof []byte, figures []record.Metric, err error)
	verify(proof []byte, s statement) error

	notes() []record.Finding   // of the set-up
	remarks() []record.Finding // of what the stages are
	close() error
}

// statement is a prover's own.
type statement any

// goThrough goes through all stages once.
func goThrough(ctx context.Context, p prover, r *stage.Recorder) (out workload.Staged, err error) {
	defer func() { err = errors.Join(err, p.close()) }()
	out.Metrics = append(out.Metrics, p.exact()...)
	var s statement
	var proof []byte
	for _, step := range []struct {
		name string
		do   func() ([]record.Metric, error)
	}{
		{stageBuild, func() ([]record.Metric, error) {
			if err := p.build(); err != nil {
				return nil, err
			}
			return []record.Metric{record.Constraints.Metric(float64(p.rows())), record.Domain.Metric(float64(p.domain()))}, nil
		}},
		{stageSRS, func() ([]record.Metric, error) {
			bytes, err := p.reference(ctx, p.domain(), false) // made anew: that is the stage
			return []record.Metric{record.SRSSize.Metric(float64(bytes))}, err
		}},
		{stageWitness, func() (_ []record.Metric, err error) {
			s, err = p.statement(0)
			return nil, err
		}},
		{stageKeys, func() ([]record.Metric, error) { return nil, p.keys(ctx, r) }},
		{stageProve, func() (figures []record.Metric, err error) {
			if proof, figures, err = p.prove(ctx, s, r); err != nil {
				return nil, err
			}
			return append(figures, record.ProofSize.Metric(float64(len(proof)))), nil
		}},
		{stageVerify, func() ([]record.Metric, error) { return nil, p.verify(proof, s) }},
	} {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		if step.name == stageSRS && !p.needsReference() {
			continue
		}
		runtime.GC() // so that a stage's greatest memory is its own
		running := r.Start(step.name)
		figures, err := step.do()
		if err != nil {
			return out, fmt.Errorf("%s: %w", step.name, err)
		}
		running.End(figures...)
		out.Metrics = append(out.Metrics, figures...)
	}
	pk, vk, err := p.sizes()
	if err != nil {
		return out, err
	}
	out.Metrics = append(out.Metrics, record.ProvingKeySize.Metric(float64(pk)), record.VerifyingKeySize.Metric(float64(vk)))
	out.Findings = append(append(out.Findings, p.notes()...), p.remarks()...)
	return out, refuses(p, proof)
}

// refuses sees to it that a proof does not verify for the public inputs of the next
// assignment.
func refuses(p prover, proof []byte) error {
	other, err := p.statement(1 << 20)
	if err != nil {
		return err
	}
	if err := p.verify(proof, other); !errors.Is(err, zkbench.ErrProof) {
		return fmt.Errorf("a proof for other public inputs was not rejected: %w", err)
	}
	return nil
}

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

// prover takes a circuit through the stages of a proof system, one after the other. The methods that do
// not set it up are safe for concurrent use.
type prover interface {
	build() error
	rows() int              // constraints of the circuit that is built
	domain() int            // size of its evaluation domain
	exact() []record.Metric // figures of the case

	// reference makes the reference string for a domain, and returns its size in bytes. If cached is
	// set, it uses the user's cache.
	reference(ctx context.Context, size int, cached bool) (bytes int, err error)
	needsReference() bool
	// keys makes both keys. It records its phases with r, if r is not nil.
	keys(ctx context.Context, r *stage.Recorder) error
	sizes() (proving, verifying int64, err error) // the lengths of the keys, in bytes

	rebuild() error                  // does the same as build again, to be timed
	rekey(ctx context.Context) error // does the same as keys again, to be timed

	// statement returns the statement of a sequence number, with its witness.
	statement(seq uint64) (statement, error)
	// solved returns an error if the circuit does not accept the witness.
	solved(s statement) error
	// prove returns a proof, and figures of its phases. It records the phases with r, if r is not nil.
	prove(ctx context.Context, s statement, r *stage.Recorder) (proof []byte, figures []record.Metric, err error)
	verify(proof []byte, s statement) error

	notes() []record.Finding   // findings of the set-up
	remarks() []record.Finding // findings that say what the stages do
	close() error
}

// statement is a statement with its witness. Each prover has its own type.
type statement any

// goThrough runs all stages once, and records them with r.
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
			bytes, err := p.reference(ctx, p.domain(), false) // not from the cache: making it is the stage
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
		runtime.GC() // so that a stage's peak memory is its own
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

// refuses returns an error if the proof verifies for the public inputs of another assignment.
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

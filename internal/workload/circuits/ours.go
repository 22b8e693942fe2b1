package circuits

import (
	"context"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/plonkish"
)

// ourProver is a prover for a circuit of package plonkish.
type ourProver struct {
	// circuit returns the circuit of a sequence number. Building the circuit also makes its witness.
	circuit func(seq uint64) (*plonkish.Circuit, error)
	figures
	seed uint64

	built  *plonkish.Circuit
	string referenceString
	key    *plonkish.ProvingKey
}

func (p *ourProver) build() (err error) {
	p.built, err = p.circuit(0)
	return err
}

func (p *ourProver) rebuild() error {
	_, err := p.circuit(0)
	return err
}

func (p *ourProver) rows() int               { return p.built.Rows() }
func (p *ourProver) domain() int             { return p.built.Size() }
func (p *ourProver) needsReference() bool    { return true }
func (p *ourProver) notes() []record.Finding { return p.string.notes }
func (p *ourProver) close() error            { return p.string.close() }

func (p *ourProver) remarks() []record.Finding {
	return []record.Finding{{Name: "eager witness", Text: "a circuit and its witness are built together: the stages build and witness do the same"}}
}

func (p *ourProver) reference(ctx context.Context, size int, cached bool) (int, error) {
	return p.string.get(ctx, size, p.seed, cached)
}

// keys makes both keys. If r is not nil, it first makes the verifying key alone, to record its time.
func (p *ourProver) keys(ctx context.Context, r *stage.Recorder) (err error) {
	if r != nil {
		alone := r.Start(stageKeys + "/verifying")
		if _, err := plonkish.SetupVerifying(ctx, workload.Pool(ctx), p.built, p.string.srs); err != nil {
			return err
		}
		alone.End()
		both := r.Start(stageKeys + "/proving")
		defer both.End()
	}
	p.key, err = plonkish.Setup(ctx, workload.Pool(ctx), p.built, p.string.srs)
	return err
}

func (p *ourProver) rekey(ctx context.Context) error {
	_, err := plonkish.Setup(ctx, workload.Pool(ctx), p.built, p.string.srs)
	return err
}

func (p *ourProver) statement(seq uint64) (statement, error) { return p.circuit(seq) }

func (p *ourProver) solved(s statement) error { return s.(*plonkish.Circuit).Check() }

func (p *ourProver) prove(ctx context.Context, s statement, r *stage.Recorder) ([]byte, []record.Metric, error) {
	circuit := s.(*plonkish.Circuit)
	if r == nil {
		proof, err := p.key.Prove(ctx, workload.Pool(ctx), circuit, plonkish.Options{})
		return proof, nil, err
	}
	spent := make(map[string]time.Duration)
	timed := func(name string) func() {
		begun := time.Now()
		return func() { spent[name] += time.Since(begun) }
	}
	whole := timed(stageProve)
	proof, err := p.key.Prove(ctx, workload.Pool(ctx), circuit, plonkish.Options{Span: func(name string) func() {
		if name == plonkish.SpanSum || name == plonkish.SpanTransform {
			return timed(name)
		}
		running := r.Start(stageProve + "/" + name)
		return func() { running.End() }
	}})
	whole()
	points := p.key.ProofPoints()
	sums, transforms := spent[plonkish.SpanSum], spent[plonkish.SpanTransform]
	return proof, []record.Metric{
		record.ProofPoints.Metric(float64(points)), record.Multiplications.Metric(float64(points * p.domain())),
		record.StageTime(stageProve + ": sums").Metric(sums.Seconds()),
		record.StageTime(stageProve + ": transforms").Metric(transforms.Seconds()),
		record.StageTime(stageProve + ": rest").Metric((spent[stageProve] - sums - transforms).Seconds()),
	}, err
}

func (p *ourProver) verify(proof []byte, s statement) error {
	return p.key.VerifyInsecure(proof, s.(*plonkish.Circuit).Public(), nil)
}

// sizes returns the lengths of the proving key's file, which has commitments alone, and of the verifying key's encoding.
func (p *ourProver) sizes() (proving, verifying int64, err error) {
	return p.key.FileLen(), int64(len(p.key.Verifying().Bytes())), nil
}

// arithmetizations holds the arithmetizations of package plonkish by the value of the axis system.
var arithmetizations = map[string]func() plonkish.Arithmetization{systemPlonk: plonkish.Plonk, systemTurbo: plonkish.TurboPlonk, systemUltra: plonkish.UltraPlonk}

// ourMemory returns the memory model of our systems, which depends on the number of columns.
func ourMemory(columns int) memoryModel {
	return memoryModel{
		base: 64 << 20, point: 120 + 280*int64(columns), onePass: 140 * int64(columns), statement: 64 + fr.Bytes*int64(columns),
	}
}

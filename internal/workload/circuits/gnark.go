package circuits

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/big"
	"sync"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/plonk"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/logger"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/srs"
)

// gnarkProver is a prover for a gnark circuit in one of gnark's proof systems.
type gnarkProver struct {
	circuit func() (frontend.Circuit, error) // a new one each time, because gnark writes its variables into what it compiles
	hints   []solver.Hint
	// assign returns the assignment of a sequence number.
	assign func(seq uint64) (frontend.Circuit, error)
	figures
	system string
	seed   uint64

	constraints constraint.ConstraintSystem
	string      referenceString // of plonk
	plonk       struct {
		pk plonk.ProvingKey
		vk plonk.VerifyingKey
	}
	groth16 struct {
		pk groth16.ProvingKey
		vk groth16.VerifyingKey
	}
}

// quiet turns gnark's log off. The log goes to standard output, which is for records, and it
// costs time within stages.
var quiet = sync.OnceFunc(logger.Disable)

// compile makes the constraints of the circuit.
func (p *gnarkProver) compile() (constraint.ConstraintSystem, error) {
	quiet()
	builder := scs.NewBuilder[constraint.U64]
	if p.system == systemGroth16 {
		builder = r1cs.NewBuilder[constraint.U64]
	}
	circuit, err := p.circuit()
	if err != nil {
		return nil, err
	}
	return frontend.Compile(ecc.BN254.ScalarField(), builder, circuit)
}

// circuitOf converts a constructor to the type that a gnarkProver has.
func circuitOf[C frontend.Circuit](build func() (C, error)) func() (frontend.Circuit, error) {
	return func() (frontend.Circuit, error) { return build() }
}

func (p *gnarkProver) build() (err error) {
	p.constraints, err = p.compile()
	return err
}

func (p *gnarkProver) rebuild() error {
	_, err := p.compile()
	return err
}

// domain returns the size of the evaluation domain. It depends on gates and public inputs in
// plonk, and on constraints in groth16.
func (p *gnarkProver) domain() int {
	n := p.constraints.GetNbConstraints()
	if p.system == systemPlonk {
		n += p.constraints.GetNbPublicVariables()
	}
	return int(ecc.NextPowerOfTwo(uint64(max(n, srs.MinSize))))
}

func (p *gnarkProver) rows() int               { return p.constraints.GetNbConstraints() }
func (p *gnarkProver) needsReference() bool    { return p.system == systemPlonk }
func (p *gnarkProver) notes() []record.Finding { return p.string.notes }
func (p *gnarkProver) close() error            { return p.string.close() }

func (p *gnarkProver) remarks() []record.Finding {
	return []record.Finding{
		{Name: "solving", Text: "gnark solves the constraints while proving: the stage witness only makes the assignment, and the stage prove includes the solver"},
		{Name: "joint keys", Text: "gnark makes the proving and the verifying key in one call: the stage keys makes both"},
	}
}

func (p *gnarkProver) reference(ctx context.Context, size int, cached bool) (int, error) {
	if !p.needsReference() {
		return 0, nil
	}
	return p.string.get(ctx, size, p.seed, cached)
}

// keys makes both keys. gnark makes them in one call.
func (p *gnarkProver) keys(context.Context, *stage.Recorder) (err error) {
	if p.system == systemPlonk {
		p.plonk.pk, p.plonk.vk, err = plonk.Setup(p.constraints, &p.string.srs.Canonical, &p.string.srs.Lagrange)
		return err
	}
	p.groth16.pk, p.groth16.vk, err = groth16.Setup(p.constraints)
	return err
}

func (p *gnarkProver) rekey(ctx context.Context) error {
	q := *p
	return q.keys(ctx, nil)
}

// witnesses is the statement of a gnarkProver.
type witnesses struct{ full, public witness.Witness }

func (p *gnarkProver) statement(seq uint64) (statement, error) {
	a, err := p.assign(seq)
	if err != nil {
		return nil, err
	}
	w := new(witnesses)
	if w.full, err = frontend.NewWitness(a, ecc.BN254.ScalarField()); err != nil {
		return nil, err
	}
	w.public, err = w.full.Public()
	return w, err
}

// solved returns an error if the witness does not satisfy the constraints. If a circuit commits to wires, gnark's
// provers supply a commitment. Here a hash of the wires takes its place, because any number that depends on them is
// enough.
func (p *gnarkProver) solved(s statement) error {
	committed := solver.OverrideHint(solver.GetHintID(cs.Bsb22CommitmentComputePlaceholder), func(_ *big.Int, in, out []*big.Int) error {
		h := sha256.New()
		for _, v := range in {
			_, _ = h.Write(v.FillBytes(make([]byte, fr.Bytes))) // which never fails
		}
		for _, v := range out {
			v.SetBytes(h.Sum(nil)[:fr.Bytes-1])
		}
		return nil
	})
	return p.constraints.IsSolved(s.(*witnesses).full, append(p.solverOptions(), committed)...)
}

func (p *gnarkProver) solverOptions() []solver.Option {
	return []solver.Option{solver.WithHints(p.hints...)}
}

// prove returns an encoded proof.
func (p *gnarkProver) prove(_ context.Context, s statement, _ *stage.Recorder) ([]byte, []record.Metric, error) {
	w := s.(*witnesses).full
	hints := backend.WithSolverOptions(p.solverOptions()...)
	var proof io.WriterTo
	var err error
	if p.system == systemPlonk {
		proof, err = plonk.Prove(p.constraints, p.plonk.pk, w, hints)
	} else {
		proof, err = groth16.Prove(p.constraints, p.groth16.pk, w, hints)
	}
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	_, err = proof.WriteTo(&b)
	return b.Bytes(), nil, err
}

// verify decodes a proof and verifies it for the public part of a witness.
func (p *gnarkProver) verify(raw []byte, s statement) error {
	public := s.(*witnesses).public
	if p.system == systemPlonk {
		proof := plonk.NewProof(ecc.BN254)
		return decodeAndVerify(proof, raw, func() error { return plonk.Verify(proof, p.plonk.vk, public) })
	}
	proof := groth16.NewProof(ecc.BN254)
	return decodeAndVerify(proof, raw, func() error { return groth16.Verify(proof, p.groth16.vk, public) })
}

// decodeAndVerify decodes raw into proof and calls verify. It accepts only the encoding that prove gives, although
// gnark's decoder also takes points that are not compressed, and bytes after the proof.
func decodeAndVerify(proof interface {
	io.ReaderFrom
	io.WriterTo
}, raw []byte, verify func() error,
) error {
	if _, err := proof.ReadFrom(bytes.NewReader(raw)); err != nil {
		return fmt.Errorf("%w: %w", zkbench.ErrMalformed, err)
	}
	var again bytes.Buffer
	if _, err := proof.WriteTo(&again); err != nil {
		return err
	}
	if !bytes.Equal(again.Bytes(), raw) {
		return fmt.Errorf("%w: proof of %d bytes; accepted: the encoding of %d bytes that proving gives", zkbench.ErrMalformed, len(raw), again.Len())
	}
	if err := verify(); err != nil {
		return fmt.Errorf("%w: %w", zkbench.ErrProof, err)
	}
	return nil
}

// sizes returns the lengths of the keys in gnark's compressed encoding, in bytes.
func (p *gnarkProver) sizes() (proving, verifying int64, err error) {
	pk, vk := io.WriterTo(p.plonk.pk), io.WriterTo(p.plonk.vk)
	if p.system == systemGroth16 {
		pk, vk = p.groth16.pk, p.groth16.vk
	}
	if proving, err = pk.WriteTo(io.Discard); err != nil {
		return 0, 0, err
	}
	verifying, err = vk.WriteTo(io.Discard)
	return proving, verifying, err
}

// memoryOf returns the memory model of one of gnark's systems.
func memoryOf(system string) memoryModel {
	if system == systemGroth16 {
		return memoryModel{point: 1200, constraint: 450}
	}
	return memoryModel{point: 2000, constraint: 450}
}

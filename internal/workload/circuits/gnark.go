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

// gnarkProver is a circuit of gnark in one of its proof systems.
type gnarkProver struct {
	circuit func() (frontend.Circuit, error) // anew each time: gnark writes its variables into what it compiles
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

// quiet turns gnark's log off: it goes to standard output, which is a record's, and costs
// time within stages.
var quiet = sync.OnceFunc(logger.Disable)

// compile makes the circuit's constraints.
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

// circuitOf is what makes a circuit, as a gnarkProver has it.
func circuitOf[C frontend.Circuit](of func() (C, error)) func() (frontend.Circuit, error) {
	return func() (frontend.Circuit, error) { return of() }
}

func (p *gnarkProver) build() (err error) {
	p.constraints, err = p.compile()
	return err
}

func (p *gnarkProver) rebuild() error {
	_, err := p.compile()
	return err
}

// domain is the size of the evaluation domain: of gates and public inputs in plonk, of
// constraints in groth16.
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
		{Name: "solving", Text: "gnark solves the constraints when it proves: the stage witness is the assignment, prove contains the solver"},
		{Name: "joint keys", Text: "gnark makes proving and verifying key in one call: the stage keys is both"},
	}
}

func (p *gnarkProver) reference(ctx context.Context, size int, cached bool) (int, error) {
	if !p.needsReference() {
		return 0, nil
	}
	return p.string.get(ctx, size, p.seed, cached)
}

// keys makes both keys, which gnark does in one call.
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

// witnesses are the statement of gnark's systems.
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

// solved tells whether the witness fulfils the constraints. What gnark's provers put in the place
// of a commitment to some wires is here a hash of them: any number that depends on them serves.
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

// prove proves, and encodes the proof.
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
		return decoded(proof, raw, func() error { return plonk.Verify(proof, p.plonk.vk, public) })
	}
	proof := groth16.NewProof(ecc.BN254)
	return decoded(proof, raw, func() error { return groth16.Verify(proof, p.groth16.vk, public) })
}

// decoded reads a proof and says what verify finds of it. A proof has one encoding, that which prove
// gives: gnark's decoder also takes points that are not compressed, and bytes behind the proof.
func decoded(proof interface {
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

// sizes of the keys, in bytes as gnark encodes them, compressed.
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

// memoryOf is that of gnark's system.
func memoryOf(system string) memoryModel {
	if system == systemGroth16 {
		return memoryModel{point: 1200, constraint: 450}
	}
	return memoryModel{point: 2000, constraint: 450}
}

package circuits

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"sync"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/plonk"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/logger"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/srs"
)

// The proof systems of gnark.
const (
	systemPlonk   = "plonk"
	systemGroth16 = "groth16"
)

// task is a circuit with its assignments.
type task struct {
	circuit frontend.Circuit
	hints   []solver.Hint
	// assign returns the assignment of a sequence number.
	assign func(seq uint64) (frontend.Circuit, error)
	// metrics are exact figures of the case.
	metrics []record.Metric
}

// prover is a circuit on its way through the stages of a proof system, one after the
// other.
type prover struct {
	task
	system string
	seed   uint64

	constraints constraint.ConstraintSystem
	srs         *srs.SRS // of plonk
	notes       []record.Finding
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

// build compiles the circuit.
func (p *prover) build() (err error) {
	quiet()
	builder := scs.NewBuilder[constraint.U64]
	if p.system == systemGroth16 {
		builder = r1cs.NewBuilder[constraint.U64]
	}
	p.constraints, err = frontend.Compile(ecc.BN254.ScalarField(), builder, p.circuit)
	return err
}

// domain is the size of the evaluation domain: of gates and public inputs in plonk, of
// constraints in groth16.
func (p *prover) domain() int {
	n := p.constraints.GetNbConstraints()
	if p.system == systemPlonk {
		n += p.constraints.GetNbPublicVariables()
	}
	return int(ecc.NextPowerOfTwo(uint64(max(n, srs.MinSize))))
}

// reference makes plonk's reference string of that size; with a cache, takes it from there. A
// file that the context names comes before both.
func (p *prover) reference(ctx context.Context, size int, cache *srs.Cache) (err error) {
	switch path := workload.SRSFile(ctx); {
	case p.system != systemPlonk:
	case path != "":
		p.srs, p.notes, err = readString(ctx, path, size)
	case cache != nil:
		p.srs, err = cache.Insecure(ctx, executor.Pool(), size, p.seed)
	default:
		p.srs, err = srs.Insecure(ctx, executor.Pool(), size, p.seed)
	}
	return err
}

// readString reads a reference string of that size from a .ptau file, and notes it. The error
// is an ErrParams that names the flag, or the context's cause.
func readString(ctx context.Context, path string, size int) (*srs.SRS, []record.Finding, error) {
	s, err := openString(ctx, path, size)
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		accepted := fmt.Sprintf("a .ptau file over BN254 of 2^%d or more", bits.Len(uint(size))-1)
		return nil, nil, fmt.Errorf("%w: %w", &usage.ValueError{Field: "srs", Value: path, Accepted: accepted}, err)
	}
	note := record.Finding{Name: "reference string", Text: fmt.Sprintf("of size %d from %s, whose points were checked; not the seed's", size, path)}
	return s, []record.Finding{note}, nil
}

func openString(ctx context.Context, path string, size int) (*srs.SRS, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return srs.ReadPtau(ctx, executor.Pool(), file, info.Size(), size)
}

// userCache is the cache of the user's reference strings. What cannot be used or kept is
// made again, and noted.
func (p *prover) userCache() *srs.Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return &srs.Cache{Dir: filepath.Join(dir, "zkbench", "srs"), Warn: func(reason string) {
		p.notes = append(p.notes, record.Finding{Name: "reference string", Text: reason})
	}}
}

// keys makes both keys, which gnark does in one call.
func (p *prover) keys() (err error) {
	if p.system == systemPlonk {
		p.plonk.pk, p.plonk.vk, err = plonk.Setup(p.constraints, &p.srs.Canonical, &p.srs.Lagrange)
		return err
	}
	p.groth16.pk, p.groth16.vk, err = groth16.Setup(p.constraints)
	return err
}

// witness makes the full witness of a sequence number.
func (p *prover) witness(seq uint64) (witness.Witness, error) {
	a, err := p.assign(seq)
	if err != nil {
		return nil, err
	}
	return frontend.NewWitness(a, ecc.BN254.ScalarField())
}

func (p *prover) solverOptions() []solver.Option {
	return []solver.Option{solver.WithHints(p.hints...)}
}

// prove proves, and encodes the proof.
func (p *prover) prove(w witness.Witness) ([]byte, error) {
	hints := backend.WithSolverOptions(p.solverOptions()...)
	var proof io.WriterTo
	var err error
	if p.system == systemPlonk {
		proof, err = plonk.Prove(p.constraints, p.plonk.pk, w, hints)
	} else {
		proof, err = groth16.Prove(p.constraints, p.groth16.pk, w, hints)
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = proof.WriteTo(&b)
	return b.Bytes(), err
}

// verify decodes a proof and verifies it for the public part of a witness.
func (p *prover) verify(raw []byte, public witness.Witness) error {
	if p.system == systemPlonk {
		proof := plonk.NewProof(ecc.BN254)
		return decoded(proof, raw, func() error { return plonk.Verify(proof, p.plonk.vk, public) })
	}
	proof := groth16.NewProof(ecc.BN254)
	return decoded(proof, raw, func() error { return groth16.Verify(proof, p.groth16.vk, public) })
}

// decoded reads a proof and says what verify finds of it.
func decoded(proof io.ReaderFrom, raw []byte, verify func() error) error {
	if _, err := proof.ReadFrom(bytes.NewReader(raw)); err != nil {
		return fmt.Errorf("%w: %w", zkbench.ErrMalformed, err)
	}
	if err := verify(); err != nil {
		return fmt.Errorf("%w: %w", zkbench.ErrProof, err)
	}
	return nil
}

// sizes of the keys, in bytes as gnark encodes them, compressed.
func (p *prover) keySizes() (proving, verifying int64, err error) {
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

func (p *prover) close() error {
	if p.srs == nil {
		return nil
	}
	return p.srs.Close()
}

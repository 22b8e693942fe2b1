package stark

import (
	"context"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/stark"
)

// batchAxis is the axis of the number of proofs of a batch.
var batchAxis = workload.IntAxis(workload.Axis{Name: "proofs", Usage: "numbers of proofs that are made at once", Smoke: "2"}, 1, 64, 8)

// ProofBatch returns the workload that makes several proofs of one system at once: each is a task of the executor, and
// all share the system's tables and the executor's processors.
func ProofBatch() workload.Def {
	return workload.Def{
		Name: "ProofBatch", Noun: "a batch of STARKs", Doc: "several STARKs of Keccak-256 digests at once, of one system: each proof is a task of the executor, and its parts are tasks too; all proofs use the processors together; the time is for the batch",
		Axes:    []workload.Axis{bytesAxis, fieldAxis, setAxis, batchAxis, execAxis},
		Resolve: func(c workload.Case) ([]workload.Case, error) { return []workload.Case{c}, nil },
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			n, err := c.Int(batchAxis.Key)
			if err != nil {
				return nil, err
			}
			one := c.With("hash", string(stark.Keccak)).With("stack", "16").With(arityAxis.Key, ownArity).With(tableAxis.Key, tableBoth).With(zeroAxis.Key, plain).With(leanAxis.Key, roomy)
			// As many proofs are in flight as n workers would make.
			i, err := newInstance(workload.WithWorkers(ctx, n*max(1, workload.Workers(ctx))), one.With(record.StageKey, stageProve), seed)
			if err != nil {
				return nil, err
			}
			ex, err := workload.Executor(ctx, c.Get(record.ExecutorKey))
			return &proofBatch{instance: i, run: ex.Do, n: n}, err
		},
	}
}

// proofBatch is one case.
type proofBatch struct {
	*instance
	run func(ctx context.Context, n int, task func(ctx context.Context, i int) error) error
	n   int
}

func (b *proofBatch) Input(_ context.Context, seq uint64) (any, error) {
	about := make([]subject, b.n)
	for i := range about {
		about[i] = b.subject(seq*uint64(b.n) + uint64(i))
	}
	return about, nil
}

// Run returns the proofs, each after its length in four bytes.
func (b *proofBatch) Run(ctx context.Context, in any) ([]byte, error) {
	about, proofs := in.([]subject), make([][]byte, b.n)
	err := b.run(ctx, b.n, func(ctx context.Context, i int) (err error) {
		proofs[i], err = about[i].prove(ctx, stark.Options{})
		return err
	})
	var out []byte
	for _, proof := range proofs {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(proof))), proof...)
	}
	return out, err
}

// Check verifies each proof.
func (b *proofBatch) Check(_ context.Context, in any, output []byte) error {
	rest := cryptobyte.String(output)
	for i, one := range in.([]subject) {
		var n uint32
		var proof []byte
		if !rest.ReadUint32(&n) || !rest.ReadBytes(&proof, int(n)) {
			return fmt.Errorf("%w: the output ends in proof %d", zkbench.ErrProof, i)
		}
		if err := one.verify(proof); err != nil {
			return fmt.Errorf("proof %d: %w", i, err)
		}
	}
	if !rest.Empty() {
		return fmt.Errorf("%w: %d bytes after the last proof", zkbench.ErrProof, len(rest))
	}
	return nil
}

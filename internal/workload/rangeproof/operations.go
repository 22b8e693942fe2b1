package rangeproof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/rangeproof"
)

// RangeProve returns the workload that commits to values and proves their range.
func RangeProve() workload.Def {
	return define("RangeProve", "a range proof", "commit to values and prove that each is below 2^bits",
		func(s *setup) workload.Instance { return &prover{s} })
}

// RangeVerify returns the workload that decodes commitments and their range proofs, and verifies them together.
func RangeVerify() workload.Def {
	return define("RangeVerify", "verifying range proofs", "decode commitments and their range proofs, and verify them together",
		func(s *setup) workload.Instance { return &verifier{s} })
}

// RangeBatch returns the workload that verifies a batch of RangeVerify's inputs together. One operation is the whole
// batch.
func RangeBatch() workload.Def {
	return define("RangeBatch", "verifying a batch of range proofs", "decode a batch of the inputs of range-verify and verify them together; the time is for the whole batch",
		func(s *setup) workload.Instance { return &batchVerifier{verifier{s}} }, workload.BatchAxis())
}

type prover struct{ *setup }

func (p *prover) Input(_ context.Context, seq uint64) (any, error) { return p.statement(seq, seq) }

func (p *prover) Run(ctx context.Context, input any) ([]byte, error) {
	return p.prove(ctx, input.(*statement), func(int) io.Reader { return p.rand })
}

func (p *prover) Check(ctx context.Context, input any, output []byte) error {
	return p.verify(ctx, input.(*statement).message, output)
}

// secretSeq is the first sequence number of secret inputs. It is so large that all of them have equally many digits.
const secretSeq = 1 << 50

// SecretInput builds a statement with the same values each time if fixed is set, and with others if not. In both cases
// it has its own blindings and message.
func (p *prover) SecretInput(_ context.Context, seq uint64, fixed bool) (any, error) {
	values := secretSeq + 1 + seq
	if fixed {
		values = secretSeq
	}
	return p.statement(secretSeq+1+seq, values)
}

type verifier struct{ *setup }

// proved is an encoded statement with its proofs, and the message that the proofs are bound to.
type proved struct{ message, raw []byte }

func (v *verifier) Input(ctx context.Context, seq uint64) (any, error) { return v.proved(ctx, seq) }

func (v *verifier) proved(ctx context.Context, seq uint64) (*proved, error) {
	st, err := v.statement(seq, seq)
	if err != nil {
		return nil, err
	}
	raw, err := v.prove(ctx, st, func(i int) io.Reader { return v.stream(fmt.Sprintf("proof %d", i), seq) })
	return &proved{st.message, raw}, err
}

func (v *verifier) Run(ctx context.Context, input any) ([]byte, error) {
	in := input.(*proved)
	return nil, v.verify(ctx, in.message, in.raw)
}

// Check makes sure that the timed verification rejects a changed proof and another message.
func (v *verifier) Check(ctx context.Context, input any, _ []byte) error {
	in := input.(*proved)
	bad := bytes.Clone(in.raw)
	bad[len(bad)-1] ^= 1 // of the last scalar, so that what is left decodes
	if err := v.verify(ctx, in.message, bad); !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
		return fmt.Errorf("a changed range proof was not rejected for it: %v", err)
	}
	if err := v.verify(ctx, otherMessage, in.raw); !errors.Is(err, zkbench.ErrProof) {
		return fmt.Errorf("a range proof was not rejected for another message: %v", err)
	}
	return nil
}

// otherMessage is not the message of any statement.
var otherMessage = []byte("another message")

type batchVerifier struct{ verifier }

func (b *batchVerifier) Input(ctx context.Context, seq uint64) (any, error) {
	batch := make([]*proved, b.batch)
	for i := range batch {
		var err error
		if batch[i], err = b.proved(ctx, seq*uint64(b.batch)+uint64(i)); err != nil {
			return nil, err
		}
	}
	return batch, nil
}

func (b *batchVerifier) Run(ctx context.Context, input any) ([]byte, error) {
	batch := input.([]*proved)
	decoded := make([][]rangeproof.Claim, len(batch))
	err := b.ex.Do(ctx, len(batch), func(_ context.Context, i int) (err error) {
		decoded[i], err = b.decode(batch[i].message, batch[i].raw)
		return err
	})
	if err != nil {
		return nil, err
	}
	return nil, b.system.Verify(ctx, b.ex, slices.Concat(decoded...)...)
}

// Check makes sure that the timed verification rejects a batch with one bad statement, and names it.
func (b *batchVerifier) Check(ctx context.Context, input any, _ []byte) error {
	batch := slices.Clone(input.([]*proved))
	bad := len(batch) / 2
	batch[bad] = &proved{otherMessage, batch[bad].raw}
	_, err := b.Run(ctx, batch)
	proofs := b.values / b.covered
	var c *zkbench.CheckError
	if !errors.As(err, &c) || c.Action != bad*proofs || !errors.Is(err, zkbench.ErrProof) {
		return fmt.Errorf("a batch whose statement %d is for another message was not rejected for it: %v", bad, err)
	}
	return nil
}

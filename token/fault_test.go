package token

import (
	"context"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/faulttest"
)

// TestFaults: a sum that could not be computed, whichever it was, is an error and neither a
// commitment, a proof nor a verdict.
func TestFaults(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 4, ProofType: proofType})
		good := newExample(t, p, "good", []uint64{9, 4}, []uint64{3, 10})
		bad := newExample(t, p, "bad", []uint64{9, 4}, []uint64{3, 11})
		for _, e := range []*example{good, bad} {
			var proof []byte
			if err := faulttest.Each(t, executor.Serial(), func(ex executor.Executor) (err error) {
				proof, err = p.prove(ctx, ex, &e.st, &e.w)
				if (proof == nil) != (err != nil) {
					t.Errorf("%s: a proof of %d bytes, and %v", proofType, len(proof), err)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			claim, err := p.Decode(&e.st, Field{Bytes: proof})
			if err != nil {
				t.Fatal(err)
			}
			if err := faulttest.Each(t, executor.Serial(), func(ex executor.Executor) error { return p.Verify(ctx, ex, claim, claim) }); (err == nil) != (e == good) {
				t.Errorf("%s: %v", proofType, err)
			}
		}
		if err := faulttest.Each(t, executor.Serial(), func(ex executor.Executor) error {
			_, err := p.Commit(ctx, ex, good.w.Outputs)
			return err
		}); err != nil {
			t.Errorf("%s: %v", proofType, err)
		}
	}
}

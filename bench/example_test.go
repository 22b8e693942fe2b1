package bench_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/zkbench/zkbench/bench"
)

// A workload, and what the tools of a program with bench.Main(sum) do with it: they make inputs of the user's seed, time
// Run, and check what it returned. Check must refuse a wrong result.
func Example() {
	sum := bench.Def{
		Name: "SHA256", Doc: "the SHA-256 of 64 bytes",
		New: func(context.Context, bench.Case, uint64) (bench.Instance, error) {
			return bench.Operation[[]byte]{
				Input: func(_ context.Context, random *rand.ChaCha8) ([]byte, error) {
					message := make([]byte, 64)
					_, err := random.Read(message)
					return message, err
				},
				Run: func(_ context.Context, message []byte) ([]byte, error) {
					digest := sha256.Sum256(message)
					return digest[:], nil
				},
				Check: func(_ context.Context, message, output []byte) error {
					if want := sha256.Sum256(message); !bytes.Equal(output, want[:]) {
						return errors.New("another digest")
					}
					return nil
				},
			}, nil
		},
	}
	ctx := context.Background()
	instance, err := sum.New(ctx, bench.Case{}, 1)
	if err != nil {
		panic(err)
	}
	op := instance.(bench.Operation[[]byte])
	message, err := op.Input(ctx, rand.NewChaCha8([32]byte{1}))
	if err != nil {
		panic(err)
	}
	digest, err := op.Run(ctx, message)
	if err != nil {
		panic(err)
	}
	fmt.Println(op.Check(ctx, message, digest))
	fmt.Println(op.Check(ctx, message, digest[1:]))
	// Output:
	// <nil>
	// another digest
}

// Package hash defines the workloads that compute hashes outside circuits. Their times
// show what a proof about a hash saves: a verifier that checks the proof need not compute
// the hash itself.
package hash

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// Defs returns all workloads of the package.
func Defs() []workload.Def { return []workload.Def{KeccakNative()} }

// KeccakNative returns the workload that hashes random messages with Keccak-256, outside
// any circuit.
func KeccakNative() workload.Def {
	axis := workload.IntAxis(workload.Axis{Name: "bytes", Usage: "lengths of messages in bytes", Smoke: "136"}, 0, 1<<25, 136, 1360, 13_600, 136_000)
	return workload.Def{
		Name: "KeccakNative", Noun: "a Keccak-256 hash", Doc: "hash a message outside any circuit, with golang.org/x/crypto's legacy Keccak-256",
		Axes: []workload.Axis{axis},
		Memory: func(c workload.Case) (workload.Memory, error) {
			n, err := axis.Int(c)
			return workload.Memory{Input: uint64(n)}, err
		},
		New: func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			n, err := axis.Int(c)
			return keccakNative{n, seed}, err
		},
	}
}

type keccakNative struct {
	bytes int
	seed  uint64
}

func (k keccakNative) Input(_ context.Context, seq uint64) (any, error) {
	message := make([]byte, k.bytes)
	_, _ = workload.Random(k.seed, seq).Read(message) // which never fails
	return message, nil
}

func (k keccakNative) Run(_ context.Context, input any) ([]byte, error) {
	digest := keccak.Sum256(input.([]byte))
	return digest[:], nil
}

// Check hashes the message again, in pieces that do not end where blocks end.
func (k keccakNative) Check(_ context.Context, input any, output []byte) error {
	const piece = 4*keccak.Rate + 41
	h := keccak.New256()
	for rest := input.([]byte); len(rest) > 0; {
		n := min(piece, len(rest))
		h.Write(rest[:n])
		rest = rest[n:]
	}
	if !bytes.Equal(output, h.Sum(nil)) {
		return fmt.Errorf("a hash of %d bytes is wrong", k.bytes)
	}
	return nil
}

func (k keccakNative) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.Blocks.Metric(float64(keccak.Blocks(k.bytes)))}, nil
}

func (k keccakNative) Close() error { return nil }

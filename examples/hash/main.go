// Hash measures two hash functions with zkbench's commands, such as list, run, suite and compare.
//
//	go run ./hash run keccak256 sha256 --bytes 136,1360
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"math/rand/v2"

	"golang.org/x/crypto/sha3"

	"github.com/zkbench/zkbench/bench"
)

func main() { bench.Main(defs()...) }

func defs() []bench.Def {
	return []bench.Def{
		hashWorkload("Keccak256", "the Keccak-256 of a message", sha3.NewLegacyKeccak256),
		hashWorkload("SHA256", "the SHA-256 of a message", sha256.New),
	}
}

// hashWorkload returns the workload that measures a hash function.
func hashWorkload(name, doc string, newHash func() hash.Hash) bench.Def {
	size := bench.Ints("bytes", "lengths of messages in bytes", 0, 1<<25, 136, 1360, 13_600)
	digest := func(message []byte) []byte {
		h := newHash()
		h.Write(message)
		return h.Sum(nil)
	}
	return bench.Def{
		Name: name, Doc: doc, Axes: []bench.Axis{size},
		New: func(_ context.Context, c bench.Case, _ uint64) (bench.Instance, error) {
			return bench.Operation[[]byte]{
				Input: func(_ context.Context, random *rand.ChaCha8) ([]byte, error) {
					message := make([]byte, size.Value(c))
					_, err := random.Read(message)
					return message, err
				},
				Run: func(_ context.Context, message []byte) ([]byte, error) { return digest(message), nil },
				Check: func(_ context.Context, message, output []byte) error {
					if !bytes.Equal(output, digest(message)) {
						return errors.New("not the digest of the message")
					}
					return nil
				},
				Metrics: []bench.Metric{{Name: "hash", Unit: "B/hash", Value: float64(newHash().Size())}},
			}, nil
		},
	}
}

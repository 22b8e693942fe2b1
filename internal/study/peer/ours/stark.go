package ours

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkbench/zkbench/executor"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
	"github.com/zkbench/zkbench/stark/recursion"
)

// Stark is the name of our peer that makes STARKs.
const Stark = "stark"

// starkBlocks lists numbers of permutations; they fill tables of 2^12 and 2^15 rows.
var starkBlocks = []int{170, 1365}

// aggregateBytes lists the lengths of messages with 11 and 101 blocks.
var aggregateBytes = []int{1360, 13600}

// starkSystems lists fields and hashes of trees. "algebraic" is each system's own hash over the field: Poseidon here,
// Poseidon2 in Plonky3.
var starkSystems = []struct {
	field stark.Field
	hash  stark.Hash
	name  string
}{
	{stark.KoalaBear, stark.Keccak, "keccak"},
	{stark.Goldilocks, stark.Keccak, "keccak"},
	{stark.Goldilocks, stark.Poseidon, "algebraic"},
}

// Starks returns the cases of the peer Stark, which run on one goroutine.
//
// A case whose name begins with KeccakStark makes an encoded proof of a number of Keccak-f permutations, with the same
// number of queries and the same rate as the other peers. Our proof shows more than the proofs of the other peers. The
// other peers permute arbitrary states, and their proofs say nothing about where these states come from. Our proof is
// about the permutations that hash one message. Its trace has a second table, for the sponge, which links the
// permutations and proves the padding, the length and the digest.
//
// A case whose name begins with KeccakAggregate does all the work from a message to the last proof of a recursion. Work
// that is done only once for all messages of the same length is not timed.
func Starks() (cases []peer.Case) {
	for _, blocks := range starkBlocks {
		for _, s := range starkSystems {
			config := stark.Config{Field: s.field, Hash: s.hash, Params: stark.Compare100(s.field)}
			cases = append(cases, peer.Case{
				Name:  fmt.Sprintf("KeccakStark/permutations=%d/field=%s/hash=%s", blocks, s.field, s.name),
				Setup: func() (func() error, map[string]float64, error) { return proveBlocks(config, blocks) },
			})
		}
	}
	for _, bytes := range aggregateBytes {
		cases = append(cases, peer.Case{
			Name:  fmt.Sprintf("KeccakAggregate/bytes=%d", bytes),
			Setup: func() (func() error, map[string]float64, error) { return proveAggregate(recursion.Compare100(), bytes) },
		})
	}
	return cases
}

// blockMessage returns a message with this number of blocks; the last block contains only padding.
func blockMessage(blocks int) []byte { return message((blocks - 1) * hash.Rate) }

func message(bytes int) []byte {
	message := make([]byte, bytes)
	for i := range message {
		message[i] = byte(0x9E3779B97F4A7C15 * uint64(i+1) >> 56)
	}
	return message
}

func proveBlocks(config stark.Config, blocks int) (func() error, map[string]float64, error) {
	system, err := keccak.New(config, stark.Exposed)
	if err != nil {
		return nil, nil, err
	}
	messages := [][]byte{blockMessage(blocks)}
	prove := func() ([]byte, error) {
		return system.Prove(context.Background(), executor.Serial(), messages, nil, stark.Options{})
	}
	proof, err := prove()
	if err != nil {
		return nil, nil, err
	}
	claims := keccak.Claims(messages, stark.Exposed)
	start := time.Now()
	if err := system.Verify(proof, claims, nil); err != nil {
		return nil, nil, err
	}
	verify := time.Since(start)
	wrong := slices.Clone(claims)
	wrong[0].Digest[0] ^= 1
	if system.Verify(proof, wrong, nil) == nil {
		return nil, nil, errors.New("a proof verifies for another digest")
	}
	return func() error {
		_, err := prove()
		return err
	}, map[string]float64{"proof-bytes": float64(len(proof)), "verify-ns": float64(verify)}, nil
}

func proveAggregate(params recursion.TreeParams, bytes int) (func() error, map[string]float64, error) {
	start := time.Now()
	a, err := keccak.NewAggregation(params, keccak.Batch{Messages: 1, Blocks: hash.Blocks(bytes)}, 1)
	if err != nil {
		return nil, nil, err
	}
	build := time.Since(start)
	batches := [][][]byte{{message(bytes)}}
	prove := func() ([]byte, error) {
		return a.Prove(context.Background(), executor.Serial(), batches, nil, stark.Options{})
	}
	proof, err := prove()
	if err != nil {
		return nil, nil, err
	}
	claims := keccak.Claims(batches[0], stark.Exposed)
	start = time.Now()
	if err := a.Verify(proof, [][]keccak.Claim{claims}, nil); err != nil {
		return nil, nil, err
	}
	verify := time.Since(start)
	wrong := slices.Clone(claims)
	wrong[0].Digest[0] ^= 1
	if a.Verify(proof, [][]keccak.Claim{wrong}, nil) == nil {
		return nil, nil, errors.New("a proof verifies for another digest")
	}
	return func() error {
		_, err := prove()
		return err
	}, map[string]float64{"build-ns": float64(build), "proof-bytes": float64(len(proof)), "verify-ns": float64(verify)}, nil
}

// Package keccak computes the hashes that circuits prove: Keccak-256 as Ethereum uses it, and SHA3-256 (FIPS
// 202), which differs only in its padding byte. Single messages are hashed by golang.org/x/crypto/sha3. If
// many messages of one length are hashed at once, vector kernels permute several states at once, one in each
// lane of a register.
package keccak

import (
	"fmt"
	"hash"

	"golang.org/x/crypto/sha3"

	"github.com/zkbench/zkbench"
)

// Sizes of the sponge, in bytes.
const (
	Rate   = 136
	Digest = 32
)

// The padding bytes of the hashes.
const (
	Keccak256 = 0x01
	SHA3256   = 0x06
)

// maxPadding is the largest padding byte: bit 7 is free for the bit that ends a block.
const maxPadding = 0x7f

// CheckPadding returns zkbench.ErrParams if padding is not the padding byte of a hash, that is, if it is 0 or
// above 0x7f.
func CheckPadding(padding byte) error {
	if padding == 0 || padding > maxPadding {
		return fmt.Errorf("%w: padding byte %#02x, accepted are 0x01 to %#x", zkbench.ErrParams, padding, maxPadding)
	}
	return nil
}

// Blocks returns the number of permutations that a message of n bytes takes.
func Blocks(n int) int { return n/Rate + 1 }

// New256 returns a new Keccak-256 hash.
func New256() hash.Hash { return sha3.NewLegacyKeccak256() }

// Sum256 returns the Keccak-256 hash of a message.
func Sum256(message []byte) (digest [Digest]byte) {
	h := sha3.NewLegacyKeccak256()
	h.Write(message)
	h.Sum(digest[:0])
	return digest
}

// SumSHA3256 returns the SHA3-256 hash of a message.
func SumSHA3256(message []byte) [Digest]byte { return sha3.Sum256(message) }

// Package keccak is the hashes that circuits prove: Keccak-256 as Ethereum has it, and
// SHA3-256 (FIPS 202), which differs in its padding byte only. Both are
// golang.org/x/crypto/sha3's, but where many messages of one length are hashed at once: then vector
// kernels permute as many states as a register has lanes.
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

// The padding bytes that tell the hashes apart.
const (
	Keccak256 = 0x01
	SHA3256   = 0x06
)

// maxPadding is the greatest padding byte: bit 7 is free for the bit that ends a block.
const maxPadding = 0x7f

// CheckPadding refuses padding bytes that no hash can have: 0 and those above 0x7f are a
// zkbench.ErrParams.
func CheckPadding(padding byte) error {
	if padding == 0 || padding > maxPadding {
		return fmt.Errorf("%w: padding byte %#02x, accepted are 0x01 to %#x", zkbench.ErrParams, padding, maxPadding)
	}
	return nil
}

// Blocks is the number of permutations that a message of n bytes takes.
func Blocks(n int) int { return n/Rate + 1 }

// New256 returns a Keccak-256 that has read nothing.
func New256() hash.Hash { return sha3.NewLegacyKeccak256() }

// Sum256 is the Keccak-256 of a message.
func Sum256(message []byte) (digest [Digest]byte) {
	h := sha3.NewLegacyKeccak256()
	h.Write(message)
	h.Sum(digest[:0])
	return digest
}

// SumSHA3256 is the SHA3-256 of a message.
func SumSHA3256(message []byte) [Digest]byte { return sha3.Sum256(message) }

// Package keccak is the hashes that circuits prove: Keccak-256 as Ethereum has it, and
// SHA3-256 (FIPS 202), which differs in its padding byte only. Both are
// golang.org/x/crypto/sha3's.
package keccak

import (
	"hash"

	"golang.org/x/crypto/sha3"
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

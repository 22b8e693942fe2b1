// Package srs makes, stores and loads KZG reference strings over BN254: the powers [τ^i]G1 of a secret τ, the
// same points in the Lagrange basis of a domain, and [τ]G2.
//
// Anyone who knows τ can prove anything. Insecure derives τ from a seed that everybody may know, for tests
// and measurements. ReadPtau takes the string from the file of a powers-of-tau ceremony, and checks what the
// points can show. They cannot show that nobody knows τ. For that you rely on the ceremony and the hash that
// it has published. Check SRS.Insecure before you rely on a proof.
package srs

import (
	"fmt"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/zkbench/zkbench"
)

// Limits of the size of a reference string, which is the size of the largest polynomial's domain.
const (
	MinSize = 2
	MaxSize = 1 << 26
)

// Extra is the number of powers of τ that a reference string has in addition to its size, because blinded
// polynomials of Plonk have degrees up to size + 2.
const Extra = 3

// SRS is a reference string. The points of a string from a Cache are in read-only memory outside the garbage
// collector's heap. Do not write to them, and do not use them after Close.
//
// The zero value is Insecure, and so is a string that a program assembles from points. Do not change the
// fields of a string that is not Insecure, because it would still count as the ceremony's.
type SRS struct {
	Canonical kzg.SRS // Pk.G1: Size()+Extra powers of τ
	Lagrange  kzg.SRS // Pk.G1: Size() points [L_i(τ)]G1, where L_i(ω^j) is 1 if i = j, and 0 otherwise

	secure        bool // of a file with a published hash; nothing else is
	contributions int
	unmap         func() error
}

// Size returns the size of the domain, a power of two.
func (s *SRS) Size() int { return len(s.Lagrange.Pk.G1) }

// Insecure reports whether somebody may know τ. If the string was made from a seed, everybody may know it. If
// it was read from a file without a published hash, the file's maker may know it. If Insecure returns true, a
// proof over the string proves nothing. Only ReadPtau with a published hash makes a string that is not
// Insecure.
func (s *SRS) Insecure() bool { return !s.secure }

// VerifyingKey returns a copy of the key that openings are verified with. It returns zkbench.ErrParams if the
// string is Insecure, because somebody who knows τ can open a commitment to any value. It also returns
// zkbench.ErrParams if the string has no points, for example after Close.
func (s *SRS) VerifyingKey() (*kzg.VerifyingKey, error) {
	if s.Size() == 0 {
		return nil, fmt.Errorf("%w: reference string without points, accepted is one of ReadPtau that is not closed", zkbench.ErrParams)
	}
	if s.Insecure() {
		return nil, fmt.Errorf("%w: insecure reference string, accepted is that of a file with a published hash (ReadPtau)", zkbench.ErrParams)
	}
	return s.InsecureVerifyingKey(), nil
}

// InsecureVerifyingKey returns the verifying key of any string, for tests and measurements. If the string is
// Insecure, openings that the key accepts prove nothing.
func (s *SRS) InsecureVerifyingKey() *kzg.VerifyingKey {
	key := s.Canonical.Vk
	return &key
}

// Contributions returns the number of contributions to the ceremony, as the string's file states it. For a
// string from a seed it returns 0. None of the contributions was verified.
func (s *SRS) Contributions() int { return s.contributions }

// Bytes returns the size of the points in memory, in bytes.
func (s *SRS) Bytes() int {
	return (len(s.Canonical.Pk.G1) + len(s.Lagrange.Pk.G1)) * pointBytes
}

// Close frees the memory of a string from a Cache. The string has no points after that, but Insecure and
// InsecureVerifyingKey still work. For other strings Close does nothing.
func (s *SRS) Close() error {
	if s.unmap == nil {
		return nil
	}
	unmap := s.unmap
	s.Canonical.Pk, s.Lagrange.Pk, s.unmap = kzg.ProvingKey{}, kzg.ProvingKey{}, nil
	return unmap()
}

// pointBytes is the size of an affine point in memory: two coordinates of four 64-bit limbs in Montgomery
// form, the least significant first. The cache's files and .ptau files have the same form.
const pointBytes = 64

// checkSize returns zkbench.ErrParams if size is not a power of two from MinSize to MaxSize.
func checkSize(size int) error {
	if size < MinSize || size > MaxSize || bits.OnesCount(uint(size)) != 1 {
		return fmt.Errorf("%w: size %d of a reference string, accepted are powers of two from %d to %d", zkbench.ErrParams, size, MinSize, MaxSize)
	}
	return nil
}

// assemble returns a string with the given points, which is insecure.
func assemble(canonical, lagrange []bn254.G1Affine, vk *kzg.VerifyingKey, unmap func() error) *SRS {
	return &SRS{
		Canonical: kzg.SRS{Pk: kzg.ProvingKey{G1: canonical}, Vk: *vk},
		Lagrange:  kzg.SRS{Pk: kzg.ProvingKey{G1: lagrange}, Vk: *vk},
		unmap:     unmap,
	}
}

// verifyingKey returns the key of [τ]G2.
func verifyingKey(tauG2 *bn254.G2Affine) *kzg.VerifyingKey {
	_, _, g1, g2 := bn254.Generators()
	vk := &kzg.VerifyingKey{G1: g1, G2: [2]bn254.G2Affine{g2, *tauG2}}
	for i := range vk.G2 {
		vk.Lines[i] = bn254.PrecomputeLines(vk.G2[i])
	}
	return vk
}

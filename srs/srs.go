// Package srs makes, keeps and loads KZG reference strings over BN254: the powers
// [τ^i]G1 of a secret τ, the same in the Lagrange basis of a domain, and [τ]G2.
//
// Whoever knows τ can prove anything. Insecure derives τ from a seed that everybody may know, for
// tests and measurements. ReadPtau takes the string from the file of a powers-of-tau ceremony. What the
// points show, it checks; that nobody knows τ they cannot show, and the hash says that the ceremony has
// published. Ask SRS.Insecure before a proof counts.
package srs

import (
	"fmt"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/zkbench/zkbench"
)

// Limits of the size of a string, which is that of the largest polynomial's domain.
const (
	MinSize = 2
	MaxSize = 1 << 26
)

// Extra is how many powers there are above the size: blinded polynomials of Plonk
// have degrees up to size + 2.
const Extra = 3

// SRS is a reference string. The points of a Cache are in read-only memory
// that the garbage collector does not know: they are not written to, and not used after Close. The zero value, and a string that a program puts together
// of points, is Insecure. The fields of a string that is not are not to be changed: it would still be said to be the ceremony's.
type SRS struct {
	Canonical kzg.SRS // Pk.G1: Size()+Extra powers of τ
	Lagrange  kzg.SRS // Pk.G1: Size() points [L_i(τ)]G1, L_i(ω^j) = 1 if i = j, else 0

	secure        bool // of a file with a published hash; nothing else is
	contributions int
	unmap         func() error
}

// Size is the size of the domain, a power of two.
func (s *SRS) Size() int { return len(s.Lagrange.Pk.G1) }

// Insecure tells whether somebody may know τ: of a seed everybody does, and of a file without a
// published hash whoever made it. A proof over such a string proves nothing. Only ReadPtau with a published hash makes
// a string that is not Insecure.
func (s *SRS) Insecure() bool { return !s.secure }

// VerifyingKey returns a copy of the key that openings are verified with. The error is an ErrParams for a string that
// is Insecure, since over it anybody, or whoever made it, opens a commitment to any value, and for one without points,
// such as a closed one.
func (s *SRS) VerifyingKey() (*kzg.VerifyingKey, error) {
	if s.Size() == 0 {
		return nil, fmt.Errorf("%w: reference string without points, accepted is one of ReadPtau that is not closed", zkbench.ErrParams)
	}
	if s.Insecure() {
		return nil, fmt.Errorf("%w: insecure reference string, accepted is that of a file with a published hash (ReadPtau)", zkbench.ErrParams)
	}
	return s.InsecureVerifyingKey(), nil
}

// InsecureVerifyingKey is VerifyingKey of any string, for tests and measurements: what it accepts is no proof
// if the string is Insecure.
func (s *SRS) InsecureVerifyingKey() *kzg.VerifyingKey {
	key := s.Canonical.Vk
	return &key
}

// Contributions is the number of contributions to the ceremony that its file counts, none of which was
// verified; 0 of a seed's string.
func (s *SRS) Contributions() int { return s.contributions }

// Bytes is the memory of the points.
func (s *SRS) Bytes() int {
	return (len(s.Canonical.Pk.G1) + len(s.Lagrange.Pk.G1)) * pointBytes
}

// Close gives the memory of a Cache's string back. The string has no points after it. Whether it is Insecure, and its keys, stay.
func (s *SRS) Close() error {
	if s.unmap == nil {
		return nil
	}
	unmap := s.unmap
	s.Canonical.Pk, s.Lagrange.Pk, s.unmap = kzg.ProvingKey{}, kzg.ProvingKey{}, nil
	return unmap()
}

// pointBytes is the memory of an affine point: two coordinates of four 64-bit limbs
// in Montgomery form, the least significant first. It is the form of the cache's
// files and of .ptau files, too.
const pointBytes = 64

// checkSize refuses what is no size with an ErrParams.
func checkSize(size int) error {
	if size < MinSize || size > MaxSize || bits.OnesCount(uint(size)) != 1 {
		return fmt.Errorf("%w: size %d of a reference string, accepted are powers of two from %d to %d", zkbench.ErrParams, size, MinSize, MaxSize)
	}
	return nil
}

// assemble makes a string of its points, which is insecure.
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

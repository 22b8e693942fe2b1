package srs

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// The file of a powers-of-tau ceremony as snarkjs writes it (its binfileutils and
// powersoftau sources), numbers little-endian:
//
//	file    = "ptau" version(4) count(4) sections
//	section = type(4) length(8) content
//	1       = length of a coordinate(4) q power(4) power of the ceremony(4)
//	2       = [τ^i]G1, i < 2^(power+1) - 1
//	3       = [τ^i]G2, i < 2^power
//	7       = number of contributions(4), contributions
//	12      = Lagrange forms of section 2 for the domains 1, 2, ..., 2^power, one after
//	          the other; in files that are prepared for phase 2
//
// Points are affine; coordinates have four 64-bit limbs in Montgomery form.
const (
	ptauHeader   = 1
	ptauTauG1    = 2
	ptauTauG2    = 3
	ptauContribs = 7
	ptauLagrange = 12

	maxSections = 64
	maxPower    = 28
)

// ReadPtau reads a string of the given size from a .ptau file, and checks that it is the file
// that the ceremony has published. The hash is what says that τ is not known: by its points
// a file of somebody who knows τ is as good as any. Without one the string is Insecure.
//
// ReadPtau checks the points: all are on the curve and powers of one τ, beginning with the
// generator. The Lagrange form is the file's, checked against the powers, or is computed, which takes
// far longer (some 100 us a point), where the file has none. It refuses a τ that is 0, or k, -k, 1/k or
// -1/k for a k up to 2^16, such as the 1 of a file to which nobody has contributed, or a root of unity of an
// order up to the size, or one that divides 256 times the size. It counts contributions, and does not verify them: a
// ceremony's own verifier does, and whoever publishes the hash answers for that.
//
// The error is a *zkbench.DecodeError that names the section, an ErrParams for a size
// that the file is too small for or for the zero Published, or the context's cause.
func ReadPtau(ctx context.Context, ex executor.Executor, r io.ReaderAt, length int64, size int, published Published) (*SRS, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	if err := published.check(); err != nil {
		return nil, err
	}
	f := &ptau{r: r, length: length}
	if err := f.sections(); err != nil {
		return nil, err
	}
	power, err := f.power()
	if err != nil {
		return nil, err
	}
	if size+Extra > 1<<(power+1)-1 || size > 1<<power {
		return nil, fmt.Errorf("%w: size %d of a reference string, the file has 2^%d", zkbench.ErrParams, size, power)
	}
	if err := published.holds(ctx, f); err != nil {
		return nil, err
	}
	contributions, err := f.contributions()
	if err != nil {
		return nil, err
	}
	canonical, err := f.points(ptauTauG1, 0, size+Extra)
	if err != nil {
		return nil, err
	}
	tauG2, err := f.tauG2()
	if err != nil {
		return nil, err
	}
	_, _, g1, _ := bn254.Generators()
	if !canonical[0].Equal(&g1) {
		return nil, f.malformed(ptauTauG1, 0, "does not begin with the generator")
	}
	if ok, err := arePowers(ctx, ex, canonical, tauG2); err != nil {
		return nil, err
	} else if !ok {
		return nil, f.malformed(ptauTauG1, 0, "not the powers of the τ of section 3")
	}
	var lagrange []bn254.G1Affine
	if _, ok := f.at[ptauLagrange]; !ok {
		lagrange, err = kzg.ToLagrangeG1(slices.Clone(canonical[:size]))
	} else if lagrange, err = f.points(ptauLagrange, size-1, size); err == nil {
		var ok bool
		if ok, err = isLagrange(ctx, ex, canonical, lagrange); err == nil && !ok {
			err = f.malformed(ptauLagrange, int64(size-1)*pointBytes, "not the Lagrange form of section 2")
		}
	}
	if err != nil {
		return nil, err
	}
	weak, err := weakness(ctx, canonical)
	if err != nil {
		return nil, err
	}
	if weak != "" {
		return nil, f.malformed(ptauTauG1, pointBytes, weak)
	}
	s := assemble(canonical, lagrange, verifyingKey(tauG2), nil)
	s.secure, s.contributions = published.given, contributions
	return s, nil
}

// ptau reads a file.
type ptau struct {
	r      io.ReaderAt
	length int64
	at     map[uint32]span // sections
}

type span struct{ start, length int64 }

func (f *ptau) malformed(section uint32, offset int64, reason string) error {
	return &zkbench.DecodeError{Path: fmt.Sprintf("ptau.section %d", section), Offset: int(f.at[section].start + offset), Reason: reason}
}

// sections finds the sections. Each may stand once.
func (f *ptau) sections() error {
	broken := func(offset int64, reason string) error {
		return &zkbench.DecodeError{Path: "ptau", Offset: int(offset), Reason: reason}
	}
	var head [12]byte
	if _, err := f.r.ReadAt(head[:], 0); err != nil {
		return broken(0, "truncated")
	}
	if string(head[:4]) != "ptau" {
		return broken(0, "does not begin with ptau")
	}
	if v := binary.LittleEndian.Uint32(head[4:]); v != 1 {
		return broken(4, fmt.Sprintf("version %d, only 1 is known", v))
	}
	count := binary.LittleEndian.Uint32(head[8:])
	if count > maxSections {
		return broken(8, fmt.Sprintf("%d sections, accepted are up to %d", count, maxSections))
	}
	f.at = make(map[uint32]span)
	offset := int64(len(head))
	for range count {
		if _, err := f.r.ReadAt(head[:], offset); err != nil {
			return broken(offset, "truncated")
		}
		kind, n := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint64(head[4:])
		if _, twice := f.at[kind]; twice {
			return broken(offset, fmt.Sprintf("section %d comes twice", kind))
		}
		offset += int64(len(head))
		if offset > f.length || n > uint64(f.length-offset) {
			return broken(offset, fmt.Sprintf("section %d is truncated", kind))
		}
		f.at[kind] = span{offset, int64(n)}
		offset += int64(n)
	}
	return nil
}

// read reads n bytes of a section. It allocates them only where the section is long
// enough.
func (f *ptau) read(section uint32, offset, n int64) ([]byte, error) {
	s, ok := f.at[section]
	if !ok {
		return nil, f.malformed(section, 0, "missing")
	}
	if offset+n > s.length {
		return nil, f.malformed(section, offset, fmt.Sprintf("too short: %d bytes, want %d or more", s.length, offset+n))
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, s.start+offset); err != nil {
		return nil, f.malformed(section, offset, "cannot be read: "+err.Error())
	}
	return b, nil
}

// power returns the power of the header, which must be for BN254.
func (f *ptau) power() (int, error) {
	b, err := f.read(ptauHeader, 0, 4+fp.Bytes+4)
	if err != nil {
		return 0, err
	}
	q := slices.Clone(b[4 : 4+fp.Bytes])
	slices.Reverse(q)
	if binary.LittleEndian.Uint32(b) != fp.Bytes || !slices.Equal(q, fp.Modulus().FillBytes(make([]byte, fp.Bytes))) {
		return 0, f.malformed(ptauHeader, 0, "for another curve than BN254")
	}
	power := binary.LittleEndian.Uint32(b[4+fp.Bytes:])
	if power < 1 || power > maxPower {
		return 0, f.malformed(ptauHeader, 4+fp.Bytes, fmt.Sprintf("power %d, accepted are 1 to %d", power, maxPower))
	}
	return int(power), nil
}

// contributions returns the number of contributions that the file counts.
func (f *ptau) contributions() (int, error) {
	b, err := f.read(ptauContribs, 0, 4)
	if err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(b)), nil
}

// points reads points of a section of G1, from the given one on.
func (f *ptau) points(section uint32, from, n int) ([]bn254.G1Affine, error) {
	raw, err := f.read(section, int64(from)*pointBytes, int64(n)*pointBytes)
	if err != nil {
		return nil, err
	}
	points := make([]bn254.G1Affine, n)
	for i := range points {
		ok := limbs(&points[i].X, raw[i*pointBytes:]) && limbs(&points[i].Y, raw[i*pointBytes+fp.Bytes:])
		if ok && points[i].IsInfinity() {
			reason := fmt.Sprintf("point %d is the identity", from+i)
			if section == ptauTauG1 && from+i == 1 {
				reason += ": τ is 0"
			}
			return nil, f.malformed(section, int64(from+i)*pointBytes, reason)
		}
		if !ok || !points[i].IsOnCurve() {
			return nil, f.malformed(section, int64(from+i)*pointBytes, fmt.Sprintf("point %d is not on the curve", from+i))
		}
	}
	return points, nil
}

// tauG2 reads [τ]G2.
func (f *ptau) tauG2() (*bn254.G2Affine, error) {
	raw, err := f.read(ptauTauG2, 0, 4*pointBytes)
	if err != nil {
		return nil, err
	}
	var points [2]bn254.G2Affine
	for i := range points {
		p, ok := &points[i], true
		for j, e := range []*fp.Element{&p.X.A0, &p.X.A1, &p.Y.A0, &p.Y.A1} {
			ok = ok && limbs(e, raw[2*pointBytes*i+fp.Bytes*j:])
		}
		if !ok || p.IsInfinity() || !p.IsInSubGroup() {
			return nil, f.malformed(ptauTauG2, int64(2*pointBytes*i), fmt.Sprintf("point %d is not in the group", i))
		}
	}
	if _, _, _, g2 := bn254.Generators(); !points[0].Equal(&g2) {
		return nil, f.malformed(ptauTauG2, 0, "does not begin with the generator")
	}
	return &points[1], nil
}

// limbs reads an element in Montgomery form and reports whether it is reduced.
func limbs(e *fp.Element, b []byte) bool {
	borrow, q := uint64(0), fp.Modulus().Bits()
	for i := range e {
		e[i] = binary.LittleEndian.Uint64(b[8*i:])
		_, borrow = bits.Sub64(e[i], uint64(q[i]), borrow)
	}
	return borrow == 1
}

package srs

import (
	"cmp"
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
	"github.com/zkbench/zkbench/internal/sys/mapped"
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

// ReadPtau reads a reference string of the given size from a .ptau file, and checks that a ceremony has
// published this file. The published hash is the only evidence that nobody knows τ: the points of a file do
// not show whether its maker knows τ. If published is NoHashKnown, the string is Insecure.
//
// ReadPtau checks the points. They must be on the curve, begin with the generator and be the powers of one τ.
// The Lagrange form of the file is checked against the powers. If the file has no Lagrange form, ReadPtau
// computes it, which takes far longer.
//
// ReadPtau refuses some values of τ that anybody can find. These are 0, and k, -k, 1/k and -1/k for all k up
// to 2^16, for example τ = 1, the value in a file to which nobody has contributed. It also refuses a root of
// unity whose order is at most the size or divides 256 times the size.
//
// ReadPtau counts contributions but does not verify them. A ceremony's own verifier verifies them, and the
// publisher of the hash vouches for that.
//
// ReadPtau reads no byte of the file twice. So it uses the bytes that it hashes, even if the file changes
// meanwhile. It needs as much memory as the string's points take, however long the file is.
//
// ReadPtau returns a *zkbench.DecodeError that names the section if the file is wrong. It returns
// zkbench.ErrParams if size is invalid, if the file is too small for it, or if published is the zero value.
// It returns the context's cause if ctx ends.
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
	power, err := f.power(ctx)
	if err != nil {
		return nil, err
	}
	if size+Extra > 1<<(power+1)-1 || size > 1<<power {
		return nil, fmt.Errorf("%w: size %d of a reference string, the file has 2^%d", zkbench.ErrParams, size, power)
	}
	contributions, err := f.contributions(ctx)
	if err != nil {
		return nil, err
	}
	canonical, err := f.points(ctx, ptauTauG1, 0, size+Extra)
	if err != nil {
		return nil, err
	}
	g2 := make([]bn254.G2Affine, 2)
	if err := f.readLimbs(ctx, ptauTauG2, 0, mapped.Bytes(g2)); err != nil {
		return nil, err
	}
	var lagrange []bn254.G1Affine
	_, prepared := f.at[ptauLagrange]
	if prepared {
		if lagrange, err = f.points(ctx, ptauLagrange, size-1, size); err != nil {
			return nil, err
		}
	}
	// All that is used has been read: it is hashed as it is in memory.
	if err := published.checkFile(ctx, f); err != nil {
		return nil, err
	}
	if err := f.checkPowers(ctx, ex, canonical, g2); err != nil {
		return nil, err
	}
	if prepared {
		err = f.checkLagrange(ctx, ex, canonical, lagrange)
	} else {
		lagrange, err = kzg.ToLagrangeG1(slices.Clone(canonical[:size]))
	}
	if err != nil {
		return nil, err
	}
	s := assemble(canonical, lagrange, verifyingKey(&g2[1]), nil)
	s.secure, s.contributions = published.given, contributions
	return s, nil
}

// ptau reads a file. A file may change while it is read, so nothing is read twice. ptau keeps what is used,
// and hashes that and the bytes between.
type ptau struct {
	r      io.ReaderAt
	length int64
	at     map[uint32]span // sections
	used   []piece         // in the order in which they were read; they do not overlap
}

type span struct{ start, length int64 }

// piece is a part of the file.
type piece struct {
	at   int64
	data []byte
}

// readChunk is the number of bytes of a file that are read at a time.
const readChunk = 1 << 16

// fill reads a part of the file.
func (f *ptau) fill(b []byte, at int64) error {
	n, err := f.r.ReadAt(b, at)
	if n == len(b) {
		return nil // an io.EOF may come with the last bytes
	}
	return cmp.Or(err, io.ErrUnexpectedEOF)
}

// use reads a part of the file and keeps it for the hash, so b must not be written to afterwards.
func (f *ptau) use(b []byte, at int64) error {
	f.used = append(f.used, piece{at, b})
	return f.fill(b, at)
}

func (f *ptau) malformed(section uint32, offset int64, reason string) error {
	return &zkbench.DecodeError{Path: fmt.Sprintf("ptau.section %d", section), Offset: int(f.at[section].start + offset), Reason: reason}
}

// sections finds the sections. Each may occur once.
func (f *ptau) sections() error {
	broken := func(offset int64, reason string) error {
		return &zkbench.DecodeError{Path: "ptau", Offset: int(offset), Reason: reason}
	}
	const headLen = 12
	head := make([]byte, headLen)
	if err := f.use(head, 0); err != nil {
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
	offset := int64(headLen)
	for range count {
		head = make([]byte, headLen)
		if err := f.use(head, offset); err != nil {
			return broken(offset, "truncated")
		}
		kind, n := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint64(head[4:])
		if _, twice := f.at[kind]; twice {
			return broken(offset, fmt.Sprintf("section %d comes twice", kind))
		}
		offset += headLen
		if offset > f.length || n > uint64(f.length-offset) {
			return broken(offset, fmt.Sprintf("section %d is truncated", kind))
		}
		f.at[kind] = span{offset, int64(n)}
		offset += int64(n)
	}
	return nil
}

// checkLength returns an error if a section is missing, or has fewer than n bytes after an offset.
func (f *ptau) checkLength(section uint32, offset, n int64) error {
	s, ok := f.at[section]
	if !ok {
		return f.malformed(section, 0, "missing")
	}
	if offset+n > s.length {
		return f.malformed(section, offset, fmt.Sprintf("too short: %d bytes, want %d or more", s.length, offset+n))
	}
	return nil
}

// read reads bytes of a section from an offset on. No byte may be read twice.
func (f *ptau) read(ctx context.Context, section uint32, offset int64, b []byte) error {
	if err := f.checkLength(section, offset, int64(len(b))); err != nil {
		return err
	}
	for part := range slices.Chunk(b, readChunk) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f.use(part, f.at[section].start+offset); err != nil {
			return f.malformed(section, offset, "cannot be read: "+err.Error())
		}
		offset += int64(len(part))
	}
	return nil
}

// power returns the power of the header, which must be for BN254.
func (f *ptau) power(ctx context.Context) (int, error) {
	b := make([]byte, 4+fp.Bytes+4)
	if err := f.read(ctx, ptauHeader, 0, b); err != nil {
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
func (f *ptau) contributions(ctx context.Context) (int, error) {
	b := make([]byte, 4)
	if err := f.read(ctx, ptauContribs, 0, b); err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(b)), nil
}

// points reads n points of a section of G1, beginning with the given one. It takes them as they are in the
// file and does not check them. It allocates memory only if the section is long enough.
func (f *ptau) points(ctx context.Context, section uint32, from, n int) ([]bn254.G1Affine, error) {
	offset := int64(from) * pointBytes
	if err := f.checkLength(section, offset, int64(n)*pointBytes); err != nil {
		return nil, err
	}
	points := make([]bn254.G1Affine, n)
	return points, f.readLimbs(ctx, section, offset, mapped.Bytes(points))
}

// bigEndian says that the processor's words are not as those of a file.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// readLimbs reads little-endian 64-bit limbs from a section into the memory of limbs.
func (f *ptau) readLimbs(ctx context.Context, section uint32, offset int64, memory []byte) error {
	if !bigEndian {
		return f.read(ctx, section, offset, memory)
	}
	file := make([]byte, len(memory)) // kept as it is, since it is hashed later
	if err := f.read(ctx, section, offset, file); err != nil {
		return err
	}
	for at := 0; at < len(file); at += 8 {
		binary.NativeEndian.PutUint64(memory[at:], binary.LittleEndian.Uint64(file[at:]))
	}
	return nil
}

// checkPowers returns an error if the points of section 2, and 1 and τ of section 3, are not the powers of
// one τ, or if anybody can find that τ.
func (f *ptau) checkPowers(ctx context.Context, ex executor.Executor, canonical []bn254.G1Affine, g2 []bn254.G2Affine) error {
	if err := f.checkG1(ctx, ex, ptauTauG1, 0, canonical); err != nil {
		return err
	}
	for i := range g2 {
		p := &g2[i]
		if !areReduced(&p.X.A0, &p.X.A1, &p.Y.A0, &p.Y.A1) || p.IsInfinity() || !p.IsInSubGroup() {
			return f.malformed(ptauTauG2, int64(2*pointBytes*i), fmt.Sprintf("point %d is not in the group", i))
		}
	}
	_, _, one, one2 := bn254.Generators()
	if !g2[0].Equal(&one2) {
		return f.malformed(ptauTauG2, 0, "does not begin with the generator")
	}
	if !canonical[0].Equal(&one) {
		return f.malformed(ptauTauG1, 0, "does not begin with the generator")
	}
	if ok, err := arePowers(ctx, ex, canonical, &g2[1]); err != nil {
		return err
	} else if !ok {
		return f.malformed(ptauTauG1, 0, "not the powers of the τ of section 3")
	}
	weak, err := weakness(ctx, canonical)
	if err == nil && weak != "" {
		err = f.malformed(ptauTauG1, pointBytes, weak)
	}
	return err
}

// checkLagrange returns an error if the points of section 12 are not the Lagrange form of the powers. The
// powers must be checked first: they show a τ in the domain, for which the Lagrange form contains the
// identity.
func (f *ptau) checkLagrange(ctx context.Context, ex executor.Executor, canonical, lagrange []bn254.G1Affine) error {
	from := len(lagrange) - 1
	if err := f.checkG1(ctx, ex, ptauLagrange, from, lagrange); err != nil {
		return err
	}
	ok, err := isLagrange(ctx, ex, canonical, lagrange)
	if err == nil && !ok {
		err = f.malformed(ptauLagrange, int64(from)*pointBytes, "not the Lagrange form of section 2")
	}
	return err
}

// checkG1 returns an error if points of a section, beginning with the given one, are not on the curve or are
// the identity. The error is of the first such point.
func (f *ptau) checkG1(ctx context.Context, ex executor.Executor, section uint32, from int, points []bn254.G1Affine) error {
	const piece = 1 << 10
	errs := make([]error, (len(points)+piece-1)/piece)
	err := ex.Do(ctx, len(errs), func(_ context.Context, i int) error {
		lo, hi := i*piece, min((i+1)*piece, len(points))
		errs[i] = f.checkSome(section, from+lo, points[lo:hi])
		return nil
	})
	for i := 0; err == nil && i < len(errs); i++ {
		err = errs[i]
	}
	return err
}

// checkSome does what checkG1 does, one point after the other.
func (f *ptau) checkSome(section uint32, from int, points []bn254.G1Affine) error {
	for i := range points {
		p := &points[i]
		ok := areReduced(&p.X, &p.Y)
		if ok && p.IsInfinity() {
			reason := fmt.Sprintf("point %d is the identity", from+i)
			if section == ptauTauG1 && from+i == 1 {
				reason += ": τ is 0"
			}
			return f.malformed(section, int64(from+i)*pointBytes, reason)
		}
		if !ok || !p.IsOnCurve() {
			return f.malformed(section, int64(from+i)*pointBytes, fmt.Sprintf("point %d is not on the curve", from+i))
		}
	}
	return nil
}

// modulus is the field's modulus, in words. Computing it for each point would take as long as checking the
// point.
var modulus = fp.Modulus().Bits()

// areReduced reports whether elements, read as they are in memory, are below the modulus.
func areReduced(elements ...*fp.Element) bool {
	for _, e := range elements {
		borrow := uint64(0)
		for i := range e {
			_, borrow = bits.Sub64(e[i], uint64(modulus[i]), borrow)
		}
		if borrow == 0 {
			return false
		}
	}
	return true
}

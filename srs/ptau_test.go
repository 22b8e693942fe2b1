package srs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/sys/mapped"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// ceremony is the file of a ceremony of one participant.
type ceremony struct {
	magic    string
	version  uint32
	sections []section
}

type section struct {
	kind uint32
	data []byte
}

func (c *ceremony) section(kind uint32) *section {
	i := slices.IndexFunc(c.sections, func(s section) bool { return s.kind == kind })
	return &c.sections[i]
}

func (c *ceremony) remove(kind uint32) {
	c.sections = slices.DeleteFunc(c.sections, func(s section) bool { return s.kind == kind })
}

func (c *ceremony) file() []byte {
	b := []byte(c.magic)
	b = binary.LittleEndian.AppendUint32(b, c.version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.sections)))
	for _, s := range c.sections {
		b = binary.LittleEndian.AppendUint32(b, s.kind)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s.data)))
		b = append(b, s.data...)
	}
	return b
}

// TestSnarkjs reads files that snarkjs 0.7.6 made: powersoftau new bn128 3, contribute,
// and prepare phase2 for the second.
func TestSnarkjs(t *testing.T) {
	var all []*SRS
	for _, name := range []string{"powers3.ptau", "powers3-prepared.ptau"} {
		raw := []byte(golden.Read(t, "srs/"+name))
		for _, size := range []int{4, 8} {
			s := must.Get(readPtau(t, raw, size))(t)
			golden.Equal(t, name+": size, contributions", [2]int{size, 1}, [2]int{s.Size(), s.Contributions()})
			all = append(all, s)
		}
		must.FailGet(readPtau(t, raw, 16))(t, zkbench.ErrParams, "%s: a size above its own", name)
	}
	same(t, all[0], all[2]) // the Lagrange form computed, and the file's
	same(t, all[1], all[3])
}

// newCeremony writes a file of the given power, with the sections that the reader does
// not know in between.
func newCeremony(t testing.TB, power int) *ceremony {
	return ceremonyOf(t, power, tauOf(2<<power, seed))
}

// ceremonyOf is newCeremony of a τ.
func ceremonyOf(t testing.TB, power int, tau fr.Element) *ceremony {
	var e big.Int
	tau.BigInt(&e)
	n := 1 << power
	all := must.Get(kzg.NewSRS(uint64(2*n-1), &e))(t)
	q := fp.Modulus().FillBytes(make([]byte, fp.Bytes))
	slices.Reverse(q)
	head := append(binary.LittleEndian.AppendUint32(nil, fp.Bytes), q...)
	head = binary.LittleEndian.AppendUint32(head, uint32(power))
	head = binary.LittleEndian.AppendUint32(head, uint32(power))
	var g2 []byte
	_, _, _, p := bn254.Generators()
	for range n {
		for _, x := range []fp.Element{p.X.A0, p.X.A1, p.Y.A0, p.Y.A1} {
			g2 = appendLimbs(g2, x)
		}
		p.ScalarMultiplication(&p, &e)
	}
	lagrange := slices.Clone(mapped.Bytes(all.Pk.G1[:1])) // of the domain of one point
	for k := 1; k <= power; k++ {
		form := must.Get(kzg.ToLagrangeG1(slices.Clone(all.Pk.G1[:1<<k])))(t)
		lagrange = append(lagrange, mapped.Bytes(form)...)
	}
	return &ceremony{"ptau", 1, []section{
		{ptauHeader, head},
		{ptauContribs, []byte("\x02\x00\x00\x00contributions")},
		{ptauTauG1, slices.Clone(mapped.Bytes(all.Pk.G1))},
		{ptauTauG2, g2},
		{4, []byte("alpha")},
		{ptauLagrange, lagrange},
	}}
}

func appendLimbs(b []byte, e fp.Element) []byte {
	for _, limb := range e {
		b = binary.LittleEndian.AppendUint64(b, limb)
	}
	return b
}

func readPtau(t testing.TB, file []byte, size int) (*SRS, error) {
	t.Helper()
	return ReadPtau(t.Context(), executor.Serial(), bytes.NewReader(file), int64(len(file)), size, NoHashKnown())
}

// TestPtau: the string of a file is that of its τ, from a file with its Lagrange forms
// and from one without.
func TestPtau(t *testing.T) {
	const power = 5
	for _, size := range []int{2, 16, 1 << power} {
		c := newCeremony(t, power)
		with := must.Get(readPtau(t, c.file(), size))(t)
		c.remove(ptauLagrange)
		without := must.Get(readPtau(t, c.file(), size))(t)
		same(t, with, without)
		tau := tauOf(2<<power, seed)
		if !spotCheck(with, &tau) || !with.Insecure() || with.Contributions() != 2 || with.Size() != size || len(with.Canonical.Pk.G1) != size+Extra {
			t.Errorf("size %d: not the string of the file's τ", size)
		}
	}
}

func TestPtauRefuses(t *testing.T) {
	const power, size = 4, 8
	swap := func(data []byte, i, j int) {
		a, b := data[i*pointBytes:(i+1)*pointBytes], data[j*pointBytes:(j+1)*pointBytes]
		keep := slices.Clone(a)
		copy(a, b)
		copy(b, keep)
	}
	for _, test := range []struct {
		name string
		edit func(c *ceremony)
		want string
	}{
		{"magic", func(c *ceremony) { c.magic = "zkey" }, "does not begin with ptau"},
		{"version", func(c *ceremony) { c.version = 2 }, "version 2, only 1"},
		{"no header", func(c *ceremony) { c.remove(ptauHeader) }, "section 1 at byte 0: missing"},
		{"no powers", func(c *ceremony) { c.remove(ptauTauG1) }, "section 2 at byte 0: missing"},
		{"no contributions", func(c *ceremony) { c.remove(ptauContribs) }, "section 7 at byte 0: missing"},
		{"no number of contributions", func(c *ceremony) { c.section(ptauContribs).data = nil }, "section 7 at byte"},
		{"no G2", func(c *ceremony) { c.remove(ptauTauG2) }, "section 3 at byte 0: missing"},
		{"a section twice", func(c *ceremony) { c.sections = append(c.sections, c.sections[0]) }, "section 1 comes twice"},
		{"many sections", func(c *ceremony) { c.sections = make([]section, maxSections+1) }, "65 sections"},
		{"another curve", func(c *ceremony) { c.section(ptauHeader).data[4]++ }, "another curve"},
		{"power 0", func(c *ceremony) { c.section(ptauHeader).data[4+fp.Bytes] = 0 }, "power 0"},
		{"power 29", func(c *ceremony) { c.section(ptauHeader).data[4+fp.Bytes] = 29 }, "power 29"},
		{"power above the points", func(c *ceremony) {
			c.section(ptauTauG1).data = c.section(ptauTauG1).data[:10*pointBytes]
		}, "section 2 at byte"},
		{"not on the curve", func(c *ceremony) { c.section(ptauTauG1).data[3*pointBytes]++ }, "point 3 is not on the curve"},
		{"identity", func(c *ceremony) { clear(c.section(ptauTauG1).data[3*pointBytes : 4*pointBytes]) }, "point 3 is the identity"},
		{"not reduced", func(c *ceremony) {
			x := c.section(ptauTauG1).data[pointBytes : pointBytes+fp.Bytes]
			borrow := new(big.Int)
			slices.Reverse(x)
			borrow.SetBytes(x).Add(borrow, fp.Modulus()).FillBytes(x)
			slices.Reverse(x)
		}, "point 1 is not on the curve"},
		{"another first point", func(c *ceremony) { swap(c.section(ptauTauG1).data, 0, 1) }, "does not begin with the generator"},
		{"swapped", func(c *ceremony) { swap(c.section(ptauTauG1).data, 3, 4) }, "not the powers"},
		{"another G2", func(c *ceremony) { swap(c.section(ptauTauG2).data, 0, 2); swap(c.section(ptauTauG2).data, 1, 3) }, "section 3"},
		{"G2 of τ²", func(c *ceremony) {
			d := c.section(ptauTauG2).data
			copy(d[2*pointBytes:4*pointBytes], d[4*pointBytes:6*pointBytes])
		}, "not the powers"},
		{"G2 outside the subgroup", func(c *ceremony) {
			c.section(ptauTauG2).data = slices.Concat(c.section(ptauTauG2).data[:2*pointBytes], outside(t), c.section(ptauTauG2).data[4*pointBytes:])
		}, "point 1 is not in the group"},
		{"G2 off the curve", func(c *ceremony) { c.section(ptauTauG2).data[2*pointBytes]++ }, "point 1 is not in the group"},
		{"Lagrange form swapped", func(c *ceremony) { swap(c.section(ptauLagrange).data, size-1, size) }, "not the Lagrange form"},
		{"Lagrange form truncated", func(c *ceremony) { c.section(ptauLagrange).data = c.section(ptauLagrange).data[:size*pointBytes] }, "section 12"},
	} {
		c := newCeremony(t, power)
		test.edit(c)
		_, err := readPtau(t, c.file(), size)
		var decode *zkbench.DecodeError
		if !errors.As(err, &decode) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	file := newCeremony(t, power).file()
	must.FailGet(readPtau(t, file, 2<<power))(t, zkbench.ErrParams, "a size above the file's")
	for n := range len(file) / 97 {
		must.FailGet(readPtau(t, file[:97*n], size))(t, zkbench.ErrMalformed, "the first %d bytes", 97*n)
	}
}

// outside encodes [τ]G2 and a point of the twist beside it, outside the subgroup.
func outside(t *testing.T) (encoded []byte) {
	tau := tauOf(32, seed)
	var p, q bn254.G2Affine
	p.ScalarMultiplicationBase(tau.BigInt(new(big.Int)))
	for x := uint64(1); !q.IsOnCurve() || q.IsInSubGroup(); x++ {
		q.X.A0.SetUint64(x)
		_, _, _, g2 := bn254.Generators()
		var b bn254.E2 // y² - x³
		b.Square(&g2.X).Mul(&b, &g2.X)
		q.Y.Square(&g2.Y)
		b.Sub(&q.Y, &b)
		q.Y.Square(&q.X).Mul(&q.Y, &q.X).Add(&q.Y, &b)
		if q.Y.Legendre() != 1 {
			continue
		}
		q.Y.Sqrt(&q.Y)
	}
	var order, zero bn254.G2Affine
	order.ScalarMultiplication(&q, fr.Modulus())
	q = order // of the cofactor's order: what it adds to a point does not show in the part of order r
	if q.Equal(&zero) || !q.IsOnCurve() || q.IsInSubGroup() {
		t.Fatal("no point outside the subgroup")
	}
	p.Add(&p, &q)
	for _, e := range []fp.Element{p.X.A0, p.X.A1, p.Y.A0, p.Y.A1} {
		encoded = appendLimbs(encoded, e)
	}
	return encoded
}

// brokenReader fails after some bytes.
type brokenReader struct {
	io.ReaderAt
	after int64
}

func (r brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.after {
		return 0, errors.New("the disk is gone")
	}
	return r.ReaderAt.ReadAt(p, off)
}

func TestPtauReadErrors(t *testing.T) {
	file := newCeremony(t, 3).file()
	for after := int64(0); after < int64(len(file)); after += 61 {
		_, err := ReadPtau(t.Context(), executor.Serial(), brokenReader{bytes.NewReader(file), after}, int64(len(file)), 8, NoHashKnown())
		if err != nil && !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("failing from byte %d on: %v", after, err)
		}
	}
}

// allocated is the memory that a call asks for, in bytes.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestPtauClaims: what a file or a section claims to hold, and does not, is not allocated.
func TestPtauClaims(t *testing.T) {
	c := newCeremony(t, 2)
	c.section(ptauHeader).data[4+fp.Bytes] = maxPower
	file := c.file()
	start := int64(bytes.Index(file, c.section(ptauTauG1).data))
	claims := slices.Clone(file)
	binary.LittleEndian.PutUint64(claims[start-8:], 1<<40)
	for _, test := range []struct {
		name   string
		file   []byte
		length int64
		want   string
	}{
		{"the power", file, int64(len(file)), "section 2 at byte"},
		{"a section's length", claims, int64(len(claims)), "section 2 is truncated"},
		{"a length within the file", claims, 16, "section 1 is truncated"},
		{"a negative length", claims, -1, "section 1 is truncated"},
	} {
		var err error
		n := allocated(func() {
			_, err = ReadPtau(t.Context(), executor.Serial(), bytes.NewReader(test.file), test.length, MaxSize, NoHashKnown())
		})
		if !errors.Is(err, zkbench.ErrMalformed) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		if n > 1<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", test.name, n, len(test.file))
		}
	}
}

func FuzzReadPtau(f *testing.F) {
	file := newCeremony(f, 2).file()
	f.Add(file, uint8(2))
	f.Add(file[:40], uint8(2))
	f.Add(file, uint8(26))
	f.Fuzz(func(t *testing.T, data []byte, log uint8) {
		size := 1 << (log % 27)
		var s *SRS
		var err error
		n := allocated(func() { s, err = readPtau(t, data, size) })
		switch {
		case err == nil && s.Size() != size:
			t.Errorf("size %d, want %d", s.Size(), size)
		case err != nil && !errors.Is(err, zkbench.ErrMalformed) && !errors.Is(err, zkbench.ErrParams):
			t.Error(err)
		case err != nil && n > 1<<20+64*uint64(len(data)):
			t.Errorf("%d bytes allocated for a file of %d", n, len(data))
		}
	})
}

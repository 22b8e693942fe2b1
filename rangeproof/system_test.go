package rangeproof_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
)

// systems returns every range-proof system over g.
func systems[S, P any](t testing.TB, g group.Group[S, P], bits int, opts group.TableOptions) []rangeproof.System {
	t.Helper()
	basis := func(families []group.Family) *group.Basis[S, P] {
		return must.Get(group.NewBasis(g, append(rangeproof.KeyFamilies(), families...), opts))(t)
	}
	var out []rangeproof.System
	for _, m := range []int{1, 4} {
		b := basis(bulletproof.Families(bits, m, bulletproof.DefaultStop))
		p := must.Get(bulletproof.New(b, bulletproof.Config{Bits: bits, MaxCommitments: m}))(t)
		out = append(out, rangeproof.NewSystem(b, p))
	}
	b := basis(csp.Families(bits))
	p := must.Get(csp.New(b, csp.Config{Bits: bits}))(t)
	return append(out, rangeproof.NewSystem(b, p))
}

func all(t testing.TB, bits int) map[string][]rangeproof.System {
	small := group.TableOptions{Window: 4, Spacing: 8}
	return map[string][]rangeproof.System{
		"BN254":     systems(t, group.BN254(), bits, small),
		"BLS12-381": systems(t, group.BLS12381(), bits, small),
	}
}

func blindings(n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = make([]byte, 32)
		out[i][31], out[i][7] = byte(i+1), 0x5a
	}
	return out
}

var (
	ctx    = context.Background()
	serial = executor.Serial()
)

// proved returns commitments to values and their proof, for the empty message.
func proved(t testing.TB, s rangeproof.System, message []byte, values ...uint64) (commitments, proof []byte) {
	t.Helper()
	m := len(values)
	commitments, proof, err := s.Prove(ctx, serial, message, values, blindings(m), nil)
	must.Do(t, err)
	if len(proof) != s.ProofLen(m) || len(commitments) != m*s.PointLen() {
		t.Errorf("%d bytes of proof and %d of commitments", len(proof), len(commitments))
	}
	return commitments, proof
}

func TestSystem(t *testing.T) {
	t.Parallel()
	const bits = 12
	for curve, list := range all(t, bits) {
		for _, s := range list {
			t.Run(fmt.Sprintf("curve=%s/proof=%s", curve, s.Name()), func(t *testing.T) {
				m := s.MaxCommitments()
				values := []uint64{0, 1<<bits - 1, 77, 1024}[:m]
				var claims []rangeproof.Claim
				for i := range 5 {
					context := []byte{byte(i)}
					commitments, proof := proved(t, s, context, values...)
					c := must.Get(s.Decode(context, m, commitments, proof))(t)
					claims = append(claims, c)
					must.Do(t, s.Verify(ctx, serial, c))
					if i == 0 {
						tampered(t, s, m, commitments, proof)
					}
					if i == 3 { // a good proof in another context
						claims[i] = must.Get(s.Decode([]byte("other"), m, commitments, proof))(t)
					}
				}
				err := s.Verify(ctx, executor.Pool(), claims...)
				if c, ok := errors.AsType[*zkbench.CheckError](err); !ok || c.Action != 3 || !errors.Is(err, zkbench.ErrProof) {
					t.Errorf("batch with claim 3 bad: %v", err)
				}
				must.Do(t, s.Verify(ctx, executor.Pool(), append(claims[:3:3], claims[4])...), "batch without it")
			})
		}
	}
}

func tampered(t *testing.T, s rangeproof.System, m int, commitments, proof []byte) {
	t.Helper()
	verify := func(commitments, proof []byte) error {
		c, err := s.Decode([]byte{0}, m, commitments, proof)
		if err != nil {
			return err
		}
		return s.Verify(ctx, serial, c)
	}
	check := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := 0; i < len(proof); i += testsize.Pick(65, 5, 5) {
		bad := bytes.Clone(proof)
		bad[i] ^= 1 << (i % 8)
		check(fmt.Sprintf("proof byte %d", i), verify(commitments, bad))
	}
	for i := 0; i < len(commitments); i += testsize.Pick(9, 1, 1) {
		bad := bytes.Clone(commitments)
		bad[i] ^= 1 << (i % 8)
		check(fmt.Sprintf("commitment byte %d", i), verify(bad, proof))
	}
	check("truncated proof", verify(commitments, proof[:len(proof)-1]))
	check("longer proof", verify(commitments, append(bytes.Clone(proof), 0)))
	check("truncated commitments", verify(commitments[1:], proof))
}

func TestSystemRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range systems(t, group.BN254(), 8, group.TableOptions{Window: 4, Spacing: 8}) {
		m := s.MaxCommitments()
		most := "accepted are 1 to 4"
		if m == 1 {
			most = "accepted is 1: " + s.Name() + " proves one value at a time"
		}
		for name, c := range map[string]struct {
			values    []uint64
			blindings [][]byte
			want      error
			text      string
		}{
			"no values":          {nil, nil, zkbench.ErrParams, "0 commitments, " + most},
			"too many values":    {make([]uint64, m+1), blindings(m + 1), zkbench.ErrParams, fmt.Sprintf("%d commitments, %s", m+1, most)},
			"missing blinding":   {[]uint64{1}, nil, zkbench.ErrParams, "0 blindings for 1 values"},
			"out of range":       {[]uint64{256}, blindings(1), zkbench.ErrParams, "value 0"},
			"blinding too large": {[]uint64{1}, [][]byte{bytes.Repeat([]byte{0xff}, 32)}, zkbench.ErrMalformed, ": blindings[0][0] at byte 0: "},
			"short blinding":     {[]uint64{1}, [][]byte{{1}}, zkbench.ErrMalformed, ": blindings[0] at byte 0: 1 bytes, want 32"},
		} {
			if _, _, err := s.Prove(ctx, serial, nil, c.values, c.blindings, nil); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("proof=%s %s: %v, want %q", s.Name(), name, err, c.text)
			}
		}
		if _, err := s.Decode(nil, 1, make([]byte, 31), nil); !errors.Is(err, zkbench.ErrMalformed) || !strings.Contains(err.Error(), ": commitments at byte 0: 31 bytes, want 32") {
			t.Errorf("proof=%s: a short commitment: %v", s.Name(), err)
		}
		must.FailGet(s.Decode(nil, m+1, nil, nil))(t, zkbench.ErrParams, "proof=%s: too many commitments", s.Name())
	}
	s := systems(t, group.BN254(), 8, group.TableOptions{Window: 4, Spacing: 8})[0]
	if _, _, err := s.Prove(ctx, serial, nil, []uint64{1}, blindings(1), bytes.NewReader(make([]byte, 31))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a source of 31 bytes: %v", err)
	}
	commitments, proof := proved(t, s, nil, 1)
	must.FailGet(s.Decode(nil, 1, commitments, proof[:1:1]))(t, zkbench.ErrMalformed, "one byte of a proof")
	for name, build := range map[string]func() (rangeproof.System, error){
		"bulletproof/bits=0":    func() (rangeproof.System, error) { return bulletproof.NewSystem(group.BN254(), 0, 1) },
		"bulletproof/bits=65":   func() (rangeproof.System, error) { return bulletproof.NewSystem(group.BN254(), 65, 1) },
		"bulletproof/values=0":  func() (rangeproof.System, error) { return bulletproof.NewSystem(group.BN254(), 8, 0) },
		"bulletproof/values=-1": func() (rangeproof.System, error) { return bulletproof.NewSystem(group.BN254(), 8, -1) },
		"csp/bits=0":            func() (rangeproof.System, error) { return csp.NewSystem(group.BN254(), 0) },
		"csp/bits=65":           func() (rangeproof.System, error) { return csp.NewSystem(group.BN254(), 65) },
	} {
		must.FailGet(build())(t, zkbench.ErrParams, "%s", name)
	}
}

// TestNewSystem: a system in one call accepts the proofs of one that was put
// together by hand, for the same parameters and no others.
func TestNewSystem(t *testing.T) {
	t.Parallel()
	byHand := systems(t, group.BN254(), 8, group.TableOptions{Window: 4, Spacing: 8})
	for i, build := range []func(bits int) (rangeproof.System, error){
		func(bits int) (rangeproof.System, error) { return bulletproof.NewSystem(group.BN254(), bits, 1) },
		func(bits int) (rangeproof.System, error) { return bulletproof.NewSystem(group.BN254(), bits, 4) },
		func(bits int) (rangeproof.System, error) { return csp.NewSystem(group.BN254(), bits) },
	} {
		a := byHand[i]
		commitments, proof := proved(t, a, nil, 1)
		for _, bits := range []int{8, 7} {
			b := must.Get(build(bits))(t)
			c, err := b.Decode(nil, 1, commitments, proof)
			if err == nil {
				err = b.Verify(ctx, serial, c)
			}
			if (err == nil) != (bits == 8) {
				t.Errorf("proof=%s bits=%d: a proof for 8 bits: %v", a.Name(), bits, err)
			}
		}
	}
}

// TestRandomBlinding: blindings follow the source, are reduced from 64 bytes of
// it, and a source that fails is told of.
func TestRandomBlinding(t *testing.T) {
	t.Parallel()
	s := systems(t, group.BLS12381(), 4, group.TableOptions{Window: 4, Spacing: 8})[0]
	wide := append(make([]byte, 31), 2) // 2·2^256 + 3
	wide = append(append(wide, make([]byte, 31)...), 3)
	want := new(big.Int).Mod(new(big.Int).SetBytes(wide), group.BLS12381().Order()).FillBytes(make([]byte, 32))
	golden.Equal(t, "blinding", want, must.Get(s.RandomBlinding(bytes.NewReader(wide)))(t))
	must.FailGet(s.RandomBlinding(bytes.NewReader(wide[1:])))(t, io.ErrUnexpectedEOF, "a source of 63 bytes")
	a, _ := s.RandomBlinding(nil)
	b, _ := s.RandomBlinding(nil)
	if len(a) != 32 || bytes.Equal(a, b) {
		t.Errorf("blindings of the system's source %x and %x", a, b)
	}
}

// A claim belongs to the system that decoded it.
func TestClaimOfAnotherSystem(t *testing.T) {
	t.Parallel()
	small := group.TableOptions{Window: 4, Spacing: 8}
	a := systems(t, group.BN254(), 8, small)[0]
	commitments, proof := proved(t, a, nil, 1)
	c := must.Get(a.Decode(nil, 1, commitments, proof))(t)
	for _, b := range []rangeproof.System{systems(t, group.BN254(), 8, small)[0], systems(t, group.BLS12381(), 8, small)[0]} {
		must.Fail(t, b.Verify(ctx, serial, c), zkbench.ErrParams, "claim of another system")
	}
}

// FuzzDecodeProof: whatever decodes encodes to the same bytes, for both groups.
func FuzzDecodeProof(f *testing.F) {
	s := systems(f, group.BN254(), 4, group.TableOptions{Window: 4, Spacing: 8})
	for _, sys := range s {
		_, proof, err := sys.Prove(ctx, serial, nil, []uint64{5}, blindings(1), bytes.NewReader(make([]byte, 32)))
		must.Do(f, err)
		for points := range len(proof)/32 + 1 { // one of these is the shape
			f.Add(uint8(points), uint8(len(proof)/32-points), proof)
		}
	}
	g := group.BN254()
	f.Fuzz(func(t *testing.T, points, scalars uint8, raw []byte) {
		shape := rangeproof.Shape{Points: int(points), Scalars: int(scalars)}
		p, err := rangeproof.DecodeProof(g, shape, raw)
		if err != nil {
			must.Fail(t, err, zkbench.ErrMalformed, "untyped error")
			return
		}
		if !bytes.Equal(rangeproof.AppendProof(g, nil, p), raw) {
			t.Fatal("two encodings of one proof")
		}
	})
}

// Benchmarks of one range proof by itself, from bytes to bytes: what peers/
// measures other systems on.
func BenchmarkSystem(b *testing.B) {
	for _, bits := range []int{32, 64} {
		for _, s := range systems(b, group.BN254(), bits, group.TableOptions{}) {
			for _, m := range []int{1, 2}[:min(2, s.MaxCommitments())] {
				values := []uint64{1<<bits - 1, 5}[:m]
				name := fmt.Sprintf("bits=%d/m=%d/proof=%s", bits, m, s.Name())
				commitments, proof := proved(b, s, nil, values...)
				b.Run("op=prove/"+name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, _, err := s.Prove(ctx, serial, nil, values, blindings(m), nil); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(len(proof)), "B/proof")
				})
				for _, batch := range []int{1, 64} {
					b.Run(fmt.Sprintf("op=verify/%s/batch=%d", name, batch), func(b *testing.B) {
						b.ReportAllocs()
						claims := make([]rangeproof.Claim, batch)
						for b.Loop() {
							for i := range claims {
								claims[i] = must.Get(s.Decode(nil, m, commitments, proof))(b)
							}
							must.Do(b, s.Verify(ctx, serial, claims...))
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/proof")
					})
				}
			}
		}
	}
}

// TestBuffersCanBeUsedAgain decodes order 0001 with the proof for order 0002, and writes order 0002 into the
// same buffers before it verifies: the claim is about what was decoded.
func TestBuffersCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	for _, s := range all(t, 8)["BN254"] {
		message := []byte("order 0002")
		commitments, proof := proved(t, s, message, 7)
		copy(message, "order 0001")
		forged := must.Get(s.Decode(message, 1, commitments, proof))(t)
		copy(message, "order 0002")
		must.Fail(t, s.Verify(ctx, serial, forged), zkbench.ErrProof, "proof=%s: order 0001 by a proof for order 0002", s.Name())

		honest := must.Get(s.Decode(message, 1, commitments, proof))(t)
		clear(message)
		clear(commitments)
		clear(proof)
		must.Do(t, s.Verify(ctx, serial, honest), s.Name())
	}
}

// TestNothingIsVerified refuses calls that verify no claim: nil would say that one holds.
func TestNothingIsVerified(t *testing.T) {
	t.Parallel()
	for _, s := range all(t, 8)["BN254"] {
		for _, claims := range [][]rangeproof.Claim{nil, {}} {
			must.Fail(t, s.Verify(ctx, serial, claims...), zkbench.ErrParams, "proof=%s: no claims", s.Name())
		}
		must.Fail(t, s.Verify(ctx, serial, nil), zkbench.ErrParams, "proof=%s: a claim that is nil", s.Name())
	}
}

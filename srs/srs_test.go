package srs

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/logger"
	"github.com/consensys/gnark/test/unsafekzg"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/gates"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

const seed = 7

func insecure(t testing.TB, size int) *SRS {
	t.Helper()
	return must.Get(Insecure(context.Background(), executor.Pool(), size, seed))(t)
}

func same(t *testing.T, a, b *SRS) {
	t.Helper()
	if !slices.Equal(a.Canonical.Pk.G1, b.Canonical.Pk.G1) || !slices.Equal(a.Lagrange.Pk.G1, b.Lagrange.Pk.G1) {
		t.Error("other points")
	}
	if a.Canonical.Vk != b.Canonical.Vk || a.Lagrange.Vk != b.Canonical.Vk {
		t.Error("other verifying keys")
	}
}

// TestInsecureIsGnarkCryptos: gnark-crypto makes the same strings of the same τ.
func TestInsecureIsGnarkCryptos(t *testing.T) {
	for _, size := range []int{2, 4, 64, 1024} {
		t.Run(fmt.Sprintf("size=%d", size), func(t *testing.T) {
			tau := tauOf(size, seed)
			var e big.Int
			want := must.Get(kzg.NewSRS(uint64(size+Extra), tau.BigInt(&e)))(t)
			lagrange := must.Get(kzg.ToLagrangeG1(slices.Clone(want.Pk.G1[:size])))(t)
			got := insecure(t, size)
			same(t, got, assemble(want.Pk.G1, lagrange, &want.Vk, nil))
			golden.Equal(t, "size, bytes", [2]int{size, (2*size + Extra) * 64}, [2]int{got.Size(), got.Bytes()})
			serial := must.Get(Insecure(t.Context(), executor.Serial(), size, seed))(t)
			same(t, got, serial)
		})
	}
}

func TestSizes(t *testing.T) {
	for _, size := range []int{-4, 0, 1, 3, 6, 2 * MaxSize} {
		must.FailGet(Insecure(t.Context(), executor.Serial(), size, seed))(t, zkbench.ErrParams, "size %d", size)
		must.FailGet(ReadPtau(t.Context(), executor.Serial(), nil, 0, size, NoHashKnown()))(t, zkbench.ErrParams, "size %d of a file", size)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.FailGet(Insecure(ctx, executor.Serial(), 64, seed))(t, context.Canceled, "cancelled")
}

// TestOtherSeed: τ depends on the seed.
func TestOtherSeed(t *testing.T) {
	other := must.Get(Insecure(t.Context(), executor.Serial(), 8, seed+1))(t)
	if other.Canonical.Pk.G1[1].Equal(&insecure(t, 8).Canonical.Pk.G1[1]) {
		t.Error("two seeds have one τ")
	}
}

func TestCache(t *testing.T) {
	const size = 64
	want := insecure(t, size)
	var warnings []string
	c := Cache{Dir: filepath.Join(t.TempDir(), "made"), Warn: func(s string) { warnings = append(warnings, s) }}
	path := filepath.Join(c.Dir, fmt.Sprintf("insecure-%d-%d.srs", size, seed))
	get := func(t *testing.T, warned string) {
		t.Helper()
		warnings = nil
		s := must.Get(c.Insecure(t.Context(), executor.Serial(), size, seed))(t)
		same(t, s, want)
		if !s.Insecure() {
			t.Error("a string of a seed is said to be secure")
		}
		must.Do(t, errors.Join(s.Close(), s.Close()))
		if got := strings.Join(warnings, "; "); !strings.Contains(got, warned) || (warned == "") != (got == "") {
			t.Errorf("warned of %q, want %q", got, warned)
		}
	}
	get(t, "")
	good := must.Get(os.ReadFile(path))(t)
	before := must.Get(os.Stat(path))(t)
	get(t, "")
	golden.Equal(t, "a whole file is used", true, os.SameFile(before, must.Get(os.Stat(path))(t)))
	foreign := must.Get(Insecure(t.Context(), executor.Serial(), size, seed+1))(t)
	for _, test := range []struct {
		name   string
		edit   func(b []byte) []byte
		warned string
	}{
		{"empty", func([]byte) []byte { return nil }, "0 bytes"},
		{"truncated", func(b []byte) []byte { return b[:len(b)-1] }, "bytes, want"},
		{"longer", func(b []byte) []byte { return append(b, 0) }, "bytes, want"},
		{"magic", func(b []byte) []byte { b[0]++; return b }, "damaged"},
		{"header padding", func(b []byte) []byte { b[headerBytes-1]++; return b }, "damaged"},
		{"first point", func(b []byte) []byte { b[headerBytes]++; return b }, "damaged"},
		{"last byte", func(b []byte) []byte { b[len(b)-1]++; return b }, "damaged"},
		{"other seed", func(b []byte) []byte { copy(b, header(size, seed+1, 0)); return b }, "damaged"},
		{"whole, but of another τ", func([]byte) []byte {
			return bytes.Join(parts(foreign, seed), nil)
		}, "not the seed's"},
	} {
		t.Run(test.name, func(t *testing.T) {
			must.Do(t, os.WriteFile(path, test.edit(slices.Clone(good)), 0o600))
			get(t, test.warned)
			golden.Equal(t, "the file that replaces it", good, must.Get(os.ReadFile(path))(t))
			get(t, "")
		})
	}
	t.Run("no directory", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(file, nil, 0o600))
		c.Dir = file
		get(t, "cannot be written")
	})
}

// TestCacheFileCut: a string stays what it was if its file is cut, or written over, while the string is in use.
func TestCacheFileCut(t *testing.T) {
	const size = 64
	want := insecure(t, size)
	c := Cache{Dir: t.TempDir(), Warn: func(reason string) { t.Error(reason) }}
	path := filepath.Join(c.Dir, fmt.Sprintf("insecure-%d-%d.srs", size, seed))
	for _, name := range []string{"made", "opened"} {
		s := must.Get(c.Insecure(t.Context(), executor.Serial(), size, seed))(t)
		good := must.Get(os.ReadFile(path))(t)
		must.Do(t, os.WriteFile(path, bytes.Repeat([]byte{0xff}, len(good)), 0o600)) // in place
		same(t, s, want)
		must.Do(t, os.Truncate(path, 0))
		same(t, s, want)
		must.Do(t, s.Close(), name)
		must.Do(t, os.WriteFile(path, good, 0o600))
	}
}

// TestInsecureFits: a string that does not fit in memory is refused before it is made. A file is copied off
// the heap, which the limit does not count.
func TestInsecureFits(t *testing.T) {
	c := Cache{Dir: t.TempDir(), Warn: func(reason string) { t.Error(reason) }}
	s := must.Get(c.Insecure(t.Context(), executor.Serial(), 16, seed))(t)
	must.Do(t, s.Close())
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1))
	must.FailGet(Insecure(t.Context(), executor.Serial(), 16, seed))(t, zkbench.ErrLimit, "a string without memory")
	must.FailGet(c.Insecure(t.Context(), executor.Serial(), 32, seed))(t, zkbench.ErrLimit, "a string without a file")
	s = must.Get(c.Insecure(t.Context(), executor.Serial(), 16, seed))(t)
	must.Do(t, s.Close())
}

// TestInsecureByZeroValue: every string but one of a file with a published hash is insecure, and gives a key by that name alone.
func TestInsecureByZeroValue(t *testing.T) {
	c := Cache{Dir: t.TempDir(), Warn: func(reason string) { t.Error(reason) }}
	cached := func() *SRS { return must.Get(c.Insecure(t.Context(), executor.Serial(), 16, seed))(t) }
	made, closed := insecure(t, 16), cached()
	must.Do(t, closed.Close())
	for name, s := range map[string]*SRS{
		"zero":         new(SRS),
		"made":         made,
		"cached":       cached(),
		"closed":       closed,
		"put together": {Canonical: made.Canonical, Lagrange: made.Lagrange},
		"no hash":      must.Get(readPtau(t, newCeremony(t, 4).file(), 16))(t),
	} {
		golden.Equal(t, name+": insecure", true, s.Insecure())
		must.FailGet(s.VerifyingKey())(t, zkbench.ErrParams, "the key of a string that is insecure (%s)", name)
	}

	published := must.Get(readPublished(t, newCeremony(t, 4).file(), 16))(t)
	key, tauG2 := must.Get(published.VerifyingKey())(t), published.Canonical.Vk.G2[1]
	golden.Equal(t, "published: insecure", false, published.Insecure())
	published.unmap = func() error { return nil }
	must.Do(t, published.Close())
	golden.Equal(t, "published and closed: insecure, size", []any{false, 0}, []any{published.Insecure(), published.Size()})
	golden.Equal(t, "the key is that of before", true, key.G2[1] == tauG2)
	must.FailGet(published.VerifyingKey())(t, zkbench.ErrParams, "the key of a closed string")
	must.FailGet((&SRS{secure: true}).VerifyingKey())(t, zkbench.ErrParams, "the key of no points")
}

// TestCloseLeavesKeys: a key that was taken before Close refuses after it what it refused before. A zero key accepts anything.
func TestCloseLeavesKeys(t *testing.T) {
	c := Cache{Dir: t.TempDir(), Warn: func(reason string) { t.Error(reason) }}
	s := must.Get(c.Insecure(t.Context(), executor.Serial(), 16, seed))(t)
	keys := []*kzg.VerifyingKey{s.InsecureVerifyingKey(), &s.Canonical.Vk, &s.Lagrange.Vk}
	must.Do(t, s.Close())
	keys = append(keys, s.InsecureVerifyingKey())
	_, _, g1, _ := bn254.Generators()
	for i, key := range keys {
		wrong := kzg.OpeningProof{H: g1, ClaimedValue: fr.NewElement(10)}
		if kzg.Verify(&g1, &wrong, fr.NewElement(3), *key) == nil {
			t.Errorf("key %d accepts a wrong opening", i)
		}
	}
	s = insecure(t, 16)
	*s.InsecureVerifyingKey() = kzg.VerifyingKey{}
	golden.Equal(t, "the string's own key", true, s.Canonical.Vk.G1 == g1)
}

// TestChecks: what somebody else has made is refused where one point is wrong.
func TestChecks(t *testing.T) {
	s := insecure(t, 16)
	canonical, lagrange := s.Canonical.Pk.G1, s.Lagrange.Pk.G1
	tauG2 := s.Canonical.Vk.G2[1]
	ctx, ex := t.Context(), executor.Serial()
	golden.Equal(t, "powers", true, must.Get(arePowers(ctx, ex, canonical, &tauG2))(t))
	golden.Equal(t, "Lagrange form", true, must.Get(isLagrange(ctx, ex, canonical, lagrange))(t))
	tau := tauOf(16, seed)
	golden.Equal(t, "spot check", true, spotCheck(s, &tau))
	for i := range canonical {
		bad := slices.Clone(canonical)
		bad[i].Neg(&bad[i])
		golden.Equal(t, fmt.Sprintf("powers, the one of %d negated", i), false, must.Get(arePowers(ctx, ex, bad, &tauG2))(t))
	}
	for i := range lagrange {
		bad := slices.Clone(lagrange)
		bad[i].Neg(&bad[i])
		golden.Equal(t, fmt.Sprintf("Lagrange form, point %d negated", i), false, must.Get(isLagrange(ctx, ex, canonical, bad))(t))
	}
	other := fr.NewElement(3)
	golden.Equal(t, "spot check of another τ", false, spotCheck(s, &other))
}

func BenchmarkInsecure(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 14, 1 << 18} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			for b.Loop() {
				must.Get(Insecure(b.Context(), executor.Serial(), size, seed))(b)
			}
		})
	}
}

// BenchmarkCached loads a string from its file.
func BenchmarkCached(b *testing.B) {
	const size = 1 << 18
	c := Cache{Dir: b.TempDir(), Warn: func(reason string) { b.Fatal(reason) }}
	load := func() {
		s := must.Get(c.Insecure(b.Context(), executor.Serial(), size, seed))(b)
		must.Do(b, s.Close())
	}
	load() // which makes it
	for b.Loop() {
		load()
	}
}

// BenchmarkUnsafekzg makes both forms by gnark's package for tests, on all processors: with
// -cpu 1 it compares with BenchmarkInsecure.
func BenchmarkUnsafekzg(b *testing.B) {
	logger.Disable()
	for _, size := range []int{1 << 10, 1 << 14, 1 << 18} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			circuit := must.Get(gates.New(size))(b)
			system := must.Get(frontend.Compile(ecc.BN254.ScalarField(), scs.NewBuilder[constraint.U64], circuit))(b)
			for b.Loop() { // each with a seed of its own, as it keeps what it made
				_, lagrange, err := unsafekzg.NewSRS(system, unsafekzg.WithToxicSeed([]byte(rand.Text())))
				must.Do(b, err)
				if n := len(lagrange.(*kzg.SRS).Pk.G1); n != size {
					b.Fatalf("%d points", n)
				}
			}
		})
	}
}

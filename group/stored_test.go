package group_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func (s *suite[S, P]) testStored(t *testing.T) {
	var points []P // none is the identity
	var scalars []S
	sums := make([]P, 1)
	for i := range s.all.points {
		if s.IsIdentity(&s.all.points[i]) {
			continue
		}
		points, scalars = append(points, s.all.points[i]), append(scalars, s.all.scalars[i])
		var sum P
		s.SubPoints(&sum, &s.all.sums[i+1], &s.all.sums[i])
		s.AddPoints(&sum, &sums[len(sums)-1], &sum)
		sums = append(sums, sum)
	}
	// Enough of each length for a sum of its own.
	rng := random()
	many := slices.Repeat(points, 1500/len(points)+1)
	mixed := make([]S, len(many))
	for i := range mixed {
		mixed[i] = s.randomScalar(rng)
		if length := []int{0, 1, 1, 9, 40}[i%5]; length > 0 {
			mixed[i] = s.ScalarFromUint64(rng.Uint64() & (1<<length - 1))
		}
		if i%8 > 3 {
			s.Neg(&mixed[i], &mixed[i])
		}
	}
	for _, spacing := range []int{0, 64, 128} {
		for _, ex := range executors() {
			name := fmt.Sprintf("spacing=%d exec=%s", spacing, ex.Name())
			given := slices.Clone(points)
			stored, err := group.Store(t.Context(), ex, s.Group, given, group.StoreOptions{Spacing: spacing})
			must.Do(t, err, name)
			clear(given) // are not needed any more
			if stored.Len() != len(points) || stored.Bytes() < len(points)*s.PointLen() {
				t.Errorf("%s: Len is %d, Bytes %d", name, stored.Len(), stored.Bytes())
			}
			for _, n := range []int{0, 1, 2, 3, 9, 33, 100, len(points)} {
				if got := must.Get(stored.MSM(t.Context(), ex, scalars[:n]))(t); !s.EqualPoints(&got, &sums[n]) {
					t.Errorf("%s: the sum of %d is wrong", name, n)
				}
			}
			if got := must.Get(stored.MSM(t.Context(), ex, make([]S, len(points))))(t); !s.IsIdentity(&got) {
				t.Errorf("%s: the sum of nothing is not the identity", name)
			}
			if !panics(func() { _, _ = stored.MSM(t.Context(), ex, make([]S, len(points)+1)) }) {
				t.Errorf("%s: more scalars than points do not panic", name)
			}
			must.Do(t, errors.Join(stored.Close(), stored.Close()))
			if !panics(func() { _, _ = stored.MSM(t.Context(), ex, scalars[:1]) }) {
				t.Errorf("%s: a sum after Close does not panic", name)
			}
		}
		stored := must.Get(group.Store(t.Context(), executor.Serial(), s.Group, many, group.StoreOptions{Spacing: spacing}))(t)
		if stored.Bytes() == len(many)*int(unsafe.Sizeof(many[0])) {
			continue // no multiples: this sum is a group's own
		}
		want := must.Get(s.MSM(t.Context(), executor.Serial(), many, mixed))(t)
		for _, ex := range executors() {
			if got := must.Get(stored.MSM(t.Context(), ex, mixed))(t); !s.EqualPoints(&got, &want) {
				t.Errorf("spacing=%d exec=%s: the sum of many of all lengths is wrong", spacing, ex.Name())
			}
		}
	}
	for _, spacing := range []int{-64, 1, 32, 256} {
		must.FailGet(group.Store(t.Context(), executor.Serial(), s.Group, points, group.StoreOptions{Spacing: spacing}))(t, zkbench.ErrParams, "spacing %d", spacing)
	}
	must.FailGet(group.Store(t.Context(), executor.Serial(), s.Group, []P{points[0], *new(P)}, group.StoreOptions{}))(t, zkbench.ErrParams, "the identity is stored")
	empty := must.Get(group.Store(t.Context(), executor.Serial(), s.Group, nil, group.StoreOptions{}))(t)
	if sum, err := empty.MSM(t.Context(), executor.Serial(), nil); err != nil || !s.IsIdentity(&sum) {
		t.Errorf("the empty sum is not the identity, error %v", err)
	}
}

// kept holds points of BN254 and scalars, with their sum.
type kept struct {
	points  []bn254.G1Affine
	scalars []fr.Element
	sum     bn254.G1Affine
}

func keptPoints(tb testing.TB, n int) kept {
	tb.Helper()
	k := kept{points: multiplesOf(tb, group.BN254(), n), scalars: benchScalars(group.BN254(), n)}
	k.sum = must.Get(group.BN254().MSM(tb.Context(), executor.Serial(), k.points, k.scalars))(tb)
	return k
}

// store stores the points in a file and checks a sum over them. It returns the warnings.
func (k *kept) store(tb testing.TB, g group.Group[fr.Element, bn254.G1Affine], opts group.StoreOptions) string {
	tb.Helper()
	var warnings []string
	opts.Warn = func(reason string) { warnings = append(warnings, reason) }
	stored := must.Get(group.Store(tb.Context(), executor.Serial(), g, k.points, opts))(tb)
	if sum := must.Get(stored.MSM(tb.Context(), executor.Serial(), k.scalars))(tb); !sum.Equal(&k.sum) {
		tb.Error("the sum is wrong")
	}
	must.Do(tb, stored.Close())
	return strings.Join(warnings, "; ")
}

// TestStoredFile: a file that is whole is used; one that is damaged, or holds other
// multiples, is replaced, and it is said why.
func TestStoredFile(t *testing.T) {
	g := group.BN254()
	k := keptPoints(t, 40)
	opts := group.StoreOptions{File: filepath.Join(t.TempDir(), "points")}
	golden.Equal(t, "warnings of the first", "", k.store(t, g, opts))
	good := must.Get(os.ReadFile(opts.File))(t)
	golden.Equal(t, "bytes", 4096+40*2*64, len(good))
	before := must.Get(os.Stat(opts.File))(t)
	golden.Equal(t, "warnings of a whole file", "", k.store(t, g, opts))
	golden.Equal(t, "a whole file is used", true, os.SameFile(before, must.Get(os.Stat(opts.File))(t)))

	other := keptPoints(t, 40)
	other.points[17], other.points[3] = other.points[3], other.points[17]
	other.scalars[17], other.scalars[3] = other.scalars[3], other.scalars[17]
	fewer := keptPoints(t, 39)
	replaced := func(what, reason, warned string) {
		t.Helper()
		if !strings.Contains(warned, reason) || reason == "" {
			t.Errorf("%s: warned of %q, want %q", what, warned, reason)
		}
		golden.Equal(t, what+": warnings afterwards", "", k.store(t, g, opts))
		golden.Equal(t, what+": the file is as before", string(good), string(must.Get(os.ReadFile(opts.File))(t)))
	}
	again := func(what string, foreign *kept, g group.Group[fr.Element, bn254.G1Affine], spacing int, reason string) {
		t.Helper()
		must.Do(t, os.Remove(opts.File))
		golden.Equal(t, "warnings of a new file", "", foreign.store(t, g, group.StoreOptions{File: opts.File, Spacing: spacing}))
		replaced(what, reason, k.store(t, group.BN254(), opts))
	}
	again("points in another order", &other, g, 128, "for other points")
	again("fewer points", &fewer, g, 128, "bytes, want")
	again("another spacing", &k, g, 64, "bytes, want")
	if len(group.Kernels()) > 1 {
		again("another kernel", &k, group.BN254(must.Get(group.KernelNamed("portable"))(t)), 128, "for other points")
	}
	for _, at := range []int{0, 8, 16, 20, 24, 28, 33, 40, 80, 4095, 4096, len(good) - 1} {
		bad := slices.Clone(good)
		bad[at] ^= 1
		must.Do(t, os.WriteFile(opts.File, bad, 0o600))
		replaced(fmt.Sprintf("byte %d", at), "damaged", k.store(t, g, opts))
	}
	for _, n := range []int{0, 4095, 4096, len(good) - 1, len(good) + 1} {
		must.Do(t, os.WriteFile(opts.File, append(slices.Clone(good), 0)[:n], 0o600))
		replaced(fmt.Sprintf("%d bytes", n), fmt.Sprintf("%d bytes, want %d", n, len(good)), k.store(t, g, opts))
	}

	opts.File = filepath.Join(t.TempDir(), "none", "points")
	golden.Contains(t, k.store(t, g, opts), "cannot be written")
	opts.File = t.TempDir()
	golden.Contains(t, k.store(t, g, opts), "cannot be written")
}

// TestStoredFileCut: sums stay right if the file is cut, or written over, while the points are in use.
func TestStoredFileCut(t *testing.T) {
	k := keptPoints(t, 2000)
	opts := group.StoreOptions{File: filepath.Join(t.TempDir(), "points"), Warn: func(reason string) { t.Error(reason) }}
	for _, name := range []string{"made", "opened"} {
		stored := must.Get(group.Store(t.Context(), executor.Pool(), group.BN254(), k.points, opts))(t)
		good := must.Get(os.ReadFile(opts.File))(t)
		sum := func(when string) {
			t.Helper()
			got := must.Get(stored.MSM(t.Context(), executor.Pool(), k.scalars))(t)
			golden.Equal(t, name+": sum over a file that is "+when, k.sum, got)
		}
		must.Do(t, os.WriteFile(opts.File, bytes.Repeat([]byte{0xff}, len(good)), 0o600)) // in place
		sum("written over")
		must.Do(t, os.Truncate(opts.File, 0))
		sum("cut")
		must.Do(t, stored.Close())
		must.Do(t, os.WriteFile(opts.File, good, 0o600))
	}
}

// TestStoredIsCancelled: no file is left, and no half of one.
func TestStoredIsCancelled(t *testing.T) {
	k := keptPoints(t, 40)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	_, err := group.Store(ctx, executor.Serial(), group.BN254(), k.points, group.StoreOptions{File: filepath.Join(dir, "points")})
	golden.Equal(t, "is cancelled", true, errors.Is(err, context.Canceled))
	golden.Equal(t, "files", 0, len(must.Get(os.ReadDir(dir))(t)))
}

// TestStoredFits: what does not fit in memory is refused with its size. It is not parallel,
// for it sets the process' limit.
func TestStoredFits(t *testing.T) {
	k := keptPoints(t, 1<<13)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1))
	_, err := group.Store(t.Context(), executor.Serial(), group.BN254(), k.points, group.StoreOptions{Spacing: 64})
	var limit *zkbench.LimitError
	golden.Equal(t, "is a LimitError", true, errors.As(err, &limit))
	golden.Equal(t, "estimate", int64(1<<13*4*64), limit.Estimate)
}

// FuzzStoredFile: no bytes but the file's own are taken for it.
func FuzzStoredFile(f *testing.F) {
	k := keptPoints(f, 3)
	opts := group.StoreOptions{File: filepath.Join(f.TempDir(), "points")}
	golden.Equal(f, "warnings", "", k.store(f, group.BN254(), opts))
	good := must.Get(os.ReadFile(opts.File))(f)
	f.Add(good)
	f.Add(good[:4096])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		opts := group.StoreOptions{File: filepath.Join(t.TempDir(), "points")}
		must.Do(t, os.WriteFile(opts.File, data, 0o600))
		warned := k.store(t, group.BN254(), opts)
		golden.Equal(t, "is taken", string(data) == string(good), warned == "")
	})
}

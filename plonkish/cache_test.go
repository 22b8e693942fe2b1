package plonkish

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/srs"
)

// TestCache: a key from its file is the key that Setup makes, and a file that is not whole is made
// anew.
func TestCache(t *testing.T) {
	b := NewBuilder(bitwise(3))
	looks(b, 17, 7)
	c := must.Get(b.Build())(t)
	s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
	want := must.Get(Setup(t.Context(), executor.Serial(), c, s))(t)
	var warnings []string
	cache := Cache{Dir: filepath.Join(t.TempDir(), "made"), Warn: func(s string) { warnings = append(warnings, s) }}
	get := func(t *testing.T, warned string) {
		t.Helper()
		warnings = nil
		k := must.Get(cache.Setup(t.Context(), executor.Serial(), c, s))(t)
		golden.Equal(t, "verifying key", want.Bytes(), k.Bytes())
		proof := must.Get(k.Prove(t.Context(), executor.Serial(), c, Options{Context: bound}))(t)
		if err := want.VerifyInsecure(proof, c.Public(), bound); err != nil {
			t.Error(err)
		}
		vk := k.Verifying()
		must.Do(t, errors.Join(k.Close(), k.Close()))
		if err := vk.VerifyInsecure(proof, c.Public(), bound); err != nil {
			t.Error("after Close:", err)
		}
		if got := strings.Join(warnings, "; "); !strings.Contains(got, warned) || (warned == "") != (got == "") {
			t.Errorf("warned of %q, want %q", got, warned)
		}
	}
	get(t, "")
	files := must.Get(os.ReadDir(cache.Dir))(t)
	path := filepath.Join(cache.Dir, files[0].Name())
	good, before := must.Get(os.ReadFile(path))(t), must.Get(os.Stat(path))(t)
	get(t, "")
	golden.Equal(t, "a whole file is used", true, os.SameFile(before, must.Get(os.Stat(path))(t)))
	for _, test := range []struct {
		name   string
		edit   func(b []byte) []byte
		warned string
	}{
		{"empty", func([]byte) []byte { return nil }, "0 bytes"},
		{"truncated", func(b []byte) []byte { return b[:len(b)-1] }, "bytes, want"},
		{"longer", func(b []byte) []byte { return append(b, 0) }, "bytes, want"},
		{"magic", func(b []byte) []byte { b[0]++; return b }, "damaged"},
		{"name", func(b []byte) []byte { b[len(magic)]++; return b }, "damaged"},
		{"commitment", func(b []byte) []byte { b[headerBytes]++; return b }, "damaged"},
		{"last byte", func(b []byte) []byte { b[len(b)-1]++; return b }, "damaged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			must.Do(t, os.WriteFile(path, test.edit(slices.Clone(good)), 0o600))
			get(t, test.warned)
			golden.Equal(t, "the file that replaces it", good, must.Get(os.ReadFile(path))(t))
		})
	}
	t.Run("other keys", func(t *testing.T) {
		other := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 2))(t)
		must.Get(cache.Setup(t.Context(), executor.Serial(), c, other))(t)
		b := NewBuilder(bitwise(3))
		looks(b, 18, 7)
		must.Get(cache.Setup(t.Context(), executor.Serial(), must.Get(b.Build())(t), s))(t)
		golden.Equal(t, "files", 3, len(must.Get(os.ReadDir(cache.Dir))(t)))
	})
	t.Run("no directory", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(file, nil, 0o600))
		cache.Dir = file
		get(t, "cannot be written")
	})
	small := must.Get(srs.Insecure(t.Context(), executor.Serial(), minSize, 1))(t)
	must.FailGet(cache.Setup(t.Context(), executor.Serial(), c, small))(t, zkbench.ErrLimit, "a string that is too short")
}

// TestCacheFileCut: a key stays what it was if its file is cut, or written over, while the key is in use.
func TestCacheFileCut(t *testing.T) {
	b := NewBuilder(bitwise(3))
	looks(b, 17, 7)
	c := must.Get(b.Build())(t)
	s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
	cache := Cache{Dir: t.TempDir(), Warn: func(reason string) { t.Error(reason) }}
	for _, name := range []string{"made", "opened"} {
		k := must.Get(cache.Setup(t.Context(), executor.Serial(), c, s))(t)
		path := filepath.Join(cache.Dir, must.Get(os.ReadDir(cache.Dir))(t)[0].Name())
		good := must.Get(os.ReadFile(path))(t)
		prove := func() []byte {
			return must.Get(k.Prove(t.Context(), executor.Pool(), c, Options{Context: bound, Rand: zeros{}}))(t)
		}
		want := prove()
		must.Do(t, os.WriteFile(path, bytes.Repeat([]byte{0xff}, len(good)), 0o600)) // in place
		golden.Equal(t, name+": proof over a file that is written over", want, prove())
		must.Do(t, os.Truncate(path, 0))
		golden.Equal(t, name+": proof over a file that is cut", want, prove())
		must.Do(t, k.VerifyInsecure(want, c.Public(), bound))
		must.Do(t, k.Close())
		must.Do(t, os.WriteFile(path, good, 0o600))
	}
}

// TestExpand: an expanded key makes the same proofs, also of columns that are computed part by part.
func TestExpand(t *testing.T) {
	all := statements(t)
	if !testing.Short() {
		b := NewBuilder(Plonk())
		chain(b, 1<<15, 7)
		c := must.Get(b.Build())(t)
		all = append(all, statement{name: "four parts", ProvingKey: setup(t, c), Circuit: c, public: c.Public()})
		golden.Equal(t, "parts", 4, all[len(all)-1].partCount())
	}
	for _, s := range all {
		prove := func() []byte {
			return must.Get(s.Prove(t.Context(), executor.Pool(), s.Circuit, Options{Context: bound, Rand: zeros{}}))(t)
		}
		k := *s.ProvingKey
		s.ProvingKey = &k
		want := prove()
		must.Do(t, k.Expand(t.Context(), executor.Pool()))
		must.Do(t, k.Expand(t.Context(), executor.Pool()))
		golden.Equal(t, s.name+": expanded columns", len(k.fixedColumns()), len(k.expanded))
		if !slices.Equal(want, prove()) {
			t.Errorf("%s: another proof", s.name)
		}
		must.Do(t, k.Close())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := *all[0].ProvingKey
	must.Fail(t, k.Expand(ctx, executor.Serial()), context.Canceled, "cancelled")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1))
	must.Fail(t, k.Expand(t.Context(), executor.Serial()), zkbench.ErrLimit, "memory of an expanded key")
}

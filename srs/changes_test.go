package srs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// readAtFunc is a reader that calls a function.
type readAtFunc func(p []byte, off int64) (int, error)

func (f readAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// twoFiles returns the file of a ceremony, and one of a known τ that has its length.
func twoFiles(t *testing.T) (honest, known []byte, hash Published) {
	honest, known = newCeremony(t, 3).file(), ceremonyOf(t, 3, fr.NewElement(1<<40)).file()
	golden.Equal(t, "length", len(honest), len(known))
	return honest, known, hashOf(t, honest)
}

// TestPtauChanges reads a file that is another one from some read on, or until it: a string with the published hash
// has the published points.
func TestPtauChanges(t *testing.T) {
	honest, known, published := twoFiles(t)
	want := must.Get(readPublished(t, honest, 8))(t)
	for _, test := range []struct {
		name          string
		before, after []byte
	}{{"honest first", honest, known}, {"known first", known, honest}} {
		var accepted []int // reads before the file became the other
		for change, reads := 0, 0; change <= reads; change++ {
			reads = 0
			s, err := ReadPtau(t.Context(), executor.Serial(), readAtFunc(func(p []byte, off int64) (int, error) {
				file := test.before
				if reads++; reads > change {
					file = test.after
				}
				return bytes.NewReader(file).ReadAt(p, off)
			}), int64(len(honest)), 8, published)
			switch {
			case err == nil:
				same(t, want, s)
				accepted = append(accepted, change)
			case !errors.Is(err, zkbench.ErrMalformed):
				t.Errorf("%s, changed after %d reads: %v", test.name, change, err)
			}
		}
		if len(accepted) == 0 {
			t.Errorf("%s: not accepted when all that is read is honest", test.name)
		}
	}
}

// TestPtauOverwritten overwrites a file in place once some byte of it was read.
func TestPtauOverwritten(t *testing.T) {
	honest, known, published := twoFiles(t)
	for at := 0; at < len(honest); at += 97 {
		path := filepath.Join(t.TempDir(), "powers.ptau")
		must.Do(t, os.WriteFile(path, honest, 0o600))
		file := must.Get(os.Open(path))(t)
		s, err := ReadPtau(t.Context(), executor.Serial(), readAtFunc(func(p []byte, off int64) (int, error) {
			n, err := file.ReadAt(p, off)
			if off <= int64(at) && int64(at) < off+int64(n) {
				must.Do(t, os.WriteFile(path, known, 0o600))
			}
			return n, err
		}), int64(len(honest)), 8, published)
		must.Do(t, file.Close())
		if tau := fr.NewElement(1 << 40); err == nil && isMultiple(&s.Canonical.Pk.G1[1], &tau) {
			t.Errorf("byte %d: a known τ under the published hash, insecure: %v", at, s.Insecure())
		}
	}
}

// TestPtauReadsOnce: with a hash each byte of a file is read once, so that what is used is what was hashed, and without one
// none is read twice.
func TestPtauReadsOnce(t *testing.T) {
	honest, _, published := twoFiles(t)
	for name, p := range map[string]Published{"hash": published, "no hash": NoHashKnown()} {
		times := make([]int, len(honest))
		must.Get(ReadPtau(t.Context(), executor.Serial(), readAtFunc(func(b []byte, off int64) (int, error) {
			for i := range b {
				times[int(off)+i]++
			}
			n, err := bytes.NewReader(honest).ReadAt(b, off)
			if off+int64(n) == int64(len(honest)) {
				err = io.EOF // as a reader may say with the last bytes
			}
			return n, err
		}), int64(len(honest)), 8, p))(t)
		for i, n := range times {
			if n > 1 || n == 0 && name == "hash" {
				t.Errorf("%s: byte %d is read %d times", name, i, n)
			}
		}
	}
}

// TestPtauCancelled cancels in each read: a file of gigabytes takes seconds.
func TestPtauCancelled(t *testing.T) {
	honest, _, published := twoFiles(t)
	read := func(last int) (reads int, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err = ReadPtau(ctx, executor.Serial(), readAtFunc(func(p []byte, off int64) (int, error) {
			if reads++; reads == last {
				cancel()
			}
			return bytes.NewReader(honest).ReadAt(p, off)
		}), int64(len(honest)), 8, published)
		return reads, err
	}
	all := must.Get(read(0))(t)
	for last := 1; last <= all; last++ {
		must.FailGet(read(last))(t, context.Canceled, "cancelled in read %d of %d", last, all)
	}
}

// TestPtauMemory: what is not used of a file is not kept.
func TestPtauMemory(t *testing.T) {
	const more = 16 << 20
	c := newCeremony(t, 3)
	small := c.file()
	c.sections = append(c.sections, section{5, make([]byte, more)})
	large := c.file()
	var taken [2]uint64
	for i, file := range [][]byte{small, large} {
		published := hashOf(t, file)
		taken[i] = allocated(func() {
			must.Get(ReadPtau(t.Context(), executor.Serial(), bytes.NewReader(file), int64(len(file)), 8, published))(t)
		})
	}
	if taken[1] > taken[0]+more/16 {
		t.Errorf("%d bytes allocated for a file of %d, and %d for one of %d", taken[1], len(large), taken[0], len(small))
	}
}

package group

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"golang.org/x/crypto/chacha20"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// scriptedSystem counts its bytes up, so that seeds differ and are known.
type scriptedSystem struct {
	next  byte
	reads int
	err   error
}

func (s *scriptedSystem) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	s.reads++
	for i := range p {
		p[i] = s.next
		s.next++
	}
	return len(p), nil
}

// The stream is that of the construction, computed here block by block.
func TestDRBGStream(t *testing.T) {
	t.Parallel()
	d := &DRBG{system: &scriptedSystem{}}
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i)
	}
	var want []byte
	for range 3 {
		block := make([]byte, 1024)
		c := must.Get(chacha20.NewUnauthenticatedCipher(key, make([]byte, 12)))(t)
		c.XORKeyStream(block, block)
		key = block[:32]
		want = append(want, block[32:]...)
	}
	got := make([]byte, 0, len(want))
	for size := 1; len(got) < len(want); size = size*3 + 1 {
		p := make([]byte, min(size, len(want)-len(got)))
		if n, err := d.Read(p); n != len(p) || err != nil {
			t.Fatalf("Read(%d bytes) = %d, %v", len(p), n, err)
		}
		got = append(got, p...)
	}
	golden.Equal(t, "ChaCha20 with key erasure", want, got)
}

func TestDRBGErasesAndReseeds(t *testing.T) {
	t.Parallel()
	sys := &scriptedSystem{}
	d := &DRBG{system: sys}
	p := make([]byte, 100)
	_, _ = d.Read(p)
	if bytes.Contains(d.buf[:], p[:16]) || bytes.Contains(d.key[:], p[:16]) {
		t.Error("the state holds bytes that were handed out")
	}
	if bytes.Contains(d.buf[:], d.key[:16]) {
		t.Error("the buffer holds the next key")
	}
	golden.Equal(t, "reads of the system at the start", 1, sys.reads)
	before := d.key
	_, _ = d.Read(make([]byte, drbgReseed+drbgBuffer))
	golden.Equal(t, "reads of the system after 1 MiB", 2, sys.reads)
	if before == d.key {
		t.Error("the key did not change")
	}
}

func TestDRBGReportsSystemError(t *testing.T) {
	t.Parallel()
	broken := errors.New("no entropy")
	d := &DRBG{system: &scriptedSystem{err: broken}}
	if n, err := d.Read(make([]byte, 8)); n != 0 || !errors.Is(err, broken) {
		t.Errorf("Read = %d, %v, want 0, %v", n, err, broken)
	}
}

func TestDRBGConcurrent(t *testing.T) {
	t.Parallel()
	d := NewDRBG()
	const readers, each = 8, 200
	out := make([][32]byte, readers*each)
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			for i := range each {
				if _, err := io.ReadFull(d, out[r*each+i][:]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	seen := make(map[[32]byte]bool)
	for _, b := range out {
		if seen[b] {
			t.Fatal("two readers got the same bytes")
		}
		seen[b] = true
	}
	other := NewDRBG()
	var first [32]byte
	_, _ = other.Read(first[:])
	if seen[first] {
		t.Error("two generators give the same bytes")
	}
}

// What BLS12_381_BBS_GURVY_FAST_RNG changes: the 32 bytes that a prover draws.
func BenchmarkRandom(b *testing.B) {
	for _, source := range []struct {
		name string
		r    io.Reader
	}{{"system", rand.Reader}, {"drbg", NewDRBG()}} {
		for _, parallel := range []bool{false, true} {
			b.Run(fmt.Sprintf("source=%s/bytes=32/parallel=%v", source.name, parallel), func(b *testing.B) {
				b.ReportAllocs()
				if parallel {
					b.RunParallel(func(pb *testing.PB) {
						var p [32]byte
						for pb.Next() {
							_, _ = source.r.Read(p[:])
						}
					})
					return
				}
				var p [32]byte
				for b.Loop() {
					_, _ = source.r.Read(p[:])
				}
			})
		}
	}
}

//go:build !purego

package keccak

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// state is lane i of state j.
func (s *sponges) state(i, j int) *uint64 {
	if s.lanes == lanesAVX512 {
		return &s.eight[i][j]
	}
	return &s.four[i][j]
}

// permuted is the permutation of a state, by Round.
func permuted(a [Lanes]uint64) [Lanes]uint64 {
	for _, c := range RoundConstants() {
		a = Round(a, c)
	}
	return a
}

// eachWide runs a test with the states of each kernel that has lanes.
func eachWide(t *testing.T, test func(t *testing.T, s *sponges)) {
	for _, k := range Kernels()[1:] {
		t.Run("kernel="+k.String(), func(t *testing.T) {
			t.Parallel()
			s := spongesOf(k)
			test(t, &s)
		})
	}
}

// TestPermutation: a block of zeros permutes, zero, all ones and random states, each lane as if it
// were alone.
func TestPermutation(t *testing.T) {
	t.Parallel()
	eachWide(t, func(t *testing.T, s *sponges) {
		random := rand.New(rand.NewPCG(1, 2))
		zeros := make([][]uint64, Rate/8)
		for i := range zeros {
			zeros[i] = make([]uint64, s.lanes)
		}
		for name, word := range map[string]func(j int) uint64{
			"zeros":  func(int) uint64 { return 0 },
			"ones":   func(int) uint64 { return ^uint64(0) },
			"mixed":  func(j int) uint64 { return -uint64(j & 1) },
			"random": func(int) uint64 { return random.Uint64() },
		} {
			for range 20 {
				var got, want [lanesAVX512][Lanes]uint64
				for j := range s.lanes {
					for i := range Lanes {
						want[j][i] = word(j)
						*s.state(i, j) = want[j][i]
					}
					want[j] = permuted(want[j])
				}
				absorb(s, zeros, 0)
				for j := range s.lanes {
					for i := range Lanes {
						got[j][i] = *s.state(i, j)
					}
				}
				if got != want {
					t.Fatalf("%s:\n%s", name, cmp.Diff(want, got))
				}
			}
		}
	})
}

// TestAbsorb: blocks of both lengths of elements, from any place of the columns, are added to what
// the states are.
func TestAbsorb(t *testing.T) {
	t.Parallel()
	eachWide(t, func(t *testing.T, s *sponges) {
		testAbsorb[uint32](t, s)
		testAbsorb[uint64](t, s)
	})
}

func testAbsorb[W Word](t *testing.T, s *sponges) {
	random := rand.New(rand.NewPCG(3, 4))
	perWord := 8 / wordBytes[W]()
	for blocks := 1; blocks < 4; blocks++ {
		for at := range 5 {
			columns := make([][]W, blocks*Rate/wordBytes[W]())
			for c := range columns {
				columns[c] = make([]W, at+s.lanes)
				for i := range columns[c] {
					columns[c][i] = W(random.Uint64())
				}
			}
			var want [lanesAVX512][Lanes]uint64
			for j := range s.lanes {
				for i := range Lanes {
					want[j][i] = random.Uint64()
					*s.state(i, j) = want[j][i]
				}
				for c := range columns {
					word := c / perWord
					want[j][word%(Rate/8)] ^= uint64(columns[c][at+j]) << (c % perWord * 32)
					if (c+1)%len(columns[:Rate/wordBytes[W]()]) == 0 {
						want[j] = permuted(want[j])
					}
				}
			}
			absorb(s, columns, at)
			for j := range s.lanes {
				for i := range Lanes {
					if got := *s.state(i, j); got != want[j][i] {
						t.Fatalf("words of %d bytes, %d blocks from %d: lane %d of state %d is %#x, want %#x", wordBytes[W](), blocks, at, i, j, got, want[j][i])
					}
				}
			}
		}
	}
}

// BenchmarkPermutation is of 64 blocks in a row; ns/permutation is of one state.
func BenchmarkPermutation(b *testing.B) {
	const blocks = 64
	for _, k := range Kernels()[1:] {
		b.Run(fmt.Sprintf("kernel=%v", k), func(b *testing.B) {
			s := spongesOf(k)
			zeros := make([][]uint64, blocks*Rate/8)
			for i := range zeros {
				zeros[i] = make([]uint64, s.lanes)
			}
			for b.Loop() {
				absorb(&s, zeros, 0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/blocks/float64(s.lanes), "ns/permutation")
		})
	}
}

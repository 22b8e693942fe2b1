package tree

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// columnsFor returns width random columns of n elements each.
func columnsFor[E any](random *rand.Rand, width, n int, element func(w uint64) E) [][]E {
	columns := make([][]E, width)
	for i := range columns {
		for range n {
			columns[i] = append(columns[i], element(random.Uint64()))
		}
	}
	return columns
}

func goldilocksOf(w uint64) goldilocks.Element { return goldilocks.Element(w) }

func koalabearOf(w uint64) koalabear.Element { return koalabear.Element{uint32(w)} }

// TestKeccakLeaves: leaves are the hashes of their elements' bytes, on every kernel, whatever their
// number and width; one that is hashed alone is the same.
func TestKeccakLeaves(t *testing.T) {
	t.Parallel()
	for _, k := range keccak.Kernels() {
		t.Run(fmt.Sprintf("kernel=%v", k), func(t *testing.T) {
			t.Parallel()
			testLeaves(t, Keccak[goldilocks.Element](k), goldilocksOf, func(b []byte, e goldilocks.Element) []byte {
				return binary.LittleEndian.AppendUint64(b, uint64(e))
			})
			testLeaves(t, Keccak[koalabear.Element](k), koalabearOf, func(b []byte, e koalabear.Element) []byte {
				return binary.LittleEndian.AppendUint32(b, e[0])
			})
		})
	}
}

func testLeaves[E any](t *testing.T, hash Hash[E], element func(w uint64) E, add func(b []byte, e E) []byte) {
	const most, beyond = 40, 3
	random := rand.New(rand.NewPCG(1, 2))
	for width := 1; width <= 70; width++ {
		columns := columnsFor(random, width, most+beyond, element)
		var want []Digest
		for i := range most {
			var data []byte
			var row []E
			for _, c := range columns {
				data, row = add(data, c[i]), append(row, c[i])
			}
			want = append(want, digestOf(keccak.Sum256(data)))
			if got := hash.Leaf(row); got != want[i] {
				t.Fatalf("%T, %d columns: leaf %d alone is %x, want %x", row, width, i, got, want[i])
			}
		}
		for n := 1; n <= most; n++ {
			got := make([]Digest, n+beyond)
			hash.Leaves(got[:n], columns)
			if !slices.Equal(got[:n], want[:n]) || slices.ContainsFunc(got[n:], func(d Digest) bool { return d != Digest{} }) {
				t.Fatalf("%T, %d leaves of %d columns:\n%x\nwant\n%x", columns, n, width, got, want[:n])
			}
		}
	}
}

// TestKeccakNodes: nodes are the hashes of pairs' bytes, on every kernel, also where they replace the
// pairs.
func TestKeccakNodes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for _, k := range keccak.Kernels() {
		hash := Keccak[goldilocks.Element](k)
		for n := 1; n <= 40; n++ {
			pairs, want := make([]Digest, 2*n), make([]Digest, n)
			for i := range pairs {
				for j := range pairs[i] {
					pairs[i][j] = random.Uint64()
				}
			}
			for i := range want {
				want[i] = digestOf(keccak.Sum256(pairs[2*i+1].Append(pairs[2*i].Append(nil))))
			}
			got := make([]Digest, n)
			hash.Nodes(got, pairs)
			place := slices.Clone(pairs)
			hash.Nodes(place[:n], place)
			if !slices.Equal(got, want) || !slices.Equal(place[:n], want) || !slices.Equal(place[n:], pairs[n:]) {
				t.Fatalf("%v, %d nodes:\n%x\nin place\n%x\nwant\n%x", k, n, got, place, want)
			}
		}
	}
}

func benchmarkLeaves[E Element](b *testing.B, width, n int, element func(w uint64) E) {
	columns := columnsFor(rand.New(rand.NewPCG(5, 6)), width, n, element)
	var e E
	blocks := keccak.Blocks(width * binary.Size(e))
	dst := make([]Digest, n)
	for _, k := range keccak.Kernels() {
		b.Run(fmt.Sprintf("columns=%d/leaves=%d/kernel=%v", width, n, k), func(b *testing.B) {
			hash := Keccak[E](k)
			for b.Loop() {
				for from := 0; from < n; from += chunk {
					part := make([][]E, width)
					for i, c := range columns {
						part[i] = c[from : from+chunk]
					}
					hash.Leaves(dst[from:from+chunk], part)
				}
			}
			perLeaf := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
			b.ReportMetric(perLeaf, "ns/leaf")
			b.ReportMetric(perLeaf/float64(blocks), "ns/permutation")
		})
	}
}

// BenchmarkKeccakLeaves hashes leaves in the tasks of a tree.
func BenchmarkKeccakLeaves(b *testing.B) {
	benchmarkLeaves(b, 165, 8192, koalabearOf)
	benchmarkLeaves(b, 329, 4096, goldilocksOf)
}

func BenchmarkKeccakNodes(b *testing.B) {
	pairs, dst := make([]Digest, 2*chunk), make([]Digest, chunk)
	for _, k := range keccak.Kernels() {
		b.Run(fmt.Sprintf("kernel=%v", k), func(b *testing.B) {
			hash := Keccak[goldilocks.Element](k)
			for b.Loop() {
				hash.Nodes(dst, pairs)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunk, "ns/node")
		})
	}
}

package keccak_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// digests are hashes of messages as words.
func digests(messages [][]byte) (all [][4]uint64) {
	for _, m := range messages {
		sum := keccak.Sum256(m)
		var d [4]uint64
		for i := range d {
			d[i] = binary.LittleEndian.Uint64(sum[8*i:])
		}
		all = append(all, d)
	}
	return all
}

// TestSumColumns: on every kernel, of rows about which whole blocks end, those of columns that hold
// more rows too.
func TestSumColumns(t *testing.T) {
	t.Parallel()
	for _, k := range keccak.Kernels() {
		for _, width := range []int{0, 1, 16, 17, 18, 33, 34, 35, 68} {
			testColumns[uint32](t, k, width, func(b []byte, w uint32) []byte { return binary.LittleEndian.AppendUint32(b, w) })
			testColumns[uint64](t, k, width, func(b []byte, w uint64) []byte { return binary.LittleEndian.AppendUint64(b, w) })
		}
	}
}

func testColumns[W keccak.Word](t *testing.T, k keccak.Kernel, width int, add func(b []byte, w W) []byte) {
	const n, beyond = 21, 2
	random := rand.New(rand.NewPCG(1, 2))
	columns, messages := make([][]W, width), make([][]byte, n)
	for i := range columns {
		columns[i] = make([]W, n+beyond)
		for j := range columns[i] {
			columns[i][j] = W(random.Uint64())
		}
		for j := range messages {
			messages[j] = add(messages[j], columns[i][j])
		}
	}
	got := make([][4]uint64, n)
	keccak.SumColumns(got, columns, k)
	golden.Equal(t, fmt.Sprintf("%v, %d columns of %T", k, width, W(0)), digests(messages), got)
}

// TestSumPairs: on every kernel, also in place of the pairs.
func TestSumPairs(t *testing.T) {
	t.Parallel()
	const n = 21
	random := rand.New(rand.NewPCG(3, 4))
	for _, k := range keccak.Kernels() {
		pairs, messages := make([][4]uint64, 2*n), make([][]byte, n)
		for i := range pairs {
			for j := range pairs[i] {
				pairs[i][j] = random.Uint64()
				messages[i/2] = binary.LittleEndian.AppendUint64(messages[i/2], pairs[i][j])
			}
		}
		keccak.SumPairs(pairs[:n], pairs, k)
		golden.Equal(t, k.String(), digests(messages), pairs[:n])
	}
}

// TestKernels: the zero Kernel is the last of them, and the first is Go alone.
func TestKernels(t *testing.T) {
	t.Parallel()
	all := keccak.Kernels()
	golden.Equal(t, "zero Kernel", all[len(all)-1].String(), keccak.Kernel{}.String())
	golden.Equal(t, "first kernel", "portable", all[0].String())
}

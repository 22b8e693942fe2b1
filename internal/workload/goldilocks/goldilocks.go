// Package goldilocks defines the workloads over the Goldilocks field: arithmetic, Poseidon, Merkle trees and
// transforms. All of them have the axis "kernel", which selects the implementation of the arithmetic.
package goldilocks

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/workload"
)

// Defs returns all workloads of the package.
func Defs() []workload.Def {
	return []workload.Def{GoldilocksOps(), PoseidonPermutation(), MerkleBuild(), MerkleOpen(), MerkleFile(), NTT(), LDE(), PolyEval()}
}

// kernelAxis returns the axis of the kernels that this machine supports. The fastest is
// the default.
func kernelAxis() workload.Axis {
	var names []string
	for _, k := range goldilocks.Kernels() {
		names = append(names, k.String())
	}
	a := workload.NameAxis(workload.Axis{Name: "kernel", Usage: "kernels for vector operations"}, names, []string{goldilocks.Kernel{}.String()})
	a.Accepted = strings.Join(names, ", ") + " on this machine"
	return a
}

// setting holds what all cases have. It has nothing that must be closed.
type setting struct {
	kernel   goldilocks.Kernel
	executor executor.Executor // nil if the workload has no axis of executors
	seed     uint64
}

func settingOf(ctx context.Context, c workload.Case, seed uint64) (s setting, err error) {
	s.seed = seed
	s.kernel, err = goldilocks.KernelNamed(c.Get("kernel"))
	if name, ok := c.Axes().Get("exec"); ok && err == nil {
		s.executor, err = workload.Executor(ctx, name)
	}
	return s, err
}

func (setting) Close() error { return nil }

// corpus returns n random elements, which depend only on the seed and the sequence number.
func corpus(seed, seq uint64, n int) []goldilocks.Element {
	r := workload.Random(seed, seq)
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = goldilocks.Reduce(r.Uint64())
	}
	return all
}

// elementBytes is the memory of one element.
const elementBytes = 8

// domainBytes is the maximum memory of a domain per element. It is for the roots, and for the tables of two radices,
// which are made when a kernel first needs them.
const domainBytes = 64

// encode returns the bytes of digests.
func encode(digests ...poseidon.Digest) []byte {
	b := make([]byte, 0, 8*poseidon.DigestLen*len(digests))
	for _, d := range digests {
		b = appendElements(b, d[:])
	}
	return b
}

// appendElements appends the elements to b, each as 8 bytes in little-endian order.
func appendElements(b []byte, elements []goldilocks.Element) []byte {
	b = slices.Grow(b, 8*len(elements))
	for _, e := range elements {
		b = binary.LittleEndian.AppendUint64(b, uint64(e))
	}
	return b
}

// decode is the inverse of encode. It ignores trailing bytes that are not a whole digest.
func decode(b []byte) []poseidon.Digest {
	digests := make([]poseidon.Digest, len(b)/(8*poseidon.DigestLen))
	for i := range digests {
		for j := range digests[i] {
			digests[i][j] = goldilocks.Element(binary.LittleEndian.Uint64(b[8*(i*poseidon.DigestLen+j):]))
		}
	}
	return digests
}

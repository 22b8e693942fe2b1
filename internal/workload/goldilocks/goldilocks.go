// Package goldilocks defines the workloads of the Goldilocks field: its functions,
// Poseidon, Merkle trees, transforms. Every one has an axis of kernels.
package goldilocks

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/workload"
)

// Defs returns the workloads.
func Defs() []workload.Def {
	return []workload.Def{GoldilocksOps(), PoseidonPermutation(), MerkleBuild(), MerkleOpen(), MerkleFile(), NTT(), LDE(), PolyEval()}
}

// kernelAxis has the kernels of this machine, the fastest by default.
func kernelAxis() workload.Axis {
	var names []string
	for _, k := range goldilocks.Kernels() {
		names = append(names, k.String())
	}
	a := workload.NameAxis(workload.Axis{Name: "kernel", Usage: "kernels of vector operations"}, names, []string{goldilocks.Kernel{}.String()})
	a.Accepted = strings.Join(names, ", ") + " on this machine"
	return a
}

// setting is what cases have in common; it keeps nothing that must be closed.
type setting struct {
	kernel   goldilocks.Kernel
	executor executor.Executor // nil: there is no axis of executors
	seed     uint64
}

func settingOf(c workload.Case, seed uint64) (s setting, err error) {
	s.seed = seed
	s.kernel, err = goldilocks.KernelNamed(c.Get("kernel"))
	if name, ok := c.Axes().Get("exec"); ok && err == nil {
		s.executor, err = executor.ByName(name)
	}
	return s, err
}

func (setting) Close() error { return nil }

// corpus returns random elements that depend on the seed and the sequence number alone.
func corpus(seed, seq uint64, n int) []goldilocks.Element {
	r := workload.Random(seed, seq)
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = goldilocks.Reduce(r.Uint64())
	}
	return all
}

// elementBytes is the memory of an element.
const elementBytes = 8

// domainBytes is the memory of a domain for each of its elements, at most: its roots, and the tables of two
// radices, which kernels make when they first ask.
const domainBytes = 64

// encode is digests as bytes.
func encode(digests ...poseidon.Digest) []byte {
	b := make([]byte, 0, 8*poseidon.DigestLen*len(digests))
	for _, d := range digests {
		b = appendElements(b, d[:])
	}
	return b
}

// appendElements appends elements as bytes.
func appendElements(b []byte, elements []goldilocks.Element) []byte {
	b = slices.Grow(b, 8*len(elements))
	for _, e := range elements {
		b = binary.LittleEndian.AppendUint64(b, uint64(e))
	}
	return b
}

// decode is encode's inverse; the last digest is cut where bytes lack.
func decode(b []byte) []poseidon.Digest {
	digests := make([]poseidon.Digest, len(b)/(8*poseidon.DigestLen))
	for i := range digests {
		for j := range digests[i] {
			digests[i][j] = goldilocks.Element(binary.LittleEndian.Uint64(b[8*(i*poseidon.DigestLen+j):]))
		}
	}
	return digests
}

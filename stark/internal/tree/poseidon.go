package tree

import (
	"unsafe"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Poseidon returns the hash of package poseidon: HashNoPad for leaves and Compress for nodes.
func Poseidon() Hash[goldilocks.Element] { return poseidonHash{} }

type poseidonHash struct{}

func (poseidonHash) Name() string { return "poseidon" }

func (poseidonHash) Leaf(row []goldilocks.Element) Digest {
	return fromPoseidon(poseidon.HashNoPad(row))
}

func (poseidonHash) Leaves(dst []Digest, columns [][]goldilocks.Element) {
	poseidon.ColumnsAll(digestsOf(dst), columns)
}

func (poseidonHash) Nodes(dst, pairs []Digest) {
	poseidon.CompressAll(digestsOf(dst), digestsOf(pairs))
}

// digestsOf returns digests as Poseidon's, in the same memory: both are four words of eight bytes. The words
// must be below the field's order, which decoders check.
func digestsOf(d []Digest) []poseidon.Digest {
	return unsafe.Slice((*poseidon.Digest)(unsafe.Pointer(unsafe.SliceData(d))), len(d))
}

func fromPoseidon(p poseidon.Digest) (d Digest) {
	for i, e := range p {
		d[i] = uint64(e)
	}
	return d
}

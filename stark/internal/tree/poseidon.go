package tree

import (
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Poseidon is the hash of package poseidon: of leaves HashNoPad, of nodes Compress.
func Poseidon() Hash[goldilocks.Element] { return poseidonHash{} }

type poseidonHash struct{}

func (poseidonHash) Name() string { return "poseidon" }

func (poseidonHash) Leaf(row []goldilocks.Element) Digest {
	return fromPoseidon(poseidon.HashNoPad(row))
}

func (poseidonHash) Leaves(dst []Digest, columns [][]goldilocks.Element) {
	// The rate of the sponge is overwritten, as far as the last block goes.
	states := make([]poseidon.State, len(dst))
	for from := 0; from < len(columns); from += poseidon.Rate {
		for at, c := range columns[from:min(from+poseidon.Rate, len(columns))] {
			for i := range states {
				states[i][at] = c[i]
			}
		}
		poseidon.PermuteAll(states)
	}
	for i := range dst {
		dst[i] = fromPoseidon(poseidon.Digest(states[i][:poseidon.DigestLen]))
	}
}

func (poseidonHash) Nodes(dst, pairs []Digest) {
	in := make([]poseidon.Digest, len(pairs))
	for i, d := range pairs {
		in[i] = toPoseidon(d)
	}
	out := in[:len(dst)]
	poseidon.CompressAll(out, in)
	for i, d := range out {
		dst[i] = fromPoseidon(d)
	}
}

func fromPoseidon(p poseidon.Digest) (d Digest) {
	for i, e := range p {
		d[i] = uint64(e)
	}
	return d
}

// toPoseidon takes words modulo the field's order: what a decoder has let through is below it.
func toPoseidon(d Digest) (p poseidon.Digest) {
	for i, w := range d {
		p[i] = goldilocks.Reduce(w)
	}
	return p
}

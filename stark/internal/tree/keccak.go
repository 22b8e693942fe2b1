package tree

import (
	"encoding/binary"

	"github.com/zkbench/zkbench/hash/keccak"
)

// Keccak is Keccak-256: of leaves their elements' bytes one after the other, as they lie in memory.
// word gives them, so many bytes of each.
func Keccak[E any](word func(E) uint64, bytes int) Hash[E] { return keccakHash[E]{word, bytes} }

type keccakHash[E any] struct {
	word  func(E) uint64
	bytes int
}

func (keccakHash[E]) Name() string { return "keccak" }

func (h keccakHash[E]) Leaf(row []E) (d Digest) {
	data := make([]byte, 0, len(row)*h.bytes)
	for _, e := range row {
		w := h.word(e)
		for range h.bytes {
			data = append(data, byte(w))
			w >>= 8
		}
	}
	return digestOf(keccak.Sum256(data))
}

func (h keccakHash[E]) Leaves(dst []Digest, columns [][]E) {
	row := make([]E, len(columns))
	for i := range dst {
		for j, c := range columns {
			row[j] = c[i]
		}
		dst[i] = h.Leaf(row)
	}
}

func (h keccakHash[E]) Nodes(dst, pairs []Digest) {
	var data [2 * DigestBytes]byte
	for i := range dst {
		pairs[2*i+1].Append(pairs[2*i].Append(data[:0]))
		dst[i] = digestOf(keccak.Sum256(data[:]))
	}
}

func digestOf(b [keccak.Digest]byte) (d Digest) {
	for i := range d {
		d[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return d
}

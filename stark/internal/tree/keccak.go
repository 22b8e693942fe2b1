package tree

import (
	"encoding/binary"
	"unsafe"

	"github.com/zkbench/zkbench/hash/keccak"
)

// Element is a value that Keccak can hash: one word of four or eight bytes in memory.
type Element interface {
	~uint32 | ~uint64 | ~[1]uint32
}

// Keccak returns the hash Keccak-256. A leaf is hashed as the words of its elements, one after the other,
// each in little-endian order. An optional argument selects the kernel; without it, the hash uses the fastest
// kernel of the machine.
func Keccak[E Element](on ...keccak.Kernel) Hash[E] { return keccakHash[E]{on} }

type keccakHash[E Element] struct{ on []keccak.Kernel }

func (keccakHash[E]) Name() string { return "keccak" }

// long reports whether elements are words of eight bytes.
func (keccakHash[E]) long() bool {
	var e E
	return unsafe.Sizeof(e) == 8
}

func (h keccakHash[E]) Leaf(row []E) Digest {
	data := make([]byte, 0, 8*len(row))
	if h.long() {
		for _, w := range words[uint64](row) {
			data = binary.LittleEndian.AppendUint64(data, w)
		}
	} else {
		for _, w := range words[uint32](row) {
			data = binary.LittleEndian.AppendUint32(data, w)
		}
	}
	return digestOf(keccak.Sum256(data))
}

func (h keccakHash[E]) Leaves(dst []Digest, columns [][]E) {
	if h.long() {
		keccak.SumColumns(dst, columnsOf[uint64](columns), h.on...)
	} else {
		keccak.SumColumns(dst, columnsOf[uint32](columns), h.on...)
	}
}

func (h keccakHash[E]) Nodes(dst, pairs []Digest) { keccak.SumPairs(dst, pairs, h.on...) }

// words returns a row as words, in the same memory. Element's types have the size and alignment of one of the
// two word types, and W must be the one of that size.
func words[W keccak.Word, E Element](row []E) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(row))), len(row))
}

// columnsOf returns columns as words, in the same memory. Slices of elements and of words have the same
// layout.
func columnsOf[W keccak.Word, E Element](columns [][]E) [][]W {
	return *(*[][]W)(unsafe.Pointer(&columns))
}

func digestOf(b [keccak.Digest]byte) (d Digest) {
	for i := range d {
		d[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return d
}

package tree

import (
	"encoding/binary"
	"unsafe"

	"github.com/zkbench/zkbench/hash/keccak"
)

// Element is what Keccak hashes: a value that lies in memory as one word of four or eight bytes.
type Element interface {
	~uint32 | ~uint64 | ~[1]uint32
}

// Keccak is Keccak-256: of leaves their elements' words one after the other, the least significant
// byte of each first. It runs on the fastest kernel, or on that named.
func Keccak[E Element](on ...keccak.Kernel) Hash[E] { return keccakHash[E]{on} }

type keccakHash[E Element] struct{ on []keccak.Kernel }

func (keccakHash[E]) Name() string { return "keccak" }

// long tells whether elements are words of eight bytes.
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

// words is a row as the words that its elements are: those of the constraint have the size and the
// alignment of one of the two types, and W is the type of their size.
func words[W keccak.Word, E Element](row []E) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(row))), len(row))
}

// columnsOf is columns as words; slices of elements and of words have one form.
func columnsOf[W keccak.Word, E Element](columns [][]E) [][]W {
	return *(*[][]W)(unsafe.Pointer(&columns))
}

func digestOf(b [keccak.Digest]byte) (d Digest) {
	for i := range d {
		d[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return d
}

package keccak

import (
	"encoding/binary"
	"hash"
	"math/bits"
)

// Word is the type of the elements in the columns that SumColumns hashes.
type Word interface{ uint32 | uint64 }

// SumColumns sets dst[i] to the Keccak-256 of columns[0][i], columns[1][i], and so on. Each element is hashed
// as its 4 or 8 bytes, the least significant byte first. A digest is stored as words of 8 bytes, also the
// least significant byte first. No column may be shorter than dst or overlap it. An optional last argument
// selects the Kernel; without it, SumColumns uses the fastest.
func SumColumns[D ~[Digest / 8]uint64, W Word](dst []D, columns [][]W, on ...Kernel) {
	done := sumColumnsWide(chosen(on), dst, columns)
	if done == len(dst) {
		return
	}
	h := New256()
	message := make([]byte, 0, len(columns)*wordBytes[W]())
	for i := done; i < len(dst); i++ {
		message = message[:0]
		for _, c := range columns {
			message = appendWord(message, c[i])
		}
		dst[i] = sumOf[D](h, message)
	}
}

// SumPairs sets dst[i] to the Keccak-256 of the 64 bytes of pairs[2i] and pairs[2i+1]. The slice dst may be
// the beginning of pairs. An optional last argument selects the Kernel; without it, SumPairs uses the
// fastest.
func SumPairs[D ~[Digest / 8]uint64](dst, pairs []D, on ...Kernel) {
	done := sumPairsWide(chosen(on), dst, pairs)
	if done == len(dst) {
		return
	}
	h := New256()
	message := make([]byte, 0, 2*Digest)
	for i := done; i < len(dst); i++ {
		message = message[:0]
		for _, d := range pairs[2*i : 2*i+2] {
			for j := range len(d) {
				message = appendWord(message, d[j])
			}
		}
		dst[i] = sumOf[D](h, message)
	}
}

// sumOf returns the hash of a message as words.
func sumOf[D ~[Digest / 8]uint64](h hash.Hash, message []byte) (digest D) {
	h.Reset()
	h.Write(message)
	var b [Digest]byte
	h.Sum(b[:0])
	for i := range len(digest) {
		digest[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return digest
}

// wordBytes returns the length of a word in bytes.
func wordBytes[W Word]() int { return bits.Len64(uint64(^W(0))) / 8 }

func appendWord[W Word](b []byte, w W) []byte {
	if wordBytes[W]() == 4 {
		return binary.LittleEndian.AppendUint32(b, uint32(w))
	}
	return binary.LittleEndian.AppendUint64(b, uint64(w))
}

// Package state commits to the state of a ledger. The state is a set of typed records. Its commitment is a
// homomorphic hash, so one record is added or removed in constant time, whatever the size of the set is.
//
// The hash is LtHash16 (Lewi, Kim, Maykov and Weis, Securing Update Propagation with Homomorphic Hashing, IACR
// ePrint 2019/227, section 5): each record is hashed to 1024 numbers of 16 bits, and the numbers of all records
// are added modulo 2^16. The paper estimates its collision resistance at more than 200 bits. The numbers
// of a record are the output of BLAKE3 in keyed mode, 2048 bytes, little-endian.
//
// Equal commitments show that two copies of a ledger have the same state. A commitment does not show that one
// record is in the state: whoever wants to know that needs the whole state, or the log that leads to it.
package state

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"lukechampine.com/blake3"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/vector"
)

// Kind is the kind of a record. It is the first byte of the record's encoding.
type Kind byte

// The kinds of records. Times and numbers are encoded as in a ledger's entries.
const (
	Unspent Kind = 1 // id of an unspent token -> nothing
	Used    Kind = 2 // id of a token, spent or not -> SHA-256 of the token's encoding
	Anchor  Kind = 3 // anchor -> digest of the request
	Policy  Kind = 4 // nothing -> version(8) and digest(64) of the current policy
	Time    Kind = 5 // nothing -> time(12) of the last entry; there is none in an empty log
)

// Record is one record of a state. No two records of a state have the same Kind and Key.
type Record struct {
	Kind       Kind
	Key, Value []byte
}

// append appends the encoding of r to dst: kind(1) length of the key(4, big-endian) key value.
func (r *Record) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, byte(r.Kind)), uint32(len(r.Key)))
	return append(append(dst, r.Key...), r.Value...)
}

// Digest returns the SHA-256 of a token's encoding, the value of a record of kind Used.
func Digest(token []byte) []byte {
	digest := sha256.Sum256(token)
	return digest[:]
}

// lanes is the number of 16-bit numbers in a Sum.
const lanes = 1024

// SumLen is the length of an encoded Sum in bytes.
const SumLen = 2 * lanes

// Sum is the LtHash16 of a set of records. The zero value is that of the empty set.
type Sum [lanes]uint16

// Add adds a record, which must not be in the set.
func (s *Sum) Add(r Record) {
	e := expanders.Get().(*expander)
	defer expanders.Put(e)
	out := e.expand(&r)
	for i := range s {
		s[i] += binary.LittleEndian.Uint16(out[2*i:])
	}
}

// Remove removes a record, which must be in the set.
func (s *Sum) Remove(r Record) {
	e := expanders.Get().(*expander)
	defer expanders.Put(e)
	out := e.expand(&r)
	for i := range s {
		s[i] -= binary.LittleEndian.Uint16(out[2*i:])
	}
}

// expander hashes records. It keeps what it reads and writes, because the hasher's arguments escape to the heap.
type expander struct {
	hasher *blake3.Hasher
	record []byte
	out    [SumLen]byte
}

var expanders = sync.Pool{New: func() any {
	key := sha256.Sum256([]byte("zkbench/v1/ledger state"))
	return &expander{hasher: blake3.New(0, key[:])}
}}

// expand hashes a record to numbers, which are valid until the next call.
func (e *expander) expand(r *Record) *[SumLen]byte {
	e.record = r.append(e.record[:0])
	e.hasher.Reset()
	_, _ = e.hasher.Write(e.record)
	xof := e.hasher.XOF() // has 2^64 bytes
	for half := range 2 {
		_, _ = xof.Read(e.out[half*SumLen/2:][:SumLen/2]) // of more bytes at once it would begin goroutines
	}
	vector.Clear() // which the assembly of v1.4.1 for AVX-512 leaves out
	return &e.out
}

// Commitment returns the SHA-256 of "zkbench/v1/ledger state commitment" and the encoding of s.
func (s *Sum) Commitment() [32]byte {
	return sha256.Sum256(s.Append(append(make([]byte, 0, SumLen+64), "zkbench/v1/ledger state commitment"...)))
}

// Append appends the encoding of s to dst: its numbers, little-endian.
func (s *Sum) Append(dst []byte) []byte {
	for _, n := range s {
		dst = binary.LittleEndian.AppendUint16(dst, n)
	}
	return dst
}

// Decode decodes a sum that Append encoded. The error is of type *zkbench.DecodeError.
func Decode(data []byte) (s Sum, err error) {
	if len(data) != SumLen {
		return s, &zkbench.DecodeError{Path: "state sum", Reason: fmt.Sprintf("%d bytes, want %d", len(data), SumLen)}
	}
	for i := range s {
		s[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return s, nil
}

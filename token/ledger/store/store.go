// Package store is what the stores behind a ledger.Store have in common: the tables
// and their records, who decides what of a batch is accepted, the queue of a group
// commit, and what verifies a store against its own log.
package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"iter"

	"github.com/zkbench/zkbench/token/ledger"
)

// Chunks is ledger.Reader.Log from the sequence number from, on what chunk returns: the
// next records from seq, none at the end of the log. Records that come with an
// error stand before it.
func Chunks(from uint64, chunk func(seq uint64) ([]ledger.Record, error)) iter.Seq2[ledger.Record, error] {
	return func(yield func(ledger.Record, error) bool) {
		next := max(from, 1)
		for {
			records, err := chunk(next)
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(ledger.Record{}, err)
			}
			if err != nil || len(records) == 0 {
				return
			}
			next += uint64(len(records))
		}
	}
}

// RecordOf returns the record of an anchor that has a place in a log. entry is the log's entry
// there, nil if there is none.
func RecordOf(anchor []byte, at Anchored, entry *ledger.Entry) (ledger.Record, error) {
	place := fmt.Sprintf("anchors %x", anchor)
	switch {
	case entry == nil:
		return ledger.Record{}, ledger.Corruptf(place, "names request %d, which is not in the log", at.Seq)
	case !bytes.Equal(entry.Anchor, anchor) || entry.Digest != at.Digest:
		return ledger.Record{}, ledger.Corruptf(place, "names request %d, which has another", at.Seq)
	}
	return ledger.Record{Seq: at.Seq, Entry: *entry}, nil
}

// Link hashes one batch into the chain of the log:
//
//	hash = SHA-256(frame("zkbench/v2/ledger") prev(32) first(8) frame(entry) ...)
//
// with frame(x) = uint32 length, x; integers big-endian; first the sequence
// number of the batch's first entry. The hash before the first batch is the ledger's id. Behind the records that a
// fork has of its parent, it is that of Batch.Next.
type Link struct{ h hash.Hash }

// NewLink begins a batch.
func NewLink(prev [32]byte, first uint64) Link {
	l := Link{framed("zkbench/v2/ledger")}
	l.h.Write(prev[:])
	l.h.Write(binary.BigEndian.AppendUint64(nil, first))
	return l
}

// framed begins a hash of a domain.
func framed(domain string) hash.Hash {
	h := sha256.New()
	Link{h}.Add([]byte(domain))
	return h
}

// Add adds the encoding of the next entry.
func (l Link) Add(entry []byte) {
	l.h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(entry))))
	l.h.Write(entry)
}

// Sum returns the hash of the batch.
func (l Link) Sum() (sum [32]byte) {
	l.h.Sum(sum[:0])
	return sum
}

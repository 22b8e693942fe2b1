// Package store contains what all implementations of ledger.Store share. It defines the tables of a
// stored ledger (tokens, spent, anchors, log, chain) and the encoding of their records. It decides
// which entries of a batch are accepted, queues calls for group commit, and verifies a store against
// its own log.
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

// Chunks implements ledger.Reader.Log with the function chunk. The function chunk must return one
// or more records, starting with sequence number seq. At the end of the log it must return no
// records. If chunk returns records together with an error, Chunks yields the records first.
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

// RecordOf combines a record of the table anchors (the parameter at) with the entry that the log has
// under the record's sequence number. The parameter entry is nil if the log has none. RecordOf
// returns a *ledger.CorruptError if the record and the entry do not match.
func RecordOf(anchor []byte, at Anchored, entry *ledger.Entry) (ledger.Record, error) {
	place := fmt.Sprintf("anchors %x", anchor)
	switch {
	case entry == nil:
		return ledger.Record{}, ledger.Corruptf(place, "names request %d, which is not in the log", at.Seq)
	case !bytes.Equal(entry.Anchor, anchor) || entry.Digest != at.Digest:
		return ledger.Record{}, ledger.Corruptf(place, "names request %d, which has another anchor or digest", at.Seq)
	}
	return ledger.Record{Seq: at.Seq, Entry: *entry}, nil
}

// Link computes the hash of one batch, which links it to the batch before:
//
//	hash = SHA-256(frame("zkbench/v2/ledger") prev(32) first(8) frame(entry) ...)
//
// Here frame(x) is the length of x as a uint32, followed by x. Integers are big-endian, and first
// is the sequence number of the batch's first entry. For the first batch of a ledger, prev is the
// ledger's id. For a fork's first batch of its own, prev is the hash that Batch.Next returns.
type Link struct{ h hash.Hash }

// NewLink begins the hash of a batch. The parameters prev and first are those in the formula at
// Link.
func NewLink(prev [32]byte, first uint64) Link {
	l := Link{framed("zkbench/v2/ledger")}
	l.h.Write(prev[:])
	l.h.Write(binary.BigEndian.AppendUint64(nil, first))
	return l
}

// framed begins a SHA-256 hash with the framed domain.
func framed(domain string) hash.Hash {
	h := sha256.New()
	Link{h}.Add([]byte(domain))
	return h
}

// Add adds the encoding of the batch's next entry to the hash.
func (l Link) Add(entry []byte) {
	l.h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(entry))))
	l.h.Write(entry)
}

// Sum returns the hash of the batch.
func (l Link) Sum() (sum [32]byte) {
	l.h.Sum(sum[:0])
	return sum
}

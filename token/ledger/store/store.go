// Package store contains what all implementations of ledger.Store share. It defines the tables of a
// stored ledger (tokens, spent, anchors, log) and the encoding of their records. It decides
// which entries of a batch are accepted, queues calls for group commit, and verifies a store against
// its own log.
package store

import (
	"bytes"
	"fmt"
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
// under the record's sequence number. The parameter logged is nil if the log has none. RecordOf
// returns a *ledger.CorruptError if the record and the entry do not match.
func RecordOf(anchor []byte, at Anchored, logged *Logged) (ledger.Record, error) {
	place := fmt.Sprintf("anchors %x", anchor)
	switch {
	case logged == nil:
		return ledger.Record{}, ledger.Corruptf(place, "names request %d, which is not in the log", at.Seq)
	case !bytes.Equal(logged.Entry.Anchor, anchor) || logged.Entry.Digest != at.Digest:
		return ledger.Record{}, ledger.Corruptf(place, "names request %d, which has another anchor or digest", at.Seq)
	}
	return logged.Record(at.Seq), nil
}

// Package store is what the stores behind a ledger.Ledger have in common: the tables
// and their records, who decides what of a batch is accepted, the queue of a group
// commit, and what verifies a store against its own log.
package store

import (
	"iter"

	"github.com/zkbench/zkbench/token/ledger"
)

// Chunks is ledger.Ledger.Log from the sequence number from, on what chunk returns: the
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

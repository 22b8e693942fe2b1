// Package rpc has the messages of the services of a token system, generated from the files in the module's folder
// proto, and what server and client share: problems as errors, records, and limits.
package rpc

import (
	"bytes"
	"fmt"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/ledger"
)

// Protocol is the version of the rules that the messages do not show.
const Protocol = 1

// Heartbeat is the longest time in which a server sends nothing to a caller that follows the log.
const Heartbeat = 30 * time.Second

// LedgerHeader is the header of each answer of a ledger's server: the ledger's id in lowercase hexadecimal digits.
const LedgerHeader = "Zkbench-Ledger"

// Limits of messages.
const (
	MaxRequests = 256                         // requests of one call of Submit
	MaxError    = 256 << 10                   // bytes of an error that a client reads
	MaxAnswer   = 2*token.MaxRequest + 64<<20 // bytes of a message that a client reads: a record of any size
	ChunkBytes  = 128 << 10                   // of records, after which a message of ReadLog ends
	MaxIDs      = 256                         // ids of one call of GetTokens
	MaxWait     = 60_000                      // milliseconds that a call may wait
	MaxKey      = 128                         // bytes of an idempotency key

	// MaxMessage is the number of bytes of a message that a server reads: one request of any size with the information
	// for auditors, or many smaller requests.
	MaxMessage = token.MaxRequest + audit.MaxInformation + 64<<10
)

// PutRecord returns the message of a record.
func PutRecord(r *ledger.Record) *tokenv1.Record {
	return &tokenv1.Record{Number: r.Seq, Leaf: AppendLeaf(make([]byte, 0, LeafSize(r)), r)}
}

// LeafSize returns the length of a record as a leaf.
func LeafSize(r *ledger.Record) int { return r.Size() + len(r.Commitment) }

// AppendLeaf appends a record as a leaf: the encoding of its entry, and its commitment.
func AppendLeaf(dst []byte, r *ledger.Record) []byte {
	return append(r.Append(dst), r.Commitment[:]...)
}

// Record decodes a record. Its slices point into leaf. The error is of type *zkbench.DecodeError.
func Record(number uint64, leaf []byte) (r ledger.Record, err error) {
	end := len(leaf) - len(r.Commitment)
	if number == 0 || number > ledger.MaxRecords {
		return r, &zkbench.DecodeError{Path: "record's number", Reason: fmt.Sprintf("%d, accepted are 1 to %d", number, uint64(ledger.MaxRecords))}
	}
	if end < 0 {
		return r, &zkbench.DecodeError{Path: "record", Offset: len(leaf), Reason: "shorter than a commitment"}
	}
	r.Seq = number
	if r.Entry, err = ledger.DecodeEntry(leaf[:end]); err != nil {
		return ledger.Record{}, err
	}
	copy(r.Commitment[:], leaf[end:])
	return r, nil
}

// GetRecord decodes the message of a record, which must have the given anchor.
func GetRecord(m *tokenv1.Record, anchor []byte) (ledger.Record, error) {
	r, err := Record(m.GetNumber(), m.GetLeaf())
	if err == nil && !bytes.Equal(r.Anchor, anchor) {
		return ledger.Record{}, &zkbench.DecodeError{Path: "record's anchor", Reason: fmt.Sprintf("%x, asked for was %x", r.Anchor, anchor)}
	}
	return r, err
}

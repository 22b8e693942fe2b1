package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// The tables of a store. Every record has a checksum over table, key and
// body (Checksum), so that it is valid only under its own key.
//
//	tokens   id       -> status(1) created(8) spent(8) | token if unspent
//	spent    id       -> spent(8)
//	anchors  anchor   -> sequence(8) digest(32)
//	log      sequence -> entry, as ledger.Entry.Append makes it, commitment(32) nodes(32 each)
//	heads    HeadKeys -> leaves(8) signed head
//
// Integers are big-endian. created, spent and sequence are sequence numbers of entries,
// and leaves is a number of leaves of the log's tree.
// commitment and nodes are what ledger.Edge.Append returns for the entry. tokens and spent
// both record that a token is spent, so a change to one of them alone cannot make the token
// spendable again.
//
// Besides, a store keeps the ledger's genesis, the ledger.Edge of its log, and the bytes of
// ledger.State.Bytes.
const (
	TableTokens  = "tokens"
	TableSpent   = "spent"
	TableAnchors = "anchors"
	TableLog     = "log"
	TableHeads   = "heads"
)

// Keys of the table heads.
const (
	HeadCounts   = "counts"   // the newest head that counts
	HeadProposed = "proposed" // the newest head, whether it counts or not
)

// HeadKeys returns the keys under which a store puts a head.
func HeadKeys(counts bool) []string {
	if counts {
		return []string{HeadCounts, HeadProposed}
	}
	return []string{HeadProposed}
}

// Checksum returns the CRC-32C of a record. It covers the name of the record's table, the key and the body.
func Checksum(table string, key, body []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	crc := crc32.Update(0, castagnoli, []byte(table))
	crc = crc32.Update(crc, castagnoli, key)
	return crc32.Update(crc, castagnoli, body)
}

// SeqKey returns the key of a record that is indexed by sequence number: seq, big-endian.
func SeqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// CheckHead checks the arguments of ledger.Store.PutHead.
func CheckHead(leaves uint64, signed []byte) error {
	if n := len(signed); n > ledger.MaxHead {
		return &zkbench.LimitError{What: "bytes of a signed head", Estimate: int64(n), Max: ledger.MaxHead}
	}
	if leaves < 1 || leaves > ledger.MaxRecords+1 || len(signed) == 0 {
		return fmt.Errorf("%w: a head of %d leaves and %d bytes, accepted are 1 to %d leaves and 1 byte or more", zkbench.ErrParams, leaves, len(signed), uint64(ledger.MaxRecords+1))
	}
	return nil
}

// Status says what a ledger knows about a token id. The values of its constants are those in the
// file format.
type Status byte

const (
	Absent  Status = 0 // the ledger never had the token
	Unspent Status = 1
	Spent   Status = 2
)

// State is the record of a token in the table tokens.
type State struct {
	Status  Status
	Created uint64 // by the entry with this sequence number
	Spent   uint64 // by the entry with this sequence number; 0 if unspent
	Token   []byte // nil if spent
}

// Append appends the body of the record to dst.
func (s *State) Append(dst []byte) []byte {
	dst = append(dst, byte(s.Status))
	dst = binary.BigEndian.AppendUint64(dst, s.Created)
	dst = binary.BigEndian.AppendUint64(dst, s.Spent)
	return append(dst, s.Token...)
}

// Unspent returns nil if the token is unspent, zkbench.ErrSpent if it is spent, and
// ledger.ErrNotFound if it is Absent.
func (s *State) Unspent() error {
	switch s.Status {
	case Absent:
		return ledger.ErrNotFound
	case Spent:
		return zkbench.ErrSpent
	}
	return nil
}

// Check checks that the tables tokens and spent agree about the token with the given id. The receiver s
// is the token's record in the table tokens, or has the status Absent if there is none. The parameter
// spentBy is the sequence number in the token's record in the table spent, or 0 if there is none. The
// error is of type *ledger.CorruptError.
func (s *State) Check(id token.ID, spentBy uint64) error {
	contradiction := ""
	switch {
	case s.Status == Absent && s.Created == 0 && s.Spent == 0 && len(s.Token) == 0:
		if spentBy != 0 {
			contradiction = "in spent, not in tokens"
		}
	case s.Status == Unspent && s.Spent == 0 && len(s.Token) > 0:
		if spentBy != 0 {
			contradiction = "unspent in tokens, and in spent"
		}
	case s.Status == Spent && s.Spent > s.Created && len(s.Token) == 0:
		if spentBy == 0 {
			contradiction = "spent in tokens, not in spent"
		} else if spentBy != s.Spent {
			contradiction = "tokens and spent name different requests"
		}
	default:
		contradiction = "not a state"
	}
	if contradiction == "" {
		return nil
	}
	return ledger.Corruptf(fmt.Sprintf("token %x", []byte(id)), "%s", contradiction)
}

// Anchored is the record of an anchor in the table anchors.
type Anchored struct {
	Seq    uint64
	Digest [32]byte
}

// Append appends the body of the record to dst.
func (a *Anchored) Append(dst []byte) []byte {
	return append(binary.BigEndian.AppendUint64(dst, a.Seq), a.Digest[:]...)
}

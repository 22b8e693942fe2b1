package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// The tables of a store. Every record carries a checksum over table, key and
// body (Checksum), so that it is good only in its place.
//
//	tokens   id       -> status(1) created(8) spent(8) | token where unspent
//	spent    id       -> spent(8)
//	anchors  anchor   -> sequence(8) digest(32)
//	log      sequence -> entry, as ledger.Entry.Append makes it
//	chain    last(8)  -> first(8) hash(32) policy(8) time(12) of the batch from first to last
//
// Integers are big-endian; created, spent, sequence, first and last are
// sequence numbers of entries; policy is the version that holds after the batch, time that of its last entry.
// tokens and spent both say that a token is spent: neither table alone can make one spendable again.
const (
	TableTokens  = "tokens"
	TableSpent   = "spent"
	TableAnchors = "anchors"
	TableLog     = "log"
	TableChain   = "chain"
)

// Checksum is the CRC-32C of a record.
func Checksum(table string, key, body []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	crc := crc32.Update(0, castagnoli, []byte(table))
	crc = crc32.Update(crc, castagnoli, key)
	return crc32.Update(crc, castagnoli, body)
}

// SeqKey is the key of a record that a sequence number names.
func SeqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// Status is what a ledger knows of an id; the numbers are those of the format.
type Status byte

const (
	Absent  Status = 0 // no record
	Unspent Status = 1
	Spent   Status = 2
)

// State is the record of a token in the table tokens.
type State struct {
	Status  Status
	Created uint64 // by the entry with this sequence number
	Spent   uint64 // by the entry with this sequence number; 0 where unspent
	Token   []byte // nil where spent
}

// Append appends the body of the record.
func (s *State) Append(dst []byte) []byte {
	dst = append(dst, byte(s.Status))
	dst = binary.BigEndian.AppendUint64(dst, s.Created)
	dst = binary.BigEndian.AppendUint64(dst, s.Spent)
	return append(dst, s.Token...)
}

// Unspent returns nil for an unspent token, and zkbench.ErrSpent or ledger.ErrNotFound
// for another.
func (s *State) Unspent() error {
	switch s.Status {
	case Absent:
		return ledger.ErrNotFound
	case Spent:
		return zkbench.ErrSpent
	}
	return nil
}

// Check holds the record of a token (Absent where there is none) against the
// one in the table spent, which names the request spentBy (0 where there is
// none). The error is a *ledger.CorruptError.
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

// Anchored is the record of an anchor.
type Anchored struct {
	Seq    uint64
	Digest [32]byte
}

// Append appends the body of the record.
func (a *Anchored) Append(dst []byte) []byte {
	return append(binary.BigEndian.AppendUint64(dst, a.Seq), a.Digest[:]...)
}

// Batch is the record of a batch in the chain: the entries First to Last, and
// their Link after the batch before. Before the first is that of Genesis.
type Batch struct {
	First, Last uint64
	Hash        [32]byte
	Policy      uint64    // the version that holds after it
	Time        time.Time // of its last entry, as DecodeTime returns it
}

// Genesis is the batch before the first one of a ledger: no entries, its id in place of a hash, and the zero time.
func Genesis(id token.LedgerID) Batch { return Batch{Hash: id} }

// Append appends the body of the record.
func (b *Batch) Append(dst []byte) []byte {
	dst = append(binary.BigEndian.AppendUint64(dst, b.First), b.Hash[:]...)
	return ledger.AppendTime(binary.BigEndian.AppendUint64(dst, b.Policy), b.Time)
}

// State is that of the ledger whose last batch it is, with bytes that a caller has left.
func (b *Batch) State(bytes []byte) ledger.State {
	return ledger.State{Last: b.Last, Hash: b.Hash, Policy: b.Policy, Time: b.Time, Bytes: bytes}
}

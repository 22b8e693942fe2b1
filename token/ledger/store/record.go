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
// their Link after the batch before (Batch.Next). Before the first is that of Genesis.
type Batch struct {
	First, Last uint64
	Hash        [32]byte
	Policy      uint64    // the version that holds after it
	Time        time.Time // of its last entry, as DecodeTime returns it
}

// Genesis is the batch before the first one of a ledger: no entries, the zero time, and in place of a hash the id of the
// ledger, or of the first one that it is a fork of.
func Genesis(g ledger.Genesis) Batch {
	g.Forks = nil
	return Batch{Hash: g.ID()}
}

// Next returns the hash that the batch behind this one goes on from: this one's, or, if the ledger is a fork that
// begins there,
//
//	SHA-256(frame("zkbench/v2/ledger fork") id(32) hash(32))
//
// with the fork's id, for each fork that does. It returns a *ledger.CorruptError if a fork does not begin with this hash,
// or begins within the batch.
func (b *Batch) Next(g ledger.Genesis) (hash [32]byte, err error) {
	hash = b.Hash
	place := fmt.Sprintf("requests %d to %d", b.First, b.Last)
	for i, f := range g.Forks {
		switch {
		case b.First <= f.Last && f.Last < b.Last:
			return hash, ledger.Corruptf(place, "the ledger is a fork behind request %d, which is within them", f.Last)
		case f.Last != b.Last:
		case f.Hash != hash:
			return hash, ledger.Corruptf(place, "the ledger is a fork behind them, of another history")
		default:
			fork := g
			fork.Forks = g.Forks[:i+1]
			id := fork.ID()
			h := framed("zkbench/v2/ledger fork")
			h.Write(id[:])
			h.Write(hash[:])
			h.Sum(hash[:0])
		}
	}
	return hash, nil
}

// Complete returns a *ledger.CorruptError if the ledger whose last batch it is lacks records of its parent.
func (b *Batch) Complete(g ledger.Genesis) error {
	if n := g.Inherited(); b.Last < n {
		return ledger.Corruptf("log", "ends with request %d, and it is a fork behind request %d", b.Last, n)
	}
	return nil
}

// Append appends the body of the record.
func (b *Batch) Append(dst []byte) []byte {
	dst = append(binary.BigEndian.AppendUint64(dst, b.First), b.Hash[:]...)
	return ledger.AppendTime(binary.BigEndian.AppendUint64(dst, b.Policy), b.Time)
}

// State is that of the ledger whose last batch it is, with bytes that a caller has left.
func (b *Batch) State(g ledger.Genesis, bytes []byte) (ledger.State, error) {
	hash, err := b.Next(g)
	return ledger.State{Last: b.Last, Hash: hash, Policy: b.Policy, Time: b.Time, Bytes: bytes}, err
}

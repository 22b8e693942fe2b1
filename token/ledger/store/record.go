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

// The tables of a store. Every record has a checksum over table, key and
// body (Checksum), so that it is valid only under its own key.
//
//	tokens   id       -> status(1) created(8) spent(8) | token if unspent
//	spent    id       -> spent(8)
//	anchors  anchor   -> sequence(8) digest(32)
//	log      sequence -> entry, as ledger.Entry.Append makes it
//	chain    last(8)  -> first(8) hash(32) policy(8) time(12) of the batch from first to last
//
// Integers are big-endian. created, spent, sequence, first and last are sequence
// numbers of entries. policy is the version that is current after the batch, and
// time is the time of its last entry. tokens and spent both record that a token is spent,
// so a change to one of them alone cannot make the token spendable again.
const (
	TableTokens  = "tokens"
	TableSpent   = "spent"
	TableAnchors = "anchors"
	TableLog     = "log"
	TableChain   = "chain"
)

// Checksum returns the CRC-32C of a record. It covers the name of the record's table, the key and the body.
func Checksum(table string, key, body []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	crc := crc32.Update(0, castagnoli, []byte(table))
	crc = crc32.Update(crc, castagnoli, key)
	return crc32.Update(crc, castagnoli, body)
}

// SeqKey returns the key of a record that is indexed by sequence number: seq, big-endian.
func SeqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

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

// Batch is the record of a batch in the table chain: its first and last entry, and its hash. Link computes
// the hash from the entries and the hash of the previous batch. For the first batch, the previous batch is
// the one that the function Genesis returns.
type Batch struct {
	First, Last uint64
	Hash        [32]byte
	Policy      uint64    // version of the current policy after the batch
	Time        time.Time // of its last entry, as DecodeTime returns it
}

// Genesis returns the batch before a ledger's first one. It has no entries and the zero time. Its
// hash is the id of the ledger, or, for a fork, the id of the first ledger in its line of parents.
func Genesis(g ledger.Genesis) Batch {
	g.Forks = nil
	return Batch{Hash: g.ID()}
}

// Next returns the hash that the batch after b is linked to. Usually that is b.Hash. If the ledger is a
// fork that begins after b, it is
//
//	SHA-256(frame("zkbench/v2/ledger fork") id(32) hash(32))
//
// where frame is as in Link, id is the fork's id, and hash is b.Hash. If several forks begin after b, Next
// hashes once for each of them, with the previous result in place of b.Hash. It returns a
// *ledger.CorruptError if the hash in a fork's genesis is not that of the chain, or if a fork begins within
// the batch.
func (b *Batch) Next(g ledger.Genesis) (hash [32]byte, err error) {
	hash = b.Hash
	place := fmt.Sprintf("requests %d to %d", b.First, b.Last)
	for i, f := range g.Forks {
		switch {
		case b.First <= f.Last && f.Last < b.Last:
			return hash, ledger.Corruptf(place, "the ledger forks after request %d, which is within them", f.Last)
		case f.Last != b.Last:
		case f.Hash != hash:
			return hash, ledger.Corruptf(place, "the ledger forks after them, from another history")
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

// Complete checks that a ledger whose last batch is b has all records that it shares with its
// parent. It returns a *ledger.CorruptError if some are missing.
func (b *Batch) Complete(g ledger.Genesis) error {
	if n := g.Inherited(); b.Last < n {
		return ledger.Corruptf("log", "ends with request %d, but the ledger is a fork after request %d", b.Last, n)
	}
	return nil
}

// Append appends the body of the record to dst.
func (b *Batch) Append(dst []byte) []byte {
	dst = append(binary.BigEndian.AppendUint64(dst, b.First), b.Hash[:]...)
	return ledger.AppendTime(binary.BigEndian.AppendUint64(dst, b.Policy), b.Time)
}

// State returns the state of a ledger whose last batch is b. The parameter bytes becomes State.Bytes of
// the result. The error is that of Next.
func (b *Batch) State(g ledger.Genesis, bytes []byte) (ledger.State, error) {
	hash, err := b.Next(g)
	return ledger.State{Last: b.Last, Hash: hash, Policy: b.Policy, Time: b.Time, Bytes: bytes}, err
}

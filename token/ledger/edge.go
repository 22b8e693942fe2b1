package ledger

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/ledger/state"
	"github.com/zkbench/zkbench/transcript"
)

// MaxRecords is the maximum number of records in a log.
const MaxRecords = 1 << 48

// Edge is the end of a log: all that is needed to append a record, and to know what the log and its state are
// then. A store keeps one, and so does each party that follows or verifies a log.
//
// The log is the Merkle tree of RFC 6962, section 2.1, with SHA-256. Leaf 0 is the encoding of the genesis, that of
// the Trunk for a fork. Leaf n is record n: the encoding of its entry, and the 32 bytes of its Commitment. So
// a root covers everything that is stored, signatures included.
//
// The zero value is not valid; NewEdge returns the first one. A copy by assignment is independent, and == compares edges.
type Edge struct {
	last         uint64
	policy       uint64
	policyDigest [transcript.StateLen]byte
	time         time.Time // in UTC
	sum          state.Sum
	peaks        [64]tlog.Hash // by level: the roots of the complete subtrees that the log's leaves make up; zero if there is none
}

// NewEdge returns the edge of an empty log.
func NewEdge(g Genesis) Edge {
	e := Edge{policyDigest: g.Policy}
	e.peaks[0] = g.Leaf()
	e.sum.Add(e.policyRecord())
	return e
}

// Last returns the sequence number of the last record, or 0 if the log is empty.
func (e *Edge) Last() uint64 { return e.last }

// Policy returns the version and the digest of the current policy.
func (e *Edge) Policy() (version uint64, digest [transcript.StateLen]byte) {
	return e.policy, e.policyDigest
}

// Time returns the time of the last record in UTC, or the zero time if the log is empty.
func (e *Edge) Time() time.Time { return e.time }

// Commitment commits to the state: the unspent tokens, the ids and digests of all tokens that ever were, the
// anchors with their digests, the current policy, and the time of the last record (package state).
func (e *Edge) Commitment() [32]byte { return e.sum.Commitment() }

// Root returns the root of the log's tree, which has Last()+1 leaves.
func (e *Edge) Root() tlog.Hash {
	leaves := e.last + 1
	level := bits.TrailingZeros64(leaves)
	root := e.peaks[level]
	for level++; level < bits.Len64(leaves); level++ {
		if leaves>>level&1 == 1 {
			root = tlog.NodeHash(e.peaks[level], root)
		}
	}
	return root
}

// Append appends a record with this entry, whose encoding is encoded, and returns its commitment. It also
// returns the hashes of the nodes of the tree whose last leaf is the record, from the leaf up. Their number is
// Nodes(Last()). The caller has checked that the state allows the entry, and that it follows CheckEntry.
func (e *Edge) Append(entry *Entry, encoded []byte) (commitment [32]byte, nodes []tlog.Hash) {
	for _, id := range entry.Spends {
		e.sum.Remove(state.Record{Kind: state.Unspent, Key: id})
	}
	for _, c := range entry.Creates {
		e.sum.Add(state.Record{Kind: state.Unspent, Key: c.ID})
		e.sum.Add(state.Record{Kind: state.Used, Key: c.ID, Value: state.Digest(c.Token)})
	}
	e.sum.Add(state.Record{Kind: state.Anchor, Key: entry.Anchor, Value: entry.Digest[:]})
	if entry.Update {
		e.sum.Remove(e.policyRecord())
		e.policy, e.policyDigest = entry.Policy+1, entry.PolicyDigest
		e.sum.Add(e.policyRecord())
	}
	if at := entry.Time.Round(0).UTC(); e.last == 0 || !at.Equal(e.time) {
		if e.last > 0 {
			e.sum.Remove(e.timeRecord())
		}
		e.time = at
		e.sum.Add(e.timeRecord())
	}
	e.last++
	commitment = e.sum.Commitment()
	return commitment, e.leaf(leafHash(encoded, commitment))
}

// leafHash returns the hash of a record's leaf.
func leafHash(encoded []byte, commitment [32]byte) tlog.Hash {
	leaf := make([]byte, 0, len(encoded)+len(commitment))
	return tlog.RecordHash(append(append(leaf, encoded...), commitment[:]...))
}

// leaf adds leaf number e.last to the peaks.
func (e *Edge) leaf(hash tlog.Hash) []tlog.Hash {
	nodes := make([]tlog.Hash, 1, Nodes(e.last))
	nodes[0] = hash
	for level := 0; e.last>>level&1 == 1; level++ {
		hash = tlog.NodeHash(e.peaks[level], hash)
		nodes, e.peaks[level] = append(nodes, hash), tlog.Hash{}
	}
	e.peaks[len(nodes)-1] = hash
	return nodes
}

// Nodes returns the number of nodes of a log's tree whose last leaf is leaf n, that leaf included.
func Nodes(n uint64) int { return 1 + bits.TrailingZeros64(n+1) }

func (e *Edge) policyRecord() state.Record {
	return state.Record{Kind: state.Policy, Value: append(binary.BigEndian.AppendUint64(nil, e.policy), e.policyDigest[:]...)}
}

func (e *Edge) timeRecord() state.Record {
	return state.Record{Kind: state.Time, Value: AppendTime(nil, e.time)}
}

// CheckEntry checks what an edge knows about the next entry. It returns a *PolicyError if the entry was
// accepted under another policy, and a *TimeError if its time is before that of the last record.
func (e *Edge) CheckEntry(entry *Entry) error {
	switch {
	case entry.Policy != e.policy, !entry.Update && entry.PolicyDigest != e.policyDigest:
		return &PolicyError{Version: entry.Policy, Current: e.policy}
	case entry.Time.Before(e.time):
		return &TimeError{Time: entry.Time, Last: e.time}
	}
	return nil
}

// CheckForks checks an edge against each fork of the genesis that begins directly after it: the fork names the root
// and the policy's version. The error is of type *CorruptError.
func (e *Edge) CheckForks(g Genesis) error {
	for _, f := range g.Forks {
		if f.Last == e.last && (f.Root != e.Root() || f.Policy != e.policy) {
			return Corruptf(fmt.Sprintf("request %d", e.last), "the ledger forks after it, from another history")
		}
	}
	return nil
}

// State returns the state at the edge. The parameter bytes becomes State.Bytes.
func (e *Edge) State(bytes []byte) State {
	return State{
		Last: e.last, Root: e.Root(), Commitment: e.Commitment(), Policy: e.policy, PolicyDigest: e.policyDigest, Time: e.time, Bytes: bytes,
	}
}

// AppendTo appends the encoding of the edge to dst, integers big-endian:
//
//	uint64 last | uint64 policy | policy digest(64) | time(12) | sum(2048) | peaks(32 each, from the lowest)
func (e *Edge) AppendTo(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, e.last)
	dst = append(binary.BigEndian.AppendUint64(dst, e.policy), e.policyDigest[:]...)
	dst = e.sum.Append(AppendTime(dst, e.time))
	for left := e.last + 1; left > 0; left &= left - 1 {
		dst = append(dst, e.peaks[bits.TrailingZeros64(left)][:]...)
	}
	return dst
}

// DecodeEdge decodes an edge that AppendTo encoded. The error is of type *zkbench.DecodeError.
func DecodeEdge(data []byte) (Edge, error) {
	f := wire.NewFields(data, "edge", len(data))
	e := Edge{last: f.Uint64("last")}
	if e.last > MaxRecords {
		f.Fail("last", 0, fmt.Sprintf("%d, accepted are up to %d", e.last, uint64(MaxRecords)))
	}
	e.policy = f.Uint64("policy")
	copy(e.policyDigest[:], f.Bytes("policy digest", len(e.policyDigest)))
	e.time = wire.Decoded(f, "time", TimeLen, DecodeTime)
	e.sum = wire.Decoded(f, "sum", state.SumLen, state.Decode)
	for left := e.last + 1; f.OK() && left > 0; left &= left - 1 {
		copy(e.peaks[bits.TrailingZeros64(left)][:], f.Bytes("peaks", tlog.HashSize))
	}
	if err := f.End("end"); err != nil {
		return Edge{}, err
	}
	return e, nil
}

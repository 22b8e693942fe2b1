package store

import (
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// Logged is a record of the table log.
type Logged struct {
	Raw        []byte // encoding of Entry
	Entry      ledger.Entry
	Commitment [32]byte
	after      []byte // Commitment and nodes
}

// After encodes what follows the entry in the table log: what ledger.Edge.Append returns.
func After(commitment [32]byte, nodes []tlog.Hash) []byte {
	after := append(make([]byte, 0, len(commitment)+tlog.HashSize*len(nodes)), commitment[:]...)
	for i := range nodes {
		after = append(after, nodes[i][:]...)
	}
	return after
}

// afterLen returns the length of After for the record with sequence number seq.
func afterLen(seq uint64) int { return 32 + tlog.HashSize*ledger.Nodes(seq) }

// DecodeLogged decodes the body of the record with sequence number seq. The result's slices point into body. The
// error is of type *ledger.CorruptError.
func DecodeLogged(seq uint64, body []byte) (*Logged, error) {
	n := len(body) - afterLen(seq)
	if n < 0 {
		return nil, ledger.Corruptf(fmt.Sprintf("request %d", seq), "%d bytes, want at least %d", len(body), afterLen(seq))
	}
	l := &Logged{Raw: body[:n:n], after: body[n:]}
	copy(l.Commitment[:], l.after)
	var err error
	if l.Entry, err = ledger.DecodeEntry(l.Raw); err != nil {
		return nil, ledger.Corruptf(fmt.Sprintf("request %d", seq), "%v", err)
	}
	return l, nil
}

// Record returns the record that readers of the log get.
func (l *Logged) Record(seq uint64) ledger.Record {
	return ledger.Record{Seq: seq, Entry: l.Entry, Commitment: l.Commitment}
}

// node returns the hash of the node at a level whose last leaf is the record.
func (l *Logged) node(level int) tlog.Hash {
	return tlog.Hash(l.after[len(l.Commitment)+level*tlog.HashSize:][:tlog.HashSize])
}

// Hashes implements ledger.Reader.Hashes. The function read returns the records of the log with the given sequence
// numbers, each once, and leaves out those that the log does not have.
func Hashes(genesis ledger.Genesis, indexes []int64, read func(seqs []uint64) (map[uint64]*Logged, error)) ([]tlog.Hash, error) {
	if n := len(indexes); n > ledger.MaxHashes {
		return nil, &zkbench.LimitError{What: "hashes of the log", Estimate: int64(n), Max: ledger.MaxHashes}
	}
	type node struct {
		level int
		leaf  uint64 // its last
	}
	nodes := make([]node, len(indexes))
	var seqs []uint64
	for i, index := range indexes {
		switch {
		case index < 0:
			return nil, fmt.Errorf("%w: index %d of a node, accepted are 0 and more", zkbench.ErrParams, index)
		case index >= tlog.StoredHashCount(ledger.MaxRecords+1): // which SplitStoredHashIndex might not survive
			return nil, fmt.Errorf("%w: node %d", ledger.ErrNoLeaf, index)
		}
		level, n := tlog.SplitStoredHashIndex(index)
		if nodes[i] = (node{level, uint64(n+1)<<level - 1}); nodes[i].leaf > 0 && !slices.Contains(seqs, nodes[i].leaf) {
			seqs = append(seqs, nodes[i].leaf)
		}
	}
	logged, err := read(seqs)
	if err != nil {
		return nil, err
	}
	hashes := make([]tlog.Hash, len(indexes))
	for i, n := range nodes {
		switch l := logged[n.leaf]; {
		case n.leaf == 0:
			hashes[i] = genesis.Leaf()
		case l == nil:
			return nil, fmt.Errorf("%w: its last is leaf %d", ledger.ErrNoLeaf, n.leaf)
		default:
			hashes[i] = l.node(n.level)
		}
	}
	return hashes, nil
}

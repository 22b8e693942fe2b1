package ledger

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
)

// Leaf returns the hash of the genesis as leaf 0 of the log's tree. A fork has the leaf of its Trunk.
func (g Genesis) Leaf() tlog.Hash {
	trunk := g.Trunk()
	return tlog.RecordHash(trunk.Append(nil))
}

// Leaf returns the hash of the record as leaf r.Seq of the log's tree.
func (r *Record) Leaf() tlog.Hash { return leafHash(r.Append(nil), r.Commitment) }

// HashReader returns hashes of nodes of a log's tree. Reader.Hashes says which.
type HashReader interface {
	Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error)
}

// Inclusion returns a proof that the tree with the given number of leaves has leaf number seq (RFC 6962, section
// 2.1.1), for tlog.CheckRecord. It returns ErrNoLeaf if the log is shorter than that, ErrParams for a leaf that the
// tree does not have, and the errors of Reader.Hashes.
func Inclusion(ctx context.Context, l HashReader, leaves, seq uint64) (tlog.RecordProof, error) {
	if err := checkProof(leaves, seq, leaves-1); err != nil {
		return nil, err
	}
	if err := hasLeaf(ctx, l, leaves-1); err != nil {
		return nil, err
	}
	return tlog.ProveRecord(int64(leaves), int64(seq), hashes(ctx, l))
}

// Consistency returns a proof that the tree with after leaves begins with the tree with before leaves (RFC 6962,
// section 2.1.2), for tlog.CheckTree. It returns ErrNoLeaf if the log is shorter than that, ErrParams if before is
// not 1 to after, and the errors of Reader.Hashes.
func Consistency(ctx context.Context, l HashReader, before, after uint64) (tlog.TreeProof, error) {
	if err := checkProof(after, before-1, after-1); err != nil {
		return nil, err
	}
	if err := hasLeaf(ctx, l, after-1); err != nil {
		return nil, err
	}
	return tlog.ProveTree(int64(after), int64(before), hashes(ctx, l))
}

// hasLeaf returns ErrNoLeaf if the log does not have a leaf. Some proofs need no hash that is behind the log's end.
func hasLeaf(ctx context.Context, l HashReader, leaf uint64) error {
	_, err := l.Hashes(ctx, []int64{tlog.StoredHashIndex(0, int64(leaf))})
	return err
}

// checkProof returns ErrParams unless leaf is at most last, for a tree that has leaves.
func checkProof(leaves, leaf, last uint64) error {
	if leaves == 0 || leaves > MaxRecords+1 || leaf > last {
		return fmt.Errorf("%w: no proof about leaf %d of a tree with %d leaves: accepted are up to %d leaves", zkbench.ErrParams, leaf, leaves, uint64(MaxRecords+1))
	}
	return nil
}

func hashes(ctx context.Context, l HashReader) tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) { return l.Hashes(ctx, indexes) })
}

// CheckInclusion checks a proof of Inclusion: that a tree with this number of leaves and this root has the leaf as
// number seq. If not, the error wraps zkbench.ErrProof.
func CheckInclusion(p tlog.RecordProof, leaves uint64, root tlog.Hash, seq uint64, leaf tlog.Hash) error {
	if err := checkProof(leaves, seq, leaves-1); err != nil {
		return err
	}
	if tlog.CheckRecord(p, int64(leaves), root, int64(seq), leaf) != nil {
		return fmt.Errorf("%w: leaf %d is not under the root of %d leaves", zkbench.ErrProof, seq, leaves)
	}
	return nil
}

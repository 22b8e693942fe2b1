package service

import (
	"context"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// reader names a reader of the log for a vault. It is the key of the reader's position in the bucket meta. Its
// first byte begins its keys in the buckets unspent and anchors.
type reader string

const (
	followed   reader = "followed"   // a wallet or an issuer, by Sync
	reconciled reader = "reconciled" // an auditor, by Reconcile
)

// key returns a reader's key in a bucket that several readers share.
func (who reader) key(key []byte) []byte { return append([]byte{who[0]}, key...) }

// place is a reader's position in the log: the edge of the log after the records that the vault has seen. The
// zero value is not valid; newPlace returns the position before the first record.
type place struct {
	ledger.Edge
	leaf    tlog.Hash // of the last record; zeros before the first
	checked bool      // every record up to here has been validated
}

func newPlace(g ledger.Genesis) place { return place{Edge: ledger.NewEdge(g)} }

// version returns the version of the policy at the position.
func (p *place) version() uint64 {
	version, _ := p.Policy()
	return version
}

// step is a record of the log that has been checked.
type step struct {
	ledger.Record
	parsed *entry.Parsed
	end    place // the position after it
}

// next checks the record that must follow a position. Its number must be the next one, its time not before the
// last, and its policy the current one. Everything else that it says must follow from its request, and it must
// commit to the state that the vault computes too. If not, next returns a *ledger.CorruptError.
func (p place) next(genesis ledger.Genesis, pointLen int, r ledger.Record) (*step, error) {
	if r.Seq != p.Last()+1 {
		return nil, ledger.Corruptf(named(p.Last()+1), "the log has request %d in its place", r.Seq)
	}
	parsed, err := entry.Parse(genesis.ForRecord(r.Seq).ID(), pointLen, r.Request)
	if err != nil {
		return nil, ledger.Corruptf(named(r.Seq), "not a request: %v", err)
	}
	if parsed.Update == nil { // the request does not contain these
		parsed.Entry.Policy, parsed.Entry.PolicyDigest = r.Policy, r.PolicyDigest
	}
	if err := entry.Check(&r, &parsed.Entry); err != nil {
		return nil, err
	}
	if err := p.CheckForks(genesis); err != nil { // before the first record
		return nil, err
	}
	if err := p.CheckEntry(&r.Entry); err != nil {
		return nil, ledger.Corruptf(named(r.Seq), "%v", err)
	}
	commitment, nodes := p.Append(&r.Entry, r.Entry.Append(nil))
	if commitment != r.Commitment {
		return nil, ledger.Corruptf(named(r.Seq), "commits to another state than the log leads to")
	}
	p.leaf = nodes[0]
	return &step{Record: r, parsed: parsed, end: p}, p.CheckForks(genesis)
}

// head returns the head of a ledger's log at the position.
func (p *place) head(genesis ledger.Genesis) head.Head {
	return head.Head{Ledger: genesis.ID(), Size: p.Last() + 1, Root: p.Root()}
}

func named(seq uint64) string { return fmt.Sprintf("request %d", seq) }

// since yields the records after a position, each checked. It first checks that the record at the position is
// still the same. It yields a *ledger.RolledBackError if the log ends before that record: the ledger was put back to
// an older state. It yields a *ledger.CorruptError if that record differs: the ledger was then continued differently,
// or shows another log. It yields one too if a record does not follow the one before it; the step
// then has only the record. After an error it stops.
func (p place) since(ctx context.Context, l Ledger, genesis ledger.Genesis, pointLen int) iter.Seq2[*step, error] {
	return func(yield func(*step, error) bool) {
		met := p.Last() == 0
		for r, err := range l.Log(ctx, max(p.Last(), 1)) {
			if err == nil && !met {
				if r.Seq != p.Last() || r.Leaf() != p.leaf {
					err = ledger.Corruptf(named(p.Last()), "leaf %x differs from what the vault has seen, leaf %x: the ledger has lost records, or shows another log (Vault.FollowAnew)", r.Leaf(), p.leaf)
				} else {
					met = true
					continue
				}
			}
			s := &step{Record: r}
			if err == nil {
				var next *step
				if next, err = p.next(genesis, pointLen, r); err == nil {
					s, p = next, next.end
				}
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
		if !met {
			yield(nil, &ledger.RolledBackError{Seen: p.Tree()})
		}
	}
}

// placeOf returns a reader's position: leaf(32) checked(1) edge.
func (v *Vault) placeOf(tx *bbolt.Tx, who reader) (p place, err error) {
	p = newPlace(v.genesis)
	body, err := get(tx, bucketMeta, []byte(who))
	if body == nil || err != nil {
		return p, err
	}
	f := wire.NewFields(body, string(who), maxRecord)
	copy(p.leaf[:], f.Bytes("leaf", len(p.leaf)))
	p.checked = f.Number("checked", 1, 0, 1) == 1
	p.Edge = wire.Decoded(f, "edge", len(body)-f.Offset(), ledger.DecodeEdge)
	return p, damaged(bucketMeta, f.End(string(who)))
}

func putPlace(tx *bbolt.Tx, who reader, p *place) error {
	return put(tx, bucketMeta, []byte(who), p.AppendTo(append(p.leaf[:], bit(p.checked))))
}

// bit encodes a bool.
func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

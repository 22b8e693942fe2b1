package service

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"time"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/ledger"
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

// place is a reader's position in the log: a record that the vault has seen, with all records before it. The
// zero value is before the first record.
type place struct {
	seq     uint64
	time    time.Time // of the record
	record  [32]byte  // its sum
	chain   [32]byte  // SHA-256 of the previous chain (zeros before the first record) and the record's sum
	policy  uint64    // version of the policy after the record
	checked bool      // every record up to here has been validated
}

// sum returns the SHA-256 of all that a vault takes from a record: number(8) time(12) policy(8) request. The
// rest follows from the request.
func sum(r *ledger.Record) [32]byte {
	data := binary.BigEndian.AppendUint64(make([]byte, 0, 8+ledger.TimeLen+8+len(r.Request)), r.Seq)
	data = binary.BigEndian.AppendUint64(ledger.AppendTime(data, r.Time), r.Policy)
	return sha256.Sum256(append(data, r.Request...))
}

// step is a record of the log that has been checked.
type step struct {
	ledger.Record
	parsed *entry.Parsed
	end    place // the position after it
}

// next checks the record that must follow a position. Its number must be the next one, its time not before the
// last, and its policy the current one. Everything else that it says must follow from its request. If not, next
// returns a *ledger.CorruptError.
func (p place) next(id token.LedgerID, pointLen int, r ledger.Record) (*step, error) {
	if r.Seq != p.seq+1 {
		return nil, ledger.Corruptf(named(p.seq+1), "the log has request %d in its place", r.Seq)
	}
	parsed, err := entry.Parse(id, pointLen, r.Request)
	if err != nil {
		return nil, ledger.Corruptf(named(r.Seq), "not a request: %v", err)
	}
	if parsed.Update == nil {
		parsed.Entry.Policy = r.Policy // the request does not contain it
	}
	if err := entry.Check(&r, &parsed.Entry); err != nil {
		return nil, err
	}
	if r.Policy != p.policy {
		return nil, ledger.Corruptf(named(r.Seq), "accepted under policy %d, the current one is %d", r.Policy, p.policy)
	}
	if r.Time.Before(p.time) {
		return nil, ledger.Corruptf(named(r.Seq), "its time is before that of the request before it")
	}
	s := &step{Record: r, parsed: parsed, end: p.after(&r)}
	if r.Update {
		s.end.policy++
	}
	return s, nil
}

// after returns the position after a record, under the same policy.
func (p place) after(r *ledger.Record) place {
	p.seq, p.time, p.record = r.Seq, r.Time, sum(r)
	p.chain = sha256.Sum256(append(p.chain[:], p.record[:]...))
	return p
}

func named(seq uint64) string { return fmt.Sprintf("request %d", seq) }

// since yields the records after a position, each checked. It first checks that the record at the position is
// still the same, and then sets met. It yields a *ledger.CorruptError if that record differs: the ledger was
// put back to an older state and continued differently. It yields one too if a record does not follow the one
// before it. After an error it stops.
func (p place) since(ctx context.Context, l Ledger, genesis ledger.Genesis, pointLen int, met *bool) iter.Seq2[*step, error] {
	return func(yield func(*step, error) bool) {
		*met = p.seq == 0
		for r, err := range l.Log(ctx, max(p.seq, 1)) {
			if err == nil && !*met {
				if sum(&r) != p.record {
					err = ledger.Corruptf(named(p.seq), "differs from what the vault has seen: the ledger has lost records, or shows another log (Vault.FollowAnew)")
				} else {
					*met = true
					continue
				}
			}
			var s *step
			if err == nil {
				if s, err = p.next(genesis.ForRecord(r.Seq).ID(), pointLen, r); err == nil {
					p = s.end
				}
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// placeOf returns a reader's position: number(8) time(12) record(32) chain(32) policy(8) checked(1).
func placeOf(tx *bbolt.Tx, who reader) (p place, err error) {
	body, err := get(tx, bucketMeta, []byte(who))
	if body == nil || err != nil {
		return p, err
	}
	f := wire.NewFields(body, string(who), maxRecord)
	p.seq = f.Uint64("number")
	p.time = wire.Decoded(f, "time", ledger.TimeLen, ledger.DecodeTime)
	copy(p.record[:], f.Bytes("record", len(p.record)))
	copy(p.chain[:], f.Bytes("chain", len(p.chain)))
	p.policy = f.Uint64("policy")
	p.checked = f.Number("checked", 1, 0, 1) == 1
	return p, damaged(bucketMeta, f.End(string(who)))
}

func putPlace(tx *bbolt.Tx, who reader, p place) error {
	body := ledger.AppendTime(binary.BigEndian.AppendUint64(nil, p.seq), p.time)
	body = append(append(body, p.record[:]...), p.chain[:]...)
	body = append(binary.BigEndian.AppendUint64(body, p.policy), bit(p.checked))
	return put(tx, bucketMeta, []byte(who), body)
}

// bit encodes a bool.
func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

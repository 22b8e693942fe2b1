package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"strings"

	"go.etcd.io/bbolt"
	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// MaxEvidence is the number of contradictions of each kind that a vault keeps: between two signed heads, and between a
// signed head and a record. It keeps the first ones, so that a ledger which lies often cannot push them out. Everybody can
// invent records, so these leave the places for heads free.
const MaxEvidence = 64

// maxLeaf is the length in bytes up to which a vault stores the leaf of a record in evidence.
const maxLeaf = 1 << 20

// Evidence is a contradiction that a vault has met in what a ledger told it: a signed head that does not extend the
// last one believed, or a record that contradicts a signed head. Two heads of one size with different roots prove to
// everybody who has the policy that their signers signed two histories. A record is not signed, so it only shows what
// the ledger told.
type Evidence struct {
	Reason string // the error that the reader of the log returned
	Kept   []byte // the signed head that the vault believes
	Told   []byte // the signed head that contradicts Kept; empty if a record does
	Number uint64 // the record's number; 0 if a head contradicts Kept
	Leaf   []byte // the record as a leaf of the log's tree: the encoding of its entry, and its commitment(32); empty if it is too long to store
}

// String says in one line what contradicts what.
func (e Evidence) String() string {
	leaves := func(signed []byte) uint64 {
		h, _ := head.ParseSigned(signed) // it was opened before it was kept
		return h.Size
	}
	if e.Number == 0 {
		return fmt.Sprintf("a signed head of %d leaves contradicts the signed head of %d leaves that was kept", leaves(e.Told), leaves(e.Kept))
	}
	return fmt.Sprintf("request %d contradicts the signed head of %d leaves", e.Number, leaves(e.Kept))
}

// Text returns everything that the evidence has: the signed heads in full, and the record in hexadecimal digits.
func (e Evidence) Text() string {
	text := fmt.Sprintf("%s\n\nthe head that the vault believes:\n\n%s\n", e.Reason, e.Kept)
	if e.Number == 0 {
		return text + fmt.Sprintf("the head that the ledger told:\n\n%s", e.Told)
	}
	return text + fmt.Sprintf("the record that the ledger told as number %d, and its commitment:\n\n%x\n", e.Number, e.Leaf)
}

// accuse returns err. If err says that one of the records contradicts the log, and the record is told as one under
// the reader's head, accuse first stores both as evidence.
func (r *reading) accuse(ctx context.Context, err error, some ...*step) error {
	corrupt, ok := errors.AsType[*ledger.CorruptError](err)
	if !ok || r.head == nil {
		return err
	}
	for _, s := range some {
		if place, _, _ := strings.Cut(corrupt.Place, ":"); place != named(s.Seq) || s.Seq >= r.head.Size {
			continue
		}
		e := &Evidence{Reason: corrupt.Error(), Kept: r.head.signed, Number: s.Seq, Leaf: append(s.Append(nil), s.Commitment[:]...)}
		if len(e.Leaf) > maxLeaf {
			e.Leaf = nil
		}
		return errors.Join(err, r.keepEvidence(ctx, e))
	}
	return err
}

// keepEvidence stores evidence, unless the vault has it already or has as much of its kind as it keeps.
func (v *Vault) keepEvidence(ctx context.Context, e *Evidence) error {
	body, err := e.encode()
	if err != nil {
		return err
	}
	key := sha256.Sum256(body)
	return v.update(context.WithoutCancel(ctx), func(tx *bbolt.Tx) error {
		n := 0
		err := tx.Bucket([]byte(bucketEvidence)).ForEach(func(key, _ []byte) error {
			known, err := getEvidence(tx, key)
			if err == nil && (known.Number == 0) == (e.Number == 0) {
				n++
			}
			return err
		})
		if err != nil || n >= MaxEvidence {
			return err
		}
		return put(tx, bucketEvidence, key[:], body)
	})
}

// Evidence yields the contradictions that the vault has met, in no particular order. FollowAnew keeps them. After an
// error it stops.
func (v *Vault) Evidence() iter.Seq2[Evidence, error] {
	return func(yield func(Evidence, error) bool) {
		for key, err := range v.keys(bucketEvidence, nil, nil) {
			var e *Evidence
			if err == nil {
				e, err = lookUp(v, key, getEvidence)
			}
			if err != nil {
				yield(Evidence{}, err)
				return
			}
			if e != nil && !yield(*e, nil) {
				return
			}
		}
	}
}

// encode returns number(8), reason, kept, told and leaf, each of these after a length of 4 bytes.
func (e *Evidence) encode() ([]byte, error) {
	var b cryptobyte.Builder
	b.AddUint64(e.Number)
	for _, data := range [][]byte{[]byte(e.Reason), e.Kept, e.Told, e.Leaf} {
		b.AddUint32LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(data) })
	}
	return b.Bytes()
}

func getEvidence(tx *bbolt.Tx, key []byte) (*Evidence, error) {
	body, err := get(tx, bucketEvidence, key)
	if body == nil || err != nil {
		return nil, err
	}
	f := wire.NewFields(body, "evidence", maxRecord)
	e := &Evidence{Number: f.Uint64("number")}
	e.Reason = string(f.Prefixed("reason", 4, 0, maxRecord))
	e.Kept = f.Prefixed("kept", 4, 1, head.MaxSigned)
	e.Told = f.Prefixed("told", 4, 0, head.MaxSigned)
	e.Leaf = f.Prefixed("leaf", 4, 0, maxRecord)
	return e, damaged(bucketEvidence, f.End("evidence"))
}

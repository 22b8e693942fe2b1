package service

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/ledger"
)

// Status says what a vault knows of a request. The values of its constants are those in the vault's
// file format.
type Status byte

// The statuses of a request.
const (
	Pending   Status = 1 // it may still be recorded on the ledger
	Landed    Status = 2 // it is recorded on the ledger
	Refused   Status = 3 // it can never be recorded: another request has its anchor, or has spent what it spends
	Cancelled Status = 4 // taken back, by Discard or by another request of the vault that has spent what it spends (Cancel)
)

// String returns the status in one word.
func (s Status) String() string {
	switch s {
	case Pending:
		return "pending"
	case Landed:
		return "landed"
	case Refused:
		return "refused"
	case Cancelled:
		return "cancelled"
	}
	return fmt.Sprintf("status %d", byte(s))
}

// Paid is an output that a vault has made, either a payment or change. It is secret.
type Paid struct {
	Owner identity.Identity // if it is empty, the output is redeemed
	token.Opening
}

// Movement is a request that moves tokens of a wallet, or that a vault has made.
type Movement struct {
	Place  uint64 // in the history, from 1; later movements have greater places
	Anchor []byte
	Status Status
	Number uint64    // in the log; 0 unless Status is Landed
	Time   time.Time // of the record
	Made   bool      // whether this vault made the request

	Spent    []UnspentToken // the wallet's tokens that it spends, or would spend
	Received []UnspentToken // tokens that the wallet has found in it, change included
	Paid     []Paid         // the outputs that this vault has made in it
}

// History yields the movements of a vault, in the order in which the vault learned of them. If a vault was
// rebuilt from its keys and the log, it does not know what the lost vault has paid to whom. For these
// payments it shows only what the wallet spent and received, change included. Movement.Paid is stored only in
// the vault that made the payment. History may or may not show changes that are made while it runs. It yields
// a damaged movement as an error, and then continues.
func (v *Vault) History() iter.Seq2[Movement, error] { return v.HistoryAfter(0) }

// HistoryAfter yields the movements after a place, like History. If place is math.MaxUint64, it yields none.
func (v *Vault) HistoryAfter(place uint64) iter.Seq2[Movement, error] {
	return func(yield func(Movement, error) bool) {
		if place == math.MaxUint64 {
			return
		}
		for key, err := range v.keys(bucketHistory, moveKey(place+1), nil) {
			var out *Movement
			if err == nil {
				out, err = lookUp(v, key, movementAt)
			}
			if out == nil && err == nil {
				continue // forgotten meanwhile
			}
			if out == nil {
				out = new(Movement)
			}
			if !yield(*out, err) {
				return
			}
		}
	}
}

// movementAt returns a movement with its tokens.
func movementAt(tx *bbolt.Tx, key []byte) (*Movement, error) {
	m, err := getMove(tx, key)
	if m == nil || err != nil {
		return nil, err
	}
	if len(key) != placeLen {
		return nil, damaged(bucketHistory, fmt.Errorf("a key of %d bytes", len(key)))
	}
	out := m.Movement
	out.Place = binary.BigEndian.Uint64(key)
	for _, list := range []struct {
		ids  []token.ID
		held *[]UnspentToken
	}{{m.spent, &out.Spent}, {m.received, &out.Received}} {
		for _, id := range list.ids {
			h, err := getToken(tx, id)
			if err != nil {
				return nil, err
			}
			if h != nil { // a vault that follows the log again may not have found it yet
				*list.held = append(*list.held, h.unspentToken())
			}
		}
	}
	return &out, nil
}

// Movement returns the last movement with an anchor, or nil if there is none.
func (v *Vault) Movement(anchor []byte) (*Movement, error) {
	return lookUp(v, anchor, func(tx *bbolt.Tx, anchor []byte) (*Movement, error) {
		key, err := get(tx, bucketMoves, anchor)
		if key == nil || err != nil {
			return nil, err
		}
		return movementAt(tx, key)
	})
}

// move is a movement's record.
type move struct {
	Movement        // without tokens
	digest          [32]byte
	spent, received []token.ID
}

// encode returns status(1) made(1) digest(32) number(8) time(12) anchor, count(4) ids spent, count(4) ids
// received, count(4) outputs. An output is owner, type, value(8) blinding(32). Anchor and ids follow a length
// of 1 byte, owner and type a length of 2.
func (m *move) encode() ([]byte, error) {
	var b wire.Builder
	short := func(data []byte) { b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(data) }) }
	b.AddUint8(uint8(m.Status))
	b.AddUint8(bit(m.Made))
	b.AddBytes(m.digest[:])
	b.AddUint64(m.Number)
	b.AddBytes(ledger.AppendTime(nil, m.Time))
	short(m.Anchor)
	for _, ids := range [][]token.ID{m.spent, m.received} {
		b.AddUint32(uint32(len(ids)))
		for _, id := range ids {
			short(id)
		}
	}
	b.AddUint32(uint32(len(m.Paid)))
	for i := range m.Paid {
		p := &m.Paid[i]
		b.Bound("bytes of blinding", len(p.Blinding), blindingLen, blindingLen)
		b.Short(p.Owner)
		b.Short([]byte(p.Type))
		b.AddUint64(p.Value)
		b.AddBytes(p.Blinding)
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	return b.Bytes()
}

// getMove returns the movement with a sequence number, or nil if there is none.
func getMove(tx *bbolt.Tx, key []byte) (*move, error) {
	body, err := get(tx, bucketHistory, key)
	if body == nil || err != nil {
		return nil, err
	}
	f := wire.NewFields(body, "movement", 2*maxRecord)
	m := new(move)
	m.Status = Status(f.Number("status", 1, int(Pending), int(Cancelled)))
	m.Made = f.Number("made", 1, 0, 1) == 1
	copy(m.digest[:], f.Bytes("digest", len(m.digest)))
	m.Number = f.Uint64("number")
	m.Time = wire.Decoded(f, "time", ledger.TimeLen, ledger.DecodeTime)
	m.Anchor = f.Prefixed("anchor", 1, 1, token.MaxAnchor)
	for _, list := range []struct {
		name string
		ids  *[]token.ID
	}{{"spent", &m.spent}, {"received", &m.received}} {
		for range f.Number(list.name, 4, 0, maxInputs) {
			*list.ids = append(*list.ids, f.Prefixed(list.name, 1, 1, token.MaxID))
		}
	}
	for range f.Number("paid", 4, 0, maxInputs) {
		var p Paid
		p.Owner = f.Prefixed("owner", 2, 0, token.MaxOwner)
		p.Type = string(f.Prefixed("type", 2, 0, token.MaxType))
		p.Value = f.Uint64("value")
		p.Blinding = f.Bytes("blinding", blindingLen)
		m.Paid = append(m.Paid, p)
	}
	return m, damaged(bucketHistory, f.End("movement"))
}

// placeLen is the length in bytes of a key in the bucket history.
const placeLen = 8

// moveKey returns the key of a movement in the bucket history.
func moveKey(place uint64) []byte { return binary.BigEndian.AppendUint64(nil, place) }

// lastMove returns the last movement with an anchor and its key, or nil if there is none.
func lastMove(tx *bbolt.Tx, anchor []byte) (key []byte, m *move, err error) {
	if key, err = get(tx, bucketMoves, anchor); key == nil || err != nil {
		return nil, nil, err
	}
	m, err = getMove(tx, key)
	return key, m, err
}

// putMove writes a movement under key, or under a new key if key is nil.
func putMove(tx *bbolt.Tx, key []byte, m *move) error {
	if key == nil {
		sequence, err := tx.Bucket([]byte(bucketHistory)).NextSequence()
		if err != nil {
			return err
		}
		key = moveKey(sequence)
	}
	body, err := m.encode()
	if err != nil {
		return err
	}
	if err := put(tx, bucketHistory, key, body); err != nil {
		return err
	}
	return put(tx, bucketMoves, m.Anchor, key)
}

// noteMade records a submission that the vault has made or signed. If the vault has proposed it before, the
// movement stays the same.
func noteMade(tx *bbolt.Tx, anchor []byte, k *pendingRecord) error {
	key, m, err := lastMove(tx, anchor)
	if err != nil {
		return err
	}
	if m == nil || m.Status != Pending || len(k.paid) > 0 {
		key, m = nil, &move{Movement: Movement{Anchor: anchor, Status: Pending, Made: true, Paid: k.paid}}
	}
	m.digest, m.spent = k.digest, k.inputs
	return putMove(tx, key, m)
}

// noteSigned records for which request a proposal was signed.
func noteSigned(tx *bbolt.Tx, anchor []byte, digest [32]byte) error {
	key, m, err := lastMove(tx, anchor)
	if m == nil || err != nil {
		return err
	}
	m.digest = digest
	return putMove(tx, key, m)
}

// noteStatus records what became of a submission that will not be on the ledger.
func noteStatus(tx *bbolt.Tx, anchor []byte, status Status) error {
	key, m, err := lastMove(tx, anchor)
	if m == nil || err != nil {
		return err
	}
	m.Status = status
	return putMove(tx, key, m)
}

// noteRecord records a record of the log: the vault's own submission, or another request that moves tokens of
// the wallet.
func noteRecord(tx *bbolt.Tx, s *step, spends, received []token.ID) error {
	key, m, err := lastMove(tx, s.Anchor)
	if err != nil {
		return err
	}
	if m == nil || m.digest != s.Digest {
		if len(spends)+len(received) == 0 {
			return nil
		}
		key, m = nil, &move{Movement: Movement{Anchor: s.Anchor}, digest: s.Digest}
	}
	m.Status, m.Number, m.Time = Landed, s.Seq, s.Time
	m.received = received
	m.spent = spends
	return putMove(tx, key, m)
}

// forgetMoves removes from the history what the vault knows only from the log.
func forgetMoves(tx *bbolt.Tx) error {
	var keys [][]byte
	if err := tx.Bucket([]byte(bucketHistory)).ForEach(func(key, _ []byte) error {
		keys = append(keys, bytes.Clone(key))
		return nil
	}); err != nil {
		return err
	}
	if err := empty(tx, bucketMoves); err != nil {
		return err
	}
	for _, key := range keys {
		m, err := getMove(tx, key)
		if err != nil {
			return err
		}
		if !m.Made {
			if err := remove(tx, bucketHistory, key); err != nil {
				return err
			}
			continue
		}
		if m.received = nil; m.Status == Landed {
			m.Status, m.Number, m.Time = Pending, 0, time.Time{}
		}
		if err := putMove(tx, key, m); err != nil {
			return err
		}
	}
	return nil
}

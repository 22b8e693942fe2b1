package service

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
)

// Ledger is what a vault follows: a ledger.Ledger, or whoever speaks for one. One that lags behind makes a vault late and
// nothing worse: all that a vault does follows from what the log says until some entry, and stays true behind it.
type Ledger interface {
	// Genesis returns what the ledger was created with.
	Genesis() ledger.Genesis
	// Log yields the records from a sequence number on.
	Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error]
	// Record returns the record of an anchor, if there is one.
	Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error)
}

var _ Ledger = ledger.Ledger(nil)

// What is read of a log before the vault is written.
const (
	followRecords = 4096
	followBytes   = 16 << 20
)

// Sync follows the ledger's policy, and its log from where it ended before. A submission that is there has landed, and one that spends what another
// request has spent never will: it is forgotten, and what it held is free again. Outputs whose notes are for
// the wallet's keys are counted, if their openings are those of the tokens; tokens that are spent are gone, whoever has
// spent them. So a wallet is rebuilt by Sync of an empty vault.
//
// Another ledger than the vault's is an ErrParams; a log that is not one of requests, or another one than before, a *ledger.CorruptError. After an error, or when ctx
// ends, what was read until then is written, and the next Sync goes on from there: Followed says how far it is.
func (w *Wallet) Sync(ctx context.Context, l Ledger) error { return w.follow(ctx, l, w.find) }

// Sync is that of a vault that owns no tokens: what has become of its submissions. For a wallet's vault it is an ErrParams.
func (s *IssueService) Sync(ctx context.Context, l Ledger) error { return s.vault.follow(ctx, l, nil) }

// Followed is the number of the last record of the log that the vault has seen.
func (v *Vault) Followed() (last uint64, err error) {
	err = v.view(func(tx *bbolt.Tx) (err error) {
		p, err := placeOf(tx, followedKey)
		last = p.seq
		return err
	})
	return last, err
}

// follow reads the log; find (nil: nobody) finds the tokens of each of its records that are the vault's.
func (v *Vault) follow(ctx context.Context, l Ledger, find func(context.Context, []ledger.Record) ([][]*held, error)) error {
	if err := sameLedger(v.genesis, l.Genesis()); err != nil {
		return err
	}
	v.following.Lock()
	defer v.following.Unlock()
	last, err := v.startFollowing(find != nil)
	if err != nil {
		return err
	}
	if err := v.followPolicy(ctx, l); err != nil {
		return err
	}
	var records []ledger.Record
	size := 0
	write := func() error {
		if len(records) == 0 {
			return nil
		}
		err := v.learn(context.WithoutCancel(ctx), records, find)
		records, size = records[:0], 0
		return err
	}
	for r, err := range last.since(ctx, l) {
		if err != nil {
			return errors.Join(write(), err)
		}
		last.seq = r.Seq
		records, size = append(records, r), size+len(r.Request)
		if len(records) == followRecords || size >= followBytes {
			if err := write(); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
	if err := write(); err != nil {
		return err
	}
	return v.lookUpFresh(ctx, l, last.seq)
}

// startFollowing returns the last record seen, and refuses to follow for nobody what is a wallet's: its
// tokens would be passed over.
func (v *Vault) startFollowing(wallet bool) (last place, err error) {
	err = v.view(func(tx *bbolt.Tx) error {
		mark, err := get(tx, bucketMeta, []byte(keysKey))
		if err != nil {
			return err
		}
		if mark != nil && !wallet {
			return refuse("the vault is a wallet's, whose own Sync finds its tokens")
		}
		last, err = placeOf(tx, followedKey)
		return err
	})
	return last, err
}

// learn notes in one transaction what records do.
func (v *Vault) learn(ctx context.Context, records []ledger.Record, find func(context.Context, []ledger.Record) ([][]*held, error)) (err error) {
	found := make([][]*held, len(records))
	if find != nil {
		if found, err = find(ctx, records); err != nil {
			return err
		}
	}
	return v.update(ctx, func(tx *bbolt.Tx) error {
		for i := range records {
			if err := apply(tx, &records[i], found[i]); err != nil {
				return err
			}
		}
		end := &records[len(records)-1]
		return putPlace(tx, followedKey, place{end.Seq, end.Digest})
	})
}

// apply notes what a record does, of which the tokens found are the vault's.
func apply(tx *bbolt.Tx, r *ledger.Record, found []*held) error {
	if err := settle(tx, r.Anchor, r.Digest); err != nil {
		return err
	}
	for _, id := range r.Spends {
		anchors, err := spenders(tx, id)
		if err != nil {
			return err
		}
		for _, anchor := range anchors { // of submissions that can never land
			k, err := getKept(tx, anchor)
			if err != nil {
				return err
			}
			if k == nil {
				return damaged(bucketInputs, errors.New("names a submission that is not there"))
			}
			if err := abandon(tx, anchor, k); err != nil {
				return err
			}
		}
		if err := dropToken(tx, id); err != nil {
			return err
		}
	}
	for _, h := range found {
		known, err := getToken(tx, h.ID)
		if err != nil {
			return err
		}
		if known == nil {
			if err := putToken(tx, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle forgets the submission of an anchor that stands for a request on the ledger: its own has landed, and what it spends is gone by that; else
// it never will.
func settle(tx *bbolt.Tx, anchor []byte, digest [32]byte) error {
	k, err := getKept(tx, anchor)
	if k == nil || err != nil {
		return err
	}
	if k.digest != digest {
		return abandon(tx, anchor, k)
	}
	for _, id := range k.inputs {
		h, err := getToken(tx, id)
		if err != nil {
			return err
		}
		if h != nil && h.state == reserved && bytes.Equal(h.anchor, anchor) {
			if err := dropToken(tx, id); err != nil {
				return err
			}
		}
	}
	return dropKept(tx, anchor, k)
}

// lookUpFresh asks once for each submission that is new whether its anchor stands for a request that the log had before the
// submission was made: that record does not come again. A ledger that does not have the last record which the vault has seen is not asked.
func (v *Vault) lookUpFresh(ctx context.Context, l Ledger, last uint64) error {
	asked := false
	for anchor, err := range v.keys(bucketFresh, nil, nil) {
		if err != nil {
			return err
		}
		if !asked {
			if behind, err := lags(ctx, l, last); behind || err != nil {
				return err
			}
			asked = true
		}
		r, found, err := l.Record(ctx, anchor)
		if err != nil {
			return fmt.Errorf("submission %x: %w", anchor, err)
		}
		if err := v.update(context.WithoutCancel(ctx), func(tx *bbolt.Tx) error {
			if found {
				if err := settle(tx, anchor, r.Digest); err != nil {
					return err
				}
			}
			return remove(tx, bucketFresh, anchor)
		}); err != nil {
			return err
		}
	}
	return nil
}

// lags tells whether a ledger does not have a record that it had, or another copy of it has (0: none).
func lags(ctx context.Context, l Ledger, last uint64) (bool, error) {
	if last == 0 {
		return false, nil
	}
	for _, err := range l.Log(ctx, last) {
		return false, err
	}
	return true, nil
}

// find returns the tokens of each record that are the wallet's. A note is what its author says: one that does not open with the
// key of its tag, or opens another commitment than the token's, or whose place among the shares is not that of the wallet's identity in the token's
// owner, is none of the wallet's.
func (w *Wallet) find(ctx context.Context, records []ledger.Record) ([][]*held, error) {
	var all []*candidate
	places := make([]int, 0, len(records)) // of the first candidate behind each record
	for i := range records {
		some, err := w.candidates(&records[i])
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		places = append(places, len(all))
	}
	if err := w.try(ctx, all); err != nil {
		return nil, err
	}
	found := make([][]*held, len(records))
	for i, first := 0, 0; i < len(records); i, first = i+1, places[i] {
		found[i] = w.won(all[first:places[i]])
	}
	return found, nil
}

// candidate is a share with a tag of the wallet's, at the place of one of the identities of a token's owner.
type candidate struct {
	id      token.ID
	token   *token.Token
	owner   identity.Identity
	share   *note.Share
	nonce   note.Nonce
	opening *token.Opening // of the token, if the share is the wallet's; else nil
}

// candidates are those of a record.
func (w *Wallet) candidates(r *ledger.Record) (all []*candidate, err error) {
	if r.Update {
		return nil, nil
	}
	bad := func(err error) error {
		return ledger.Corruptf(fmt.Sprintf("request %d", r.Seq), "not a request: %v", err)
	}
	decoded, err := request.Decode(r.Request)
	if err != nil {
		return nil, bad(err)
	}
	if !bytes.Equal(decoded.Anchor, r.Anchor) {
		return nil, bad(errors.New("its anchor is another one"))
	}
	created := r.Creates
	for i := range decoded.Actions {
		a, err := action.Parse(w.pp.PointLen(), decoded.Actions[i].Kind, decoded.Actions[i].Raw)
		if err != nil {
			return nil, bad(err)
		}
		for j := range a.Outputs {
			if len(a.Outputs[j].Owner) == 0 {
				continue
			}
			id := request.OutputID(r.Anchor, i, j)
			if len(created) == 0 || !bytes.Equal(created[0].ID, id) {
				return nil, bad(fmt.Errorf("it does not create output %d of action %d", j, i))
			}
			created = created[1:]
			all = append(all, w.shares(id, &a.Outputs[j], a.Notes[j])...)
		}
	}
	return all, nil
}

// shares are the candidates of a token's note.
func (w *Wallet) shares(id token.ID, t *token.Token, raw []byte) (all []*candidate) {
	shares, err := note.Decode(raw)
	if err != nil {
		return nil
	}
	// One share for each identity, or whoever knows an address makes its wallet try the same key sixteen times for an output.
	owners, err := script.Identities(t.Owner)
	if err != nil || len(owners) != len(shares) {
		return nil
	}
	for i := range shares {
		if nonce, mine := w.keys.reader.Mine(&shares[i].Tag); mine {
			all = append(all, &candidate{id: id, token: t, owner: owners[i], share: &shares[i], nonce: nonce})
		}
	}
	return all
}

// try opens candidates, all together: signers and commitments of many are computed in a fraction of the time.
func (w *Wallet) try(ctx context.Context, all []*candidate) error {
	if len(all) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // what is not tried would be passed over
	nonces := make([]note.Nonce, len(all))
	for i := range all {
		nonces[i] = all[i].nonce
	}
	signers, err := w.keys.signers(nonces...)
	if err != nil {
		return err
	}
	var opened []*candidate
	var openings []token.Opening
	for i, c := range all {
		if !w.keys.serves(signers[i], c.owner) {
			continue
		}
		o, err := w.keys.reader.Open(note.Place{ID: c.id, Owner: c.token.Owner}, c.share, c.nonce)
		if err == nil {
			opened, openings = append(opened, c), append(openings, o)
		}
	}
	commitments, err := w.pp.Commit(ctx, executor.Serial(), openings)
	for i, c := range opened {
		var commitment []byte
		if err == nil {
			commitment = commitments[i]
		} else if one, alone := w.pp.Commit(ctx, executor.Serial(), openings[i:i+1]); alone == nil { // the error is of another one
			commitment = one[0]
		}
		if bytes.Equal(commitment, c.token.Commitment) {
			c.opening = &openings[i]
		}
	}
	return nil
}

// won are the tokens of candidates that are the wallet's: those of one token stand together.
func (w *Wallet) won(all []*candidate) (tokens []*held) {
	var last *held
	for _, c := range all {
		switch {
		case c.opening == nil:
			continue
		case last == nil || !bytes.Equal(last.ID, c.id):
			last = &held{state: unspent, ID: c.id, Token: *c.token}
			tokens = append(tokens, last)
		}
		last.Opening, last.nonces = *c.opening, append(last.nonces, c.nonce)
		if !script.IsScript(c.token.Owner) {
			last.proof = w.keys.proof(c.nonce)
		}
	}
	return tokens
}

// openNote returns the token if its note is for the wallet, else nil.
func (w *Wallet) openNote(ctx context.Context, id token.ID, t *token.Token, raw []byte) (*held, error) {
	all := w.shares(id, t, raw)
	if err := w.try(ctx, all); err != nil {
		return nil, err
	}
	for _, h := range w.won(all) {
		return h, nil
	}
	return nil, nil
}

// place is a record of the log that a vault has seen, and all before it. The zero value is before the first.
type place struct {
	seq    uint64
	digest [32]byte // of the request
}

// placeOf is the place that meta has under a key: number(8) digest(32).
func placeOf(tx *bbolt.Tx, key string) (p place, err error) {
	body, err := get(tx, bucketMeta, []byte(key))
	switch {
	case body == nil || err != nil:
		return p, err
	case len(body) != 8+len(p.digest):
		return p, ledger.Corruptf("bucket "+bucketMeta, "%d bytes under %q, want %d", len(body), key, 8+len(p.digest))
	}
	copy(p.digest[:], body[8:])
	p.seq = binary.BigEndian.Uint64(body)
	return p, nil
}

func putPlace(tx *bbolt.Tx, key string, p place) error {
	return put(tx, bucketMeta, []byte(key), append(binary.BigEndian.AppendUint64(nil, p.seq), p.digest[:]...))
}

// since yields the records behind a place, after that one itself has been found to be as it was: a ledger that was put back to an older
// state and went on otherwise is a *ledger.CorruptError.
func (p place) since(ctx context.Context, l Ledger) iter.Seq2[ledger.Record, error] {
	return func(yield func(ledger.Record, error) bool) {
		for r, err := range l.Log(ctx, max(p.seq, 1)) {
			if err == nil && r.Seq == p.seq {
				if r.Digest == p.digest {
					continue
				}
				err = ledger.Corruptf(fmt.Sprintf("request %d", r.Seq), "another one than the vault has seen: the ledger has lost records, make a new vault")
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

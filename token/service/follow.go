package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
)

// Ledger is what a vault follows: a ledger.Reader, or another party that answers in place of a ledger. The
// documentation of Wallet.Sync says what a vault trusts a Ledger with. If a Ledger lags behind what the vault has
// seen, the vault cannot tell it from one that has lost records, and refuses it.
type Ledger interface {
	// Genesis returns what the ledger was created with.
	Genesis() ledger.Genesis
	// Log yields the records in order, starting with the given sequence number.
	Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error]
	// Record returns the record with an anchor, if there is one.
	Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error)
	// Head returns the newest signed head of the log, or nil if there is none.
	Head(ctx context.Context) (signed []byte, err error)
	// HashReader returns nodes of the log's tree, for the proofs that a vault asks for.
	ledger.HashReader
}

var _ Ledger = ledger.Reader(nil)

// Limits on what is read of a log before the vault is written.
const (
	followRecords  = 4096
	followBytes    = 16 << 20
	checkedRecords = 256 // used if records are validated, which is slow
)

// Sync reads the ledger's log from where the last Sync ended, and follows the policy updates in it.
//
// If the log has a pending submission, Sync marks the submission as recorded (Landed). If another request in
// the log has the submission's anchor, or has spent a token that the submission spends, the submission can
// never be recorded. Sync then removes the submission and frees the other tokens that it reserves. An output
// whose opening is encrypted to the wallet's keys counts as the wallet's, if the decrypted opening opens the
// output. A token that a record spends counts as spent, even if another wallet with the same keys has made
// the request. So if the vault is empty, Sync rebuilds the wallet.
//
// Sync trusts a record's time and its position in the log, and computes the rest from the request. Sync checks
// that records follow each other without a gap and that administrators have signed the updates of the policy,
// and it counts each token once. Sync relies on the ledger for the validity of each request, unless
// Vault.CheckRecords was called; then Sync validates each request.
//
// If the ledger's policy names validators, Sync counts only records under the newest head that as many validators
// have signed as the policy in force at the head's size asks for. It proves that the head extends the last head
// that the vault has believed, and that the records are those of the head. It leaves later records to the next Sync.
// If the policy names no validators, there are no heads, and nothing shows that the ledger tells everybody the same
// log.
//
// Sync returns ErrParams if the ledger is not the vault's. It returns a *ledger.CorruptError if the log
// contradicts itself, its head, or what the vault has read from it before. It returns ledger.ErrRolledBack if the
// log ends before the last record that the vault has seen: a backup was restored, or l lags behind. About heads it
// returns the errors of head.Open, head.ErrNoHead, a *head.ExtendError and, after Vault.RequireHead, a
// *head.AgeError. If a log contradicts a signed head, Vault.Evidence has the contradiction. After an error, or when
// ctx ends, the vault keeps the effects of the records that were read and checked so far. The next Sync continues
// after these records; Followed returns the number of the last one.
func (w *Wallet) Sync(ctx context.Context, l Ledger) error {
	return w.sync(ctx, l, w.pp.PointLen(), w.find)
}

// Sync reads the log like Wallet.Sync, for a vault without tokens: it finds out what became of the issuer's
// submissions, and follows the policy updates. It returns ErrParams if the vault is a wallet's.
func (s *IssueService) Sync(ctx context.Context, l Ledger) error {
	return s.vault.sync(ctx, l, s.pp.PointLen(), nil)
}

// Followed returns the number of the last record of the log that Sync has seen.
func (v *Vault) Followed() (last uint64, err error) { return v.seen(followed) }

// Followed returns the number of the last record of the log that Sync has seen.
func (s *IssueService) Followed() (last uint64, err error) { return s.vault.seen(followed) }

// seen returns the number of the last record of the log that a reader has seen.
func (v *Vault) seen(who reader) (last uint64, err error) {
	err = v.view(func(tx *bbolt.Tx) (err error) {
		p, err := v.placeOf(tx, who)
		last = p.Last()
		return err
	})
	return last, err
}

// sync reads the log and settles submissions. find finds the vault's tokens in each record; if it is nil, the
// vault has none.
func (v *Vault) sync(ctx context.Context, l Ledger, pointLen int, find func(context.Context, []*step) ([][]*tokenRecord, error)) error {
	if err := v.findsTokens(find != nil); err != nil {
		return err
	}
	v.following.Lock()
	defer v.following.Unlock()
	r, err := v.read(ctx, l, followed, pointLen, func(ctx context.Context, some []*step) (int, func(*bbolt.Tx, int) error, error) {
		found := make([][]*tokenRecord, len(some))
		if find != nil {
			var err error
			if found, err = find(ctx, some); err != nil {
				return 0, nil, err
			}
		}
		return len(some), func(tx *bbolt.Tx, i int) error { return apply(tx, some[i], found[i]) }, nil
	})
	if err != nil {
		return err
	}
	return v.lookUpFresh(ctx, l, r.end, pointLen)
}

// findsTokens returns ErrParams if the vault is a wallet's and the reader does not find tokens: they would be
// passed over.
func (v *Vault) findsTokens(wallet bool) error {
	return v.view(func(tx *bbolt.Tx) error {
		mark, err := get(tx, bucketMeta, []byte(keysKey))
		if err == nil && mark != nil && !wallet {
			err = refuse("the vault is a wallet's: use Wallet.Sync, which finds its tokens")
		}
		return err
	})
}

// noting decides what records do to a vault, in their order. It returns how many of them are noted, and an
// error if it stopped before the end. write writes the effect of one of them, in the transaction that stores
// the new position.
type noting func(ctx context.Context, some []*step) (noted int, write func(tx *bbolt.Tx, i int) error, err error)

// reading is the state of reading a log into a vault.
type reading struct {
	*Vault
	ledger Ledger
	who    reader
	note   noting
	checks *checker // nil: records are not validated
	head   *newest  // nil: the policy has no validators
	end    place    // after the last record that is written

	some []*step // records that are read and not written
	size int     // bytes
}

// read reads a log from a reader's position on.
func (v *Vault) read(ctx context.Context, l Ledger, who reader, pointLen int, note noting) (r *reading, err error) {
	r = &reading{Vault: v, ledger: l, who: who, note: note}
	if err := sameLedger(v.genesis, l.Genesis()); err != nil {
		return r, err
	}
	if r.end, err = v.start(ctx, l, who); err != nil {
		return r, err
	}
	if r.checks, err = v.checker(who, r.end); err != nil {
		return r, err
	}
	rules, err := v.policyAt(ctx, r.end.version())
	if err == nil {
		r.head, err = r.newestHead(ctx, rules)
	}
	if err != nil {
		return r, err
	}
	most := followRecords
	if r.checks != nil {
		most = checkedRecords
	}
	for s, err := range r.end.since(ctx, l, v.genesis, pointLen) {
		if err != nil {
			return r, errors.Join(r.write(ctx), r.accuse(ctx, err, s))
		}
		if r.head != nil && s.Seq >= r.head.Size {
			return r, errors.Join(r.write(ctx), r.head.needed())
		}
		r.some, r.size = append(r.some, s), r.size+len(s.Request)
		if len(r.some) == most || r.size >= followBytes || s.Update || v.genesis.ForksAfter(s.Seq) {
			if err := r.write(ctx); err != nil {
				return r, err
			}
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
		}
		if s.Update && r.head == nil {
			if r.head, err = r.newestHead(ctx, &s.parsed.Update.Policy); err != nil {
				return r, err
			}
		}
	}
	if err := r.write(ctx); err != nil {
		return r, err
	}
	return r, r.complete()
}

// start returns a reader's position, and brings the vault at least under the policy of that position. If the
// vault validates records now and did not before, the reader begins again.
func (v *Vault) start(ctx context.Context, l Ledger, who reader) (p place, err error) {
	if err := v.view(func(tx *bbolt.Tx) (err error) {
		p, err = v.placeOf(tx, who)
		return err
	}); err != nil {
		return p, err
	}
	switch {
	case p.checked && v.checks == nil:
		return p, refuse("the vault has validated every record that it has followed: call CheckRecords first, or FollowAnew")
	case !p.checked && v.checks != nil && p.Last() > 0:
		if err := v.restart(ctx, who); err != nil {
			return p, err
		}
		p = newPlace(v.genesis)
	}
	p.checked = v.checks != nil
	return p, v.recoverPolicy(ctx, l, p.version())
}

// write writes what was read. If a record is not believed or contradicts the vault, write returns an error and
// writes the records before it.
func (r *reading) write(ctx context.Context) error {
	if len(r.some) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // records that are left out would be skipped
	good, next, bad := r.believed(ctx)
	bad = r.accuse(ctx, bad, r.some...)
	some := r.some[:good]
	r.some, r.size = nil, 0
	if good == 0 {
		return bad
	}
	noted, write, err := r.note(ctx, some)
	bad = errors.Join(r.accuse(ctx, err, some...), bad)
	for noted > 0 {
		if noted < good { // the update is the last of them
			next = nil
		}
		failed, err := r.commit(ctx, some[:noted], write, next)
		if err == nil {
			break
		}
		bad = errors.Join(r.accuse(ctx, err, some...), bad)
		if noted = failed; failed < 0 {
			return bad
		}
	}
	if noted > 0 {
		if r.checks, err = r.checker(r.who, r.end); err != nil {
			bad = errors.Join(bad, err)
		}
	}
	return bad
}

// commit writes what records do, the policy that the last one makes (nil: none), and the position after them,
// in one transaction. failed is the index of the record that could not be written, or negative if the error is
// not about one of them.
func (r *reading) commit(ctx context.Context, some []*step, write func(*bbolt.Tx, int) error, next *token.Policy) (failed int, err error) {
	last := some[len(some)-1]
	err = r.update(ctx, func(tx *bbolt.Tx) error {
		for failed = range some {
			if err := write(tx, failed); err != nil {
				return err
			}
		}
		failed = -1
		if r.checks != nil {
			if err := r.checks.keep(tx, some); err != nil {
				return err
			}
		}
		if next != nil {
			if err := put(tx, bucketPolicies, last.Anchor, last.Request); err != nil {
				return err
			}
		}
		if r.head != nil {
			if err := putHead(tx, r.who, r.head); err != nil {
				return err
			}
		}
		return putPlace(tx, r.who, &last.end)
	})
	if err != nil {
		return failed, err
	}
	if r.end = last.end; next != nil {
		r.current.Store(next)
	}
	return failed, nil
}

// believed returns how many of the records that were read are accepted, and the new policy if the last of them
// updates it. If the policy has validators, the records must be those of the head. An update must be signed as the
// policy before it requires. If records are validated, each must be valid. The error says why the next record is
// not accepted.
func (r *reading) believed(ctx context.Context) (good int, next *token.Policy, err error) {
	good, bad := r.proved(ctx)
	if good == 0 {
		return 0, nil, bad
	}
	if r.checks != nil {
		if good, err = r.checks.validate(ctx, r.some[:good]); err != nil {
			return good, nil, err
		}
	}
	if last := r.some[good-1]; last.Update {
		if next, err = r.nextPolicy(last); err != nil {
			return good - 1, nil, err
		}
	}
	return good, next, bad
}

// apply writes what a record does. found are the tokens of the record that are the vault's.
func apply(tx *bbolt.Tx, s *step, found []*tokenRecord) error {
	landed, err := settle(tx, s)
	if err != nil {
		return err
	}
	var spends []token.ID
	for _, id := range s.Spends {
		status := Refused
		if landed != nil { // the vault's own request has spent the token
			status = Cancelled
		}
		if err := giveUpOthers(tx, id, status); err != nil {
			return err
		}
		h, err := getToken(tx, id)
		switch {
		case err != nil:
			return err
		case h == nil:
			continue
		case h.state == spent && !bytes.Equal(h.anchor, s.Anchor):
			return ledger.Corruptf(named(s.Seq), "it spends token %x, which request %x has spent", []byte(id), h.anchor)
		}
		h.state, h.anchor = spent, s.Anchor
		if err := putToken(tx, h); err != nil {
			return err
		}
		spends = append(spends, id)
	}
	if landed != nil {
		if err := free(tx, s.Anchor, landed); err != nil { // what it reserves and does not spend
			return err
		}
	}
	var received []token.ID
	for _, h := range found {
		known, err := getToken(tx, h.ID)
		switch {
		case err != nil:
			return err
		case known != nil && known.created != s.Seq:
			return ledger.Corruptf(named(s.Seq), "it creates token %x, which request %d has created", []byte(h.ID), known.created)
		case known == nil:
			if err := regain(tx, h, nil); err != nil {
				return err
			}
		}
		received = append(received, h.ID)
	}
	return noteRecord(tx, s, spends, received)
}

// regain writes a token as unspent, or as reserved if a submission spends it. That happens if a vault that
// follows the log again finds the token, or if the submission with the anchor but gives it back, which was to
// cancel another one.
func regain(tx *bbolt.Tx, h *tokenRecord, but []byte) error {
	anchors, err := spenders(tx, bucketInputs, h.ID)
	if err != nil {
		return err
	}
	h.state, h.anchor = unspent, nil
	for _, anchor := range anchors {
		k, err := getPending(tx, anchor)
		if err != nil {
			return err
		}
		if k != nil && !k.released && !bytes.Equal(anchor, but) {
			h.state, h.anchor = reserved, anchor
		}
	}
	return putToken(tx, h)
}

// giveUpOthers abandons the submissions that spend a token which a request has spent: they can never be
// recorded.
func giveUpOthers(tx *bbolt.Tx, id token.ID, status Status) error {
	anchors, err := spenders(tx, bucketInputs, id)
	if err != nil {
		return err
	}
	for _, anchor := range anchors {
		k, err := getPending(tx, anchor)
		if err != nil {
			return err
		}
		if k == nil {
			return damaged(bucketInputs, errors.New("names a submission that is not there"))
		}
		if err := abandon(tx, anchor, k, status); err != nil {
			return err
		}
	}
	return nil
}

// settle removes the submission with the anchor of a request on the ledger. If that request is the submission's
// own, settle returns its record. If not, the submission can never be recorded, and settle returns nil.
func settle(tx *bbolt.Tx, s *step) (landed *pendingRecord, err error) {
	k, err := getPending(tx, s.Anchor)
	if k == nil || err != nil {
		return nil, err
	}
	own := k.digest == s.Digest
	if k.digest == [32]byte{} { // a proposal, which others have signed without this vault
		if own, err = k.isPartOf(s.parsed.Request); err != nil {
			return nil, err
		}
		if own {
			if err := noteSigned(tx, s.Anchor, s.Digest); err != nil {
				return nil, err
			}
		}
	}
	if !own {
		return nil, abandon(tx, s.Anchor, k, Refused)
	}
	return k, removePending(tx, s.Anchor, k)
}

// lookUpFresh asks the ledger once for each new submission whether it has a record with the submission's anchor
// that the vault has already followed. Such a record does not come again.
//
// It believes the answer yes only with a proof that the log which the vault has followed has the record. It trusts
// the answer no. A record after the vault's position is still to come, so lookUpFresh ignores it.
func (v *Vault) lookUpFresh(ctx context.Context, l Ledger, end place, pointLen int) error {
	var absent [][]byte
	var confirmed []*step
	for anchor, err := range v.keys(bucketFresh, nil, nil) {
		if err != nil {
			return err
		}
		r, found, err := l.Record(ctx, anchor)
		switch {
		case err != nil:
			return fmt.Errorf("submission %x: %w", anchor, err)
		case !found:
			absent = append(absent, anchor)
		case r.Seq <= end.Last():
			s, err := v.confirm(ctx, l, end, pointLen, anchor, r)
			if err != nil {
				return err
			}
			confirmed = append(confirmed, s)
		}
	}
	if len(absent)+len(confirmed) == 0 {
		return nil
	}
	return v.update(context.WithoutCancel(ctx), func(tx *bbolt.Tx) error {
		for _, anchor := range absent {
			if err := remove(tx, bucketFresh, anchor); err != nil {
				return err
			}
		}
		for _, s := range confirmed {
			landed, err := settle(tx, s)
			if err == nil && landed != nil {
				err = free(tx, s.Anchor, landed)
			}
			if err == nil {
				err = noteRecord(tx, s, nil, nil)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// confirm checks that the log up to a position has a record, which the ledger gave as the one with an anchor. It
// returns a *ledger.CorruptError if not. The record was checked when the vault followed it, so only the request
// in it is read again. The step has no end.
func (v *Vault) confirm(ctx context.Context, l Ledger, end place, pointLen int, anchor []byte, r ledger.Record) (*step, error) {
	ok, err := included(ctx, l, end.head(v.genesis), &r)
	if err != nil {
		return nil, err
	}
	place := fmt.Sprintf("anchor %x", anchor)
	if !ok || !bytes.Equal(r.Anchor, anchor) {
		return nil, ledger.Corruptf(place, "the ledger answers with request %d, which the log that the vault has followed does not have", r.Seq)
	}
	parsed, err := entry.Parse(v.genesis.ForRecord(r.Seq).ID(), pointLen, r.Request)
	if err != nil {
		return nil, ledger.Corruptf(place, "not a request: %v", err)
	}
	return &step{Record: r, parsed: parsed}, nil
}

package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/recheck"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/validator"
)

// CheckRecords makes Sync and Reconcile validate every record that they read, as a validator of the ledger
// would. Both methods check structure, signatures and proofs, and that requests spend unspent tokens of the
// ledger. For that, the vault stores a 32-byte hash of every unspent token on the ledger, and the digest of
// every request. If a record is not valid, Sync and Reconcile return a *ledger.CorruptError and write nothing
// about the record.
//
// CheckRecords does not change the validator: the vault uses another one, which Validator.First returns, so one
// validator's tables can serve many vaults. Validation begins at the first record. If the vault has followed
// the log without validation before, it follows the log again from the first record, as after FollowAnew.
//
// Once you have called CheckRecords for a vault, call it each time you open that vault. Otherwise Sync and
// Reconcile return ErrParams until you call FollowAnew. CheckRecords returns ErrParams if the validator is
// another ledger's.
func (v *Vault) CheckRecords(with *validator.Validator) error {
	if with.Ledger() != v.genesis.ID() {
		return refuse("the validator belongs to ledger %x, the vault to %x", with.Ledger(), v.genesis.ID())
	}
	v.following.Lock()
	defer v.following.Unlock()
	v.checks = &checks{first: with, of: make(map[checked]*validator.Validator)}
	return nil
}

// checks holds the validators of a vault's readers. Each has the policy at its reader's position, and the
// ledger on which the next record was accepted, which may be a parent of the vault's.
type checks struct {
	first *validator.Validator
	mu    sync.Mutex
	of    map[checked]*validator.Validator
}

// checked identifies a reader of the records of a ledger.
type checked struct {
	who    reader
	ledger token.LedgerID
}

func (c *checks) validator(who reader, genesis ledger.Genesis) (_ *validator.Validator, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := checked{who, genesis.ID()}
	if c.of[key] == nil {
		c.of[key], err = c.first.First(genesis)
	}
	return c.of[key], err
}

// forget drops the validators, which have followed the policy further than their readers will have.
func (c *checks) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.of)
}

// checker validates records for a reader.
type checker struct {
	*Vault
	who       reader
	validator *validator.Validator
}

// checker returns a checker of the records after a position, or nil if records are not validated.
func (v *Vault) checker(who reader, at place) (*checker, error) {
	if v.checks == nil {
		return nil, nil
	}
	checks, err := v.checks.validator(who, v.genesis.ForRecord(at.Last()+1))
	if err != nil {
		return nil, err
	}
	c := &checker{v, who, checks}
	return c, c.follow(context.Background(), at.version())
}

// follow brings the validator under the policy of a version that the vault has.
func (c *checker) follow(ctx context.Context, version uint64) error {
	return c.validator.Follow(ctx, updates{c.Vault, version})
}

// validate returns how many of the given records are valid, counted from the first, and why the next is not. It
// writes nothing.
func (c *checker) validate(ctx context.Context, some []*step) (good int, err error) {
	state := &overlay{checker: c, unspent: make(map[string]tokenSum), anchors: make(map[string][32]byte), named: make(map[string][]byte)}
	for _, s := range some {
		for _, a := range s.parsed.Actions {
			for i := range a.Inputs {
				encoded, err := a.Inputs[i].Token.Encode()
				if err != nil {
					return 0, err
				}
				state.named[nameOf(a.Inputs[i].ID, sha256.Sum256(encoded))] = encoded
			}
		}
	}
	check := recheck.New(c.validator, state)
	for _, s := range some {
		if err = check.Add(ctx, s.Record); err != nil {
			break
		}
	}
	if err == nil {
		err = check.Flush(ctx)
	}
	if last := check.Last(); last > 0 {
		good = int(last - some[0].Seq + 1)
	}
	return good, err
}

// keep writes what valid records do to the tokens of the ledger.
func (c *checker) keep(tx *bbolt.Tx, some []*step) error {
	for _, s := range some {
		for _, id := range s.Spends {
			if err := remove(tx, bucketUnspent, c.who.key(id)); err != nil {
				return err
			}
		}
		for _, created := range s.Creates {
			sum := sha256.Sum256(created.Token)
			if err := put(tx, bucketUnspent, c.who.key(created.ID), sum[:]); err != nil {
				return err
			}
		}
		if err := put(tx, bucketAnchors, c.who.key(s.Anchor), s.Digest[:]); err != nil {
			return err
		}
	}
	return nil
}

// tokenSum is the SHA-256 of a token, or zeros if the token is spent.
type tokenSum [sha256.Size]byte

// overlay is the state of the ledger after valid records that are not written yet. It implements recheck.State.
type overlay struct {
	*checker
	unspent map[string]tokenSum
	anchors map[string][32]byte
	named   map[string][]byte // the tokens that the records name as inputs, by id and sum
}

func nameOf(id token.ID, sum tokenSum) string { return string(id) + string(sum[:]) }

// Tokens implements validator.Tokens. The vault has only the sum of each token. So the token's bytes come from
// the record that spends it, if they have that sum.
func (o *overlay) Tokens(_ context.Context, ids []token.ID) (found []ledger.Found, err error) {
	found = make([]ledger.Found, len(ids))
	err = o.view(func(tx *bbolt.Tx) error {
		for i, id := range ids {
			sum, err := o.sum(tx, id)
			switch {
			case err != nil:
				return err
			case sum == tokenSum{}:
				found[i].Err = zkbench.ErrSpent
			default:
				if found[i].Token = o.named[nameOf(id, sum)]; found[i].Token == nil {
					found[i].Err = deny("the ledger has another token under this id")
				}
			}
		}
		return nil
	})
	return found, err
}

// sum returns the sum of an unspent token, or zeros if there is none.
func (o *overlay) sum(tx *bbolt.Tx, id token.ID) (sum tokenSum, err error) {
	if sum, ok := o.unspent[string(id)]; ok {
		return sum, nil
	}
	body, err := get(tx, bucketUnspent, o.who.key(id))
	if body == nil || err != nil {
		return sum, err
	}
	if copy(sum[:], body); len(body) != len(sum) {
		err = damaged(bucketUnspent, errors.New("not the sum of a token"))
	}
	return sum, err
}

// Digest implements recheck.State.
func (o *overlay) Digest(_ context.Context, anchor []byte) (digest [32]byte, found bool, err error) {
	if digest, found = o.anchors[string(anchor)]; found {
		return digest, true, nil
	}
	err = o.view(func(tx *bbolt.Tx) error {
		body, err := get(tx, bucketAnchors, o.who.key(anchor))
		found = body != nil
		copy(digest[:], body)
		return err
	})
	return digest, found, err
}

// Apply implements recheck.State. An update of the policy is the last record of a call of validate, and the
// checker follows it afterwards.
func (o *overlay) Apply(_ context.Context, entries []ledger.Entry) error {
	for i := range entries {
		e := &entries[i]
		for _, id := range e.Spends {
			o.unspent[string(id)] = tokenSum{}
		}
		for _, created := range e.Creates {
			o.unspent[string(created.ID)] = sha256.Sum256(created.Token)
		}
		o.anchors[string(e.Anchor)] = e.Digest
	}
	return nil
}

package service

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math/big"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/internal/snapshot"
)

// Wallet is a vault with keys: it owns tokens. It is safe for concurrent use.
type Wallet struct {
	*Vault
	keys Keys
	pp   token.CryptoParams // for commitments only
}

// NewWallet returns the wallet of a vault's tokens. The vault remains the caller's to
// close; Close of the wallet is that of the vault. The error is an ErrParams.
func NewWallet(params *token.PublicParams, vault *Vault, keys Keys) (*Wallet, error) {
	params, _, err := snapshot.Params(params, vault.genesis)
	if err != nil {
		return nil, err
	}
	// Commitments are the same under all range-proof systems, and three generators
	// need no large tables.
	pp, err := params.Crypto(params.Systems[0].ProofType, token.Tuning{Table: group.TableOptions{Window: 2, Spacing: 64}})
	if err != nil {
		return nil, err
	}
	return &Wallet{Vault: vault, keys: keys, pp: pp}, nil
}

// Address makes an address, and keeps its key before it returns. rand nil: the
// system's.
func (w *Wallet) Address(ctx context.Context, rand io.Reader) (Address, error) {
	to, key, err := w.keys.New(rand)
	if err != nil {
		return Address{}, err
	}
	err = w.update(ctx, func(tx *bbolt.Tx) error { return putOwn(tx, &to, key) })
	if err != nil {
		return Address{}, err
	}
	return to, nil
}

// MaxCandidates is how many deliveries of different tokens under one id a wallet keeps
// until it has asked the ledger which it is.
const MaxCandidates = 8

// Receive takes deliveries, all of them or none. They are expected until Sync finds
// their tokens on the ledger: anybody can deliver any token under any id, so several
// may be expected under one, until the ledger has one of them. A delivery whose opening
// does not open its token, whose owner is no address of the wallet, or whose id is that
// of another token that the ledger has had, is an ErrPolicy that names it by its index;
// one more than MaxCandidates under one id is an ErrLimit, until Sync has found which
// one it is. One that the wallet has is no error.
func (w *Wallet) Receive(ctx context.Context, deliveries ...Delivery) error {
	openings := make([]token.Opening, len(deliveries))
	for i := range deliveries {
		if _, err := deliveries[i].Encode(); err != nil {
			return fmt.Errorf("delivery %d: %w", i, err)
		}
		openings[i] = deliveries[i].Opening
	}
	commitments, err := w.pp.Commit(ctx, executor.Serial(), openings)
	if err != nil {
		return err
	}
	for i := range deliveries {
		if !bytes.Equal(commitments[i], deliveries[i].Token.Commitment) {
			return policy("delivery %d: the opening is another token's", i)
		}
	}
	return w.update(ctx, func(tx *bbolt.Tx) error {
		for i := range deliveries {
			if err := receive(tx, &deliveries[i]); err != nil {
				return fmt.Errorf("delivery %d: %w", i, err)
			}
		}
		return nil
	})
}

func receive(tx *bbolt.Tx, d *Delivery) error {
	mine, err := ownOf(tx, d)
	if err != nil {
		return err
	}
	if mine == nil {
		return policy("the owner is no address of this wallet, and no script of one")
	}
	switch h, err := getToken(tx, d.ID); {
	case err != nil:
		return err
	case h != nil && h.same(&d.Token):
		return nil
	case h != nil:
		return policy("the ledger has another token under this id")
	}
	all, err := candidates(tx, d.ID)
	if err != nil || slices.ContainsFunc(all, func(h *held) bool { return h.same(&d.Token) }) {
		return err
	}
	if n := len(all); n >= MaxCandidates {
		return &zkbench.LimitError{What: "tokens expected under one id", Estimate: int64(n) + 1, Max: MaxCandidates}
	}
	return putToken(tx, &held{state: expected, own: *mine, Delivery: *d})
}

// Balance is the sum of the tokens of a type that can be spent: found on the ledger,
// and held by no submission. It is read in one transaction, which takes a microsecond
// or less for each token; while it runs, a write for which the file must grow waits.
func (v *Vault) Balance(typ string) (*big.Int, error) {
	sum, value := new(big.Int), new(big.Int)
	err := v.free(typeKey(typ), func(h Held) { sum.Add(sum, value.SetUint64(h.Value)) })
	if err != nil {
		return nil, err
	}
	return sum, nil
}

// Held is a token that can be spent.
type Held struct {
	ID    token.ID
	Type  string
	Value uint64
}

// Unspent yields the tokens that can be spent, types of one length together, values
// ascending: all of one moment, which are read as for Balance and held in memory. After
// an error it stops.
func (v *Vault) Unspent() iter.Seq2[Held, error] {
	return func(yield func(Held, error) bool) {
		var all []Held
		err := v.free(nil, func(h Held) {
			h.ID = bytes.Clone(h.ID)
			all = append(all, h)
		})
		for _, h := range all {
			if !yield(h, nil) {
				return
			}
		}
		if err != nil {
			yield(Held{}, err)
		}
	}
}

// free calls f with the tokens that can be spent and whose keys begin with prefix, in
// one transaction. The ids are the transaction's.
func (v *Vault) free(prefix []byte, f func(Held)) error {
	return v.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(bucketFree)).Cursor()
		for key, record := c.Seek(prefix); key != nil && bytes.HasPrefix(key, prefix); key, record = c.Next() {
			if _, err := boltfile.Unseal(bucketFree, key, record, 0); err != nil {
				return err
			}
			typ, value, id, err := parseFreeKey(key)
			if err != nil {
				return err
			}
			f(Held{ID: id, Type: typ, Value: value})
		}
		return nil
	})
}

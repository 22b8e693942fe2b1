package service

import (
	"bytes"
	"context"
	"io"
	"iter"
	"math/big"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/internal/snapshot"
)

// Wallet is a vault with keys: it owns tokens. It is safe for concurrent use.
type Wallet struct {
	*Vault
	keys *Keys
	pp   token.CryptoParams // for commitments only
}

// NewWallet returns the wallet of a vault's tokens. The vault remains the caller's to
// close; Close of the wallet is that of the vault. An empty vault's wallet knows of no token until Sync. The error is an ErrParams, for other keys than
// the vault's too.
func NewWallet(params *token.PublicParams, vault *Vault, keys *Keys) (*Wallet, error) {
	params, id, err := snapshot.Params(params, vault.genesis)
	if err != nil {
		return nil, err
	}
	if keys.ledger != id {
		return nil, refuse("the keys are of the ledger %x, and the vault of %x", keys.ledger, id)
	}
	// Commitments are the same under all range-proof systems, and three generators
	// need no large tables.
	pp, err := params.Crypto(params.RangeProofs[0].ProofType, token.Tuning{Table: group.TableOptions{Window: 2, Spacing: 64}})
	if err != nil {
		return nil, err
	}
	if err := vault.adopt(params); err != nil {
		return nil, err
	}
	return &Wallet{Vault: vault, keys: keys, pp: pp}, vault.bind(keys)
}

// bind makes a vault that of keys, whose tokens are looked for from the beginning of the log. It refuses one of others.
func (v *Vault) bind(keys *Keys) error {
	return v.update(context.Background(), func(tx *bbolt.Tx) error {
		switch mark, err := get(tx, bucketMeta, []byte(keysKey)); {
		case err != nil:
			return err
		case mark == nil:
			if err := put(tx, bucketMeta, []byte(keysKey), keys.mark[:]); err != nil {
				return err
			}
			return forget(tx, followed)
		case !bytes.Equal(mark, keys.mark[:]):
			return refuse("the wallet's keys are not those that the vault was made with")
		}
		return nil
	})
}

// Address makes a fresh address, for one payment. Nothing of it has to be kept. rand nil: the system's.
func (w *Wallet) Address(rand io.Reader) (Address, error) { return w.keys.Address(w.rules(), rand) }

// Holdings are the tokens of a type that can be spent.
type Holdings struct {
	Sum    *big.Int
	Tokens int
}

// Holdings returns the sum and the number of the tokens of a type that can be spent: found on the ledger,
// and held by no submission. They are read in one transaction, which takes a microsecond
// or less for each token; while it runs, a write for which the file must grow waits.
func (v *Vault) Holdings(typ string) (Holdings, error) {
	all, value := Holdings{Sum: new(big.Int)}, new(big.Int)
	err := v.free(typeKey(typ), func(h Held) {
		all.Sum.Add(all.Sum, value.SetUint64(h.Value))
		all.Tokens++
	})
	if err != nil {
		return Holdings{}, err
	}
	return all, nil
}

// Held is a token of the wallet's.
type Held struct {
	ID    token.ID
	Type  string
	Value uint64
}

// Unspent yields the tokens that can be spent, types of one length together, values
// ascending: all of one moment, which are read as for Holdings and held in memory. After
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

package service

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"math/big"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/internal/snapshot"
)

// Wallet is a vault with keys, so it owns tokens. It is safe for concurrent use.
type Wallet struct {
	*Vault
	keys *Keys
	pp   token.CryptoParams // for commitments only
}

// NewWallet returns the wallet of a vault's tokens. If the vault is empty, the wallet has no tokens until Sync
// finds some. The caller must close the vault; Close of the wallet closes the same vault. NewWallet returns
// ErrParams if the vault belongs to other keys, or if vault, keys and params do not belong to one ledger.
func NewWallet(params *token.PublicParams, vault *Vault, keys *Keys) (*Wallet, error) {
	params, id, err := snapshot.Params(params, vault.genesis)
	if err != nil {
		return nil, err
	}
	if keys.ledger != id {
		return nil, refuse("the keys belong to ledger %x, the vault to %x", keys.ledger, id)
	}
	// Commitments are the same under all range-proof systems, and three generators
	// need no large tables.
	pp, err := params.Crypto(params.RangeProofs[0].ProofType, token.LeastTables())
	if err != nil {
		return nil, err
	}
	if err := vault.adopt(params); err != nil {
		return nil, err
	}
	return &Wallet{Vault: vault, keys: keys, pp: pp}, vault.bind(keys)
}

// bind makes keys the vault's keys, if it has none, and then has Sync begin again at the first record. It
// returns ErrParams if the vault has other keys.
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

// Address returns a fresh address, for one payment. The wallet need not store it. If rand is nil, Address uses
// the operating system's source of randomness.
func (w *Wallet) Address(rand io.Reader) (Address, error) { return w.keys.Address(w.rules(), rand) }

// Holdings sums up the spendable tokens of one type.
type Holdings struct {
	Sum    *big.Int
	Tokens int
}

// Holdings returns the sum and the number of the spendable tokens of a type: those on the ledger that no
// pending submission reserves. Holdings reads the tokens in one transaction, in at most a microsecond per
// token. During the transaction, a write that must grow the file waits.
func (v *Vault) Holdings(typ string) (Holdings, error) {
	all, value := Holdings{Sum: new(big.Int)}, new(big.Int)
	err := v.free(typeKey(typ), func(h UnspentToken) {
		all.Sum.Add(all.Sum, value.SetUint64(h.Value))
		all.Tokens++
	})
	if err != nil {
		return Holdings{}, err
	}
	return all, nil
}

// Total says how many tokens of one type there are, and the sum of their values.
type Total struct {
	Type string
	Holdings
}

// Totals sums tokens up by type, in the order of types.
func Totals(tokens []UnspentToken) (all []Total) {
	for _, h := range tokens {
		i, found := slices.BinarySearchFunc(all, h.Type, func(t Total, typ string) int { return cmp.Compare(t.Type, typ) })
		if !found {
			all = slices.Insert(all, i, Total{h.Type, Holdings{Sum: new(big.Int)}})
		}
		all[i].Sum.Add(all[i].Sum, new(big.Int).SetUint64(h.Value))
		all[i].Tokens++
	}
	return all
}

// UnspentToken describes a token of a wallet by its id, type and value.
type UnspentToken struct {
	ID    token.ID
	Type  string
	Value uint64
}

// Unspent yields the spendable tokens. They are sorted by type, shorter types first, and within a type by
// value. Tokens that scripts own are not among them; Locked and Shared yield those. Unspent reads all tokens in
// one transaction, as Holdings does, and holds them in memory. After an error it stops.
func (v *Vault) Unspent() iter.Seq2[UnspentToken, error] {
	return func(yield func(UnspentToken, error) bool) {
		var all []UnspentToken
		err := v.free(nil, func(h UnspentToken) {
			h.ID = bytes.Clone(h.ID)
			all = append(all, h)
		})
		for _, h := range all {
			if !yield(h, nil) {
				return
			}
		}
		if err != nil {
			yield(UnspentToken{}, err)
		}
	}
}

// free calls f with the spendable tokens whose keys begin with prefix, in one transaction. The ids are valid
// only until the transaction ends.
func (v *Vault) free(prefix []byte, f func(UnspentToken)) error {
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
			f(UnspentToken{ID: id, Type: typ, Value: value})
		}
		return nil
	})
}

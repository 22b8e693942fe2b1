package entry

import (
	"slices"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
)

// Key is what a request or policy update is recorded under.
type Key struct {
	Anchor []byte
	digest func(token.LedgerID) ([32]byte, error)
}

// KeyOf decodes a request or policy update as far as needed for its Key. It returns a *zkbench.DecodeError if raw
// is malformed, and ErrParams if an update's policy is not accepted.
func KeyOf(raw []byte) (id Key, err error) {
	if policy.IsUpdate(raw) {
		u, err := policy.Decode(raw)
		if err != nil {
			return id, err
		}
		return Key{policy.Anchor(u.Policy.Version), func(token.LedgerID) ([32]byte, error) { return u.Digest() }}, nil
	}
	r, err := request.Decode(raw)
	if err != nil {
		return id, err
	}
	return Key{slices.Clone(r.Anchor), func(id token.LedgerID) ([32]byte, error) { return r.Digest(id), nil }}, nil
}

// Digest returns the digest that the ledger with the given id stores.
func (k *Key) Digest(id token.LedgerID) ([32]byte, error) { return k.digest(id) }

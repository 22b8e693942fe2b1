package service

import (
	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
)

// With returns the service of another wallet of the same system, which shares all
// tables.
func (s *TransferService) With(w *Wallet) *TransferService { return &TransferService{s.system, w} }

// With returns the wallet of another vault of the same system.
func (w *Wallet) With(v *Vault, keys Keys) *Wallet { return &Wallet{v, keys, w.pp} }

// Taken is the number of tokens that are reserved in memory.
func (v *Vault) Taken() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.taken)
}

// SignerSecret is what the services give action.Spec as Key.
var SignerSecret = signerSecret

// Seal seals a vault's value.
var Seal = boltfile.Seal

// Expects reports whether a token is expected under an id.
func (v *Vault) Expects(id token.ID) (found bool, err error) {
	err = v.view(func(tx *bbolt.Tx) error {
		all, err := candidates(tx, id)
		found = len(all) > 0
		return err
	})
	return found, err
}

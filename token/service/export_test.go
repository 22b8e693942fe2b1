package service

import (
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/note"
)

// With returns the service of another wallet of the same system, which shares all
// tables.
func (s *TransferService) With(w *Wallet) *TransferService {
	other := *s.system
	other.vault = w.Vault
	return &TransferService{&other, w}
}

// With returns the wallet of another vault of the same system.
func (w *Wallet) With(v *Vault, keys *Keys) (*Wallet, error) {
	v.first.Store(w.first.Load())
	v.current.Store(w.rules())
	return &Wallet{v, keys, w.pp}, v.bind(keys)
}

// Taken returns the number of tokens that are reserved in memory.
func (v *Vault) Taken() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.taken)
}

// SignerSecret returns the secret that an issuer's service passes to action.Spec as Key. A wallet's service passes
// KeysSecret.
var SignerSecret = signerSecret

// KeysSecret returns the secret of a wallet's keys.
func KeysSecret(k *Keys) []byte { return k.secret[:] }

// NewNonce draws 32 bytes.
var NewNonce = newNonce

// Seal seals a vault's value.
var Seal = boltfile.Seal

// Vault returns the auditor's vault.
func (s *AuditorService) Vault() *Vault { return s.vault }

// GoesTo reports whether an output is to an address.
func GoesTo(s *Stake, a Address) bool { return s.goesTo(a) }

// AddressOf returns the address that an output goes to, as far as the output says.
func AddressOf(s *Stake) Address {
	a := Address{Owner: s.Owner}
	for _, share := range s.tags {
		a.Members = append(a.Members, Member{Payee: note.Payee{Tag: share.Tag, KEM: share.KEM}})
	}
	return a
}

// Finds reports whether an address of one member is the wallet's.
func Finds(w *Wallet, a Address) bool {
	_, mine := w.keys.reader.Mine(&a.Members[0].Payee.Tag)
	return len(a.Members) == 1 && mine
}

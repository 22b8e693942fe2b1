// Package wallet keeps a person's wallet in a directory and pays from it. It connects the wallet's
// keys, parameters and vault (its database, of package token/service) with the auditors and the
// ledger. The wallet command uses this package.
package wallet

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/service"
)

// The files of a wallet's directory. Restore makes the vault again from the keys and the ledger, except for
// payments that were not on the ledger.
const (
	KeysFile   = "keys.pem" // secret
	ParamsFile = "token.params"
	VaultFile  = "wallet.vault"
)

// acceptedKeys says what KeysFile holds.
const acceptedKeys = "the keys that wallet new made"

// NewKey generates an Ed25519 key that owns all tokens of a wallet. Everyone can see that these
// tokens have the same owner.
func NewKey() (*keyfile.Keys, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	return &keyfile.Keys{Signing: key}, nil
}

// Enrol generates the secret of a wallet's holder. The holder owns each token under a different
// pseudonym. The authority enrols the holder under the given name.
func Enrol(curve, name string, authority identity.Signer) (*keyfile.Keys, error) {
	scheme, err := identity.NewScheme(curve)
	if err != nil {
		return nil, err
	}
	holder, err := scheme.NewHolder(nil)
	if err != nil {
		return nil, err
	}
	request, err := holder.Request(name, nil)
	if err != nil {
		return nil, err
	}
	certificate, err := scheme.Enrol(name, request, authority)
	if err != nil {
		return nil, err
	}
	return &keyfile.Keys{Holder: holder.Secret(), Enrolment: certificate, Identities: []identity.Identity{authority.Identity()}}, nil
}

// Purse is an open wallet. It is safe for concurrent use.
type Purse struct {
	*service.Wallet
	dir    string
	params *token.PublicParams
	keys   *keyfile.Keys
}

// Create makes a wallet with the given keys in the directory dir and opens it. The wallet belongs
// to the ledger that genesis and params describe. Create returns fs.ErrExist if the directory has a
// wallet already. If it fails, it leaves no files.
func Create(dir string, params *token.PublicParams, genesis ledger.Genesis, keys *keyfile.Keys) (_ *Purse, err error) {
	encoded, err := params.Encode()
	if err != nil {
		return nil, err
	}
	if err := checkParams(params, genesis); err != nil {
		return nil, err
	}
	if _, err := serviceKeys(params, genesis, keys); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{KeysFile, ParamsFile, VaultFile} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
	}
	var made []string
	defer func() {
		for _, path := range made {
			if err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	path := filepath.Join(dir, KeysFile)
	if err := keyfile.Write(path, keys); err != nil {
		return nil, err
	}
	made = append(made, path)
	path = filepath.Join(dir, ParamsFile)
	made = append(made, path)
	if err := os.WriteFile(path, encoded, 0o600); err != nil {
		return nil, err
	}
	return Restore(dir, nil, genesis)
}

// Restore opens a wallet whose vault (its database) was lost: it creates an empty vault for the
// keys in the wallet's directory. After that, Refresh finds the wallet's tokens on the ledger. The
// parameter params may be nil if the directory has the file of parameters. Restore returns
// fs.ErrExist if the directory still has a vault.
func Restore(dir string, params *token.PublicParams, genesis ledger.Genesis) (*Purse, error) {
	if path := filepath.Join(dir, ParamsFile); params != nil {
		encoded, err := params.Encode()
		if err == nil {
			err = checkParams(params, genesis)
		}
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(path, encoded, 0o600); err != nil {
				return nil, err
			}
		}
	}
	made := false
	p, err := open(dir, genesis, func(path string, genesis ledger.Genesis) (*service.Vault, error) {
		vault, err := service.CreateVault(path, genesis)
		made = err == nil
		return vault, err
	})
	if err != nil && made {
		err = errors.Join(err, os.Remove(filepath.Join(dir, VaultFile)))
	}
	return p, err
}

// checkParams returns an error if the parameters are not the ledger's.
func checkParams(params *token.PublicParams, genesis ledger.Genesis) error {
	digest, err := params.Digest()
	if err != nil {
		return err
	}
	return genesis.CheckParams(digest)
}

// Open opens the wallet in a directory. It returns fs.ErrNotExist if there is none, and
// zkbench.ErrParams if the wallet belongs to another ledger.
func Open(dir string, genesis ledger.Genesis) (*Purse, error) {
	return open(dir, genesis, service.OpenVault)
}

func open(dir string, genesis ledger.Genesis, openVault func(string, ledger.Genesis) (*service.Vault, error)) (*Purse, error) {
	keys, err := keyfile.Read("keys", filepath.Join(dir, KeysFile), acceptedKeys)
	if err != nil {
		return nil, err
	}
	encoded, err := os.ReadFile(filepath.Join(dir, ParamsFile))
	if err != nil {
		return nil, err
	}
	params, err := token.DecodePublicParams(encoded)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ParamsFile), err)
	}
	p := &Purse{dir: dir, params: params, keys: keys}
	vault, err := openVault(filepath.Join(dir, VaultFile), genesis)
	if err != nil {
		return nil, err
	}
	if p.Wallet, err = p.wallet(vault); err != nil {
		return nil, errors.Join(err, vault.Close())
	}
	return p, nil
}

// wallet returns the wallet with the purse's keys in a vault.
func (p *Purse) wallet(vault *service.Vault) (*service.Wallet, error) {
	keys, err := serviceKeys(p.params, vault.Genesis(), p.keys)
	if err != nil {
		return nil, err
	}
	return service.NewWallet(p.params, vault, keys)
}

// serviceKeys converts the keys of a file to those of package service.
func serviceKeys(params *token.PublicParams, genesis ledger.Genesis, keys *keyfile.Keys) (*service.Keys, error) {
	if keys.Holder == nil {
		signer := keys.Self()
		if signer == nil {
			return nil, errors.New("keys: no signing key and no holder's secret")
		}
		return service.NewKey(genesis, signer)
	}
	scheme, err := identity.NewScheme(params.Curve)
	if err != nil {
		return nil, err
	}
	holder, err := scheme.Holder(keys.Holder)
	if err != nil {
		return nil, err
	}
	if len(keys.Identities) != 1 {
		return nil, fmt.Errorf("keys: %d identities; accepted: one, the authority's", len(keys.Identities))
	}
	return service.NewPseudonyms(params, genesis, holder, keys.Enrolment, keys.Identities[0])
}

// Name returns a text that says who owns the wallet's tokens. If the wallet has pseudonyms, the
// text has two parts: the name under which the wallet's holder is enrolled, and the authority that
// enrolled the holder. Otherwise the text describes the wallet's public key.
func (p *Purse) Name() string {
	if p.keys.Holder == nil {
		return PublicKey(p.keys.Self().Identity())
	}
	scheme, err := identity.NewScheme(p.params.Curve)
	if err != nil {
		return err.Error()
	}
	certificate, err := scheme.Certificate(p.keys.Enrolment, p.keys.Identities...)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, enrolled with %s", certificate.Name, Owner(certificate.Authority))
}

// Owner describes the owner of a token in a few words: the type of the identity, and the first
// hexadecimal digits of its key or certificate.
func Owner(owner []byte) string {
	if len(owner) == 0 {
		return "nobody"
	}
	id := identity.Identity(owner)
	return fmt.Sprintf("%v %x...", id.Type(), owner[1:min(len(owner), 9)])
}

// PublicKey returns an Ed25519 key in text form, and for other identities the text of Owner.
func PublicKey(id identity.Identity) string {
	if id.Type() == identity.TypeEd25519 {
		return fmt.Sprintf("%s%x", keyfile.Ed25519Prefix, []byte(id[1:]))
	}
	return Owner(id)
}

// Params returns the public parameters of the wallet's ledger. The caller must not modify them.
func (p *Purse) Params() *token.PublicParams { return p.params }

// Pseudonyms reports whether the wallet has a pseudonym for each token, and so no key that payers could know.
func (p *Purse) Pseudonyms() bool { return p.keys.Holder != nil }

// Transfers returns the service that pays from the wallet.
func (p *Purse) Transfers() (*service.TransferService, error) {
	return service.NewTransferService(p.params, "", token.Tuning{}, executor.Pool(), p.Wallet)
}

// NewAddress makes a fresh address for one payment and returns it as text for the payer. The signer
// signs the address, so that a payer who knows the signer's key knows whose address it is. If
// signer is nil, the wallet's own key signs the address; a wallet with pseudonyms has no such key,
// and its address is then not signed.
func (p *Purse) NewAddress(signer identity.Signer) (string, error) {
	a, err := p.Address(nil)
	if err != nil {
		return "", err
	}
	id := p.Genesis().ID()
	if signer == nil && p.keys.Holder == nil {
		signer = p.keys.Self()
	}
	if signer != nil {
		if err := a.Sign(id, nil, signer); err != nil {
			return "", err
		}
	}
	return service.FormatAddress(id, a)
}

// Refresh reads the ledger's new requests into the wallet and returns the sequence number of the
// last request that the wallet has read.
func (p *Purse) Refresh(ctx context.Context, l ledger.Reader) (last uint64, err error) {
	if err := p.Sync(ctx, l); err != nil {
		return 0, err
	}
	return p.Followed()
}

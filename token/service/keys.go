package service

import (
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/snapshot"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/transcript"
)

// Keys are a wallet's: they make its addresses and sign for them. Safe for
// concurrent use.
type Keys interface {
	// New makes an address, and the key with which Signer signs for it: at most
	// MaxKey bytes, which the vault keeps. rand nil: the system's.
	New(rand io.Reader) (to Address, key []byte, err error)
	Signer(key []byte) (identity.Signer, error)
}

// MaxKey is the length in bytes of the longest key that a vault keeps.
const MaxKey = 1 << 10

type single struct{ signer identity.Signer }

// NewKey is one key for all tokens, that of an X.509 or Ed25519 signer: everybody
// sees that all of them are its. The vault does not keep it.
func NewKey(signer identity.Signer) Keys { return single{signer} }

func (k single) New(io.Reader) (Address, []byte, error) {
	return Address{Owner: k.signer.Identity(), Audit: make([]audit.Owner, 1)}, nil, nil
}

func (k single) Signer([]byte) (identity.Signer, error) { return k.signer, nil }

type pseudonyms struct {
	holder      identity.Holder
	encoded     []byte
	certificate *identity.Certificate
	bound       []byte
}

// NewPseudonyms is a fresh pseudonym for each address, of a holder whom an authority
// has enrolled with the certificate. The key is the pseudonym's nonce: together with
// the holder's secret, which the vault does not keep, it restores it. The error is
// an ErrParams for another holder's certificate, else that of Scheme.Certificate.
func NewPseudonyms(params *token.PublicParams, genesis ledger.Genesis, holder identity.Holder, certificate []byte, authority identity.Identity) (Keys, error) {
	scheme, err := identity.NewScheme(params.Curve)
	if err != nil {
		return nil, err
	}
	_, id, err := snapshot.Params(params, genesis)
	if err != nil {
		return nil, err
	}
	p := &pseudonyms{holder: holder, encoded: append([]byte(nil), certificate...), bound: audit.Context(id)}
	if p.certificate, err = scheme.Certificate(certificate, authority); err != nil {
		return nil, err
	}
	if _, _, err := p.New(nil); err != nil { // another holder's certificate shows here
		return nil, err
	}
	return p, nil
}

func (p *pseudonyms) New(rand io.Reader) (Address, []byte, error) {
	fresh, err := p.holder.Pseudonym(rand)
	if err != nil {
		return Address{}, nil, err
	}
	proof, err := fresh.AuditProof(p.certificate, p.bound, rand)
	if err != nil {
		return Address{}, nil, err
	}
	nonce := fresh.Nonce()
	return Address{Owner: fresh.Identity(), Audit: []audit.Owner{{Certificate: p.encoded, Proof: proof}}}, nonce[:], nil
}

func (p *pseudonyms) Signer(key []byte) (identity.Signer, error) {
	if len(key) != transcript.SeedLen {
		return nil, fmt.Errorf("%w: key of %d bytes, a pseudonym's has %d", zkbench.ErrParams, len(key), transcript.SeedLen)
	}
	return p.holder.Restore([transcript.SeedLen]byte(key))
}

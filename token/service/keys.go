package service

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/snapshot"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/transcript"
)

// Keys are a wallet's, on one ledger: they make its addresses, find and open its tokens, and sign for them. All derives from the
// secret that they are made of, and from the nonce of an address, which is random and stands in the address's tag. They are
// safe for concurrent use.
type Keys struct {
	ledger token.LedgerID
	reader *note.Reader
	// parents are the readers of what was paid on the ledgers of which this one is a fork, the last left first.
	parents []*note.Reader
	mark    [transcript.SeedLen]byte // tells a vault's keys from others, and says nothing else
	secret  [transcript.SeedLen]byte // enters the derivation of blindings and nonces of proofs
	// signers sign for the addresses of nonces.
	signers      func(...note.Nonce) ([]identity.Signer, error)
	certificates *identity.Set // compares the keys of certificates
	// Of pseudonyms, what auditors want to see: the enrolment, and the proof that a signer is the holder's.
	certificate []byte
	prove       func(note.Nonce, identity.Signer) ([]byte, error)

	mu     sync.Mutex
	proofs map[note.Nonce][]byte // of addresses that were made lately, whose tokens Sync may find
}

// maxProofs is how many audit proofs are remembered: one more takes the place of any other.
const maxProofs = 4096

func newKeys(secret []byte, genesis ledger.Genesis) (*Keys, error) {
	id := genesis.ID()
	certificates, err := identity.NewSet(1, nil)
	if err != nil {
		return nil, err
	}
	k := &Keys{ledger: id, reader: note.NewReader(secret, id), certificates: certificates, proofs: make(map[note.Nonce][]byte)}
	for parent, fork := genesis.Parent(); fork; parent, fork = parent.Parent() {
		k.parents = append(k.parents, note.NewReader(secret, parent.ID()))
	}
	xof := transcript.XOF("zkbench/v3/service/keys", secret, id[:])
	_, _ = xof.Read(k.mark[:]) // never fails
	_, _ = xof.Read(k.secret[:])
	return k, nil
}

// readerOf returns the reader of what was paid on a ledger: the keys' own, or one of which it is a fork.
func (k *Keys) readerOf(genesis ledger.Genesis) *note.Reader {
	if forks := len(k.parents) - len(genesis.Forks); forks > 0 {
		return k.parents[forks-1]
	}
	return k.reader
}

// NewKey is one key for all tokens, that of an X.509 or Ed25519 signer: everybody sees that all of them are its. A wallet
// of an X.509 signer owns the tokens of all certificates of its key, whoever has issued them. Notes
// are encrypted to keys that derive from a signature of the signer's: it must sign alike whenever it is asked, as
// those of package identity do; else NewKey returns an ErrParams.
func NewKey(genesis ledger.Genesis, signer identity.Signer) (*Keys, error) {
	secret, err := signerSecret(signer)
	if err != nil {
		return nil, err
	}
	again, err := signerSecret(signer)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(secret, again) {
		return nil, refuse("the signer signs otherwise each time: nothing can be derived from its key")
	}
	k, err := newKeys(secret, genesis)
	if err != nil {
		return nil, err
	}
	k.signers = func(nonces ...note.Nonce) ([]identity.Signer, error) {
		return slices.Repeat([]identity.Signer{signer}, len(nonces)), nil
	}
	return k, nil
}

// NewPseudonyms is a fresh pseudonym for each address, of a holder whom an authority has enrolled with the certificate. All
// that must be backed up is the holder's secret: the authority can give out the certificate again. The error is
// an ErrParams for another holder's certificate, else that of Scheme.Certificate.
func NewPseudonyms(params *token.PublicParams, genesis ledger.Genesis, holder identity.Holder, certificate []byte, authority identity.Identity) (*Keys, error) {
	scheme, err := identity.NewScheme(params.Curve)
	if err != nil {
		return nil, err
	}
	_, id, err := snapshot.Params(params, genesis)
	if err != nil {
		return nil, err
	}
	enrolled, err := scheme.Certificate(certificate, authority)
	if err != nil {
		return nil, err
	}
	k, err := newKeys(holder.Secret(), genesis)
	if err != nil {
		return nil, err
	}
	k.signers = func(nonces ...note.Nonce) ([]identity.Signer, error) {
		seeds := make([][transcript.SeedLen]byte, len(nonces))
		for i := range nonces {
			seeds[i] = nonces[i]
		}
		pseudonyms, err := holder.RestoreAll(seeds...)
		signers := make([]identity.Signer, len(pseudonyms))
		for i := range pseudonyms {
			signers[i] = pseudonyms[i]
		}
		return signers, err
	}
	k.certificate = bytes.Clone(certificate)
	bound := audit.Context(id)
	k.prove = func(nonce note.Nonce, signer identity.Signer) ([]byte, error) {
		rand := transcript.XOF("zkbench/v3/service/audit proof", k.secret[:], nonce[:])
		return signer.(identity.Pseudonym).AuditProof(enrolled, bound, rand)
	}
	first, err := k.signer(note.Nonce{})
	if err == nil {
		_, err = k.prove(note.Nonce{}, first) // another holder's certificate shows here
	}
	return k, err
}

// signer signs for the address of a nonce.
func (k *Keys) signer(nonce note.Nonce) (identity.Signer, error) {
	signers, err := k.signers(nonce)
	if err != nil {
		return nil, err
	}
	return signers[0], nil
}

// serves reports whether a signer signs for an identity: its own, or another certificate of its key.
func (k *Keys) serves(signer identity.Signer, id identity.Identity) bool {
	return bytes.Equal(signer.Identity(), id) || id.Type() == identity.TypeX509 && k.certificates.SameKey(signer.Identity(), id)
}

// served returns those of the identities of an owner for which a signer signs.
func (k *Keys) served(signer identity.Signer, owner []byte) (ids []identity.Identity) {
	all, err := script.Identities(owner)
	if err != nil {
		return nil // no owner that a ledger takes
	}
	for _, id := range all {
		if k.serves(signer, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// own is what auditors want to see of the signer of a nonce, in clear, with a proof that is known (nil: none): nothing of a key, and where there are no auditors.
func (k *Keys) own(rules *token.Policy, nonce note.Nonce, signer identity.Signer, proof []byte) (o audit.Owner, err error) {
	if len(rules.Auditors) == 0 || k.prove == nil {
		return audit.Owner{}, nil
	}
	if proof == nil {
		if proof, err = k.prove(nonce, signer); err != nil {
			return audit.Owner{}, err
		}
		k.remember(nonce, proof)
	}
	return audit.Owner{Certificate: k.certificate, Proof: proof}, nil
}

// remember keeps the audit proof of a nonce for Sync, if it comes soon.
func (k *Keys) remember(nonce note.Nonce, proof []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for other := range k.proofs {
		if len(k.proofs) < maxProofs {
			break
		}
		delete(k.proofs, other)
	}
	k.proofs[nonce] = proof
}

// proof is what is remembered of a nonce, nil if nothing is.
func (k *Keys) proof(nonce note.Nonce) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.proofs[nonce]
}

// address makes the address of a nonce for what the wallet pays to itself: it is for nobody else, and what auditors want to see stands
// there in clear. id is an identity that the nonce's signer serves; nil: its own.
func (k *Keys) address(rules *token.Policy, nonce note.Nonce, id identity.Identity) (Address, error) {
	signer, err := k.signer(nonce)
	if err != nil {
		return Address{}, err
	}
	if id == nil {
		id = signer.Identity()
	}
	var m Member
	if m.Audit, err = k.own(rules, nonce, signer, k.proof(nonce)); err != nil {
		return Address{}, err
	}
	m.Payee, err = k.reader.Own(nonce, rules.Notes)
	return Address{Owner: id, Members: []Member{m}}, err
}

// Address makes a fresh address under the rules of a ledger's policy, for payers. rand nil: the system's.
func (k *Keys) Address(rules *token.Policy, rand io.Reader) (Address, error) {
	nonce, err := newNonce(rand)
	if err != nil {
		return Address{}, err
	}
	a, err := k.address(rules, nonce, nil)
	if err != nil {
		return Address{}, err
	}
	m := &a.Members[0]
	if m.Payee, err = k.reader.Payee(nonce, rules.Notes); err != nil {
		return Address{}, err
	}
	m.Audit, err = audit.Seal(rules, k.ledger, a.Owner, m.Audit)
	return a, err
}

func newNonce(source io.Reader) (nonce note.Nonce, err error) {
	if source == nil {
		source = rand.Reader
	}
	if _, err := io.ReadFull(source, nonce[:]); err != nil {
		return nonce, fmt.Errorf("drawing an address's nonce: %w", err)
	}
	return nonce, nil
}

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

// Keys are the keys of a wallet on one ledger. They make its addresses, find and open its tokens, and sign for
// them. Everything derives from one secret and from the nonce of an address. The nonce is random, and the address's
// tag contains it, encrypted. Keys are safe for concurrent use.
type Keys struct {
	ledger token.LedgerID
	reader *note.Reader
	// parents are the readers of what was paid on the ledgers of which this ledger is a fork, the most recent
	// first.
	parents []*note.Reader
	mark    [transcript.SeedLen]byte // identifies a vault's keys, and reveals nothing else
	secret  [transcript.SeedLen]byte // enters the derivation of blindings and nonces of proofs
	// signers returns the signers for the addresses of nonces.
	signers      func(...note.Nonce) ([]identity.Signer, error)
	certificates *identity.Set // compares the keys of certificates
	// For pseudonyms, what auditors need: the enrolment, and the proof that a signer is the holder's.
	certificate []byte
	prove       func(note.Nonce, identity.Signer) ([]byte, error)

	mu     sync.Mutex
	proofs map[note.Nonce][]byte // of recent addresses, whose tokens Sync may find
}

// maxProofs is the number of audit proofs that are cached. One more replaces any other.
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

// readerOf returns the reader of what was paid on a ledger: the reader of the keys' own ledger, or of a ledger
// of which it is a fork.
func (k *Keys) readerOf(genesis ledger.Genesis) *note.Reader {
	if forks := len(k.parents) - len(genesis.Forks); forks > 0 {
		return k.parents[forks-1]
	}
	return k.reader
}

// NewKey returns keys with one X.509 or Ed25519 signer for all tokens, so everybody sees that the tokens have
// one owner. A wallet of an X.509 signer owns the tokens of all certificates of the signer's key, no matter who
// issued the certificates. The openings on the ledger are encrypted to keys that NewKey derives from a
// signature by the signer. So the signer must sign deterministically, as the signers of package identity do with
// keys in memory and with Ed25519 keys. If it does not, NewKey returns ErrParams.
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
		return nil, refuse("the signer's signatures are not deterministic: nothing can be derived from its key")
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

// NewPseudonyms returns keys with a fresh pseudonym for each address. The certificate must be the one with which
// the given authority has enrolled the holder. Only the holder's secret must be backed up, because the authority
// can give out the certificate again. NewPseudonyms returns ErrParams if the certificate is another holder's, or
// the error of Scheme.Certificate if it is not valid.
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

// signer returns the signer for the address of a nonce.
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

// served returns the identities of an owner for which a signer signs.
func (k *Keys) served(signer identity.Signer, owner []byte) (ids []identity.Identity) {
	all, err := script.Identities(owner)
	if err != nil {
		return nil // not an owner that a ledger accepts
	}
	for _, id := range all {
		if k.serves(signer, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// auditOwner returns what auditors need to know of the signer of a nonce, unencrypted. proof is the audit proof, if
// it is known, else nil. The result is empty if the keys are not pseudonyms, and if there are no auditors.
func (k *Keys) auditOwner(rules *token.Policy, nonce note.Nonce, signer identity.Signer, proof []byte) (o audit.Owner, err error) {
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

// remember caches the audit proof of a nonce for a later Sync.
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

// proof returns the cached audit proof of a nonce, or nil.
func (k *Keys) proof(nonce note.Nonce) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.proofs[nonce]
}

// address returns the address of a nonce for payments from the wallet to itself. Nobody else may have it,
// because it contains unencrypted what auditors need to know. id is an identity that the nonce's signer serves;
// nil means the signer's own.
func (k *Keys) address(rules *token.Policy, nonce note.Nonce, id identity.Identity) (Address, error) {
	signer, err := k.signer(nonce)
	if err != nil {
		return Address{}, err
	}
	if id == nil {
		id = signer.Identity()
	}
	var m Member
	if m.Audit, err = k.auditOwner(rules, nonce, signer, k.proof(nonce)); err != nil {
		return Address{}, err
	}
	m.Payee, err = k.reader.Own(nonce, rules.Notes)
	return Address{Owner: id, Members: []Member{m}}, err
}

// Address returns a fresh address for payers. The parameter rules is the ledger's current policy. If rand is nil,
// Address uses the operating system's source of randomness.
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

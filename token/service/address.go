package service

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/transcript"
)

// Address is the destination of one payment. Do not use one address for two payments: everybody would see that
// both payments go to the same payee. The payee makes the address (Wallet.Address) and gives it to the payer.
// An address does not show the payer who the payee is, because a pseudonym's own key proves nothing. A payer
// who must know the payee can ask for a signed address (Sign). The payer then checks the signature with a key
// that it already knows (Verify).
type Address struct {
	Owner   []byte   // an identity, or a script; if it is empty, the payment is redeemed
	Members []Member // one for each identity of the owner, in its order
	Vouched *Vouch   // the signature of the address by a known key; nil if it is not signed
}

// Vouch is a signature of an address by somebody whom the payer knows.
type Vouch struct {
	Identity  identity.Identity // an X.509 certificate or an Ed25519 key
	Signature []byte
}

// toVouch returns the message that id signs to vouch for an address: for payments on that ledger, in the
// conversation with that nonce (nil: in any).
func (a *Address) toVouch(ledger token.LedgerID, nonce []byte, id identity.Identity) (message [transcript.StateLen]byte, err error) {
	bare := *a
	bare.Vouched = nil
	encoded, err := bare.Encode()
	if err != nil {
		return message, err
	}
	t := transcript.New("service/address")
	t.Append("ledger", ledger[:])
	t.Append("nonce", nonce)
	t.Append("address", encoded)
	t.Append("signer", id)
	return t.State(), nil
}

// Sign signs the address with a key that the payer knows, for payments on a ledger. The payer chooses a nonce
// for the conversation in which it receives the address, so that nobody can use the signed address in another
// conversation. The nonce is nil if there is no conversation. Sign returns ErrParams if signer is a pseudonym,
// whose key no payer can know.
func (a *Address) Sign(ledger token.LedgerID, nonce []byte, signer identity.Signer) error {
	id := signer.Identity()
	if id.Type() != identity.TypeX509 && id.Type() != identity.TypeEd25519 {
		return refuse("an address signed by %v, accepted are %v and %v", id.Type(), identity.TypeX509, identity.TypeEd25519)
	}
	message, err := a.toVouch(ledger, nonce, id)
	if err != nil {
		return err
	}
	signature, err := signer.Sign(message[:], nil)
	if err != nil {
		return err
	}
	a.Vouched = &Vouch{id, signature}
	return nil
}

// Verify checks that the key of the given identity has signed the address for payments on that ledger and for
// the payer's nonce. The identity is a certificate or an Ed25519 key that the payer already knows. A
// signature for another certificate of the same key is accepted too. Verify returns ErrSignature if the
// signature is missing or wrong, or if anybody can sign with the key. It returns the error of
// identity.Set.Verifier if the identity is not a certificate or an Ed25519 key.
func (a *Address) Verify(ledger token.LedgerID, nonce []byte, known identity.Identity) error {
	set, err := identity.NewSet(1, nil)
	if err != nil {
		return err
	}
	key, err := set.Verifier(known)
	if err != nil {
		return err
	}
	if a.Vouched == nil || !set.SameKey(known, a.Vouched.Identity) || identity.AnybodySigns(key) {
		return fmt.Errorf("%w: the address is not signed by the key that the payer knows", zkbench.ErrSignature)
	}
	message, err := a.toVouch(ledger, nonce, a.Vouched.Identity)
	if err != nil {
		return err
	}
	return key.Verify(message[:], a.Vouched.Signature)
}

// Member is one identity of an address's owner.
type Member struct {
	Payee note.Payee  // for the note by which the identity finds and opens the token on the ledger
	Audit audit.Owner // what auditors need to know of the identity
}

// audit returns what auditors need to know of the owner.
func (a *Address) audit() (owners []audit.Owner) {
	for i := range a.Members {
		owners = append(owners, a.Members[i].Audit)
	}
	return owners
}

// payees returns the payees of the members.
func (a *Address) payees() (payees []note.Payee) {
	for i := range a.Members {
		payees = append(payees, a.Members[i].Payee)
	}
	return payees
}

// Locked returns the address of a hash time lock between the owners of two other addresses. Before the
// deadline, which is in Unix seconds, the recipient can use the preimage of image to claim a token that was
// paid to this address. From the deadline on, the sender can reclaim the token. The wallets of both owners
// find the token on the ledger (Vault.Locked). Errors are as for script.NewHashLock.
func Locked(image [script.ImageLen]byte, deadline uint64, sender, recipient Address) (Address, error) {
	lock, err := script.NewHashLock(image, deadline, sender.Owner, recipient.Owner)
	if err != nil {
		return Address{}, err
	}
	return Address{Owner: lock.Owner(), Members: slices.Concat(sender.Members, recipient.Members)}, nil
}

const (
	addressVersion = 2
	maxNoteKey     = 2 << 10
	// MaxAddress is the maximum length in bytes of an encoded address.
	MaxAddress = 1 << 20
)

// Encode returns the canonical encoding:
//
//	version(1) owner count(1) members signer
//	member = tag(48) KEM(2) key audit.Owner
//	signer = identity, and if that is not empty, signature
//
// A length of 2 bytes comes before the owner, before each key, and before the signer's identity and
// signature. Encode returns an ErrLimit that names the field if one is too long.
func (a *Address) Encode() ([]byte, error) {
	var b wire.Builder
	b.Bound("bytes of owner", len(a.Owner), 0, token.MaxOwner)
	b.Bound("members", len(a.Members), 0, token.MaxMembers)
	if err := b.Err(); err != nil {
		return nil, err
	}
	b.AddUint8(addressVersion)
	b.Short(a.Owner)
	b.AddUint8(uint8(len(a.Members)))
	for i := range a.Members {
		m := &a.Members[i]
		b.Bound("bytes of note key", len(m.Payee.Key), 1, maxNoteKey)
		b.AddBytes(m.Payee.Tag[:])
		b.AddUint16(uint16(m.Payee.KEM))
		b.Short(m.Payee.Key)
		if err := b.Err(); err != nil {
			return nil, err
		}
		owner, err := m.Audit.Append(nil)
		if err != nil {
			return nil, err
		}
		b.AddBytes(owner)
	}
	if a.Vouched == nil {
		b.Short(nil)
		return b.Bytes()
	}
	b.Bound("bytes of signer", len(a.Vouched.Identity), 1, identity.MaxLen)
	b.Bound("bytes of signature", len(a.Vouched.Signature), 0, request.MaxSignature)
	if err := b.Err(); err != nil {
		return nil, err
	}
	b.Short(a.Vouched.Identity)
	b.Short(a.Vouched.Signature)
	return b.Bytes()
}

// DecodeAddress decodes an address. The address keeps references into data. If data is malformed,
// DecodeAddress returns a *zkbench.DecodeError that names the field.
func DecodeAddress(data []byte) (Address, error) {
	f := wire.NewFields(data, "address", MaxAddress)
	var a Address
	f.Version(addressVersion)
	a.Owner = f.Prefixed("owner", 2, 0, token.MaxOwner)
	for i := range f.Number("members", 1, 0, token.MaxMembers) {
		f.Item("members", i)
		var m Member
		copy(m.Payee.Tag[:], f.Bytes(".tag", note.TagLen))
		m.Payee.KEM = token.KEM(f.Number(".KEM", 2, 0, 1<<16-1))
		m.Payee.Key = f.Prefixed(".key", 2, 1, maxNoteKey)
		m.Audit = wire.Part(f, audit.DecodeOwner)
		a.Members = append(a.Members, m)
	}
	f.EndItems()
	if id := f.Prefixed("signer", 2, 0, identity.MaxLen); len(id) > 0 {
		a.Vouched = &Vouch{id, f.Prefixed("signature", 2, 0, request.MaxSignature)}
	}
	if err := f.End("address"); err != nil {
		return Address{}, err
	}
	return a, nil
}

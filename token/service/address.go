package service

import (
	"slices"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/script"
)

// Address is where a payment goes: one payment, since two to one address are seen to have one payee. The payee makes
// it (Wallet.Address) and hands it to the payer, to whom it says nothing of who the payee is.
type Address struct {
	Owner   []byte   // an identity, or a script; empty: the payment is redeemed
	Members []Member // one for each identity of the owner, in its order
}

// Member is one identity of an address's owner.
type Member struct {
	Payee note.Payee  // finds and opens the token on the ledger
	Audit audit.Owner // what auditors want to see of the identity
}

// audit is what auditors want to see of the owner.
func (a *Address) audit() (owners []audit.Owner) {
	for i := range a.Members {
		owners = append(owners, a.Members[i].Audit)
	}
	return owners
}

// payees are those of the members.
func (a *Address) payees() (payees []note.Payee) {
	for i := range a.Members {
		payees = append(payees, a.Members[i].Payee)
	}
	return payees
}

// Locked is the address of a hash time lock between two others: recipient claims what is paid to it with the preimage of
// image before the deadline, in Unix seconds, and sender reclaims it from then on. Both wallets find the token on the
// ledger (Vault.Locked). The error is that of script.NewHashLock.
func Locked(image [script.ImageLen]byte, deadline uint64, sender, recipient Address) (Address, error) {
	lock, err := script.NewHashLock(image, deadline, sender.Owner, recipient.Owner)
	if err != nil {
		return Address{}, err
	}
	return Address{Owner: lock.Owner(), Members: slices.Concat(sender.Members, recipient.Members)}, nil
}

const (
	addressVersion = 1
	maxNoteKey     = 2 << 10
	// MaxAddress is the length in bytes of the longest encoding of an address.
	MaxAddress = 1 << 20
)

// Encode returns the canonical encoding:
//
//	version(1) owner count(1) members
//	member = tag(48) KEM(2) key audit.Owner
//
// Owner and key stand behind a length of 2 bytes. The error is an ErrLimit that names the field.
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
		m.Audit.Append(&b)
		if err := b.Err(); err != nil {
			return nil, err
		}
	}
	return b.Bytes()
}

// DecodeAddress decodes an address. The error is a *zkbench.DecodeError that names the field. The address keeps references
// into data.
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
		m.Audit = audit.ReadOwner(f)
		a.Members = append(a.Members, m)
	}
	f.EndItems()
	if err := f.End("address"); err != nil {
		return Address{}, err
	}
	return a, nil
}

// Package note lets owners find their tokens in the log of a ledger and open them. Each output of an action comes
// with a note: the token's opening, encrypted to every identity of its owner. So a wallet can be rebuilt from its
// seed and the log. (In Zcash a note is the token itself; here it is only the ciphertext.)
//
// A payee makes an address with a random nonce. The address has a tag and a note key. The tag is an authenticated
// encryption of the nonce under a key derived from the payee's secret seed. The note key is the public key of a pair
// that is derived from the seed and the nonce. A note has the tag of its address. To find its notes, a payee tries to
// decrypt the tag of each note in the log. Each attempt takes two hashes and no curve operation. Without the seed,
// nobody can link the tags and keys of two addresses. docs/wallets.md describes the constructions.
//
// A note contains what its author wrote, which may be wrong. The caller must check that the opening opens the token's
// commitment (token.Opens), and that the token's owner is the reader.
package note

import (
	"crypto/hpke"
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// Version is the version of the encoding of notes.
const Version = 1

// Lengths in bytes.
const (
	NonceLen = 32
	TagLen   = sivLen + NonceLen

	sivLen      = 16
	blindingLen = 32
	typeStep    = 32 // types are padded to a multiple of this
	maxSealed   = 2 << 10
)

// Nonce is the random number of an address. The payee gets it back from the tag.
type Nonce [NonceLen]byte

// Payee is one identity of an owner as a payer sees it: the tag by which the payee finds the note, and the key to
// which the note is encrypted.
type Payee struct {
	Tag [TagLen]byte
	KEM token.KEM
	Key []byte // public

	own []byte // secret of a reader that pays to itself (Reader.Own)
}

// Place identifies the token that a note is for. The note cannot be opened for another token.
type Place struct {
	Ledger token.LedgerID
	ID     token.ID
	Owner  []byte
}

// info returns the HPKE info of a note: "zkbench/v3/note" ledger id owner, the id after a length of 1 byte.
func (p *Place) info() []byte {
	info := append([]byte("zkbench/v3/note"), p.Ledger[:]...)
	info = append(append(info, byte(len(p.ID))), p.ID...)
	return append(info, p.Owner...)
}

func (p *Payee) seal(info, plain []byte) ([]byte, error) {
	if p.own != nil {
		return sealOwn(p.own, info, plain)
	}
	kem, err := p.KEM.HPKE()
	if err != nil {
		return nil, err
	}
	key, err := kem.NewPublicKey(p.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: note key is not a key of %v", zkbench.ErrParams, p.KEM)
	}
	sealed, err := hpke.Seal(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, plain)
	if err != nil { // of a key of small order
		return nil, fmt.Errorf("%w: note key: key agreement fails", zkbench.ErrParams)
	}
	return sealed, nil
}

// Share is the part of a note that is encrypted to one identity of the owner.
type Share struct {
	Tag    [TagLen]byte
	KEM    token.KEM
	Sealed []byte // HPKE's encapsulated key and ciphertext
}

// Seal encrypts an opening to each of 1 to token.MaxMembers payees, and returns the note:
//
//	version(1) count(1) shares
//	share = tag(48) KEM(2) sealed
//
// The field sealed is the encryption of value(8) blinding(32) type. A length of 2 bytes comes before
// sealed, and another before the type. The type is padded with zeros to a multiple of 32 bytes, so that the
// note says little about the type's length. Seal returns ErrParams or ErrLimit.
func Seal(place Place, payees []Payee, o token.Opening) ([]byte, error) {
	var b wire.Builder
	b.Bound("payees", len(payees), 1, token.MaxMembers)
	b.Bound("bytes of blinding", len(o.Blinding), blindingLen, blindingLen)
	b.Bound("bytes of type", len(o.Type), 0, token.MaxType)
	if err := b.Err(); err != nil {
		return nil, err
	}
	plain := append(binary.BigEndian.AppendUint64(nil, o.Value), o.Blinding...)
	plain = append(binary.BigEndian.AppendUint16(plain, uint16(len(o.Type))), o.Type...)
	plain = append(plain, make([]byte, (typeStep-len(o.Type)%typeStep)%typeStep)...)
	info := place.info()
	b.AddUint8(Version)
	b.AddUint8(uint8(len(payees)))
	for i := range payees {
		p := &payees[i]
		sealed, err := p.seal(info, plain)
		if err != nil {
			return nil, fmt.Errorf("payee %d: %w", i, err)
		}
		b.AddBytes(p.Tag[:])
		b.AddUint16(uint16(p.KEM))
		b.Short(sealed)
	}
	return b.Bytes()
}

// Decode decodes a note. The shares keep references into data. The error is of type *zkbench.DecodeError.
func Decode(data []byte) ([]Share, error) {
	f := wire.NewFields(data, "note", token.MaxNote)
	f.Version(Version)
	shares := make([]Share, f.Number("shares", 1, 1, token.MaxMembers))
	for i := range shares {
		f.Item("shares", i)
		copy(shares[i].Tag[:], f.Bytes(".tag", TagLen))
		shares[i].KEM = token.KEM(f.Number(".KEM", 2, 0, 1<<16-1))
		shares[i].Sealed = f.Prefixed(".sealed", 2, 1, maxSealed)
	}
	f.EndItems()
	if err := f.End("note"); err != nil {
		return nil, err
	}
	return shares, nil
}

// decodeOpening decodes the decrypted opening of a share.
func decodeOpening(plain []byte) (token.Opening, error) {
	f := wire.NewFields(plain, "opening", len(plain))
	var o token.Opening
	if value := f.Bytes("value", 8); f.OK() {
		o.Value = binary.BigEndian.Uint64(value)
	}
	o.Blinding = f.Bytes("blinding", blindingLen)
	o.Type = string(f.Prefixed("type", 2, 0, token.MaxType))
	for _, b := range f.Bytes("fill", (typeStep-len(o.Type)%typeStep)%typeStep) {
		if b != 0 {
			f.Fail("fill", f.Offset(), "not zero")
		}
	}
	return o, f.End("opening")
}

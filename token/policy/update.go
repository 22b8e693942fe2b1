// Package policy changes the policy of a running token system: an Update holds the whole next policy,
// signed by administrators, and is recorded in the ledger's log like a request, under an anchor of
// its own. docs/requests.md has the rules, and what an attacker may try.
//
// An update binds the ledger, its version, and the policy before it: it lands there, next, or nowhere.
// It needs the threshold of the administrators before it, who decide, and that of the administrators
// after it, who show that they can: so a slip in a new set locks nobody out.
//
// What this package does not promise: a source that withholds updates is not found out by it, and who the
// threshold of administrators is may do all that a policy says.
package policy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/transcript"
)

// Version is the version of the encoding of updates. Their first byte is it and mark, which no request's has.
const (
	Version = 1
	mark    = 0x80
)

// Limits of the encoding.
const (
	MaxUpdate     = 8 << 20                 // bytes
	MaxSignatures = 2 * token.MaxIdentities // of both sets
	maxSignature  = request.MaxSignature
)

// Update is the next policy of a ledger.
type Update struct {
	Ledger     token.LedgerID
	Previous   [transcript.StateLen]byte // digest of the policy before
	Policy     token.Policy
	Signatures []Signature // in ascending order of administrators, each once
}

// Signature is that of an administrator of the policy before, of the next one, or of both.
type Signature struct {
	Administrator []byte // identity
	Signature     []byte
}

// Is tells an encoded update, also one of an unknown version, from an encoded request.
func Is(encoded []byte) bool { return len(encoded) > 0 && encoded[0]&mark != 0 }

// anchorPrefix begins the anchors of updates, which no request may have: else it would stand in an update's way.
const anchorPrefix = "zkbench/policy/"

// Anchor is the anchor under which the update to a version is recorded.
func Anchor(version uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(anchorPrefix), version)
}

// Reserved tells whether an anchor is kept for updates.
func Reserved(anchor []byte) bool { return bytes.HasPrefix(anchor, []byte(anchorPrefix)) }

// New returns the unsigned update from a policy to the next, whose version it sets. The error is an ErrParams that names
// what of the next is not accepted.
func New(ledger token.LedgerID, current, next *token.Policy) (*Update, error) {
	if len(current.Administrators.Identities) == 0 {
		return nil, fmt.Errorf("%w: policy %d has no administrators: it never changes", zkbench.ErrParams, current.Version)
	}
	digest, err := current.Digest()
	if err != nil {
		return nil, err
	}
	u := &Update{Ledger: ledger, Previous: digest, Policy: *next.Clone()}
	u.Policy.Version = current.Version + 1
	return u, cmp.Or(Check(&u.Policy), u.locksOut())
}

// locksOut refuses an update after which there could be no other.
func (u *Update) locksOut() error {
	if len(u.Policy.Administrators.Identities) == 0 {
		return fmt.Errorf("%w: administrators 0, accepted: 1 or more in an update", zkbench.ErrParams)
	}
	return nil
}

// Message commits to the ledger, the versions, the policy before, and the next one. Administrators sign what
// request.ToSign makes of it in the role request.Administrator. The error is that of the policy's Encode.
func (u *Update) Message() (message [transcript.StateLen]byte, err error) {
	encoded, err := u.Policy.Encode()
	if err != nil {
		return message, err
	}
	t := transcript.New("policy/update")
	t.Append("ledger", u.Ledger[:])
	t.AppendUint64("version", u.Policy.Version)
	t.Append("previous", u.Previous[:])
	t.Append("policy", encoded)
	return t.State(), nil
}

// Digest is what a ledger stores for the anchor. Signatures are no part of it.
func (u *Update) Digest() (digest [sha256.Size]byte, err error) {
	message, err := u.Message()
	return sha256.Sum256(message[:]), err
}

// shortDigest is how many bytes of Digest ShortDigest has.
const shortDigest = 20

// ShortDigest returns the first 160 bits of Digest in ten groups of four hex digits, for administrators who compare
// over the telephone what they are about to sign. It binds all that they sign. It has 160 bits, not 80, because whoever
// proposes the update could make two with one digest, and show one and have the other signed: that takes 2^80 attempts
// for 160 bits, and 2^40 for 80.
func (u *Update) ShortDigest() (string, error) {
	digest, err := u.Digest()
	if err != nil {
		return "", err
	}
	groups := make([]string, 0, shortDigest/2)
	for pair := range slices.Chunk(digest[:shortDigest], 2) {
		groups = append(groups, hex.EncodeToString(pair))
	}
	return strings.Join(groups, "-"), nil
}

// HasShortDigest reports whether text is the update's ShortDigest. Case, spaces and hyphens make no difference.
func (u *Update) HasShortDigest(text string) (bool, error) {
	want, err := u.ShortDigest()
	bare := strings.NewReplacer(" ", "", "-", "")
	return err == nil && strings.EqualFold(bare.Replace(text), bare.Replace(want)), err
}

// Sign adds the signature of an administrator, in its place, or exchanges it. The error is an ErrParams for who is no
// administrator of the policy before or the next one.
func (u *Update) Sign(current *token.Policy, administrator identity.Signer) error {
	id := administrator.Identity()
	if !among(id, current.Administrators.Identities) && !among(id, u.Policy.Administrators.Identities) {
		return fmt.Errorf("%w: signer %x, accepted: an administrator of policy %d or %d", zkbench.ErrParams, []byte(id), current.Version, u.Policy.Version)
	}
	message, err := u.Message()
	if err != nil {
		return err
	}
	message = request.ToSign(message, request.Administrator, 0, id)
	signature, err := administrator.Sign(message[:], nil)
	if err != nil {
		return err
	}
	at := 0
	for at < len(u.Signatures) && bytes.Compare(u.Signatures[at].Administrator, id) < 0 {
		at++
	}
	if at == len(u.Signatures) || !bytes.Equal(u.Signatures[at].Administrator, id) {
		u.Signatures = append(u.Signatures, Signature{})
		copy(u.Signatures[at+1:], u.Signatures[at:])
	}
	u.Signatures[at] = Signature{id, signature}
	return nil
}

// Encode returns the canonical encoding:
//
//	version(1) ledger(32) previous(64) policy count(2) signatures
//	signature = administrator signature
//
// The version has mark added. Numbers are big-endian; the policy stands behind a length of 3 bytes, the others of 2. The
// error is an ErrParams or ErrLimit that names the field.
func (u *Update) Encode() ([]byte, error) {
	policy, err := u.Policy.Encode()
	if err != nil {
		return nil, err
	}
	var b wire.Builder
	b.Bound("signatures of administrators", len(u.Signatures), 0, MaxSignatures)
	for _, s := range u.Signatures {
		b.Bound("bytes of administrator", len(s.Administrator), 1, identity.MaxLen)
		b.Bound("bytes of signature", len(s.Signature), 0, maxSignature)
	}
	if i := u.outOfOrder(); i > 0 {
		return nil, fmt.Errorf("%w: signatures[%d] out of order, accepted: %s", zkbench.ErrParams, i, inOrder)
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	b.AddUint8(Version | mark)
	b.AddBytes(u.Ledger[:])
	b.AddBytes(u.Previous[:])
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(policy) })
	b.AddUint16(uint16(len(u.Signatures)))
	for _, s := range u.Signatures {
		b.Short(s.Administrator)
		b.Short(s.Signature)
	}
	return b.Bytes()
}

const inOrder = "each administrator once, in the order of their bytes"

// outOfOrder is the first signature that does not stand behind all that are before it, 0 if each does.
func (u *Update) outOfOrder() int {
	for i := 1; i < len(u.Signatures); i++ {
		if bytes.Compare(u.Signatures[i-1].Administrator, u.Signatures[i].Administrator) >= 0 {
			return i
		}
	}
	return 0
}

// Decode decodes what Encode made. It keeps references into data in signatures. The error is a *zkbench.DecodeError, or an
// ErrParams for a policy that is well-formed and not accepted.
func Decode(data []byte) (*Update, error) {
	f := wire.NewFields(data, "update", MaxUpdate)
	u := new(Update)
	if v := f.Number("update.version", 1, 0, 255); f.OK() && v&mark == 0 {
		f.Fail("update.version", 0, fmt.Sprintf("%d, want %d or more: no update of a policy", v, mark))
	} else if f.OK() && v != Version|mark {
		f.Fail("update.version", 0, fmt.Sprintf("version %d, only %d is known", v&^mark, Version))
	}
	copy(u.Ledger[:], f.Bytes("update.ledger", len(u.Ledger)))
	copy(u.Previous[:], f.Bytes("update.previous", len(u.Previous)))
	encoded := f.Prefixed("update.policy", 3, 1, token.MaxPolicy)
	at := f.Offset() - len(encoded)
	for i := range f.Number("update.signatures", 2, 0, MaxSignatures) {
		f.Item("update.signatures", i)
		from := f.Offset()
		u.Signatures = append(u.Signatures, Signature{f.Prefixed(".administrator", 2, 1, identity.MaxLen), f.Prefixed(".signature", 2, 0, maxSignature)})
		if u.outOfOrder() > 0 {
			f.Fail("", from, inOrder)
		}
		if !f.OK() {
			break
		}
	}
	f.EndItems()
	if err := f.End("update"); err != nil {
		return nil, err
	}
	p, err := token.DecodePolicy(encoded)
	if malformed, ok := err.(*zkbench.DecodeError); ok {
		return nil, malformed.Within("update.", at)
	}
	if err != nil {
		return nil, err
	}
	u.Policy = *p
	return u, nil
}

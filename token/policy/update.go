// Package policy changes the policy of a running token system. An Update contains the whole next policy and is
// signed by administrators. It is recorded in the ledger's log like a request, under an anchor of its own.
// docs/requests.md describes the rules, and what an attacker may try.
//
// An update names the ledger, the version of the next policy, and the digest of the previous policy. So it can be
// recorded only on that ledger, and only while that previous policy is the current one. It needs the signatures of a
// threshold of the previous policy's administrators, who decide. It also needs the signatures of a threshold of the
// next policy's administrators, who prove that they can sign. So a mistake in a new set of administrators cannot
// lock the administrators out.
//
// The package does not detect a source that withholds updates. A threshold of administrators can do everything
// that a policy can express.
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

// Version is the version of the encoding of updates. The first byte of an update is Version with the bit 0x80 set,
// which the first byte of a request never has.
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

// Update is the next policy of a ledger, with the signatures of administrators.
type Update struct {
	Ledger     token.LedgerID
	Previous   [transcript.StateLen]byte // digest of the previous policy
	Policy     token.Policy
	Signatures []Signature // sorted by administrator, without duplicates
}

// Signature is the signature of an administrator of the previous policy, the next one, or both.
type Signature struct {
	Administrator []byte // identity
	Signature     []byte
}

// IsUpdate reports whether the given encoding is that of an update, possibly of an unknown version, and not
// that of a request. It looks only at the first byte.
func IsUpdate(encoded []byte) bool { return len(encoded) > 0 && encoded[0]&mark != 0 }

// anchorPrefix begins the anchors of updates. A request may not have such an anchor, because it could block an
// update.
const anchorPrefix = "zkbench/policy/"

// Anchor returns the anchor under which a ledger records the update to the given version.
func Anchor(version uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(anchorPrefix), version)
}

// Reserved reports whether an anchor is reserved for updates, so that no request may have it.
func Reserved(anchor []byte) bool { return bytes.HasPrefix(anchor, []byte(anchorPrefix)) }

// New returns an unsigned update of a ledger's policy. The parameter current is the policy before the update. The
// parameter next is the policy after it, except for the version, which New sets to the one after current's. New
// returns an ErrParams that names the field if next is not accepted, or if current has no administrators.
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

// locksOut refuses an update that no other update could follow.
func (u *Update) locksOut() error {
	if len(u.Policy.Administrators.Identities) == 0 {
		return fmt.Errorf("%w: administrators 0, accepted: 1 or more in an update", zkbench.ErrParams)
	}
	return nil
}

// Message returns a commitment to the ledger, the version, the previous policy, and the next policy. Administrators
// sign what request.ToSign returns for this commitment and the role request.Administrator. Message returns the
// error of the policy's Encode if the policy cannot be encoded.
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

// Digest returns the digest that a ledger stores under the anchor. It does not cover the signatures.
func (u *Update) Digest() (digest [sha256.Size]byte, err error) {
	message, err := u.Message()
	return sha256.Sum256(message[:]), err
}

// shortDigest is the length of ShortDigest in bytes.
const shortDigest = 20

// ShortDigest returns the first 160 bits of Digest in ten groups of four hex digits. Administrators can compare
// it over the telephone before they sign, and it covers everything that they sign.
//
// It has 160 bits, not 80, because an attacker who proposes the update could prepare two updates with the same
// short digest, show one and have the other signed. That takes 2^80 attempts with 160 bits, and 2^40 with 80.
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

// HasShortDigest reports whether text is the update's ShortDigest. It ignores case, spaces and hyphens.
func (u *Update) HasShortDigest(text string) (bool, error) {
	want, err := u.ShortDigest()
	bare := strings.NewReplacer(" ", "", "-", "")
	return err == nil && strings.EqualFold(bare.Replace(text), bare.Replace(want)), err
}

// Sign adds the signature of an administrator to Signatures, which stays sorted. If Signatures already has a
// signature of this administrator, Sign replaces that signature. Sign returns ErrParams if the signer is an
// administrator neither of the given current policy nor of the next policy.
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
// The first byte, version, is Version with the bit 0x80 set, which the first byte of a request never has.
// Numbers are big-endian. A length of 3 bytes comes before the policy. A length of 2 bytes comes before each
// administrator and each signature. Encode returns an ErrParams or ErrLimit that names the field if the
// update cannot be encoded.
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

// outOfOrder returns the index of the first signature that is not sorted after the one before it, or 0.
func (u *Update) outOfOrder() int {
	for i := 1; i < len(u.Signatures); i++ {
		if bytes.Compare(u.Signatures[i-1].Administrator, u.Signatures[i].Administrator) >= 0 {
			return i
		}
	}
	return 0
}

// Decode decodes an update that Encode encoded. The signatures keep references into data. Decode returns a
// *zkbench.DecodeError if data is malformed, and ErrParams if the policy is well-formed but not accepted.
func Decode(data []byte) (*Update, error) {
	f := wire.NewFields(data, "update", MaxUpdate)
	u := new(Update)
	if v := f.Number("update.version", 1, 0, 255); f.OK() && v&mark == 0 {
		f.Fail("update.version", 0, fmt.Sprintf("%d, want %d or more: not a policy update", v, mark))
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

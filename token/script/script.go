// Package script is owners that are no single signer: a script says who must sign
// to spend its token, and when. There is one script, the hash time lock: until
// its deadline the recipient spends with the preimage of a hash, from then on the
// sender does without. docs/script.md has the encoding, the rules, and what an
// attacker may try.
//
// Everything is decided from the script, the witness that unlocks it, and the
// block's time, which the caller gives; nothing here reads a clock or looks at a
// ledger, so that a replay decides as the first run did.
//
// What this package does not promise: it verifies no signature (package identity
// does) and does not parse the identities inside a script; it hides nothing, and
// a claim publishes its preimage.
package script

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/identity"
)

// firstType is the least type byte that is no plain identity's.
const firstType identity.Type = 0x80

// IsScript reports whether an owner is a script, by its type byte, also where it is
// one that Parse refuses. No owner is both a script and an identity that
// package identity parses. The owner of a redeemed token, which is empty, is neither.
func IsScript(owner []byte) bool { return identity.Identity(owner).Type() >= firstType }

// isPlain reports whether id has the type byte of a single signer.
func isPlain(id identity.Identity) bool { return id.Type() != 0 && !IsScript(id) }

// malformed places an error in an encoding; path begins with the name of the encoding.
func malformed(path string, offset int, format string, args ...any) error {
	return &zkbench.DecodeError{Path: path, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// refused is an ErrPolicy with its reason.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", zkbench.ErrPolicy, fmt.Sprintf(format, args...))
}

// MaxPreimage is the length in bytes of the longest preimage; the shortest has 1.
const MaxPreimage = 64

// Kind is how a script is spent.
type Kind uint8

// The kinds of spending; the numbers are those of the encoding.
const (
	Claim   Kind = 1 // by the recipient, before the deadline
	Reclaim Kind = 2 // by the sender, from the deadline on
)

func (k Kind) String() string {
	switch k {
	case Claim:
		return "claim"
	case Reclaim:
		return "reclaim"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Unlock is the witness that goes with the spending of a script.
type Unlock struct {
	Kind     Kind
	Preimage []byte // 1 to MaxPreimage bytes to claim, none to reclaim
}

// Image returns the hash of a preimage of 1 to MaxPreimage bytes. Others are a
// *zkbench.DecodeError.
func Image(preimage []byte) ([ImageLen]byte, error) {
	if err := (Unlock{Kind: Claim, Preimage: preimage}).check(); err != nil {
		return [ImageLen]byte{}, err
	}
	return sha256.Sum256(preimage), nil
}

// Encode returns the canonical encoding: kind(1), then the preimage to the end. The
// error is that of DecodeUnlock.
func (u Unlock) Encode() ([]byte, error) {
	if err := u.check(); err != nil {
		return nil, err
	}
	return append([]byte{byte(u.Kind)}, u.Preimage...), nil
}

// DecodeUnlock decodes a witness. The error is a *zkbench.DecodeError.
func DecodeUnlock(data []byte) (Unlock, error) {
	if len(data) == 0 {
		return Unlock{}, malformed("unlock.kind", 0, "truncated")
	}
	u := Unlock{Kind: Kind(data[0]), Preimage: data[1:]}
	if err := u.check(); err != nil {
		return Unlock{}, err
	}
	u.Preimage = slices.Clone(u.Preimage)
	return u, nil
}

func (u Unlock) check() error {
	n := len(u.Preimage)
	switch {
	case u.Kind != Claim && u.Kind != Reclaim:
		return malformed("unlock.kind", 0, "%d, known are %d (%s), %d (%s)", uint8(u.Kind), uint8(Claim), Claim, uint8(Reclaim), Reclaim)
	case u.Kind == Claim && (n < 1 || n > MaxPreimage):
		return malformed("unlock.preimage", 1, "%d bytes, accepted are 1 to %d", n, MaxPreimage)
	case u.Kind == Reclaim && n != 0:
		return malformed("unlock.preimage", 1, "%d bytes, a reclaim has none", n)
	}
	return nil
}

// Package script is owners that are no single signer: a script says who must sign
// to spend its token, and when. There are two. Of a hash time lock, until its
// deadline the recipient spends with the preimage of a hash, from then on the
// sender does without. Of a threshold, k of n members spend together. docs/owners.md
// has the encodings, the rules, and what an attacker may try.
//
// Everything is decided from the script, the witness that unlocks it, and the action and
// the block's time, which the caller gives; nothing here reads a clock or looks at a
// ledger, so that a replay decides as the first run did.
//
// What this package does not promise: it verifies no signature (package identity
// does) and does not parse the identities inside a script, so that two members may
// have one key; it hides nothing, and a claim publishes its preimage.
package script

import (
	"fmt"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// firstType is the least type byte that is no plain identity's.
const firstType identity.Type = 0x80

// IsScript reports whether an owner is a script, by its type byte, also where it is
// one that Parse refuses. No owner is both a script and an identity that
// package identity parses. The owner of a redeemed token, which is empty, is neither.
func IsScript(owner []byte) bool { return identity.Identity(owner).Type() >= firstType }

// isPlain reports whether id has the type byte of a single signer.
func isPlain(id identity.Identity) bool { return id.Type() != 0 && !IsScript(id) }

// Script is a *HashLock or a *Threshold. It is immutable: the slices that its methods
// return are its own and must not be changed.
type Script interface {
	// Owner is the script's canonical encoding: the owner of a token that it locks.
	Owner() []byte
	// Identities are all whom the script names, in the order of its encoding. They are plain.
	Identities() []identity.Identity

	signers(w Witness, p *Place) ([]identity.Identity, error)
	checkGiven(p *Place) error
}

// Witness is what comes with the signatures for an input.
type Witness struct {
	Unlock   []byte // says which of the script's identities sign; empty for an owner that is no script
	Preimage []byte // of a hash time lock that is claimed; else empty
}

// Place is where a script stands: what its rules may ask of the action and of the block.
type Place struct {
	At      time.Time     // the block's
	AnyTime bool          // At says nothing: a script is judged at a time that allows what is asked for, and a preimage may be missing
	Inputs  int           // of the action: an issue has none
	Outputs []token.Token // of the action
}

// Parse decodes an owner that is a script. The error is a *zkbench.DecodeError.
func Parse(owner []byte) (Script, error) {
	switch t := identity.Identity(owner).Type(); t {
	case TypeHashLock:
		return parsed(ParseHashLock(owner))
	case TypeThreshold:
		return parsed(ParseThreshold(owner))
	default:
		return nil, malformed("script.type", 0, "%d, known are %d (hash time lock) and %d (threshold)", t, TypeHashLock, TypeThreshold)
	}
}

// parsed keeps a nil pointer out of a Script.
func parsed[S Script](s S, err error) (Script, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Identities returns the identities that an owner names: none of a redeemed token, a plain
// one itself, all of a script. The error is that of Parse.
func Identities(owner []byte) ([]identity.Identity, error) {
	switch {
	case len(owner) == 0:
		return nil, nil
	case !IsScript(owner):
		return []identity.Identity{owner}, nil
	}
	s, err := Parse(owner)
	if err != nil {
		return nil, err
	}
	return s.Identities(), nil
}

// ownerKinds are the kinds of owners by the type byte.
var ownerKinds = map[identity.Type]token.OwnerKinds{
	identity.TypeX509: token.OwnerX509, identity.TypeEd25519: token.OwnerEd25519, identity.TypePseudonym: token.OwnerPseudonym,
	TypeHashLock: token.OwnerHashLock, TypeThreshold: token.OwnerThreshold,
}

// Allowed returns an ErrPolicy for an owner, or one whom a script names, of a kind that is not among those that a policy allows; of a type
// that nobody knows, parsing says it.
func Allowed(kinds token.OwnerKinds, owner []byte) error {
	kind, known := ownerKinds[identity.Identity(owner).Type()]
	if known && kind&kinds == 0 {
		return refused("an owner of kind %s, accepted: %s", kind, kinds)
	}
	return nil
}

// Signers returns the identities that must sign, each once and in this order, for an input of
// an owner that is spent with a witness: the owner itself, whose witness is empty, or the identities that
// its script names. It returns an ErrMalformed for a script or a witness that does not decode, and an
// ErrPolicy if the script's rules refuse it.
func Signers(owner []byte, w Witness, p *Place) ([]identity.Identity, error) {
	if !IsScript(owner) {
		if len(w.Unlock) > 0 || len(w.Preimage) > 0 {
			return nil, refused("a witness of %d bytes and a preimage of %d, an owner that is no script has none", len(w.Unlock), len(w.Preimage))
		}
		return []identity.Identity{owner}, nil
	}
	s, err := Parse(owner)
	if err != nil {
		return nil, err
	}
	return s.signers(w, p)
}

// CheckGiven returns an error unless an output of that owner may be made: that of
// Parse, or an ErrPolicy where the script's rules refuse it. Whoever is no script may get anything.
func CheckGiven(owner []byte, p *Place) error {
	if !IsScript(owner) {
		return nil
	}
	s, err := Parse(owner)
	if err != nil {
		return err
	}
	return s.checkGiven(p)
}

// known reads a byte that has one value.
func known(f *wire.Fields, path string, want uint8) {
	at := f.Offset()
	if got := f.Number(path, 1, 0, 255); got != int(want) {
		f.Fail(path, at, fmt.Sprintf("%d, only %d is known", got, want))
	}
}

// plain reads a plain identity behind its length.
func plain(f *wire.Fields, path string) identity.Identity {
	at := f.Offset()
	id := identity.Identity(f.Block(path, 2, 0, token.MaxOwner))
	if !isPlain(id) {
		f.Fail(path, at, fmt.Sprintf("not a plain identity, whose types are 1 to %d", firstType-1))
	}
	return id
}

// checkLen refuses an encoding, or an identity in one, that is longer than an owner.
func checkLen(n int) error {
	if n > token.MaxOwner {
		return malformed("script.length", 0, "%d bytes, accepted are up to %d", n, token.MaxOwner)
	}
	return nil
}

// malformed places an error in an encoding; path begins with the name of the encoding.
func malformed(path string, offset int, format string, args ...any) error {
	return &zkbench.DecodeError{Path: path, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// refused is an ErrPolicy with its reason.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", zkbench.ErrPolicy, fmt.Sprintf(format, args...))
}

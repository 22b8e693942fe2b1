// Package script implements owners that are not single signers. (An identity that is a single signer is called
// plain.) A script says who must sign to spend its token, and when. There are two kinds. With a hash time lock,
// the recipient can spend before a deadline with the preimage of a hash (a claim). From the deadline on, the
// sender can spend without the preimage (a reclaim). With a threshold, k of n members spend together.
// docs/owners.md has the encodings, the rules, and what an attacker may try.
//
// The rules depend only on what the caller gives: the script, the witness that unlocks it, the action, and the
// block's time. The package reads no clock and no ledger, so a replay of the ledger's log decides in the same
// way as the first validation.
//
// Package script verifies no signatures; package identity does. Package script does not parse the identities
// inside a script, so two members may have one key. Scripts hide nothing, and a claim publishes its preimage.
package script

import (
	"fmt"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// firstType is the lowest type byte of scripts. Plain identities have lower ones.
const firstType identity.Type = 0x80

// IsScript reports whether an owner is a script, by its type byte, even if Parse would refuse it. No owner is
// both a script and an identity that package identity parses. The empty owner of a redeemed token is neither.
func IsScript(owner []byte) bool { return identity.Identity(owner).Type() >= firstType }

// isPlain reports whether id has the type byte of a single signer.
func isPlain(id identity.Identity) bool { return id.Type() != 0 && !IsScript(id) }

// Script is a *HashLock or a *Threshold. Other packages cannot implement Script. A Script is immutable: callers must not change the slices that its
// methods return.
type Script interface {
	// Owner returns the script's canonical encoding. A token that the script locks has this encoding as
	// its owner.
	Owner() []byte
	// Identities returns all identities that the script names, in the order of its encoding. They are plain.
	Identities() []identity.Identity

	signers(w Witness, p *Place) ([]identity.Identity, error)
	checkGiven(p *Place) error
}

// Witness is what an input needs, besides signatures, so that the token of a script can be spent.
type Witness struct {
	Unlock   []byte // says which of the script's identities sign; empty if the owner is not a script
	Preimage []byte // the preimage, if a hash time lock is claimed; else empty
}

// Place describes the action and the block in which a script is used.
type Place struct {
	At      time.Time     // the block's time
	AnyTime bool          // if true, At is ignored: the rules are applied as if the block's time allowed what the witness asks for, and a claim needs no preimage
	Inputs  int           // number of the action's inputs: an issue has none
	Outputs []token.Token // the action's outputs
}

// Parse decodes an owner that is a script. Errors have type *zkbench.DecodeError.
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

// parsed returns a nil Script, not one that holds a nil pointer, if there is an error.
func parsed[S Script](s S, err error) (Script, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Identities returns the identities that an owner names: none for a redeemed token, all identities of a script,
// or the owner itself if it is an identity. Errors are as for Parse.
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

// ownerKinds maps type bytes to kinds of owners.
var ownerKinds = map[identity.Type]token.OwnerKinds{
	identity.TypeX509: token.OwnerX509, identity.TypeEd25519: token.OwnerEd25519, identity.TypePseudonym: token.OwnerPseudonym,
	TypeHashLock: token.OwnerHashLock, TypeThreshold: token.OwnerThreshold,
}

// Allowed returns ErrPolicy if the owner is of a known kind that is not in kinds. It returns nil for an owner
// of an unknown type, which Parse refuses. It does not look at the identities inside a script.
func Allowed(kinds token.OwnerKinds, owner []byte) error {
	kind, known := ownerKinds[identity.Identity(owner).Type()]
	if known && kind&kinds == 0 {
		return refused("an owner of kind %s, accepted: %s", kind, kinds)
	}
	return nil
}

// Signers returns the identities that must sign for an input, each once, in the order that their signatures
// must have. For an owner that is not a script, the witness must be empty, and Signers returns the owner
// itself. For a script, Signers returns the identities that the witness selects. Signers returns ErrMalformed
// if the script or the witness does not decode, and ErrPolicy if the script's rules refuse the witness.
func Signers(owner []byte, w Witness, p *Place) ([]identity.Identity, error) {
	if !IsScript(owner) {
		if len(w.Unlock) > 0 || len(w.Preimage) > 0 {
			return nil, refused("a witness of %d bytes and a preimage of %d, but an owner that is not a script has neither", len(w.Unlock), len(w.Preimage))
		}
		return []identity.Identity{owner}, nil
	}
	s, err := Parse(owner)
	if err != nil {
		return nil, err
	}
	return s.signers(w, p)
}

// CheckGiven checks whether an action may make an output with the given owner. It returns the error of Parse,
// or ErrPolicy if the script's rules refuse the output. An owner that is not a script is always accepted.
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

// known reads a byte and fails if it is not want.
func known(f *wire.Fields, path string, want uint8) {
	at := f.Offset()
	if got := f.Number(path, 1, 0, 255); got != int(want) {
		f.Fail(path, at, fmt.Sprintf("%d, only %d is known", got, want))
	}
}

// plain reads a length and a plain identity.
func plain(f *wire.Fields, path string) identity.Identity {
	at := f.Offset()
	id := identity.Identity(f.Block(path, 2, 0, token.MaxOwner))
	if !isPlain(id) {
		f.Fail(path, at, fmt.Sprintf("not a plain identity, whose types are 1 to %d", firstType-1))
	}
	return id
}

// checkLen refuses an encoding, or an identity in one, that is longer than token.MaxOwner.
func checkLen(n int) error {
	if n > token.MaxOwner {
		return malformed("script.length", 0, "%d bytes, accepted are up to %d", n, token.MaxOwner)
	}
	return nil
}

// malformed returns a *zkbench.DecodeError. path begins with the name of the encoding.
func malformed(path string, offset int, format string, args ...any) error {
	return &zkbench.DecodeError{Path: path, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// refused returns an ErrPolicy with its reason.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", zkbench.ErrPolicy, fmt.Sprintf(format, args...))
}

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
	"fmt"

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

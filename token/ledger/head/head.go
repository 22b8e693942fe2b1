// Package head signs and opens the heads of a ledger's log. The log is a Merkle tree of RFC 6962, section 2.1:
// leaf 0 is the ledger's genesis and leaf n is record n. A head is the tree's size and root. Its text form is a
// checkpoint (https://c2sp.org/tlog-checkpoint) without extension lines, and validators sign it with Ed25519
// cosignatures, which carry their time (https://c2sp.org/tlog-cosignature). So every tool for C2SP checkpoints
// can read a signed head.
//
// A head counts if as many validators have signed it as the policy asks (Open). A Signer signs only heads that
// extend the last head that it signed, so that a validator never vouches for two histories. A Keeper signs the heads
// of a ledger as it grows. Witnesses, who are no validators, may add their signatures. They are kept and do not count.
//
// The package does not say what is in the log: of its records, it reads only updates of the policy.
package head

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Limits of signed heads.
const (
	MaxSize       = ledger.MaxRecords // leaves of a tree
	MaxSignatures = 100               // of one head; note.Open of golang.org/x/mod/sumdb/note reads no more
	MaxSigned     = ledger.MaxHead    // bytes of a signed head
)

// Head says what the log of a ledger was when it had Size leaves.
type Head struct {
	Ledger token.LedgerID
	Size   uint64   // leaves, 1 to MaxSize: the number of the last record, plus 1
	Root   [32]byte // of the tree with these leaves
}

const originPrefix = "zkbench/ledger/"

// Origin returns the origin line of a ledger's checkpoints, without the newline: "zkbench/ledger/" and the id in
// lowercase hexadecimal digits.
func Origin(id token.LedgerID) string { return originPrefix + hex.EncodeToString(id[:]) }

// Checkpoint returns the head's text form. It has three lines, each ended by a newline: origin, size in decimal
// digits, and root in base64.
func (h Head) Checkpoint() string {
	return fmt.Sprintf("%s\n%d\n%s\n", Origin(h.Ledger), h.Size, base64.StdEncoding.EncodeToString(h.Root[:]))
}

// check returns zkbench.ErrParams if no log has this size.
func (h Head) check() error {
	if h.Size < 1 || h.Size > MaxSize {
		return fmt.Errorf("%w: a head of %d leaves, accepted are 1 to %d", zkbench.ErrParams, h.Size, uint64(MaxSize))
	}
	return nil
}

// Parse returns the head whose Checkpoint is the given text. It returns a *zkbench.DecodeError if the text is no
// head's.
func Parse(checkpoint string) (Head, error) {
	var h Head
	rest := checkpoint
	fail := func(field, reason string) (Head, error) {
		return Head{}, &zkbench.DecodeError{Path: "head." + field, Offset: len(checkpoint) - len(rest), Reason: reason}
	}
	for _, line := range []struct {
		field, accepted string
		read            func(text string) bool // also checks that text is canonical
	}{
		{"origin", originPrefix + " and 64 lowercase hexadecimal digits", func(text string) bool {
			id, _ := hex.DecodeString(strings.TrimPrefix(text, originPrefix))
			copy(h.Ledger[:], id)
			return text == Origin(h.Ledger)
		}},
		{"size", fmt.Sprintf("1 to %d, without leading zeros", uint64(MaxSize)), func(text string) bool {
			h.Size, _ = strconv.ParseUint(text, 10, 64)
			return h.check() == nil && text == strconv.FormatUint(h.Size, 10)
		}},
		{"root", "32 bytes in base64", func(text string) bool {
			root, _ := base64.StdEncoding.DecodeString(text)
			copy(h.Root[:], root)
			return text == base64.StdEncoding.EncodeToString(h.Root[:])
		}},
	} {
		text, after, ended := strings.Cut(rest, "\n")
		if !ended {
			return fail(line.field, "truncated")
		}
		if !line.read(text) {
			return fail(line.field, "accepted: "+line.accepted)
		}
		rest = after
	}
	if rest != "" {
		return fail("end", "extension lines, none are accepted")
	}
	return h, nil
}

// String names the head in one line.
func (h Head) String() string {
	return fmt.Sprintf("%s size %d root %x", Origin(h.Ledger), h.Size, h.Root)
}

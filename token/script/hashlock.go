package script

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// TypeHashLock is the first byte of every encoded hash time lock. It distinguishes the lock from other
// owners.
const TypeHashLock identity.Type = 0x80

// HashLockVersion is the version of the encoding of hash time locks.
const HashLockVersion = 1

// HashSHA256 stands for SHA-256 in the encoding of a hash time lock. No other hash function is accepted.
const HashSHA256 = 1

// ImageLen is the length in bytes of an image, the SHA-256 hash of a preimage.
const ImageLen = sha256.Size

// MaxTime is the latest block time and the latest deadline that are accepted: the end of the year 9999, in
// Unix seconds. A present-day time in milliseconds exceeds it, so that a deadline in milliseconds is refused.
const MaxTime = 253402300799

// HashLock is a script that locks a token. Before a deadline, the recipient can spend the token with the
// preimage of a hash. From the deadline on, the sender can spend it. NewHashLock and ParseHashLock return
// hash time locks; nobody can spend a token that the zero HashLock locks. A HashLock is immutable: callers
// must not change the slices that its methods return.
type HashLock struct {
	owner             []byte
	image             [ImageLen]byte
	deadline          uint64
	sender, recipient identity.Identity // slices of owner
}

// NewHashLock returns a script for a token that the recipient can spend with the preimage of image in blocks
// whose time is before the deadline. In blocks whose time is the deadline or later, the sender can spend it.
// The deadline is in Unix seconds, 1 to MaxTime. The sender and the recipient must be two different
// identities that are not scripts, and the encoding must fit in token.MaxOwner bytes. Otherwise NewHashLock
// returns the error of ParseHashLock.
func NewHashLock(image [ImageLen]byte, deadline uint64, sender, recipient identity.Identity) (*HashLock, error) {
	// Before the builder, whose error for an identity beyond 2^16 bytes is untyped.
	for _, id := range []identity.Identity{sender, recipient} {
		if err := checkLen(len(id)); err != nil {
			return nil, err
		}
	}
	var b cryptobyte.Builder
	b.AddBytes([]byte{byte(TypeHashLock), HashLockVersion, HashSHA256})
	b.AddBytes(image[:])
	b.AddUint64(deadline)
	for _, id := range []identity.Identity{sender, recipient} {
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(id) })
	}
	owner, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	return ParseHashLock(owner)
}

// ParseHashLock decodes an owner that is a hash time lock:
//
//	type(1) version(1) hash function(1) image(32) deadline(8) sender recipient
//
// Numbers are big-endian. A length of 2 bytes comes before each of the two identities. Errors have
// type *zkbench.DecodeError.
func ParseHashLock(owner []byte) (*HashLock, error) {
	if err := checkLen(len(owner)); err != nil {
		return nil, err
	}
	h := &HashLock{owner: slices.Clone(owner)}
	f := wire.NewFields(h.owner, "script", token.MaxOwner)
	known(f, "script.type", byte(TypeHashLock))
	known(f, "script.version", HashLockVersion)
	known(f, "script.hash function", HashSHA256)
	copy(h.image[:], f.Bytes("script.image", ImageLen))
	at := f.Offset()
	if b := f.Bytes("script.deadline", 8); f.OK() {
		h.deadline = binary.BigEndian.Uint64(b)
	}
	if h.deadline < 1 || h.deadline > MaxTime {
		f.Fail("script.deadline", at, fmt.Sprintf("%d, accepted are 1 to %d Unix seconds", h.deadline, uint64(MaxTime)))
	}
	h.sender = plain(f, "script.sender")
	at = f.Offset()
	h.recipient = plain(f, "script.recipient")
	if bytes.Equal(h.sender, h.recipient) {
		f.Fail("script.recipient", at, "equals the sender, want another identity")
	}
	if err := f.End("script.end"); err != nil {
		return nil, err
	}
	return h, nil
}

// Owner returns the script's canonical encoding. A token that the script locks has this encoding as
// its owner.
func (h *HashLock) Owner() []byte { return h.owner }

// Image returns the hash whose preimage the recipient must show to spend.
func (h *HashLock) Image() [ImageLen]byte { return h.image }

// Deadline returns the first block time, in Unix seconds, at which the sender can spend and the recipient
// cannot.
func (h *HashLock) Deadline() uint64 { return h.deadline }

// Sender returns the identity that can spend from the deadline on.
func (h *HashLock) Sender() identity.Identity { return h.sender }

// Recipient returns the identity that can spend before the deadline, with the preimage.
func (h *HashLock) Recipient() identity.Identity { return h.recipient }

// Identities returns the sender and the recipient.
func (h *HashLock) Identities() []identity.Identity {
	return []identity.Identity{h.sender, h.recipient}
}

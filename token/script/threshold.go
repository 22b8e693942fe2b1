package script

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// TypeThreshold is the first byte of every encoded threshold. It distinguishes the threshold from other owners.
const TypeThreshold identity.Type = 0x81

// ThresholdVersion is the version of the encoding of thresholds.
const ThresholdVersion = 1

// MinMembers is the minimum number of members of a threshold. The maximum is token.MaxMembers.
const MinMembers = 2

// witnessLen is the length in bytes of a threshold's witness, which has one bit for each member.
const witnessLen = token.MaxMembers / 8

// The offsets of the numbers in the encoding.
const (
	atK = 2 + iota
	atN
)

// Threshold is a script with n members, any k of whom spend together. NewThreshold and ParseThreshold return
// thresholds; nobody can spend a token that the zero Threshold locks.
type Threshold struct {
	owner   []byte
	k       int
	members []identity.Identity // slices of owner
}

// NewThreshold returns a script for a token that any k of the members can spend together. The members must be
// different identities, in any order, and none may be a script. The number of members must be from MinMembers to
// token.MaxMembers, and k from 1 to that number. The encoding must fit in token.MaxOwner bytes. Otherwise
// NewThreshold returns the error of ParseThreshold.
func NewThreshold(k int, members ...identity.Identity) (*Threshold, error) {
	// Before the builder, which would cut the numbers, and whose error for an identity beyond 2^16 bytes is untyped.
	if err := checkNumbers(k, len(members)); err != nil {
		return nil, err
	}
	for _, id := range members {
		if err := checkLen(len(id)); err != nil {
			return nil, err
		}
	}
	members = slices.SortedFunc(slices.Values(members), func(a, b identity.Identity) int { return bytes.Compare(a, b) })
	var b cryptobyte.Builder
	b.AddBytes([]byte{byte(TypeThreshold), ThresholdVersion, byte(k), byte(len(members))})
	for _, id := range members {
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(id) })
	}
	owner, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	return ParseThreshold(owner)
}

// ParseThreshold decodes an owner that is a threshold:
//
//	type(1) version(1) k(1) n(1) members
//
// The members are different identities in ascending order of their bytes, and none is a script. A big-endian
// length of 2 bytes comes before each member. Errors have type *zkbench.DecodeError.
func ParseThreshold(owner []byte) (*Threshold, error) {
	if err := checkLen(len(owner)); err != nil {
		return nil, err
	}
	t := &Threshold{owner: slices.Clone(owner)}
	f := wire.NewFields(t.owner, "script", token.MaxOwner)
	known(f, "script.type", byte(TypeThreshold))
	known(f, "script.version", ThresholdVersion)
	t.k = f.Number("script.k", 1, 0, 255)
	n := f.Number("script.n", 1, 0, 255)
	if f.OK() {
		if err := checkNumbers(t.k, n); err != nil {
			return nil, err
		}
	}
	for i := range n {
		f.Item("script.members", i)
		at := f.Offset()
		id := plain(f, "")
		if i > 0 && bytes.Compare(t.members[i-1], id) >= 0 {
			f.Fail("", at, "want each member once, in ascending order of their bytes")
		}
		t.members = append(t.members, id)
	}
	f.EndItems()
	if err := f.End("script.end"); err != nil {
		return nil, err
	}
	return t, nil
}

func checkNumbers(k, n int) error {
	switch {
	case n < MinMembers || n > token.MaxMembers:
		return malformed("script.n", atN, "%d members, accepted are %d to %d", n, MinMembers, token.MaxMembers)
	case k < 1 || k > n:
		return malformed("script.k", atK, "%d of %d members, accepted are 1 to %d", k, n, n)
	}
	return nil
}

// Owner returns the script's canonical encoding. A token that the script locks has this encoding as
// its owner.
func (t *Threshold) Owner() []byte { return t.owner }

// K returns how many members must spend together.
func (t *Threshold) K() int { return t.k }

// Identities returns the members, in ascending order of their bytes.
func (t *Threshold) Identities() []identity.Identity { return t.members }

// Unlock returns the witness that says which members spend. It returns ErrPolicy if the signers are not k
// different members; their order does not matter. The witness is a big-endian number of 2 bytes, in which the
// bit 1<<i stands for member i of Identities. Signatures must be in the order of the members.
func (t *Threshold) Unlock(signers ...identity.Identity) ([]byte, error) {
	if len(signers) != t.k {
		return nil, refused("%d signers, accepted are exactly %d", len(signers), t.k)
	}
	var set uint16
	for i, id := range signers {
		at, ok := t.find(id)
		if !ok || set>>at&1 != 0 {
			return nil, refused("signer %d is not a member, or is named twice", i)
		}
		set |= 1 << at
	}
	return binary.BigEndian.AppendUint16(nil, set), nil
}

// Join adds a member to a witness, for a member who signs after others. The parameter unlock is the witness of
// those who have signed, or empty if nobody has signed. The parameter signatures is the number of those who
// have signed, which must be less than k. Join returns the new witness, and the index of the new member's
// signature among all signatures.
//
// Join returns ErrMalformed if unlock is not a witness, or if the number of members in it is not equal to
// signatures. It returns ErrPolicy if the given identity is not a member of the threshold or is in the witness
// already, or if k members have signed already.
func (t *Threshold) Join(unlock []byte, signatures int, member identity.Identity) (joined []byte, at int, err error) {
	var set uint16
	if len(unlock) > 0 {
		if set, err = t.set(unlock); err != nil {
			return nil, 0, err
		}
	}
	if n := bits.OnesCount16(set); n != signatures {
		return nil, 0, malformed("unlock.members", 0, "%d members are named, and there are %d signatures", n, signatures)
	}
	if signatures >= t.k {
		return nil, 0, refused("%d members have signed, which is enough", t.k)
	}
	i, ok := t.find(member)
	if !ok || set>>i&1 != 0 {
		return nil, 0, refused("the signer is not a member, or has already signed")
	}
	return binary.BigEndian.AppendUint16(nil, set|1<<i), bits.OnesCount16(set & (1<<i - 1)), nil
}

// find returns the index of a member, and whether there is such a member.
func (t *Threshold) find(id identity.Identity) (int, bool) {
	return slices.BinarySearchFunc(t.members, id, func(a, b identity.Identity) int { return bytes.Compare(a, b) })
}

// set decodes a witness, whatever its number of members.
func (t *Threshold) set(unlock []byte) (uint16, error) {
	if len(unlock) != witnessLen {
		return 0, malformed("unlock.members", 0, "%d bytes, want %d", len(unlock), witnessLen)
	}
	set := binary.BigEndian.Uint16(unlock)
	if highest := bits.Len16(set); highest > len(t.members) {
		return 0, malformed("unlock.members", 0, "member %d is named, the script has %d", highest-1, len(t.members))
	}
	return set, nil
}

// signers returns the members that a witness names, which must be exactly k. If more were allowed, anyone who
// sees a request could add or remove signatures without changing its effect.
func (t *Threshold) signers(w Witness, _ *Place) ([]identity.Identity, error) {
	if len(w.Preimage) > 0 {
		return nil, refused("a preimage of %d bytes, a threshold has none", len(w.Preimage))
	}
	set, err := t.set(w.Unlock)
	if err != nil {
		return nil, err
	}
	if n := bits.OnesCount16(set); n != t.k || n == 0 { // the zero Threshold has k = 0
		return nil, malformed("unlock.members", 0, "%d members are named, accepted are exactly %d", n, t.k)
	}
	signers := make([]identity.Identity, 0, t.k)
	for i, id := range t.members {
		if set>>i&1 != 0 {
			signers = append(signers, id)
		}
	}
	return signers, nil
}

// checkGiven accepts any output: anybody may give a token to a threshold, at any time and beside other outputs.
func (t *Threshold) checkGiven(*Place) error { return nil }

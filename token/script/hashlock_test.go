package script

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// Offsets of the encoding.
const (
	atType, atVersion, atHash, atImage, atDeadline, atSender = 0, 1, 2, 3, 35, 43
)

// TestHashLockVector: the encodings of a lock and of the witnesses are those of testdata,
// which were computed by another program (docs/owners.md, "Vectors").
func TestHashLockVector(t *testing.T) {
	t.Parallel()
	vector := make(map[string][]byte)
	for line := range strings.Lines(golden.Read(t, "token/hashlock.txt")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		vector[name] = must.Get(hex.DecodeString(value))(t)
	}
	for name, got := range map[string][]byte{
		"preimage":  testPreimage,
		"sender":    sender(),
		"recipient": recipient(),
		"owner":     testLock(t).Owner(),
		"claim":     must.Get(Unlock{Kind: Claim, Preimage: testPreimage}.Encode())(t),
		"reclaim":   must.Get(Unlock{Kind: Reclaim}.Encode())(t),
	} {
		golden.Equal(t, name, vector[name], got)
	}
}

// TestParseHashLockRefuses: what breaks one rule of the encoding is refused, with the field
// and its offset.
func TestParseHashLockRefuses(t *testing.T) {
	t.Parallel()
	owner := testLock(t).Owner()
	n := len(owner)
	atRecipient := atSender + 2 + len(sender())
	head := owner[:atSender]
	lengths := func(s, r []byte) []byte { // sender and recipient behind their lengths
		var out []byte
		for _, id := range [][]byte{s, r} {
			out = append(append(out, byte(len(id)>>8), byte(len(id))), id...)
		}
		return out
	}
	long := bytes.Repeat([]byte{1}, token.MaxOwner)
	for _, c := range []struct {
		name, path string
		offset     int
		owner      []byte
	}{
		{"empty", "type", atType, nil},
		{"type=plain", "type", atType, overwritten(owner, atType, 0x7f)},
		{"type=0x81", "type", atType, overwritten(owner, atType, 0x81)},
		{"version=0", "version", atVersion, overwritten(owner, atVersion, 0)},
		{"version=2", "version", atVersion, overwritten(owner, atVersion, 2)},
		{"hash=0", "hash function", atHash, overwritten(owner, atHash, 0)},
		{"hash=2", "hash function", atHash, overwritten(owner, atHash, 2)},
		{"image=short", "image", atImage, owner[:atDeadline-1]},
		{"deadline=short", "deadline", atDeadline, owner[:atSender-1]},
		{"deadline=0", "deadline", atDeadline, overwritten(owner, atDeadline, make([]byte, 8)...)},
		{"deadline=max+1", "deadline", atDeadline, overwritten(owner, atDeadline, 0, 0, 0, 0x3a, 0xff, 0xf4, 0x41, 0x80)},
		{"deadline=2^63", "deadline", atDeadline, overwritten(owner, atDeadline, 0x80, 0, 0, 0, 0, 0, 0, 0)},
		{"deadline=2^64-1", "deadline", atDeadline, overwritten(owner, atDeadline, bytes.Repeat([]byte{0xff}, 8)...)},
		{"sender=missing", "sender", atSender, head},
		{"sender=half-length", "sender", atSender, owner[:atSender+1]},
		{"sender=beyond-end", "sender", atSender, overwritten(owner, atSender, 0xff, 0xff)},
		{"sender=empty", "sender", atSender, slices.Concat(head, lengths(nil, recipient()))},
		{"sender=type-0", "sender", atSender, slices.Concat(head, lengths([]byte{0, 1}, recipient()))},
		{"sender=script", "sender", atSender, slices.Concat(head, lengths(owner, recipient()))},
		{"sender=type-0xff", "sender", atSender, overwritten(owner, atSender+2, 0xff)},
		{"recipient=missing", "recipient", atRecipient, owner[:atRecipient]},
		{"recipient=short", "recipient", atRecipient, owner[:n-1]},
		{"recipient=empty", "recipient", atRecipient, slices.Concat(head, lengths(sender(), nil))},
		{"recipient=script", "recipient", atRecipient, slices.Concat(head, lengths(sender(), owner))},
		{"recipient=sender", "recipient", atRecipient, slices.Concat(head, lengths(sender(), sender()))},
		{"trailing", "end", n, append(slices.Clone(owner), 0)},
		{"too-long", "length", 0, slices.Concat(head, lengths(sender(), long))},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := ParseHashLock(c.owner)
			de := mustDecodeError(t, err, "script."+c.path, len(c.owner))
			if h != nil || de.Offset != c.offset {
				t.Errorf("lock %v, offset %d, want none and %d", h, de.Offset, c.offset)
			}
		})
	}
}

// TestNewHashLock: the constructor refuses the fields that Parse refuses, and takes
// what just fits.
func TestNewHashLock(t *testing.T) {
	t.Parallel()
	filled := func(n int) identity.Identity { return append(identity.Identity{1}, make([]byte, n-1)...) }
	fits := token.MaxOwner - atSender - 4 // for both identities
	for _, c := range []struct {
		name, path        string // an empty path is accepted
		deadline          uint64
		sender, recipient identity.Identity
	}{
		{"smallest", "", 1, identity.Identity{1}, identity.Identity{0x7f}},
		{"deadline=max", "", MaxTime, sender(), recipient()},
		{"length=max", "", 1, filled(fits - 1), identity.Identity{2}},
		{"length=max+1", "length", 1, filled(fits), identity.Identity{2}},
		{"sender=2^16", "length", 1, filled(1 << 16), recipient()},
		{"recipient=2^16", "length", 1, sender(), filled(1 << 16)},
		{"deadline=0", "deadline", 0, sender(), recipient()},
		{"deadline=milliseconds", "deadline", testDeadline * 1000, sender(), recipient()},
		{"deadline=2^64-1", "deadline", math.MaxUint64, sender(), recipient()},
		{"sender=none", "sender", 1, nil, recipient()},
		{"recipient=none", "recipient", 1, sender(), nil},
		{"sender=script", "sender", 1, testLock(t).Owner(), recipient()},
		{"recipient=script", "recipient", 1, sender(), testLock(t).Owner()},
		{"recipient=sender", "recipient", 1, sender(), sender()},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := NewHashLock([ImageLen]byte{1}, c.deadline, c.sender, c.recipient)
			if c.path != "" {
				mustDecodeError(t, err, "script."+c.path, token.MaxOwner)
				return
			}
			again := must.Get(ParseHashLock(must.Get(h, err)(t).Owner()))(t)
			if !sameMeaning(h, again) || h.Deadline() != c.deadline || !bytes.Equal(h.Sender(), c.sender) || !bytes.Equal(h.Recipient(), c.recipient) {
				t.Error("the fields are not those given")
			}
		})
	}
}

// TestHashLockEveryByte: each byte of the encoding changed in all 255 ways, and each prefix,
// is refused or means something else.
func TestHashLockEveryByte(t *testing.T) {
	t.Parallel()
	h := testLock(t)
	owner := h.Owner()
	parsed := 0
	for i := range owner {
		must.FailGet(ParseHashLock(owner[:i]))(t, must.ErrAny, "a prefix of %d bytes", i)
		for mask := 1; mask < 256; mask++ {
			changed := overwritten(owner, i, owner[i]^byte(mask))
			other, err := ParseHashLock(changed)
			if err != nil {
				mustDecodeError(t, err, "", len(changed))
				continue
			}
			parsed++
			if sameMeaning(h, other) || !bytes.Equal(other.Owner(), changed) {
				t.Fatalf("byte %d with mask %#x has the same meaning", i, mask)
			}
		}
	}
	// The image and the identities behind their types: any byte is good there.
	if want := 255 * (ImageLen + len(sender()) + len(recipient()) - 2); parsed < want {
		t.Errorf("%d changed encodings are scripts, want at least %d", parsed, want)
	}
	golden.Equal(t, "owner after Parse", owner, must.Get(rebuilt(h))(t))
}

// TestCopies: a lock does not change with the bytes it was made from.
func TestCopies(t *testing.T) {
	t.Parallel()
	h := testLock(t)
	data := slices.Clone(h.Owner())
	parsed := must.Get(ParseHashLock(data))(t)
	clear(data)
	if !sameMeaning(h, parsed) || !bytes.Equal(h.Owner(), parsed.Owner()) {
		t.Error("a parsed lock shares its input")
	}
	preimage := slices.Clone(testPreimage)
	u := must.Get(DecodeUnlock([]byte{byte(Claim)}, preimage))(t)
	clear(preimage)
	golden.Equal(t, "preimage after its input was changed", testPreimage, u.Preimage)
}

// TestCanonical: locks of any fields parse to those fields, and encodings with a
// few bytes changed are refused or are what their fields encode to.
func TestCanonical(t *testing.T) {
	t.Parallel()
	plain := rapid.Custom(func(t *rapid.T) identity.Identity {
		first := rapid.ByteRange(1, 0x7f).Draw(t, "type")
		return append(identity.Identity{first}, rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(t, "payload")...)
	})
	rapid.Check(t, func(t *rapid.T) {
		image := [ImageLen]byte(rapid.SliceOfN(rapid.Byte(), ImageLen, ImageLen).Draw(t, "image"))
		deadline := rapid.Uint64Range(1, MaxTime).Draw(t, "deadline")
		s, r := plain.Draw(t, "sender"), plain.Draw(t, "recipient")
		h, err := NewHashLock(image, deadline, s, r)
		if bytes.Equal(s, r) {
			if err == nil {
				t.Fatal("a lock to the sender")
			}
			return
		}
		must.Do(t, err)
		if h.Image() != image || h.Deadline() != deadline || !bytes.Equal(h.Sender(), s) || !bytes.Equal(h.Recipient(), r) {
			t.Fatal("the fields are not those given")
		}
		changed := slices.Clone(h.Owner())
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			changed[rapid.IntRange(0, len(changed)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		other, err := ParseHashLock(changed)
		if err != nil {
			return
		}
		golden.Equal(t, "the same lock, encoded again", changed, must.Get(rebuilt(other))(t))
		if sameMeaning(h, other) != bytes.Equal(changed, h.Owner()) {
			t.Fatal("two encodings with one meaning")
		}
	})
}

// FuzzParseHashLock: any bytes are refused with a typed error, or are the one encoding of
// what they decode to, and then no identity.
func FuzzParseHashLock(f *testing.F) {
	set := must.Get(identity.NewSet(1, nil))(f)
	owner := testLock(f).Owner()
	f.Add(owner)
	f.Add(owner[:len(owner)-1])
	f.Add(append(slices.Clone(owner), 0))
	f.Add([]byte(sender()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseHashLock(data)
		if err != nil {
			mustDecodeError(t, err, "", len(data))
			return
		}
		if again := must.Get(rebuilt(h))(t); !bytes.Equal(again, data) {
			t.Fatal("a second encoding of one lock")
		}
		if _, err := set.Verifier(data); !IsScript(data) || err == nil {
			t.Fatal("a script that is an identity")
		}
	})
}

func ExampleHashLock_Owner() {
	image, _ := Image([]byte("preimage"))
	h, err := NewHashLock(image, 1_800_000_000, identity.Identity{2, 0xaa}, identity.Identity{2, 0xbb})
	if err != nil {
		return
	}
	fmt.Printf("%x\n", h.Owner())
	// Output: 800101107661134f21fc7c02223d50ab9eb3600bc3ffc3712423a1e47bb1f9a9dbf55f000000006b49d200000202aa000202bb
}

package script

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// members returns the members of testThreshold, in the order of their bytes, which is not that of their seeds.
func members() []identity.Identity { return []identity.Identity{ed(2), ed(1), ed(3)} }

// testThreshold returns a threshold of two of three.
func testThreshold(t testing.TB) *Threshold {
	t.Helper()
	return must.Get(NewThreshold(2, ed(1), ed(2), ed(3)))(t)
}

// threshold encodes what NewThreshold may refuse.
func threshold(k, n byte, members ...[]byte) []byte {
	out := []byte{byte(TypeThreshold), ThresholdVersion, k, n}
	for _, id := range members {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(id))), id...)
	}
	return out
}

// many returns n members of one byte of payload, in order.
func many(n int) (out []identity.Identity) {
	for i := range n {
		out = append(out, identity.Identity{1, byte(i)})
	}
	return out
}

// TestThresholdVector: the encodings of a threshold and of its witnesses are those of
// testdata, which were computed by another program (docs/owners.md, "Vectors").
func TestThresholdVector(t *testing.T) {
	t.Parallel()
	vector := make(map[string][]byte)
	for line := range strings.Lines(golden.Read(t, "token/threshold.txt")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		vector[name] = must.Get(hex.DecodeString(value))(t)
	}
	s := testThreshold(t)
	for name, got := range map[string][]byte{
		"identity1": ed(1),
		"identity2": ed(2),
		"identity3": ed(3),
		"owner":     s.Owner(),
		"unlock12":  must.Get(s.Unlock(ed(1), ed(2)))(t),
		"unlock13":  must.Get(s.Unlock(ed(3), ed(1)))(t),
		"unlock23":  must.Get(s.Unlock(ed(2), ed(3)))(t),
	} {
		golden.Equal(t, name, vector[name], got)
	}
}

// TestParseThresholdRefuses: what breaks one rule of the encoding is refused, with the
// field and its offset.
func TestParseThresholdRefuses(t *testing.T) {
	t.Parallel()
	owner := testThreshold(t).Owner()
	a, b, c := members()[0], members()[1], members()[2]
	const first, size = 4, 2 + 33 // of the first member, and the bytes of each
	long := make([]byte, token.MaxOwner)
	for _, test := range []struct {
		name, path string
		offset     int
		owner      []byte
	}{
		{"empty", "type", 0, nil},
		{"type=lock", "type", 0, overwritten(owner, 0, byte(TypeHashLock))},
		{"type=0x82", "type", 0, overwritten(owner, 0, 0x82)},
		{"version=missing", "version", 1, owner[:1]},
		{"version=0", "version", 1, overwritten(owner, 1, 0)},
		{"version=2", "version", 1, overwritten(owner, 1, 2)},
		{"k=missing", "k", 2, owner[:2]},
		{"n=missing", "n", 3, owner[:3]},
		{"k=0", "k", 2, threshold(0, 2, a, b)},
		{"k=n+1", "k", 2, threshold(3, 2, a, b)},
		{"k=255", "k", 2, threshold(255, 2, a, b)},
		{"n=0", "n", 3, threshold(0, 0)},
		{"n=1", "n", 3, threshold(1, 1, a)},
		{"n=17", "n", 3, threshold(1, 17, bytesOf(many(17))...)},
		{"n=255", "n", 3, overwritten(owner, 3, 255)},
		{"n=members+1", "members[3]", first + 3*size, overwritten(owner, 3, 4)},
		{"n=members-1", "end", first + 2*size, overwritten(owner, 3, 2)},
		{"member=half-length", "members[0]", first, owner[:first+1]},
		{"member=beyond-end", "members[0]", first, overwritten(owner, first, 0x0f, 0xff)},
		{"member=short", "members[2]", first + 2*size, owner[:len(owner)-1]},
		{"member=empty", "members[0]", first, threshold(2, 2, nil, b)},
		{"member=type-0", "members[0]", first, threshold(2, 2, []byte{0, 1}, b)},
		{"member=lock", "members[1]", first + size, threshold(2, 2, a, testLock(t).Owner())},
		{"member=threshold", "members[1]", first + size, threshold(2, 2, a, owner)},
		{"member=type-0xff", "members[2]", first + 2*size, overwritten(owner, first+2*size+2, 0xff)},
		{"twice", "members[1]", first + size, threshold(2, 3, a, a, c)},
		{"twice,last", "members[2]", first + 2*size, threshold(2, 3, a, b, b)},
		{"descending", "members[1]", first + size, threshold(2, 3, b, a, c)},
		{"descending,last", "members[2]", first + 2*size, threshold(2, 3, a, c, b)},
		{"trailing", "end", len(owner), append(slices.Clone(owner), 0)},
		{"too-long", "length", 0, threshold(1, 2, a, long)},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := ParseThreshold(test.owner)
			de := mustDecodeError(t, err, "script."+test.path, len(test.owner))
			if s != nil || de.Offset != test.offset {
				t.Errorf("threshold %v, offset %d, want none and %d", s, de.Offset, test.offset)
			}
		})
	}
}

func bytesOf(ids []identity.Identity) (out [][]byte) {
	for _, id := range ids {
		out = append(out, id)
	}
	return out
}

// TestNewThreshold: the constructor refuses the fields that ParseThreshold refuses, takes
// what just fits, and members in any order.
func TestNewThreshold(t *testing.T) {
	t.Parallel()
	filled := func(n int) identity.Identity { return append(identity.Identity{1}, make([]byte, n-1)...) }
	fits := token.MaxOwner - 4 - 2*2 // for two members
	for _, c := range []struct {
		name, path string // an empty path is accepted
		k          int
		members    []identity.Identity
	}{
		{"1-of-2", "", 1, many(2)},
		{"2-of-2", "", 2, many(2)},
		{"1-of-16", "", 1, many(16)},
		{"16-of-16", "", 16, many(16)},
		{"length=max", "", 1, []identity.Identity{filled(fits - 1), {2}}},
		{"length=max+1", "length", 1, []identity.Identity{filled(fits), {2}}},
		{"member=2^16", "length", 1, []identity.Identity{filled(1 << 16), {2}}},
		{"members=0", "n", 1, nil},
		{"members=1", "n", 1, many(1)},
		{"members=17", "n", 1, many(17)},
		{"members=256+2", "n", 1, many(258)},
		{"k=0", "k", 0, many(2)},
		{"k=-1", "k", -1, many(2)},
		{"k=3", "k", 3, many(2)},
		{"k=256+1", "k", 257, many(2)},
		{"twice", "members[2]", 2, []identity.Identity{{1, 2}, {1, 1}, {1, 2}}},
		{"none", "members[0]", 1, []identity.Identity{{1}, nil}},
		{"nested", "members[1]", 1, []identity.Identity{testThreshold(t).Owner(), {1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := slices.Clone(c.members)
			slices.Reverse(given)
			s, err := NewThreshold(c.k, given...)
			if c.path != "" {
				mustDecodeError(t, err, "script."+c.path, token.MaxOwner)
				return
			}
			again := must.Get(ParseThreshold(must.Get(s, err)(t).Owner()))(t)
			golden.Equal(t, "k", c.k, again.K())
			golden.Equal(t, "members", c.members, again.Identities())
			golden.Equal(t, "the caller's own slice, first", c.members[len(c.members)-1], given[0])
		})
	}
}

// TestThresholdEveryByte: each byte of the encoding changed in all 255 ways, and each
// prefix, is refused or means something else.
func TestThresholdEveryByte(t *testing.T) {
	t.Parallel()
	s := testThreshold(t)
	owner := s.Owner()
	parsed := 0
	for i := range owner {
		must.FailGet(ParseThreshold(owner[:i]))(t, must.ErrAny, "a prefix of %d bytes", i)
		for mask := 1; mask < 256; mask++ {
			changed := overwritten(owner, i, owner[i]^byte(mask))
			other, err := ParseThreshold(changed)
			if err != nil {
				mustDecodeError(t, err, "", len(changed))
				continue
			}
			parsed++
			if s.K() == other.K() && slices.EqualFunc(s.Identities(), other.Identities(), func(a, b identity.Identity) bool { return bytes.Equal(a, b) }) {
				t.Fatalf("byte %d with mask %#x has the same meaning", i, mask)
			}
			if again := must.Get(NewThreshold(other.K(), other.Identities()...))(t); !bytes.Equal(again.Owner(), changed) {
				t.Fatalf("byte %d with mask %#x is a second encoding of one threshold", i, mask)
			}
		}
	}
	if want := 255 * 3 * 31; parsed < want { // any byte behind the first of a key leaves the order
		t.Errorf("%d changed encodings are scripts, want at least %d", parsed, want)
	}
}

// TestThresholdCopies: a threshold does not change with the bytes it was made from.
func TestThresholdCopies(t *testing.T) {
	t.Parallel()
	data := slices.Clone(testThreshold(t).Owner())
	parsed := must.Get(ParseThreshold(data))(t)
	clear(data)
	golden.Equal(t, "members", members(), parsed.Identities())
}

// TestWitness: of all witnesses of two bytes those are accepted, for some k and n, that name k members, each one its own, in the order of the members.
func TestWitness(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 9, 16} {
		ids := many(n)
		for _, k := range []int{1, 2, n} {
			s := must.Get(NewThreshold(k, ids...))(t)
			for set := range 1 << 16 {
				got, err := s.signers(Witness{Unlock: []byte{byte(set >> 8), byte(set)}}, nil)
				good := bits.OnesCount(uint(set)) == k && set < 1<<n
				if good != (err == nil) {
					t.Fatalf("%d of %d, members %016b: %v", k, n, set, err)
				}
				if !good {
					continue
				}
				var want []identity.Identity
				for i := range n {
					if set>>i&1 != 0 {
						want = append(want, ids[i])
					}
				}
				if !slices.EqualFunc(got, want, func(a, b identity.Identity) bool { return bytes.Equal(a, b) }) {
					t.Fatalf("%d of %d, members %016b: signers %x", k, n, set, got)
				}
			}
		}
	}
	s := testThreshold(t)
	for _, unlock := range [][]byte{nil, {3}, {0, 0}, {0, 1}, {0, 7}, {0, 9}, {0x80, 1}, {0, 0, 3}, {0, 3, 0}, {3, 0}} {
		t.Run(fmt.Sprintf("unlock=%x", unlock), func(t *testing.T) {
			_, err := s.signers(Witness{Unlock: unlock}, nil)
			mustDecodeError(t, err, "unlock.members", 0)
		})
	}
	// A threshold that was not made by a constructor is spent by nobody, not by no signature.
	_, err := new(Threshold).signers(Witness{Unlock: []byte{0, 0}}, nil)
	mustDecodeError(t, err, "unlock.members", 0)
}

// TestUnlockThreshold: k different members are a witness, others are not.
func TestUnlockThreshold(t *testing.T) {
	t.Parallel()
	s := testThreshold(t)
	for name, signers := range map[string][]identity.Identity{
		"none":        nil,
		"one":         {ed(1)},
		"three":       {ed(1), ed(2), ed(3)},
		"one-twice":   {ed(1), ed(1)},
		"stranger":    {ed(1), ed(4)},
		"empty":       {ed(1), nil},
		"the-script":  {ed(1), s.Owner()},
		"member-more": {ed(1), ed(2), ed(4)},
	} {
		t.Run(name, func(t *testing.T) {
			unlock, err := s.Unlock(signers...)
			if unlock != nil {
				t.Errorf("witness %x", unlock)
			}
			wantPolicy(t, err)
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		ids := many(rapid.IntRange(2, 16).Draw(t, "n"))
		k := rapid.IntRange(1, len(ids)).Draw(t, "k")
		s := must.Get(NewThreshold(k, ids...))(t)
		signers := rapid.Permutation(ids).Draw(t, "signers")[:k]
		got := must.Get(s.signers(Witness{Unlock: must.Get(s.Unlock(signers...))(t)}, nil))(t)
		slices.SortFunc(signers, func(a, b identity.Identity) int { return bytes.Compare(a, b) })
		golden.Equal(t, "signers", signers, got)
	})
}

// FuzzParseThreshold: any bytes are refused with a typed error, or are the one encoding
// of what they decode to.
func FuzzParseThreshold(f *testing.F) {
	owner := testThreshold(f).Owner()
	f.Add(owner)
	f.Add(owner[:len(owner)-1])
	f.Add(threshold(2, 2, []byte{1}, []byte{2}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseThreshold(data)
		if err != nil {
			mustDecodeError(t, err, "", len(data))
			return
		}
		golden.Equal(t, "the same threshold, encoded again", data, must.Get(NewThreshold(s.K(), s.Identities()...))(t).Owner())
	})
}

// TestJoin: members join a witness one by one, in whatever order, until it is that of Unlock.
func TestJoin(t *testing.T) {
	t.Parallel()
	ids := make([]identity.Identity, 5)
	for i := range ids {
		ids[i] = identity.Identity{byte(identity.TypeEd25519), byte(i)}
	}
	s := must.Get(NewThreshold(3, ids...))(t)
	var unlock []byte
	for n, step := range []struct{ member, at int }{{3, 0}, {0, 0}, {2, 1}} {
		joined, at, err := s.Join(unlock, n, ids[step.member])
		must.Do(t, err)
		golden.Equal(t, "place of the signature", step.at, at)
		for _, bad := range []identity.Identity{ids[step.member], {byte(identity.TypeEd25519), 9}} {
			_, _, err := s.Join(joined, n+1, bad)
			must.Fail(t, err, zkbench.ErrPolicy, "twice, or a stranger")
		}
		unlock = joined
	}
	golden.Equal(t, "witness", must.Get(s.Unlock(ids[0], ids[2], ids[3]))(t), unlock)
	_, _, err := s.Join(unlock, 3, ids[1])
	must.Fail(t, err, zkbench.ErrPolicy, "a fourth")
	for _, bad := range [][]byte{{1}, {0, 0, 0}, {0, 0x20}, {0, 3}, nil} {
		_, _, err := s.Join(bad, 1, ids[1])
		must.Fail(t, err, zkbench.ErrMalformed, "no witness")
	}
}

package script

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// TestIsScript: scripts and the identities that package identity parses are apart.
func TestIsScript(t *testing.T) {
	t.Parallel()
	set := must.Get(identity.NewSet(4, nil))(t)
	lock, threshold := testLock(t).Owner(), testThreshold(t).Owner()
	for _, c := range []struct {
		name   string
		owner  []byte
		want   bool
		parses bool
	}{
		{"lock", lock, true, true},
		{"threshold", threshold, true, true},
		{"type-byte-only", lock[:1], true, false},
		{"type=0x82", overwritten(threshold, atType, 0x82), true, false},
		{"type=0xff", []byte{0xff, 1}, true, false},
		{"type=0x7f", []byte{0x7f, 1}, false, false},
		{"ed25519", sender(), false, false},
		{"empty", nil, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden.Equal(t, "IsScript", c.want, IsScript(c.owner))
			s, parseErr := Parse(c.owner)
			if c.parses != (parseErr == nil) || c.parses != (s != nil) {
				t.Errorf("parsed %v, %v", s, parseErr)
			}
			_, verifierErr := set.Verifier(c.owner)
			if c.want && !errors.Is(verifierErr, zkbench.ErrMalformed) {
				t.Errorf("a script, and package identity says %v", verifierErr)
			}
		})
	}
	if _, err := set.Verifier(sender()); err != nil {
		t.Errorf("plain identity: %v", err)
	}
	_, err := Parse(overwritten(threshold, atType, 0x82))
	mustDecodeError(t, err, "script.type", 0)
}

// TestIdentities: every kind of owner names its own, and one that is no script that it
// seems to be is refused.
func TestIdentities(t *testing.T) {
	t.Parallel()
	golden.Equal(t, "of a redeemed token", nil, must.Get(Identities(nil))(t))
	golden.Equal(t, "of a plain owner", []identity.Identity{ed(9)}, must.Get(Identities(ed(9)))(t))
	golden.Equal(t, "of a lock", []identity.Identity{sender(), recipient()}, must.Get(Identities(testLock(t).Owner()))(t))
	golden.Equal(t, "of a threshold", members(), must.Get(Identities(testThreshold(t).Owner()))(t))
	_, err := Identities(testThreshold(t).Owner()[:50])
	mustDecodeError(t, err, "script.members[1]", 50)
}

// outputs returns n outputs of that owner.
func outputs(n int, owner []byte) (out []token.Token) {
	for range n {
		out = append(out, token.Token{Owner: owner})
	}
	return out
}

// TestSigners: who signs, and where a script must not stand.
func TestSigners(t *testing.T) {
	t.Parallel()
	lock, threshold := testLock(t), testThreshold(t)
	claim := Witness{must.Get(Unlock{Claim, testPreimage}.Encode())(t), testPreimage}
	bare := Witness{Unlock: claim.Unlock} // as an auditor sees it
	reclaim := Witness{Unlock: must.Get(Unlock{Kind: Reclaim}.Encode())(t)}
	unlock := func(b ...byte) Witness { return Witness{Unlock: b} }
	before, after := unix(testDeadline-1, 0), unix(testDeadline, 0)
	type ids = []identity.Identity
	one := func(owner []byte) []token.Token { return outputs(1, owner) }
	for _, c := range []struct {
		name   string
		owner  []byte
		unlock Witness
		place  Place
		want   ids
		cause  error
	}{
		{"plain", ed(9), Witness{}, Place{Inputs: 3, Outputs: outputs(2, nil)}, ids{ed(9)}, nil},
		{"plain,preimage", ed(9), Witness{Preimage: testPreimage}, Place{Inputs: 1, Outputs: one(ed(9))}, nil, zkbench.ErrPolicy},
		{"plain,unlock", ed(9), unlock(2), Place{Inputs: 1, Outputs: one(ed(9))}, nil, zkbench.ErrPolicy},
		{"claim", lock.Owner(), claim, Place{At: before, Inputs: 1, Outputs: one(recipient())}, ids{recipient()}, nil},
		{"claim,late", lock.Owner(), claim, Place{At: after, Inputs: 1, Outputs: one(recipient())}, nil, zkbench.ErrPolicy},
		{"claim,any-time", lock.Owner(), claim, Place{At: after, AnyTime: true, Inputs: 1, Outputs: one(recipient())}, ids{recipient()}, nil},
		{"reclaim,any-time", lock.Owner(), reclaim, Place{AnyTime: true, Inputs: 1, Outputs: one(sender())}, ids{sender()}, nil},
		{"reclaim,early", lock.Owner(), reclaim, Place{At: before, Inputs: 1, Outputs: one(sender())}, nil, zkbench.ErrPolicy},
		{"claim,any-time,no preimage", lock.Owner(), bare, Place{AnyTime: true, Inputs: 1, Outputs: one(recipient())}, ids{recipient()}, nil},
		{"claim,any-time,no preimage,to=sender", lock.Owner(), bare, Place{AnyTime: true, Inputs: 1, Outputs: one(sender())}, nil, zkbench.ErrPolicy},
		{"claim,any-time,no preimage,inputs=2", lock.Owner(), bare, Place{AnyTime: true, Inputs: 2, Outputs: one(recipient())}, nil, zkbench.ErrPolicy},
		{"claim,any-time,another preimage", lock.Owner(), Witness{claim.Unlock, []byte("x")}, Place{AnyTime: true, Inputs: 1, Outputs: one(recipient())}, nil, zkbench.ErrPolicy},
		{"claim,no preimage", lock.Owner(), bare, Place{At: before, Inputs: 1, Outputs: one(recipient())}, nil, zkbench.ErrMalformed},
		{"reclaim,preimage", lock.Owner(), Witness{reclaim.Unlock, testPreimage}, Place{At: after, Inputs: 1, Outputs: one(sender())}, nil, zkbench.ErrMalformed},
		{"claim,inputs=2", lock.Owner(), claim, Place{At: before, Inputs: 2, Outputs: one(recipient())}, nil, zkbench.ErrPolicy},
		{"claim,outputs=2", lock.Owner(), claim, Place{At: before, Inputs: 1, Outputs: outputs(2, recipient())}, nil, zkbench.ErrPolicy},
		{"claim,outputs=0", lock.Owner(), claim, Place{At: before, Inputs: 1}, nil, zkbench.ErrPolicy},
		{"claim,to=sender", lock.Owner(), claim, Place{At: before, Inputs: 1, Outputs: one(sender())}, nil, zkbench.ErrPolicy},
		{"lock,unlock=none", lock.Owner(), Witness{}, Place{At: before, Inputs: 1, Outputs: one(recipient())}, nil, zkbench.ErrMalformed},
		{"lock,unlock=threshold's", lock.Owner(), unlock(0, 3), Place{At: before, Inputs: 1, Outputs: one(recipient())}, nil, zkbench.ErrMalformed},
		{"threshold,first-and-last", threshold.Owner(), unlock(0, 5), Place{Inputs: 3, Outputs: outputs(3, ed(9))}, ids{members()[0], members()[2]}, nil},
		{"threshold,first-two", threshold.Owner(), unlock(0, 3), Place{At: time.Time{}, Inputs: 1, Outputs: one(nil)}, ids(members()[:2]), nil},
		{"threshold,preimage", threshold.Owner(), Witness{[]byte{0, 3}, testPreimage}, Place{Inputs: 1}, nil, zkbench.ErrPolicy},
		{"threshold,unlock=none", threshold.Owner(), Witness{}, Place{Inputs: 1}, nil, zkbench.ErrMalformed},
		{"threshold,unlock=claim", threshold.Owner(), bare, Place{Inputs: 1}, nil, zkbench.ErrMalformed},
		{"script=none", threshold.Owner()[:9], unlock(0, 3), Place{Inputs: 1}, nil, zkbench.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Signers(c.owner, c.unlock, &c.place)
			if c.cause != nil {
				must.Fail(t, err, c.cause, "signers %x", got)
				return
			}
			golden.Equal(t, "signers", c.want, must.Get(got, err)(t))
		})
	}
}

// TestCheckGiven: where outputs of each kind of owner may stand, and when.
func TestCheckGiven(t *testing.T) {
	t.Parallel()
	lock, threshold := testLock(t).Owner(), testThreshold(t).Owner()
	before, after := unix(testDeadline-1, 0), unix(testDeadline, 0)
	for _, c := range []struct {
		name            string
		owner           []byte
		at              time.Time
		anyTime         bool
		inputs, outputs int
		cause           error
	}{
		{"redeemed", nil, after, false, 3, 3, nil},
		{"plain", ed(9), after, false, 3, 3, nil},
		{"lock", lock, before, false, 1, 1, nil},
		{"lock,late", lock, after, false, 1, 1, zkbench.ErrPolicy},
		{"lock,any-time", lock, after, true, 1, 1, nil},
		{"lock,issued", lock, before, false, 0, 1, nil},
		{"lock,issued,outputs=2", lock, before, false, 0, 2, zkbench.ErrPolicy},
		{"lock,inputs=2", lock, before, false, 2, 1, zkbench.ErrPolicy},
		{"lock,any-time,outputs=2", lock, before, true, 1, 2, zkbench.ErrPolicy},
		{"threshold", threshold, time.Time{}, false, 3, 3, nil},
		{"script=none", threshold[:9], before, true, 1, 1, zkbench.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckGiven(c.owner, &Place{At: c.at, AnyTime: c.anyTime, Inputs: c.inputs, Outputs: outputs(c.outputs, c.owner)})
			if c.cause == nil {
				must.Do(t, err)
				return
			}
			must.Fail(t, err, c.cause, "given")
		})
	}
}

// FuzzParse: any bytes are refused with a typed error, or are the encoding of one
// script, whose identities are plain.
func FuzzParse(f *testing.F) {
	for _, owner := range [][]byte{testLock(f).Owner(), testThreshold(f).Owner(), sender(), {0x82}, {}} {
		f.Add(owner)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			mustDecodeError(t, err, "", len(data))
			return
		}
		if !bytes.Equal(s.Owner(), data) || !IsScript(data) {
			t.Fatal("another owner")
		}
		for _, id := range s.Identities() {
			if !isPlain(id) {
				t.Fatalf("names %x", id)
			}
		}
	})
}

func ExampleSigners() {
	a, b, c := identity.Identity{2, 0xaa}, identity.Identity{2, 0xbb}, identity.Identity{2, 0xcc}
	two, err := NewThreshold(2, a, b, c)
	if err != nil {
		return
	}
	unlock, err := two.Unlock(c, a)
	if err != nil {
		return
	}
	signers, err := Signers(two.Owner(), Witness{Unlock: unlock}, &Place{Inputs: 1})
	fmt.Printf("%x\n%x\n%x %v\n", two.Owner(), unlock, signers, err)
	// Output:
	// 81010203000202aa000202bb000202cc
	// 0005
	// [02aa 02cc] <nil>
}

package script

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/identity"
)

func unix(s, ns int64) time.Time { return time.Unix(s, ns).UTC() }

func wantPolicy(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, zkbench.ErrPolicy) || errors.Is(err, zkbench.ErrMalformed) {
		t.Errorf("error %v, want an ErrPolicy", err)
	}
}

// TestBoundary: around the deadline, locks and claims end with the last instant
// before it, and reclaims begin with it.
func TestBoundary(t *testing.T) {
	t.Parallel()
	h := testLock(t)
	deadline := unix(testDeadline, 0)
	for _, c := range []struct {
		name   string
		at     time.Time
		before bool
	}{
		{"1970", unix(0, 0), true},
		{"deadline-1s", deadline.Add(-time.Second), true},
		{"deadline-1ns", deadline.Add(-1), true},
		{"deadline", deadline, false},
		{"deadline,zone=+14h", deadline.In(time.FixedZone("east", 14*3600)), false},
		{"deadline-1s,zone=-12h", deadline.Add(-time.Second).In(time.FixedZone("west", -12*3600)), true},
		{"deadline+1ns", deadline.Add(1), false},
		{"deadline+1s", deadline.Add(time.Second), false},
		{"max", unix(MaxTime, 999_999_999), false},
	} {
		t.Run("at="+c.name, func(t *testing.T) {
			claimer, claimErr := h.Signer(c.at, Unlock{Claim, testPreimage})
			reclaimer, reclaimErr := h.Signer(c.at, Unlock{Kind: Reclaim})
			if lockErr := h.CheckLock(c.at); (lockErr == nil) != c.before {
				t.Errorf("lock: %v", lockErr)
			} else if !c.before {
				wantPolicy(t, lockErr)
			}
			if c.before {
				if claimErr != nil || !bytes.Equal(claimer, recipient()) {
					t.Errorf("claim by %x, %v", claimer, claimErr)
				}
				if reclaimer != nil {
					t.Errorf("reclaim by %x", reclaimer)
				}
				wantPolicy(t, reclaimErr)
				return
			}
			if reclaimErr != nil || !bytes.Equal(reclaimer, sender()) {
				t.Errorf("reclaim by %x, %v", reclaimer, reclaimErr)
			}
			if claimer != nil {
				t.Errorf("claim by %x", claimer)
			}
			wantPolicy(t, claimErr)
		})
	}
}

// TestBlockTime: times that are no block's are refused for everything, so that a
// time forgotten or in other units unlocks nothing.
func TestBlockTime(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Time{
		"zero":         {},
		"1970-1ns":     unix(0, -1),
		"max+1s":       unix(MaxTime+1, 0),
		"milliseconds": unix(testDeadline*1000, 0),
		"2^63-1":       unix(math.MaxInt64, 999_999_999),
		"-2^63":        unix(math.MinInt64, 0),
	} {
		for _, deadline := range []uint64{1, testDeadline, MaxTime} {
			t.Run(fmt.Sprintf("at=%s,deadline=%d", name, deadline), func(t *testing.T) {
				image := must.Get(Image(testPreimage))(t)
				h := must.Get(NewHashLock(image, deadline, sender(), recipient()))(t)
				for _, u := range []Unlock{{Claim, testPreimage}, {Kind: Reclaim}} {
					id, err := h.Signer(at, u)
					if id != nil {
						t.Errorf("%v by %x", u.Kind, id)
					}
					wantPolicy(t, err)
				}
				wantPolicy(t, h.CheckLock(at))
			})
		}
	}
}

// TestPreimage: only the preimage claims. Lengths that no claim may have are
// refused as malformed, even those whose hash is the image.
func TestPreimage(t *testing.T) {
	t.Parallel()
	at := unix(testDeadline-1, 0)
	h := testLock(t)
	for name, preimage := range map[string][]byte{
		"prefix":    testPreimage[:len(testPreimage)-1],
		"longer":    append(slices.Clone(testPreimage), 0),
		"first-bit": overwritten(testPreimage, 0, testPreimage[0]^1),
		"last-bit":  overwritten(testPreimage, len(testPreimage)-1, testPreimage[len(testPreimage)-1]^0x80),
		"image":     func() []byte { i := h.Image(); return i[:] }(),
	} {
		t.Run("preimage="+name, func(t *testing.T) {
			id, err := h.Signer(at, Unlock{Claim, preimage})
			if id != nil {
				t.Errorf("claim by %x", id)
			}
			wantPolicy(t, err)
		})
	}
	for _, n := range []int{0, MaxPreimage + 1, 1 << 16} {
		t.Run(fmt.Sprintf("length=%d", n), func(t *testing.T) {
			preimage := make([]byte, n)
			h := must.Get(NewHashLock(sha(preimage), testDeadline, sender(), recipient()))(t)
			_, err := h.Signer(at, Unlock{Claim, preimage})
			mustDecodeError(t, err, "unlock.preimage", n+1)
		})
	}
	for _, n := range []int{1, MaxPreimage} {
		t.Run(fmt.Sprintf("length=%d", n), func(t *testing.T) {
			preimage := make([]byte, n)
			h := must.Get(NewHashLock(sha(preimage), testDeadline, sender(), recipient()))(t)
			golden.Equal(t, "who claims", recipient(), must.Get(h.Signer(at, Unlock{Claim, preimage}))(t))
		})
	}
}

// TestExactlyOne: at any time, for any deadline, with the preimage at hand, exactly
// one kind unlocks, and for the side of the deadline that the time is on.
func TestExactlyOne(t *testing.T) {
	t.Parallel()
	image := must.Get(Image(testPreimage))(t)
	rapid.Check(t, func(t *rapid.T) {
		deadline := rapid.Int64Range(1, MaxTime).Draw(t, "deadline")
		s := rapid.OneOf(rapid.Int64Range(0, MaxTime), rapid.Int64Range(max(0, deadline-2), min(MaxTime, deadline+2))).Draw(t, "at")
		at := unix(s, rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		h := must.Get(NewHashLock(image, uint64(deadline), sender(), recipient()))(t)
		claimer, claimErr := h.Signer(at, Unlock{Claim, testPreimage})
		reclaimer, reclaimErr := h.Signer(at, Unlock{Kind: Reclaim})
		if before := at.Before(unix(deadline, 0)); before != (claimErr == nil) || before == (reclaimErr == nil) {
			t.Fatalf("before=%v: claim %v, reclaim %v", before, claimErr, reclaimErr)
		}
		if (claimer == nil) == (reclaimer == nil) {
			t.Fatalf("signers %x and %x", claimer, reclaimer)
		}
	})
}

// TestCheckShape: one input and one output, nothing else.
func TestCheckShape(t *testing.T) {
	t.Parallel()
	for inputs := range 4 {
		for outputs := range 4 {
			t.Run(fmt.Sprintf("inputs=%d,outputs=%d", inputs, outputs), func(t *testing.T) {
				err := CheckShape(inputs, outputs)
				if inputs == 1 && outputs == 1 {
					must.Do(t, err)
					return
				}
				wantPolicy(t, err)
			})
		}
	}
	wantPolicy(t, CheckShape(-1, -1))
}

// TestCheckOutput: the output of a claim is the recipient's and that of a reclaim
// the sender's.
func TestCheckOutput(t *testing.T) {
	t.Parallel()
	h := testLock(t)
	for kind, parties := range map[Kind][2]identity.Identity{
		Claim:   {h.Recipient(), h.Sender()},
		Reclaim: {h.Sender(), h.Recipient()},
	} {
		signer, other := parties[0], parties[1]
		for _, c := range []struct {
			name  string
			owner []byte
			ok    bool
		}{
			{"signer", signer, true},
			{"other-party", other, false},
			{"stranger", ed(3), false},
			{"redeem", nil, false},
			{"script", h.Owner(), false},
			{"prefix", signer[:len(signer)-1], false},
			{"longer", append(slices.Clone(signer), 0), false},
		} {
			t.Run(fmt.Sprintf("kind=%v,owner=%s", kind, c.name), func(t *testing.T) {
				err := checkOutput(signer, c.owner)
				if c.ok != (err == nil) {
					t.Error(err)
				}
				if !c.ok {
					wantPolicy(t, err)
				}
			})
		}
	}
	wantPolicy(t, checkOutput(nil, nil))
	wantPolicy(t, checkOutput(h.Owner(), h.Owner()))
}

// TestZeroLock: the zero HashLock names no signer that could sign or own.
func TestZeroLock(t *testing.T) {
	t.Parallel()
	h := new(HashLock)
	at := unix(testDeadline, 0)
	_, err := h.Signer(at, Unlock{Claim, testPreimage})
	wantPolicy(t, err)
	id := must.Get(h.Signer(at, Unlock{Kind: Reclaim}))(t)
	must.FailGet(must.Get(identity.NewSet(1, nil))(t).Verifier(id))(t, zkbench.ErrMalformed, "signer %x", id)
	wantPolicy(t, checkOutput(id, id))
}

// TestErrorsKeepTheWitness: no error text repeats a preimage, and in a CheckError the
// cause is still found.
func TestErrorsKeepTheWitness(t *testing.T) {
	t.Parallel()
	h := testLock(t)
	secret := []byte("not the preimage")
	_, wrong := h.Signer(unix(0, 0), Unlock{Claim, secret})
	_, late := h.Signer(unix(testDeadline, 0), Unlock{Claim, secret})
	_, long := h.Signer(unix(0, 0), Unlock{Claim, bytes.Repeat(secret, 9)})
	for name, err := range map[string]error{"wrong": wrong, "late": late, "long": long} {
		if err == nil || bytes.Contains([]byte(err.Error()), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantPolicy(t, &zkbench.CheckError{Check: "time lock", Action: 1, Index: 0, Err: late})
}

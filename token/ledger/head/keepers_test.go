package head_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/policy"
)

// busy is a ledger that grows before each call of Sign of any of its keepers, which have one interval.
type busy struct {
	*keeps
	policy  *token.Policy
	keepers []*head.Keeper
	rng     *rand.Rand
	sizes   []uint64 // of the log, at the end of each round
	counted []byte   // the head that a follower saw last
}

// newBusy returns a ledger with validators a, b, c, ...
func newBusy(t testing.TB, threshold, validators int) *busy {
	b := &busy{keeps: newKeeps(t), rng: rand.New(rand.NewPCG(uint64(threshold), uint64(validators)))}
	var names []string
	for i := range validators {
		names = append(names, string(rune('a'+i)))
	}
	b.policy = policyOf(threshold, names...)
	for _, name := range names {
		b.keepers = append(b.keepers, b.keeper(name, b.policy))
	}
	return b
}

// rounds has the keepers sign in an order that is new in each round, one round per interval. A follower reads the
// head after each signature: it never meets a head that does not count, or one that is smaller than what it has seen.
// With a lag, the head that counts has at the end of each round what the log had so many rounds before.
func (b *busy) rounds(n, lag int, alive ...*head.Keeper) {
	b.t.Helper()
	for range n {
		for _, i := range b.rng.Perm(len(alive)) {
			b.now = b.now.Add(head.DefaultInterval / time.Duration(len(alive)))
			ledgertest.Apply(b.t, b, ledgertest.Issue(fmt.Sprint("record of ", b.now.UnixNano()), 1))
			must.Get(alive[i].Sign(b.t.Context()))(b.t)
			b.follow()
		}
		b.round(lag)
	}
}

// round ends a round.
func (b *busy) round(lag int) {
	b.t.Helper()
	b.sizes = append(b.sizes, ledgertest.State(b.t, b).Last+1)
	if r := len(b.sizes) - 1 - lag; lag > 0 && r >= 0 {
		if got := b.open(b.policy).Size; got < b.sizes[r] {
			b.t.Errorf("round %d: the head that counts has %d leaves, the log had %d %d rounds ago", len(b.sizes), got, b.sizes[r], lag)
		}
	}
}

// follow reads the head as a follower does.
func (b *busy) follow() {
	b.t.Helper()
	signed := must.Get(b.Head(b.t.Context()))(b.t)
	if signed == nil && b.counted == nil {
		return
	}
	h := must.Get(head.Open(signed, b.Genesis().ID(), b.policy))(b.t)
	if b.counted != nil && h.Size < must.Get(head.ParseSigned(b.counted))(b.t).Size {
		b.t.Errorf("%v after\n%s", h.Head, b.counted)
	}
	b.counted = signed
}

// proposed returns the newest head.
func (b *busy) proposed() head.Head {
	b.t.Helper()
	return must.Get(head.ParseSigned(must.Get(b.Proposed(b.t.Context()))(b.t)))(b.t)
}

// TestKeepersOfBusyLedger: on a ledger that grows all the time, the head that counts keeps up if enough validators
// sign. Else it stays, the proposals go on, and it keeps up again when they are back.
func TestKeepersOfBusyLedger(t *testing.T) {
	t.Parallel()
	b := newBusy(t, 3, 4)
	b.rounds(12, 3, b.keepers...)
	b.rounds(12, 3, b.keepers[1:]...)
	b.rounds(1, 0, b.keepers[:2]...)
	before := string(b.counted)
	proposals := make(map[head.Head]bool)
	for range 25 {
		b.rounds(1, 0, b.keepers[:2]...)
		proposals[b.proposed()] = true
	}
	golden.Equal(t, "the head that counts, of two validators of four", before, string(b.counted))
	if n := len(proposals); n != 3 { // the first, and one each ten intervals
		t.Errorf("%d proposals in 25 intervals", n)
	}
	b.rounds(3, 0, b.keepers...)
	b.rounds(6, 3, b.keepers...)
}

// TestKeepersInStep: validators who read at the same moment lose signatures to each other, one after another counts
// nevertheless. The wait for signatures is shorter than what a head needs, and begins anew with each one.
func TestKeepersInStep(t *testing.T) {
	t.Parallel()
	const validators, threshold = 7, 5
	b := newBusy(t, threshold, validators)
	seen := &snapshot{busy: b}
	for _, k := range b.keepers {
		k.Store, k.Wait = seen, 3*head.DefaultInterval
	}
	for i := range 24 {
		b.now = b.now.Add(head.DefaultInterval)
		ledgertest.Apply(t, b, ledgertest.Issue(fmt.Sprint("record ", i), 1))
		seen.head, seen.proposed = must.Get(b.Head(t.Context()))(t), must.Get(b.Proposed(t.Context()))(t)
		for _, k := range b.rng.Perm(validators) {
			must.Get(b.keepers[k].Sign(t.Context()))(t)
			b.follow()
		}
		b.round(2 * threshold)
	}
}

// snapshot shows the heads as they were.
type snapshot struct {
	*busy
	head, proposed []byte
}

func (s *snapshot) Head(context.Context) ([]byte, error)     { return s.head, nil }
func (s *snapshot) Proposed(context.Context) ([]byte, error) { return s.proposed, nil }

// TestKeepersOfQuietLedger: the head of a ledger that does not grow gets newer each minute, and counts all the time.
func TestKeepersOfQuietLedger(t *testing.T) {
	t.Parallel()
	b := newBusy(t, 3, 4)
	b.rounds(3, 0, b.keepers...)
	quiet := func() (due int) {
		t.Helper()
		for _, k := range b.keepers {
			b.now = b.now.Add(time.Second)
			if must.Get(k.Sign(t.Context()))(t) {
				due++
			}
			b.follow()
		}
		return due
	}
	for range 3 { // until all have signed the last head
		quiet()
	}
	last := ledgertest.State(t, b)
	for range 3 {
		golden.Equal(t, "due, soon after", 0, quiet())
		b.now = b.now.Add(head.DefaultAgain)
		golden.Equal(t, "due, a minute later", 4, quiet())
		h := b.open(b.policy)
		golden.Equal(t, "size", last.Last+1, h.Size)
		golden.Equal(t, "signatures", 4, len(h.Validators))
		golden.Equal(t, "time, of the third newest", b.now.Add(-2*time.Second).Truncate(time.Second), h.Time)
	}
}

// TestKeepersWaitForProgress: somebody who takes signatures off a proposal again and again does not prolong the wait.
func TestKeepersWaitForProgress(t *testing.T) {
	t.Parallel()
	b := newBusy(t, 3, 3)
	a := b.keepers[0]
	must.Get(a.Sign(t.Context()))(t)
	alone, first := must.Get(b.Proposed(t.Context()))(t), b.proposed()
	must.Get(b.keepers[1].Sign(t.Context()))(t)
	two := must.Get(b.Proposed(t.Context()))(t)
	for i := range 12 {
		must.Do(t, b.PutHead(t.Context(), first.Size, [][]byte{alone, two}[i%2], false))
		b.rounds(1, 0, a)
		golden.Equal(t, fmt.Sprint("interval ", i, ": a newer proposal"), i == 11, b.proposed() != first)
	}
}

// TestKeepersOfUpdates: the validators of the policy that is in force at a head's size sign it, and the others stop.
func TestKeepersOfUpdates(t *testing.T) {
	t.Parallel()
	first := token.DefaultPolicy()
	first.Administrators = token.Administrators{Identities: [][]byte{signerOf(t, "administrator").Identity()}, Threshold: 1}
	named := func(p *token.Policy, names ...string) {
		sorted := policyOf(2, names...)
		p.Validators, p.HeadThreshold = sorted.Validators, 2
	}
	named(&first, "anna", "ben", "carl")
	genesis := ledger.Genesis{Policy: must.Get(first.Digest())(t)}
	k := newKeepsOf(t, genesis)
	anna, ben, carl, dora := k.keeper("anna", &first), k.keeper("ben", &first), k.keeper("carl", &first), k.keeper("dora", &first)
	sign := func(who *head.Keeper, due bool) {
		t.Helper()
		golden.Equal(t, "due", due, must.Get(who.Sign(t.Context()))(t))
	}
	record := func(p *token.Policy, e ledger.Entry) {
		t.Helper()
		e.Time, e.PolicyDigest = noon, must.Get(p.Digest())(t)
		if !e.Update {
			e.Policy = p.Version
		}
		ledgertest.Apply(t, k, e)
	}
	record(&first, ledgertest.Issue("a", 1))
	sign(dora, false)
	sign(anna, true)
	sign(ben, true)
	golden.Equal(t, "size", 2, k.open(&first).Size)
	record(&first, ledgertest.Issue("b", 1))
	sign(carl, true) // the head that counts
	sign(anna, true) // a proposal of three leaves, which the next validators leave behind
	old := must.Get(k.Proposed(t.Context()))(t)

	next := first.Clone()
	named(next, "anna", "dora", "emil")
	u := must.Get(policy.New(genesis.ID(), &first, next))(t)
	must.Do(t, u.Sign(&first, signerOf(t, "administrator")))
	record(&u.Policy, must.Get(entry.FromUpdate(u, must.Get(u.Encode())(t)))(t))
	for _, gone := range []*head.Keeper{ben, carl} {
		sign(gone, false)
	}
	golden.Equal(t, "the proposal of before", string(old), string(must.Get(k.Proposed(t.Context()))(t)))
	sign(dora, true)
	golden.Equal(t, "size of her proposal", 4, must.Get(head.ParseSigned(must.Get(k.Proposed(t.Context()))(t)))(t).Size)
	golden.Equal(t, "size that counts, under the policy of before", 2, k.open(&first).Size)
	emil := k.opened(k.state("emil"), "emil", &u.Policy) // who begins with the policy that is current
	sign(emil, true)
	golden.Equal(t, "size", 4, k.open(&u.Policy).Size)
	sign(anna, true)
	golden.Equal(t, "validators", 3, len(k.open(&u.Policy).Validators))

	// A ledger without the update, or with something else in its place.
	lacking := newKeepsOf(t, genesis)
	dora.Store = lacking
	must.FailGet(dora.Sign(t.Context()))(t, head.ErrShorter, "without what was signed")
	must.FailGet(lacking.keeper("dora", &u.Policy).Sign(t.Context()))(t, ledger.ErrRolledBack, "a policy that is not there")
	forged := ledgertest.Update(0)
	forged.Anchor = policy.Anchor(1)
	ledgertest.Apply(t, lacking, forged)
	must.FailGet(lacking.keeper("anna", &first).Sign(t.Context()))(t, zkbench.ErrMalformed, "an update that is none")
}

// TestKeeperClock: a clock that is set far forward is reported, and nothing is signed until it is right again.
func TestKeeperClock(t *testing.T) {
	t.Parallel()
	k := newKeeps(t)
	p := policyOf(1, "anna")
	anna := k.keeper("anna", p)
	at := func(after time.Duration) error {
		k.now = noon.Add(after)
		ledgertest.Apply(t, k, ledgertest.Issue(fmt.Sprint("record ", ledgertest.State(t, k).Last), 1))
		_, err := anna.Sign(t.Context())
		return err
	}
	must.Do(t, at(0))
	must.Do(t, at(head.MaxClockStep))
	must.Do(t, at(0), "set back")
	last := string(anna.Signer.Last())
	for range 2 {
		err := at(2*head.MaxClockStep + time.Second)
		e, ok := errors.AsType[*head.ClockError](err)
		if !ok || e.Clock.Sub(e.Last) != head.MaxClockStep+time.Second || !errors.Is(err, zkbench.ErrEnv) {
			t.Errorf("%v, want the step of the clock", err)
		}
	}
	golden.Equal(t, "last signed", last, string(anna.Signer.Last()))
	must.Do(t, at(2*head.MaxClockStep), "set right")
	golden.Equal(t, "time", noon.Add(2*head.MaxClockStep), k.open(p).Time)
	anna = &head.Keeper{Store: k, Signer: anna.Signer, Policy: p, Clock: anna.Clock}
	must.Do(t, at(100*head.MaxClockStep), "a validator that was started again")
}

// TestKeepersNoticeTwoRoots: two validators on ledgers of different roots store heads of one size in one place. Whoever
// comes second notices it, and what the other one has signed stays.
func TestKeepersNoticeTwoRoots(t *testing.T) {
	t.Parallel()
	for _, threshold := range []int{1, 2} {
		k, other := newKeeps(t), newKeeps(t)
		p := policyOf(threshold, "anna", "ben")
		ledgertest.Apply(t, k, ledgertest.Issue("a", 1))
		ledgertest.Apply(t, other, ledgertest.Issue("b", 1))
		anna, ben := k.keeper("anna", p), other.keeper("ben", p)
		ben.Store = &elsewhere{Store: other, heads: k}
		must.Get(anna.Sign(t.Context()))(t)
		_, err := ben.Sign(t.Context())
		e, ok := errors.AsType[*head.Contradiction](err)
		if !ok || !errors.Is(err, head.ErrForked) || !bytes.Equal(e.Kept, anna.Signer.Last()) {
			t.Errorf("%v, want the head that Anna has signed", err)
		}
		golden.Equal(t, "newest head", string(anna.Signer.Last()), string(must.Get(k.Proposed(t.Context()))(t)))
	}
}

// elsewhere is a ledger whose heads are those of another one.
type elsewhere struct {
	ledger.Store
	heads ledger.Store
}

func (e *elsewhere) Head(ctx context.Context) ([]byte, error)     { return e.heads.Head(ctx) }
func (e *elsewhere) Proposed(ctx context.Context) ([]byte, error) { return e.heads.Proposed(ctx) }
func (e *elsewhere) PutHead(ctx context.Context, leaves uint64, signed []byte, counts bool) error {
	return e.heads.PutHead(ctx, leaves, signed, counts)
}

// TestKeepersPassOverOldHeads: somebody who stores older heads in turn, which do not count and which nobody signs any
// more, does not keep the Keepers from making newer ones.
func TestKeepersPassOverOldHeads(t *testing.T) {
	t.Parallel()
	b := newBusy(t, 3, 4)
	var old [][]byte
	for range 2 {
		must.Get(b.keepers[0].Sign(t.Context()))(t) // it adds to the last proposal, or makes a new one
		old = append(old, b.keepers[0].Signer.Last())
		b.rounds(3, 3, b.keepers...)
	}
	before := b.open(b.policy).Size
	for i := range 40 {
		must.Do(t, b.PutHead(t.Context(), ledgertest.State(t, b).Last+1, old[i%2], false))
		b.rounds(1, 40, b.keepers...)
	}
	if after := b.open(b.policy).Size; after < before+80 {
		t.Errorf("the head that counts has %d leaves, and %d after 160 more records", before, after)
	}
}

// TestKeepersWithoutSignatures: somebody who takes a Keeper's signature off a proposal again and again keeps it from newer
// heads only as long as Wait.
func TestKeepersWithoutSignatures(t *testing.T) {
	t.Parallel()
	b := newBusy(t, 3, 3)
	must.Get(b.keepers[0].Sign(t.Context()))(t)
	alone, first := must.Get(b.Proposed(t.Context()))(t), b.proposed()
	for i := range 11 {
		must.Do(t, b.PutHead(t.Context(), first.Size, alone, false))
		b.rounds(1, 0, b.keepers[1])
		golden.Equal(t, fmt.Sprint("interval ", i, ": a newer proposal"), i == 10, b.proposed() != first)
	}
}

// TestKeepersMendCounted: if the head that counts was overwritten, the next call stores it again.
func TestKeepersMendCounted(t *testing.T) {
	t.Parallel()
	b := newBusy(t, 1, 1)
	must.Get(b.keepers[0].Sign(t.Context()))(t)
	h := b.open(b.policy)
	must.Do(t, b.PutHead(t.Context(), h.Size, []byte("junk"), true))
	must.Do(t, b.PutHead(t.Context(), h.Size, b.keepers[0].Signer.Last(), false))
	golden.Equal(t, "due", true, must.Get(b.keepers[0].Sign(t.Context()))(t))
	golden.Equal(t, "head", h.Head, b.open(b.policy).Head)
	golden.Equal(t, "due again", false, must.Get(b.keepers[0].Sign(t.Context()))(t))
}

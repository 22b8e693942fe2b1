package validator_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/validator"
)

func signerNamed(t must.TB, name string) identity.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	return must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(t)
}

// governed is a system on a ledger in a file. It has three administrators, two of whom can change its
// policy.
type governed struct {
	*system
	l *bolt.Ledger
}

func newGoverned(t testing.TB) *governed {
	t.Helper()
	s := newSystem(t, token.RedeemIssuer, func(p *token.Policy) {
		p.Administrators.Threshold = 2
		for _, name := range []string{"anna", "ben", "carl"} {
			p.Administrators.Identities = append(p.Administrators.Identities, signerNamed(t, name).Identity())
		}
		slices.SortFunc(p.Administrators.Identities, bytes.Compare)
	})
	l := must.Get(bolt.Create(filepath.Join(t.TempDir(), replay.FileName), ledgertest.Genesis(t, s.params)))(t)
	t.Cleanup(func() { _ = l.Close() })
	return &governed{s, l}
}

// issue returns a signed request that issues values.
func (g *governed) issue(anchor string, values ...uint64) (raw []byte, openings []token.Opening) {
	g.Helper()
	r, openings := g.issued(anchor, values...)
	return g.sign(r), openings
}

// update returns a signed and encoded update of a policy.
func (g *governed) update(current *token.Policy, edit func(p *token.Policy), names ...string) []byte {
	g.Helper()
	next := current.Clone()
	edit(next)
	u := must.Get(policy.New(g.id, current, next))(g)
	for _, name := range names {
		must.Do(g, u.Sign(current, signerNamed(g, name)))
	}
	return must.Get(u.Encode())(g)
}

// land submits a request that must be accepted, and keeps the openings of the tokens that it creates.
func (g *governed) land(raw []byte, openings ...token.Opening) *ledgers.Record {
	g.Helper()
	v := g.landed(g.v, raw)
	must.Do(g, v.Err)
	for i, c := range v.Record.Creates {
		g.system.ledger[string(c.ID)], g.openings[string(c.ID)] = c.Token, openings[i]
	}
	return v.Record
}

// landed submits a request to a validator and returns the verdict.
func (g *governed) landed(v *validator.Validator, raw []byte) ledgers.Verdict {
	g.Helper()
	return g.submit(v, g.at, raw)[0]
}

// submit submits requests to a validator whose clock does not move.
func (g *governed) submit(v *validator.Validator, clock time.Time, raws ...[]byte) []ledgers.Verdict {
	g.Helper()
	s := must.Get(validator.NewSubmitter(v, g.l, func() time.Time { return clock }))(g)
	return must.Get(s.Submit(g.Context(), raws))(g)
}

// another returns a second validator of the same ledger, as in another process.
func (g *governed) another() *validator.Validator {
	g.Helper()
	return must.Get(validator.New(g.params, g.l.Genesis(), executor.Serial(), smallTables, 100))(g)
}

func newIssuer(s identity.Signer) func(p *token.Policy) {
	return func(p *token.Policy) { p.Issuers = ledgertest.Issuers(s.Identity()) }
}

// TestStolenIssuerKey: the key issues until it is replaced, and nothing from then on; what it has issued before is spent, by
// validators that have followed, and the log is valid from its first entry on, each under the policy of its time.
func TestStolenIssuerKey(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	stolen, fresh := g.issuer, signerNamed(t, "another issuer")
	raw, openings := g.issue("a", 100, 50)
	a := g.land(raw, openings...)
	late := g.another()
	raw, _ = g.issue("b", 100)
	landed := g.land(g.update(g.v.Policy(), newIssuer(fresh), "anna", "carl"))
	if !landed.Update || landed.Policy != 0 || g.v.Policy().Version != 1 {
		t.Errorf("%+v", landed)
	}
	want(t, "the stolen key", g.landed(g.v, raw).Err, validator.Issuers, 0, -1, zkbench.ErrPolicy)
	// A validator that has not followed accepts it; the ledger does not.
	behind := must.Get(late.Validate(t.Context(), g.l, raw, g.at))(t)
	want(t, "the stolen key, at a validator of before", g.l.Apply(t.Context(), []ledgers.Entry{behind.Entry()}), "policy", 0, -1, zkbench.ErrPolicy)
	want(t, "landed there", g.landed(late, raw).Err, validator.Issuers, 0, -1, zkbench.ErrPolicy)

	g.issuer = fresh
	raw, openings = g.issue("c", 7)
	g.land(raw, openings...)
	moved, opened := g.moved("d", 0, "", []token.ID{a.Creates[0].ID}, output(g.owners[1].Identity(), 100))
	g.land(g.sign(&request.Request{Anchor: []byte("d"), Actions: []request.Action{moved}}, g.owners[:1]), opened...)
	report, err := replay.Verify(t.Context(), g.l, g.params, func(uint64, uint64) {})
	if err != nil || report.Edge.Last() != 4 || policyOf(report) != 1 || !report.Validated {
		t.Errorf("%+v, %v", report, err)
	}

	// A log in which the stolen key has issued under the policy that replaced it, or said to be under the one before.
	g.issuer, g.ahead = stolen, ^uint64(0) // by an auditor of the policy before
	raw, _ = g.issue("e", 1)
	forged := must.Get(g.another().Validate(t.Context(), g.l, raw, g.at))(t).Entry()
	forged.Policy, forged.PolicyDigest = 1, ledgertest.State(t, g.l).PolicyDigest
	must.Do(t, g.l.Apply(t.Context(), []ledgers.Entry{forged}))
	_, err = replay.Verify(t.Context(), g.l, g.params, func(uint64, uint64) {})
	if corrupt, ok := errors.AsType[*ledgers.CorruptError](err); !ok || corrupt.Place != "request 5" {
		t.Errorf("an issue of the stolen key in the log: %v", err)
	}
}

// TestLocksOutliveOwnerKinds: what stands in a hash time lock whose parties are of a kind that the policy allows no more is still theirs:
// its output can have no other owner. Nobody else is given a token of that kind.
func TestLocksOutliveOwnerKinds(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, openings := g.issue("a", 100, 50)
	made := g.land(raw, openings...).Creates
	alice, bob, preimage := g.owners[0], g.owners[1], []byte("a secret")
	deadline := g.at.Add(time.Hour)
	lock := must.Get(script.NewHashLock(must.Get(script.Image(preimage))(t), uint64(deadline.Unix()), alice.Identity(), bob.Identity()))(t)
	move := func(anchor string, at time.Time, unlock script.Witness, id token.ID, value uint64, owner identity.Identity, by identity.Signer) (ledgers.Verdict, []token.Opening) {
		a, opened := g.moved(anchor, 0, "", []token.ID{id}, output(owner, value))
		a.Spends[0].Unlock, a.Spends[0].Preimage = unlock.Unlock, unlock.Preimage
		raw := g.sign(&request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}, []identity.Signer{by})
		return g.submit(g.v, at, raw)[0], opened
	}
	var locked []token.ID
	for i, id := range []token.ID{made[0].ID, made[1].ID} {
		r, opened := move(fmt.Sprint("lock ", i), g.at, script.Witness{}, id, []uint64{100, 50}[i], lock.Owner(), g.owners[i])
		must.Do(t, r.Err)
		c := r.Record.Creates[0]
		g.system.ledger[string(c.ID)], g.openings[string(c.ID)], locked = c.Token, opened[0], append(locked, c.ID)
	}
	raw, openings = g.issue("b", 7)
	plain := g.land(raw, openings...).Creates[0].ID
	g.land(g.update(g.v.Policy(), func(p *token.Policy) { p.Owners = token.OwnerPseudonym | token.OwnerHashLock }, "anna", "ben"))

	r, _ := move("pay", g.at, script.Witness{}, plain, 7, bob.Identity(), alice)
	want(t, "a payment to a kind that is not allowed", r.Err, validator.OutputOwners, 0, 0, zkbench.ErrPolicy)
	r, _ = move("lock again", g.at, script.Witness{}, plain, 7, lock.Owner(), alice)
	want(t, "a lock of a kind that is not allowed", r.Err, validator.OutputOwners, 0, 0, zkbench.ErrPolicy)
	r, _ = move("claim", g.at, script.Witness{Unlock: []byte{byte(script.Claim)}, Preimage: preimage}, locked[0], 100, bob.Identity(), bob)
	must.Do(t, r.Err)
	r, _ = move("reclaim", deadline, script.Witness{Unlock: []byte{byte(script.Reclaim)}}, locked[1], 50, alice.Identity(), alice)
	must.Do(t, r.Err)
}

// TestForgedUpdateInLog: an update that too few have signed is found by whoever validates the log, and adopted by nobody.
func TestForgedUpdateInLog(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	u := must.Get(policy.Decode(g.update(g.v.Policy(), newIssuer(signerNamed(t, "thief")), "anna")))(t)
	e := ledgers.Entry{Anchor: policy.Anchor(1), Digest: must.Get(u.Digest())(t), Time: g.at, Request: must.Get(u.Encode())(t), Update: true}
	must.Do(t, g.l.Apply(t.Context(), []ledgers.Entry{e}))
	err := g.v.Follow(t.Context(), g.l)
	want(t, "followed", err, policy.Threshold, -1, -1, zkbench.ErrPolicy)
	golden.Equal(t, "version", 0, g.v.Policy().Version)
	raw, _ := g.issue("a", 1)
	err = g.landed(g.v, raw).Err
	want(t, "landing behind it", err, "policy", -1, -1, zkbench.ErrPolicy)
	golden.Contains(t, err.Error(), "cannot be followed: "+policy.Threshold)
	_, err = replay.Verify(t.Context(), g.l, g.params, func(uint64, uint64) {})
	if corrupt, ok := errors.AsType[*ledgers.CorruptError](err); !ok || corrupt.Place != "request 1" {
		t.Errorf("verified: %v", err)
	}

	// A request that the log says to be an update makes no policy.
	g = newGoverned(t)
	raw, _ = g.issue("a", 1)
	e = must.Get(g.v.Validate(t.Context(), g.l, raw, g.at))(t).Entry()
	e.Update = true
	must.Do(t, g.l.Apply(t.Context(), []ledgers.Entry{e}))
	_, err = replay.Verify(t.Context(), g.l, g.params, func(uint64, uint64) {})
	if corrupt, ok := errors.AsType[*ledgers.CorruptError](err); !ok || corrupt.Place != "request 1" {
		t.Errorf("a request as an update: %v", err)
	}
}

// TestUpdatesRefused: an update of another ledger, one that was withheld, the second of two, and one by too few.
func TestUpdatesRefused(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	start := g.v.Policy()
	narrow := func(p *token.Policy) { p.Limits.Metadata = 5 }
	withheld := g.update(start, newIssuer(signerNamed(t, "thief")), "anna", "ben")
	mine := g.update(start, narrow, "anna", "ben")
	validate := func(raw []byte) error {
		_, err := g.v.Validate(t.Context(), g.l, raw, g.at)
		return err
	}
	home := g.id
	g.id[0]++
	foreign := g.update(start, narrow, "anna", "ben", "carl")
	g.id = home
	want(t, "another ledger's", validate(foreign), policy.Ledger, -1, -1, zkbench.ErrPolicy)
	want(t, "by one", validate(g.update(start, narrow, "anna")), policy.Threshold, -1, -1, zkbench.ErrPolicy)
	want(t, "malformed", validate(mine[:len(mine)-1]), validator.Structure, -1, -1, zkbench.ErrMalformed)
	want(t, "of a later version", validate(append([]byte{0x82}, mine[1:]...)), validator.Structure, -1, -1, zkbench.ErrMalformed)
	want(t, "as a request, for an auditor", g.v.Authorized(t.Context(), mine), validator.Structure, -1, -1, zkbench.ErrMalformed)

	// Two that compete are both accepted, as two requests that spend one token are; one lands.
	both := g.v.ValidateBatch(t.Context(), g.l, [][]byte{mine, withheld}, g.at)
	must.Do(t, errors.Join(both[0].Err, both[1].Err))
	rejected, err := g.l.ApplyEach(t.Context(), []ledgers.Entry{both[0].Valid.Entry(), both[1].Valid.Entry()})
	must.Do(t, err)
	must.Do(t, rejected[0])
	want(t, "the second of two", rejected[1], "anchor", 1, -1, zkbench.ErrAnchorConflict)
	must.Do(t, g.v.Follow(t.Context(), g.l))
	want(t, "withheld", validate(withheld), policy.Versions, -1, -1, zkbench.ErrPolicy)
	want(t, "again", validate(mine), policy.Versions, -1, -1, zkbench.ErrPolicy)
	golden.Equal(t, "metadata", 5, g.v.Policy().Limits.Metadata)
}

// TestReservedAnchor: no request stands in an update's way.
func TestReservedAnchor(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, _ := g.issue(string(policy.Anchor(1)), 1)
	_, err := g.v.Validate(t.Context(), g.l, raw, g.at)
	want(t, "an update's anchor", err, validator.Structure, -1, -1, zkbench.ErrPolicy)
	want(t, "asked by an auditor", g.v.Authorized(t.Context(), raw), validator.Structure, -1, -1, zkbench.ErrPolicy)
}

// TestBatchAcrossUpdate: requests that were judged together with an update, under the policy before it, do not land behind it
// as they are: they are judged again.
func TestBatchAcrossUpdate(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	fresh := signerNamed(t, "another issuer")
	before, _ := g.issue("before", 1)
	update := g.update(g.v.Policy(), newIssuer(fresh), "ben", "carl")
	after, _ := g.issue("after", 1)
	g.issuer, g.ahead = fresh, 1
	anew, _ := g.issue("anew", 1)
	raws := [][]byte{before, update, after, anew}
	var entries []ledgers.Entry
	for i, r := range g.v.ValidateBatch(t.Context(), g.l, raws[:3], g.at) {
		must.Do(t, r.Err, i)
		entries = append(entries, r.Valid.Entry())
	}
	want(t, "as one batch", g.l.Apply(t.Context(), entries), "policy", 2, -1, zkbench.ErrPolicy)
	results := g.submit(g.v, g.at, raws...)
	must.Do(t, errors.Join(results[0].Err, results[1].Err, results[3].Err))
	want(t, "the old issuer behind the update", results[2].Err, validator.Issuers, 0, -1, zkbench.ErrPolicy)
	golden.Equal(t, "policy of the new issuer's request", 1, results[3].Record.Policy)
	var landed []string
	for _, r := range ledgertest.Records(t, g.l, 1) {
		landed = append(landed, fmt.Sprintf("%q %d", r.Anchor, r.Policy))
	}
	golden.Equal(t, "log", []string{`"before" 0`, fmt.Sprintf("%q 0", policy.Anchor(1)), `"anew" 1`}, landed)
}

// TestSubmitMoreThanABatch: requests that are together more than a ledger takes at once keep nobody's out: not more bytes, nor more of them.
func TestSubmitMoreThanABatch(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	var outputs []action.Output
	for range g.params.Policy.Limits.Outputs {
		o := output(g.owners[0].Identity(), 1)
		o.Note = func(token.Opening) ([]byte, error) { return make([]byte, token.MaxNote), nil }
		outputs = append(outputs, o)
	}
	d := must.Get(action.NewIssue(t.Context(), executor.Serial(), g.pp, "USD", action.Spec{Outputs: outputs, Anchor: request.ActionAnchor(g.id, []byte("large"), 0)}))(t)
	raw := must.Get(d.Prove(t.Context()))(t)
	large := g.sign(&request.Request{Anchor: []byte("large"), Actions: []request.Action{{Kind: token.Issue, ProofType: token.CSP, Raw: raw, Issuer: g.issues()}}})
	small, _ := g.issue("small", 1)
	for _, test := range []struct {
		raw []byte
		n   int
	}{{large, ledgers.MaxBatchBytes/len(large) + 1}, {small, ledgers.MaxBatch + 1}} {
		results := g.submit(g.v, g.at, slices.Repeat([][]byte{test.raw}, test.n)...)
		for _, i := range []int{0, test.n - 1} {
			must.Do(t, results[i].Err, i, "of", test.n)
		}
	}
	golden.Equal(t, "landed, each once", 2, len(ledgertest.Records(t, g.l, 1)))
}

// TestPolicyIsFollowed: everything that a policy says holds after the update that says it; money of owners whose kind is not
// allowed any more is not frozen.
func TestPolicyIsFollowed(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, openings := g.issue("a", 100, 50, 25) // the third to a pseudonym
	a := g.land(raw, openings...)
	auditor := signerNamed(t, "another auditor")
	g.land(g.update(g.v.Policy(), func(p *token.Policy) {
		p.Owners, p.Redeem, p.Limits.Metadata = token.OwnerEd25519, token.RedeemOwner, 3
		p.Auditors = ledgertest.Auditors(t, auditor.Identity())
	}, "anna", "ben"))
	move := func(metadata string, id token.ID, signer identity.Signer, outputs ...action.Output) error {
		a, _ := g.moved("b", 0, metadata, []token.ID{id}, outputs...)
		raw := g.sign(&request.Request{Anchor: []byte("b"), Actions: []request.Action{a}}, []identity.Signer{signer})
		_, err := g.v.Validate(t.Context(), g.l, raw, g.at)
		return err
	}
	alice := g.owners[0].Identity()
	want(t, "the old auditor", move("", a.Creates[0].ID, g.owners[0], output(alice, 100)), validator.Auditors, -1, 0, zkbench.ErrSignature)
	g.auditor = auditor
	want(t, "the new one", move("abc", a.Creates[0].ID, g.owners[0], output(alice, 100)), "", 0, 0, nil)
	want(t, "metadata", move("abcd", a.Creates[0].ID, g.owners[0], output(alice, 100)), validator.Metadata, 0, -1, zkbench.ErrLimit)
	want(t, "redeemed by its owner alone", move("", a.Creates[0].ID, g.owners[0], output(nil, 100)), "", 0, 0, nil)
	want(t, "to a pseudonym", move("", a.Creates[0].ID, g.owners[0], output(g.owners[2].Identity(), 100)), validator.OutputOwners, 0, 0, zkbench.ErrPolicy)
	want(t, "from a pseudonym", move("", a.Creates[2].ID, g.owners[2], output(alice, 25)), "", 0, 0, nil)
}

// TestQueueTakesUpdates: an update is validated like a request, beside them.
func TestQueueTakesUpdates(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	q := must.Get(validator.NewQueue(g.v, g.l, func() time.Time { return g.at }, validator.Batching{Max: 4}))(t)
	defer q.Close()
	valid := must.Get(q.Validate(t.Context(), g.update(g.v.Policy(), newIssuer(signerNamed(t, "another issuer")), "anna", "ben")))(t)
	golden.Equal(t, "anchor", policy.Anchor(1), valid.Anchor)
	must.Do(t, g.l.Apply(t.Context(), []ledgers.Entry{valid.Entry()}))
}

// TestRaceOfUpdates: two validators land issues of the old and the new issuer while the policy changes. What is in the log
// is valid under the policy of its place.
func TestRaceOfUpdates(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	keys := []identity.Signer{g.issuer, signerNamed(t, "another issuer")}
	const updates, issues = 6, 12
	raws := make([][]byte, issues)
	for i := range raws {
		g.issuer = keys[i%2]
		raws[i], _ = g.issue(fmt.Sprintf("issue %d", i), 1)
	}
	first := g.v.Policy()
	validators := []*validator.Validator{g.v, g.another()}
	var wg sync.WaitGroup
	for _, v := range validators {
		wg.Go(func() {
			for range 3 {
				for i := range raws {
					g.landed(v, raws[i])
				}
			}
		})
	}
	wg.Go(func() {
		current := first
		for n := range updates {
			raw := g.update(current, newIssuer(keys[(n+1)%2]), "anna", "ben")
			if r := g.landed(validators[n%2], raw); r.Err != nil {
				t.Error(r.Err)
				return
			}
			current = &must.Get(policy.Decode(raw))(t).Policy
		}
	})
	wg.Wait()
	for _, v := range validators {
		must.Do(t, v.Follow(t.Context(), g.l))
		golden.Equal(t, "version", updates, v.Policy().Version)
	}
	report := must.Get(replay.Verify(t.Context(), g.l, g.params, func(uint64, uint64) {}))(t)
	golden.Equal(t, "policy", updates, policyOf(report))
	t.Logf("%d of %d issues landed", report.Edge.Last()-updates, issues)
}

// TestFirst: a validator that another one gives begins under the first policy, and neither changes the other's.
func TestFirst(t *testing.T) {
	g := newGoverned(t)
	first := must.Get(g.v.First(g.l.Genesis()))(t)
	g.land(g.update(g.v.Policy(), func(p *token.Policy) { p.Limits.Metadata = 5 }, "anna", "ben"))
	must.Do(t, g.v.Follow(t.Context(), g.l))
	golden.Equal(t, "policy of one that has not followed", 0, first.Policy().Version)
	golden.Equal(t, "policy of the next one", 0, must.Get(g.v.First(g.l.Genesis()))(t).Policy().Version)
	must.Do(t, first.Follow(t.Context(), g.l))
	golden.Equal(t, "policy after it has followed", g.v.Policy(), first.Policy())
	golden.Equal(t, "ledger", g.v.Ledger(), first.Ledger())
	other := g.l.Genesis()
	other.Params[0]++
	must.FailGet(g.v.First(other))(t, zkbench.ErrParams, "a ledger under other parameters")
}

// policyOf returns the version of the policy at the end of a verified log.
func policyOf(r *replay.Report) uint64 {
	version, _ := r.Edge.Policy()
	return version
}

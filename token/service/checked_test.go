package service_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// check has a vault validate what it reads.
func (w *world) check(t must.TB, v *service.Vault) {
	t.Helper()
	must.Do(t, v.CheckRecords(w.validator))
}

// unsigned returns a well-formed issue of a value to an address that nobody has signed, its proof zeros.
func (w *world) unsigned(t must.TB, anchor string, to service.Address, value uint64) []byte {
	t.Helper()
	genuine := must.Get(w.issuer.Issue(t.(*testing.T).Context(), paying(to, 1)))(t).Request.Actions[0]
	pp := must.Get(w.params.Crypto(token.CSP, smallTables))(t)
	d := must.Get(action.NewIssue(t.(*testing.T).Context(), serial, pp, usd, action.Spec{Outputs: []action.Output{{Owner: to.Owner, Value: value}}, Anchor: "made up"}))(t)
	place := note.Place{Ledger: w.genesis.ID(), ID: request.OutputID([]byte(anchor), 0, 0), Owner: to.Owner}
	made := &action.Action{Outputs: d.Outputs, Notes: [][]byte{must.Get(note.Seal(place, []note.Payee{to.Members[0].Payee}, d.Openings[0]))(t)}}
	proof := make([]byte, len(must.Get(action.Parse(32, token.Issue, genuine.Raw))(t).Proof()))
	genuine.Raw = must.Get(made.Encode(proof))(t)
	genuine.Issuer.Signature = make([]byte, 64)
	r := &request.Request{Anchor: []byte(anchor), Actions: []request.Action{genuine}, Auditors: [][]byte{make([]byte, 64)}}
	return must.Get(r.Encode())(t)
}

// TestChecked: a wallet and an auditor that validate what they read refuse each request that a validator refuses, and each that an honest ledger
// would not have taken in its place. Nothing of it is written, what came before is, and an honest log is followed after it.
func TestChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob, carol := w.funded(t, "alice", 100), w.funded(t, "bob", 50), w.party(t, w.key(t, "carol"))
	must.Do(t, alice.Sync(ctx, w.ledger))
	first := must.Get(alice.pay.Transfer(ctx, anchored("first", paying(bob.address(t), 100))))(t)
	w.land(t, first)
	must.Do(t, bob.Sync(ctx, w.ledger))
	second := must.Get(bob.pay.Transfer(ctx, anchored("second", paying(carol.address(t), 100))))(t)
	third := must.Get(bob.pay.Transfer(ctx, anchored("third", paying(carol.address(t), 50))))(t)
	w.land(t, second)
	w.land(t, third)
	must.Do(t, carol.Sync(ctx, w.ledger))
	fourth := must.Get(carol.pay.Transfer(ctx, anchored("fourth", paying(alice.address(t), 20))))(t)
	w.land(t, fourth)

	// Another request of Bob's that spends what the second has spent, signed by all: as a vault makes that does not know.
	twin := w.party(t, w.key(t, "bob"))
	must.Do(t, twin.Sync(ctx, copyOf{w.ledger, 3}))
	double := must.Get(twin.pay.Transfer(ctx, paying(alice.address(t), 100)))(t)
	full := func(sub *service.Submission) []byte { // signed by the auditor, whom nobody has told of a ledger
		raw, info := encodings(t, sub)
		signature, _, err := w.auditor.Sign(ctx, raw, info)
		must.Do(t, err)
		sub.Request.Auditors[0] = signature
		return must.Get(sub.Request.Encode())(t)
	}
	doubled := full(double)
	bent := func(i int, edit func(r *request.Request)) []byte {
		r := must.Get(request.Decode(bytes.Clone(w.ledger.log[i].Request)))(t)
		edit(r)
		return must.Get(r.Encode())(t)
	}
	in := func(i int, raw []byte) func([]ledgers.Record) []ledgers.Record { // place of what is put before the record of index i
		return func(log []ledgers.Record) []ledgers.Record {
			return numbered(slices.Insert(log, i, w.recorded(t, 0, raw))...)
		}
	}
	instead := func(i int, raw []byte) func([]ledgers.Record) []ledgers.Record {
		return func(log []ledgers.Record) []ledgers.Record {
			log[i] = w.recorded(t, i+1, raw)
			return log
		}
	}
	unproved := must.Get(request.Decode(w.unsigned(t, "unproved", alice.address(t), 60_000)))(t)
	message := request.ToSign(unproved.Message(w.genesis.ID()), request.IssuerRole, 0, key(t, "issuer").Identity())
	unproved.Actions[0].Issuer.Signature = must.Get(key(t, "issuer").Sign(message[:], nil))(t)
	message = request.ToSign(unproved.AuditMessage(unproved.Message(w.genesis.ID())), request.Auditor, 0, key(t, "auditor").Identity())
	unproved.Auditors[0] = must.Get(key(t, "auditor").Sign(message[:], nil))(t)

	none := func(r ledgers.Record) error { return nil }
	for name, lie := range map[string]struct {
		same int // records before the first that is another one
		good int // records before the first that is refused
		edit func([]ledgers.Record) []ledgers.Record
		why  string
	}{
		"an issue that nobody has signed": {3, 3, in(3, w.unsigned(t, "forged", alice.address(t), 60_000)), "issuers"},
		"a proof of zeros":                {3, 3, in(3, must.Get(unproved.Encode())(t)), "proof"},
		"an owner's signature":            {2, 2, instead(2, bent(2, func(r *request.Request) { r.Actions[0].Spends[0].Signatures[0][40] ^= 1 })), "owners"},
		"an auditor's signature":          {2, 2, instead(2, bent(2, func(r *request.Request) { r.Auditors[0][40] ^= 1 })), "auditors"},
		"an issuer's signature":           {1, 1, instead(1, bent(1, func(r *request.Request) { r.Actions[0].Issuer.Signature[40] ^= 1 })), "issuers"},
		"an old issue":                    {6, 6, in(6, w.ledger.log[0].Request), "an earlier request has its anchor"},
		"an old issue, at once":           {1, 1, in(1, w.ledger.log[0].Request), "an earlier request has its anchor"},
		"an old payment":                  {5, 5, in(5, w.ledger.log[2].Request), "spent"},
		"a spending before": {2, 2, func(log []ledgers.Record) []ledgers.Record {
			return numbered(log[0], log[1], log[3], log[2], log[4], log[5])
		}, "spent"},
		"a payment spent twice": {4, 4, in(4, doubled), "spent"},
		"a payment left out":    {2, 2, func(log []ledgers.Record) []ledgers.Record { return numbered(slices.Delete(log, 2, 3)...) }, "spent"},
		"an issue left out":     {1, 3, func(log []ledgers.Record) []ledgers.Record { return numbered(slices.Delete(log, 1, 2)...) }, "spent"},
		"another time": {4, 5, func(log []ledgers.Record) []ledgers.Record {
			log[4].Time, log[5].Time = log[4].Time.Add(1), log[4].Time
			return log
		}, "before the last entry"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			lied := w.ledger.lying(lie.edit)
			for _, seen := range []int{0, lie.same} {
				p, auditor := w.party(t, w.key(t, "alice")), auditorOf(t, w, service.SignAll{})
				w.check(t, p.Vault)
				w.check(t, auditor.Vault())
				must.Do(t, p.Sync(ctx, copyOf{w.ledger, uint64(seen)}))
				must.Get(auditor.Reconcile(ctx, copyOf{w.ledger, uint64(seen)}, none))(t)
				err := p.Sync(ctx, lied)
				_, audited := auditor.Reconcile(ctx, lied, none)
				if !isCorrupt(err) || !isCorrupt(audited) {
					t.Fatalf("%d seen: %v, %v, want a corrupt ledger", seen, err, audited)
				}
				golden.Contains(t, err.Error(), fmt.Sprintf("request %d", lie.good+1), lie.why)
				golden.Contains(t, audited.Error(), fmt.Sprintf("request %d", lie.good+1), lie.why)
				golden.Equal(t, "followed", lie.good, int(must.Get(p.Followed())(t)))
				if lie.same < lie.good { // what came before is another log
					must.Do(t, p.FollowAnew(ctx))
				}
				must.Do(t, p.Sync(ctx, w.ledger))
				p.has(t, 20, "of the honest log")
				must.Do(t, p.Close())
			}
		})
	}
}

// TestBecomesChecked: a vault that has believed a ledger is checked from the first record on when it is to be; what was false goes, submissions stay. It stays
// checked, and is not followed otherwise.
func TestBecomesChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100)
	lied := w.ledger.lying(func(log []ledgers.Record) []ledgers.Record {
		return append(log, w.recorded(t, 2, w.unsigned(t, "forged", alice.address(t), 60_000)))
	})
	must.Do(t, alice.Sync(ctx, lied))
	alice.has(t, 60_100, "an issue that nobody has signed, unchecked")
	sub := must.Get(alice.pay.Transfer(ctx, paying(w.party(t, w.key(t, "bob")).address(t), 30)))(t)
	w.check(t, alice.Vault)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 0, "the token that the submission holds")
	wantKept(t, alice.Vault, 1, "the submission")
	w.land(t, sub)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 70, "the change")

	alice.crash(t, w)
	must.Fail(t, alice.Sync(ctx, w.ledger), zkbench.ErrParams, "unchecked")
	w.check(t, alice.Vault)
	w.fund(t, alice, 5)
	alice.has(t, 75, "checked again")
	alice.crash(t, w)
	must.Do(t, alice.FollowAnew(ctx))
	must.Do(t, alice.Sync(ctx, w.ledger), "unchecked, from the first record")
	alice.has(t, 75, "unchecked")
	genesis := w.genesis
	genesis.Nonce[0]++
	must.Fail(t, alice.CheckRecords(must.Get(validator.New(w.params, genesis, serial, smallTables, 1))(t)), zkbench.ErrParams, "another ledger's validator")
}

// TestCheckedPolicy: records are validated under the policy of their place, also by a vault that has followed the policy further before.
func TestCheckedPolicy(t *testing.T) {
	t.Parallel()
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.party(t, w.key(t, "alice"))
	w.check(t, alice.Vault)
	w.fund(t, alice, 5)
	former := w.issuer
	w.update(t, func(p *token.Policy) { p.Issuers = ledgertest.Issuers(key(t, "issuer 2").Identity()) })
	must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
	v := w.vault(t)
	defer v.Close()
	w.issuer = must.Get(service.NewIssueService(w.params, "", smallTables, serial, v, key(t, "issuer 2")))(t)
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	w.fund(t, alice, 6)
	alice.has(t, 11, "of both issuers")
	alice.crash(t, w)
	w.check(t, alice.Vault)
	w.fund(t, alice, 7)
	alice.has(t, 18, "opened again")
	must.Do(t, alice.FollowAnew(ctx))
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 18, "from the first record")

	// The former issuer signs on, and an auditor with it.
	sub := must.Get(former.Issue(ctx, paying(alice.address(t), 9)))(t)
	message := request.ToSign(sub.Request.AuditMessage(sub.Request.Message(w.genesis.ID())), request.Auditor, 1, key(t, "auditor").Identity())
	sub.Request.Auditors[0] = must.Get(key(t, "auditor").Sign(message[:], nil))(t)
	forged := w.recorded(t, len(w.ledger.log)+1, must.Get(sub.Request.Encode())(t))
	forged.Policy = 1
	if err := alice.Sync(ctx, w.ledger.lying(func(log []ledgers.Record) []ledgers.Record { return append(log, forged) })); !isCorrupt(err) {
		t.Errorf("an issue of the former issuer: %v", err)
	}
}

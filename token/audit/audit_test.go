package audit_test

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
)

// smallTables makes small tables, which are built fast, because a test proves little.
var smallTables = token.Tuning{Table: group.TableOptions{Window: 4, Spacing: 8}}

func key(tb testing.TB, name string) identity.Signer {
	seed := sha256.Sum256([]byte(name))
	return must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(tb)
}

// scene is a request with an issue and a transfer, and the audit information on it. Alice is an Ed25519 key
// and bob an enrolled pseudonym; the transfer redeems a part.
type scene struct {
	auditor *audit.Auditor
	params  *token.PublicParams
	genesis ledger.Genesis
	request *request.Request
	info    *audit.Information
	alice   identity.Signer
	bob     identity.Pseudonym
}

func newScene(tb testing.TB, edit ...func(p *token.Policy)) *scene {
	tb.Helper()
	ctx, ex := tb.Context(), executor.Serial()
	s := &scene{alice: key(tb, "alice")}
	s.params = must.Get(token.NewPublicParams("BN254", 8, token.CSP))(tb)
	s.params.Policy.Auditors = ledgertest.Auditors(tb, key(tb, "auditor").Identity())
	for _, f := range edit {
		f(&s.params.Policy)
	}
	s.genesis = ledgertest.Genesis(tb, s.params)
	id := s.genesis.ID()
	pp := must.Get(s.params.Crypto(token.CSP, smallTables))(tb)
	authority := key(tb, "authority")
	s.auditor = must.Get(audit.New(s.params, s.genesis, ex, smallTables, ledgertest.AuditorKey(tb, key(tb, "auditor").Identity()), authority.Identity()))(tb)

	scheme := must.Get(identity.NewScheme("BN254"))(tb)
	holder := must.Get(scheme.NewHolder(rand.Reader))(tb)
	enrolment := must.Get(holder.Request("Bob", rand.Reader))(tb)
	certificate := must.Get(scheme.Enrol("Bob", enrolment, authority))(tb)
	parsed := must.Get(scheme.Certificate(certificate, authority.Identity()))(tb)
	s.bob = must.Get(holder.Pseudonym(rand.Reader))(tb)
	proof := must.Get(s.bob.AuditProof(parsed, audit.Context(id), rand.Reader))(tb)
	bob := []audit.Owner{{Certificate: certificate, Proof: proof}}

	minted := must.Get(action.NewIssue(ctx, ex, pp, "USD", action.Spec{
		Outputs: []action.Output{{Owner: s.alice.Identity(), Value: 100}, {Owner: s.bob.Identity(), Value: 7}}, Anchor: request.ActionAnchor(id, []byte("a"), 0),
	}))(tb)
	sender := must.Get(action.NewSender(ctx, ex, pp, []action.Owned{{
		Input: action.Input{ID: token.ID("before"), Token: minted.Outputs[0]}, Opening: minted.Openings[0],
	}}))(tb)
	moved := must.Get(sender.Transfer(ctx, action.Spec{
		Outputs: []action.Output{{Owner: s.bob.Identity(), Value: 60}, {Value: 40}}, Anchor: request.ActionAnchor(id, []byte("a"), 1),
	}))(tb)
	opened, more := minted.Openings, moved.Openings
	s.request = &request.Request{Anchor: []byte("a"), Actions: []request.Action{
		{Kind: token.Issue, ProofType: token.CSP, Raw: must.Get(minted.Prove(ctx))(tb)},
		{Kind: token.Transfer, ProofType: token.CSP, Raw: must.Get(moved.Prove(ctx))(tb), Spends: make([]request.Spend, 1)},
	}}
	s.info = &audit.Information{Actions: []audit.Action{
		{Outputs: []audit.Item{{Opening: opened[0], Owners: make([]audit.Owner, 1)}, {Opening: opened[1], Owners: bob}}},
		{
			Inputs:  []audit.Item{{Opening: opened[0], Owners: make([]audit.Owner, 1)}},
			Outputs: []audit.Item{{Opening: more[0], Owners: bob}, {Opening: more[1]}},
		},
	}}
	return s
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	report := must.Get(s.auditor.Check(t.Context(), s.request, s.info))(t)
	names := make([][]string, len(report.Actions))
	for i := range report.Actions {
		for _, list := range [][]audit.Holding{report.Actions[i].Inputs, report.Actions[i].Outputs} {
			for j := range list {
				if len(list[j].Owners) == 1 {
					names[i] = append(names[i], list[j].Owners[0].String())
				}
			}
		}
	}
	alice := fmt.Sprintf("Ed25519 %x", []byte(s.alice.Identity()[1:]))
	bob := fmt.Sprintf("Bob (authority %x)", []byte(key(t, "authority").Identity()[1:5]))
	golden.Equal(t, "owners", [][]string{{alice, bob}, {alice, bob}}, names)
	party := func(h audit.Holding) audit.Party { return h.Owners[0] }
	golden.Equal(t, "key of a key", []byte(s.alice.Identity()[1:]), party(report.Actions[0].Outputs[0]).Key)
	golden.Equal(t, "one holder", party(report.Actions[0].Outputs[1]).Key, party(report.Actions[1].Outputs[0]).Key)
	golden.Equal(t, "its authority", key(t, "authority").Identity(), party(report.Actions[1].Outputs[0]).Authority)
	for i := range report.Actions {
		for _, list := range [][]audit.Holding{report.Actions[i].Inputs, report.Actions[i].Outputs} {
			for j := range list {
				list[j].Owners = nil
			}
		}
	}
	want := &audit.Report{Anchor: s.request.Anchor, Digest: s.request.Digest(s.genesis.ID()), Actions: []audit.ActionReport{
		{Kind: token.Issue, Type: "USD", Outputs: []audit.Holding{{Value: 100}, {Value: 7}}},
		{Kind: token.Transfer, Type: "USD", Inputs: []audit.Holding{{Value: 100}}, Outputs: []audit.Holding{{Value: 60}, {Value: 40}}},
	}}
	golden.Equal(t, "report", want, report)
}

// TestEveryLieIsNamed: information that is right in all but one thing.
func TestEveryLieIsNamed(t *testing.T) {
	t.Parallel()
	other := newScene(t)
	for _, test := range []struct {
		name          string
		edit          func(s *scene)
		check         string
		action, index int
		cause         error
	}{
		{"an action less", func(s *scene) { s.info.Actions = s.info.Actions[:1] }, audit.Structure, -1, -1, zkbench.ErrPolicy},
		{"an output less", func(s *scene) { s.info.Actions[1].Outputs = s.info.Actions[1].Outputs[:1] }, audit.Structure, 1, -1, zkbench.ErrPolicy},
		{"no inputs", func(s *scene) { s.info.Actions[1].Inputs = nil }, audit.Structure, 1, -1, zkbench.ErrPolicy},
		{"action truncated", func(s *scene) { s.request.Actions[0].Raw = s.request.Actions[0].Raw[:9] }, audit.Structure, 0, -1, zkbench.ErrMalformed},
		{"another value", func(s *scene) { s.info.Actions[0].Outputs[1].Opening.Value++ }, audit.Commitments, 0, 1, zkbench.ErrPolicy},
		{"another type", func(s *scene) { s.info.Actions[0].Outputs[0].Opening.Type = "EUR" }, audit.Commitments, 0, 0, zkbench.ErrPolicy},
		{"another blinding", func(s *scene) { s.info.Actions[1].Outputs[1].Opening.Blinding[31] ^= 1 }, audit.Commitments, 1, 2, zkbench.ErrPolicy},
		{"openings exchanged", func(s *scene) {
			o := s.info.Actions[1].Outputs
			o[0].Opening, o[1].Opening = o[1].Opening, o[0].Opening
		}, audit.Commitments, 1, 1, zkbench.ErrPolicy},
		{"blinding out of range", func(s *scene) {
			s.info.Actions[0].Outputs[0].Opening.Blinding = bytes.Repeat([]byte{0xff}, 32)
		}, audit.Commitments, 0, -1, nil},
		{"nobody behind a pseudonym", func(s *scene) { s.info.Actions[0].Outputs[1].Owners = nil }, audit.Owners, 0, 1, zkbench.ErrPolicy},
		{"no proof", func(s *scene) { s.info.Actions[0].Outputs[1].Owners[0].Proof = nil }, audit.Owners, 0, 1, zkbench.ErrMalformed},
		{"proof flipped", func(s *scene) { s.info.Actions[0].Outputs[1].Owners[0].Proof[40] ^= 1 }, audit.Owners, 0, 1, zkbench.ErrProof},
		{"another's certificate", func(s *scene) {
			s.info.Actions[0].Outputs[1].Owners[0].Certificate = other.info.Actions[0].Outputs[1].Owners[0].Certificate
		}, audit.Owners, 0, 1, zkbench.ErrProof},
		{"a certificate for a key", func(s *scene) { s.info.Actions[0].Outputs[0].Owners[0].Certificate = []byte{1} }, audit.Owners, 0, 0, zkbench.ErrPolicy},
		{"somebody behind a redeemed token", func(s *scene) { s.info.Actions[1].Outputs[1].Owners = make([]audit.Owner, 1) }, audit.Owners, 1, 2, zkbench.ErrPolicy},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(t)
			test.edit(s)
			_, err := s.auditor.Check(t.Context(), s.request, s.info)
			c, ok := errors.AsType[*zkbench.CheckError](err)
			if !ok || c.Check != test.check || c.Action != test.action || c.Index != test.index || test.cause != nil && !errors.Is(err, test.cause) {
				t.Errorf("%v, want %s of action %d, %d: %v", err, test.check, test.action, test.index, test.cause)
			}
		})
	}
}

// recorded is a ledger that contains one update.
type recorded struct{ update *policy.Update }

func (r recorded) Record(_ context.Context, anchor []byte) (record ledger.Record, found bool, err error) {
	if !bytes.Equal(anchor, policy.Anchor(r.update.Policy.Version)) {
		return record, false, nil
	}
	record.Request, err = r.update.Encode()
	record.Anchor, record.Policy, record.Update = anchor, r.update.Policy.Version-1, true
	return record, true, err
}

// TestIssuersTypes: an issuer signs for its own types only, as the policy has them that the auditor has followed.
func TestIssuersTypes(t *testing.T) {
	t.Parallel()
	euro, dollar, all := key(t, "euro").Identity(), key(t, "dollar").Identity(), key(t, "all").Identity()
	types := map[string][]string{string(euro): {"EUR"}, string(dollar): {"GBP", "USD"}}
	ids := [][]byte{euro, dollar, all}
	slices.SortFunc(ids, bytes.Compare)
	index := func(id []byte) int {
		return slices.IndexFunc(ids, func(other []byte) bool { return bytes.Equal(id, other) })
	}
	s := newScene(t, func(p *token.Policy) {
		p.Issuers = ledgertest.Issuers(ids...)
		for i := range p.Issuers {
			p.Issuers[i].Types = types[string(ids[i])]
		}
		p.Administrators = token.Administrators{Identities: [][]byte{key(t, "administrator").Identity()}, Threshold: 1}
	})
	check := func(id []byte) error {
		s.request.Actions[0].Issuer = &request.Issuer{Identity: id}
		report, err := s.auditor.Check(t.Context(), s.request, s.info)
		if err == nil {
			golden.Equal(t, "issuer", id, []byte(report.Actions[0].Issuer))
		}
		return err
	}
	refused := func(what string, err error, name string) {
		t.Helper()
		c, ok := errors.AsType[*zkbench.CheckError](err)
		if !ok || c.Check != name || c.Action != 0 || !errors.Is(err, zkbench.ErrPolicy) || strings.Contains(err.Error(), "USD") {
			t.Errorf("%s: %v, want %s", what, err, name)
		}
	}
	must.Do(t, check(dollar))
	must.Do(t, check(all))
	refused("euros", check(euro), audit.Issuers)
	s.request.Actions[0].Issuer = &request.Issuer{Identity: key(t, "nobody").Identity()}
	_, err := s.auditor.Check(t.Context(), s.request, s.info)
	refused("nobody", err, audit.Structure)

	next := s.params.Policy.Clone()
	next.Issuers[index(euro)].Types, next.Issuers[index(dollar)].Types = []string{"USD"}, []string{"EUR"}
	u := must.Get(policy.New(s.genesis.ID(), &s.params.Policy, next))(t)
	must.Fail(t, s.auditor.Follow(t.Context(), recorded{u}), zkbench.ErrPolicy, "an update that nobody has signed")
	must.Do(t, check(dollar))
	must.Do(t, u.Sign(&s.params.Policy, key(t, "administrator")))
	must.Do(t, s.auditor.Follow(t.Context(), recorded{u}))
	must.Do(t, check(euro))
	refused("dollars, later", check(dollar), audit.Issuers)
}

// TestAnotherLedger: what shows an auditor who is behind a pseudonym says it on one ledger.
func TestAnotherLedger(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	other := s.genesis
	other.Nonce[0]++
	auditor := must.Get(audit.New(s.params, other, executor.Serial(), smallTables, nil, key(t, "authority").Identity()))(t)
	_, err := auditor.Check(t.Context(), s.request, s.info)
	c, ok := errors.AsType[*zkbench.CheckError](err)
	if !ok || c.Check != audit.Owners || c.Action != 0 || c.Index != 1 || !errors.Is(err, zkbench.ErrProof) {
		t.Errorf("%v, want a proof that does not hold", err)
	}
	narrow := *s.params
	narrow.Policy.Limits.Inputs = 1
	must.FailGet(audit.New(&narrow, other, executor.Serial(), smallTables, nil))(t, zkbench.ErrParams, "another ledger's parameters")
}

// TestEnrolmentByAStranger: a certificate counts only if an authority of the auditor
// has signed it.
func TestEnrolmentByAStranger(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	strict := must.Get(audit.New(s.params, s.genesis, executor.Serial(), smallTables, nil, key(t, "stranger").Identity()))(t)
	_, err := strict.Check(t.Context(), s.request, s.info)
	if c, ok := errors.AsType[*zkbench.CheckError](err); !ok || c.Check != audit.Owners || c.Action != 0 || c.Index != 1 {
		t.Errorf("%v, want %s of action 0, 1", err, audit.Owners)
	}
}

// TestValues: what no proof would let through does not get past the auditor either.
func TestValues(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pp := must.Get(s.params.Crypto(token.CSP, smallTables))(t)
	forge := func(in, out []token.Opening) error {
		commit := func(openings []token.Opening) []token.Token {
			var tokens []token.Token
			for _, c := range must.Get(pp.Commit(t.Context(), executor.Serial(), openings))(t) {
				tokens = append(tokens, token.Token{Owner: s.alice.Identity(), Commitment: c})
			}
			return tokens
		}
		a := &action.Action{Outputs: commit(out), Notes: make([][]byte, len(out))}
		for i, tok := range commit(in) {
			a.Inputs = append(a.Inputs, action.Input{ID: token.ID{byte(i)}, Token: tok})
		}
		items := func(openings []token.Opening) (items []audit.Item) {
			for _, o := range openings {
				items = append(items, audit.Item{Opening: o, Owners: make([]audit.Owner, 1)})
			}
			return items
		}
		r := &request.Request{Anchor: []byte("a"), Actions: []request.Action{{Kind: token.Transfer, ProofType: token.CSP, Raw: must.Get(a.Encode(nil))(t), Spends: make([]request.Spend, len(in))}}}
		_, err := s.auditor.Check(t.Context(), r, &audit.Information{Actions: []audit.Action{{Inputs: items(in), Outputs: items(out)}}})
		return err
	}
	opening := func(typ string, v uint64) token.Opening {
		return token.Opening{Type: typ, Value: v, Blinding: append(make([]byte, 31), 5)}
	}
	must.Do(t, forge([]token.Opening{opening("USD", 9)}, []token.Opening{opening("USD", 4), opening("USD", 5)}), "an honest one")
	for name, err := range map[string]error{
		"value made":   forge([]token.Opening{opening("USD", 9)}, []token.Opening{opening("USD", 10)}),
		"value lost":   forge([]token.Opening{opening("USD", 9)}, []token.Opening{opening("USD", 8)}),
		"another type": forge([]token.Opening{opening("USD", 9)}, []token.Opening{opening("EUR", 9)}),
		"out of range": forge([]token.Opening{opening("USD", 256)}, []token.Opening{opening("USD", 256)}),
	} {
		if c, ok := errors.AsType[*zkbench.CheckError](err); !ok || c.Check != audit.Values || !errors.Is(err, zkbench.ErrPolicy) {
			t.Errorf("%s: %v, want %s", name, err, audit.Values)
		}
	}
}

// TestThresholdOwners: all members of a threshold are told of an output, in its order, and those who sign of an input.
func TestThresholdOwners(t *testing.T) {
	t.Parallel()
	ctx, ex := t.Context(), executor.Serial()
	s := newScene(t)
	pp := must.Get(s.params.Crypto(token.CSP, smallTables))(t)
	bob := s.info.Actions[0].Outputs[1].Owners[0]
	ids := []identity.Identity{s.alice.Identity(), s.bob.Identity()}
	for i := range token.MaxMembers - len(ids) {
		ids = append(ids, key(t, fmt.Sprint("member ", i)).Identity())
	}
	threshold := must.Get(script.NewThreshold(3, ids...))(t)
	known := make([]audit.Owner, token.MaxMembers)
	at := slices.IndexFunc(threshold.Identities(), func(id identity.Identity) bool { return bytes.Equal(id, s.bob.Identity()) })
	known[at] = bob
	owner := []action.Output{{Owner: threshold.Owner(), Value: 3}}
	minted := must.Get(action.NewIssue(ctx, ex, pp, "USD", action.Spec{Outputs: owner, Anchor: "a"}))(t)
	sender := must.Get(action.NewSender(ctx, ex, pp, []action.Owned{{Input: action.Input{ID: token.ID("it"), Token: minted.Outputs[0]}, Opening: minted.Openings[0]}}))(t)
	moved := must.Get(sender.Transfer(ctx, action.Spec{Outputs: owner, Anchor: "a"}))(t)
	r := &request.Request{Anchor: []byte("a"), Actions: []request.Action{{Kind: token.Transfer, ProofType: token.CSP, Raw: must.Get(moved.Prove(ctx))(t), Spends: make([]request.Spend, 1)}}}
	members := threshold.Identities()
	signers := []identity.Identity{members[at], members[(at+1)%len(members)], members[(at+2)%len(members)]}
	r.Actions[0].Spends[0].Unlock = must.Get(threshold.Unlock(signers...))(t)
	ordered := must.Get(script.Signers(threshold.Owner(), script.Witness{Unlock: r.Actions[0].Spends[0].Unlock}, &script.Place{}))(t)
	among := slices.IndexFunc(ordered, func(id identity.Identity) bool { return bytes.Equal(id, s.bob.Identity()) })
	signed := make([]audit.Owner, len(ordered))
	signed[among] = bob
	info := func(in, out []audit.Owner) *audit.Information {
		return &audit.Information{Actions: []audit.Action{{
			Inputs:  []audit.Item{{Opening: minted.Openings[0], Owners: in}},
			Outputs: []audit.Item{{Opening: moved.Openings[0], Owners: out}},
		}}}
	}
	sent := must.Get(audit.Decode(must.Get(info(signed, known).Encode())(t)))(t)
	report := must.Get(s.auditor.Check(ctx, r, sent))(t)
	for _, side := range []struct {
		h   audit.Holding
		ids []identity.Identity
		bob int
	}{{report.Actions[0].Inputs[0], ordered, among}, {report.Actions[0].Outputs[0], members, at}} {
		golden.Equal(t, "identities told", len(side.ids), len(side.h.Owners))
		for i, party := range side.h.Owners {
			want := fmt.Sprintf("Bob (authority %x)", []byte(key(t, "authority").Identity()[1:5]))
			if i != side.bob {
				want = fmt.Sprintf("Ed25519 %x", []byte(side.ids[i][1:]))
			}
			golden.Equal(t, fmt.Sprint("member ", i), want, party.String())
		}
	}
	for _, wrong := range []func([]audit.Owner, int) []audit.Owner{
		func(all []audit.Owner, _ int) []audit.Owner { return all[1:] },
		func([]audit.Owner, int) []audit.Owner { return nil },
		func(all []audit.Owner, at int) []audit.Owner { // exchanged
			all[at], all[(at+1)%len(all)] = all[(at+1)%len(all)], all[at]
			return all
		},
		func(all []audit.Owner, _ int) []audit.Owner { return make([]audit.Owner, len(all)) },
	} {
		for i, information := range []*audit.Information{info(wrong(slices.Clone(signed), among), known), info(signed, wrong(slices.Clone(known), at))} {
			_, err := s.auditor.Check(ctx, r, information)
			c, ok := errors.AsType[*zkbench.CheckError](err)
			if !ok || c.Check != audit.Owners || c.Action != 0 || c.Index != i {
				t.Errorf("%v, want %s of token %d", err, audit.Owners, i)
			}
		}
	}
	must.FailGet(info(signed, append(known, audit.Owner{})).Encode())(t, zkbench.ErrLimit, "seventeen owners")
	one := audit.Information{Actions: []audit.Action{{Inputs: []audit.Item{{Opening: minted.Openings[0], Owners: make([]audit.Owner, token.MaxMembers)}}}}}
	data := must.Get(one.Encode())(t)
	count := len(data) - 1 - token.MaxMembers - 1 // before empty owners, and no outputs
	data[count]++
	_, err := audit.Decode(append(data, 0, 0, 0, 0))
	if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != "actions[0].inputs[0].owners" || d.Offset != count {
		t.Errorf("%v, want seventeen owners refused at %d", err, count)
	}
}

// TestScriptOwners: both identities of a script are told.
func TestScriptOwners(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pp := must.Get(s.params.Crypto(token.CSP, smallTables))(t)
	lock := must.Get(script.NewHashLock([script.ImageLen]byte{1}, 1_900_000_000, s.alice.Identity(), s.bob.Identity()))(t)
	a := must.Get(action.NewIssue(t.Context(), executor.Serial(), pp, "USD", action.Spec{Outputs: []action.Output{{Owner: lock.Owner(), Value: 3}}, Anchor: "a"}))(t)
	r := &request.Request{Anchor: []byte("a"), Actions: []request.Action{{Kind: token.Issue, ProofType: token.CSP, Raw: must.Get(a.Prove(t.Context()))(t)}}}
	bob := s.info.Actions[0].Outputs[1].Owners[0]
	info := func(owners ...audit.Owner) *audit.Information {
		return &audit.Information{Actions: []audit.Action{{Outputs: []audit.Item{{Opening: a.Openings[0], Owners: owners}}}}}
	}
	report := must.Get(s.auditor.Check(t.Context(), r, info(audit.Owner{}, bob)))(t)
	if got := report.Actions[0].Outputs[0].Owners; len(got) != 2 || got[1].Name != "Bob" {
		t.Errorf("owners %v", got)
	}
	for name, i := range map[string]*audit.Information{"one of two": info(bob), "exchanged": info(bob, audit.Owner{})} {
		must.FailGet(s.auditor.Check(t.Context(), r, i))(t, must.ErrAny, "%s", name)
	}
}

// TestSealed: what a payee has sealed its auditor opens, for this ledger, policy and identity, and nobody else does.
func TestSealed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	clear := s.info.Actions[0].Outputs[1].Owners[0]
	at := func(rules token.Policy, ledger token.LedgerID, id identity.Identity) audit.Owner {
		t.Helper()
		return must.Get(audit.Seal(&rules, ledger, id, clear))(t)
	}
	rules, id := s.params.Policy, s.genesis.ID()
	check := func(o audit.Owner) error {
		s.info.Actions[0].Outputs[1].Owners[0] = o
		sent := must.Get(audit.Decode(must.Get(s.info.Encode())(t)))(t)
		_, err := s.auditor.Check(t.Context(), s.request, sent)
		return err
	}
	for _, kem := range []token.KEM{token.X25519, token.MLKEM768X25519} {
		other := must.Get(must.Get(kem.HPKE())(t).GenerateKey())(t)
		several := rules
		several.Auditors = append([]token.Auditor{{KEM: kem, Key: other.PublicKey().Bytes()}}, rules.Auditors...)
		sealed := at(several, id, s.bob.Identity())
		must.Do(t, check(sealed))
		golden.Equal(t, "copies", 2, len(sealed.Sealed.Copies))
		for _, c := range sealed.Sealed.Copies {
			for _, part := range [][]byte{clear.Certificate[3:20], []byte("Bob"), clear.Proof[:16]} {
				if bytes.Contains(c.Ciphertext, part) {
					t.Error("a sealed owner shows what it seals")
				}
			}
		}
		several.Auditors = several.Auditors[:1]
		must.Fail(t, check(at(several, id, s.bob.Identity())), zkbench.ErrPolicy, "sealed to others")
	}
	foreign := id
	foreign[0]++
	must.Fail(t, check(at(rules, foreign, s.bob.Identity())), zkbench.ErrMalformed, "another ledger's")
	must.Fail(t, check(at(rules, id, s.alice.Identity())), zkbench.ErrMalformed, "another identity's")
	later := at(rules, id, s.bob.Identity())
	later.Sealed.Policy++
	must.Fail(t, check(later), zkbench.ErrMalformed, "another policy's")
	bent := at(rules, id, s.bob.Identity())
	bent.Sealed.Copies[0].Ciphertext[40] ^= 1
	must.Fail(t, check(bent), zkbench.ErrMalformed, "changed")
	must.Do(t, check(at(rules, id, s.bob.Identity())))

	// What is sealed has one form.
	info := binary.BigEndian.AppendUint64(slices.Concat([]byte("zkbench/v3/audit"), id[:], s.bob.Identity()), rules.Version)
	plain := binary.BigEndian.AppendUint16(nil, uint16(len(clear.Certificate)))
	plain = binary.BigEndian.AppendUint16(append(plain, clear.Certificate...), uint16(len(clear.Proof)))
	plain = append(plain, clear.Proof...)
	for fill, want := range map[byte]error{0: nil, 1: zkbench.ErrMalformed} {
		key := must.Get(must.Get(rules.Auditors[0].KEM.HPKE())(t).NewPublicKey(rules.Auditors[0].Key))(t)
		sealed := at(rules, id, s.bob.Identity())
		sealed.Sealed.Copies[0].Ciphertext = must.Get(hpke.Seal(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, append(plain, fill)))(t)
		if err := check(sealed); !errors.Is(err, want) {
			t.Errorf("filled up with %d: %v", fill, err)
		}
	}

	// An auditor without a key, a sealed owner of an identity that needs none, and bounds.
	blind := must.Get(audit.New(s.params, s.genesis, executor.Serial(), smallTables, nil))(t)
	must.FailGet(blind.Check(t.Context(), s.request, s.info))(t, zkbench.ErrPolicy, "without a key")
	lost := must.Get(hpke.NewDHKEMPrivateKey(away{ledgertest.AuditorKey(t, key(t, "auditor").Identity()).PublicKey().Bytes()}))(t)
	removed := must.Get(audit.New(s.params, s.genesis, executor.Serial(), smallTables, lost))(t)
	_, err := removed.Check(t.Context(), s.request, s.info)
	must.Fail(t, err, zkbench.ErrEnv, "a key in a token that is away")
	if refused, ok := errors.AsType[*zkbench.CheckError](err); ok {
		t.Errorf("the request is refused: %v", refused)
	}
	s.info.Actions[0].Outputs[0].Owners[0] = at(rules, id, s.alice.Identity())
	must.FailGet(s.auditor.Check(t.Context(), s.request, s.info))(t, zkbench.ErrPolicy, "sealed, of a key")
	must.FailGet(audit.Seal(&rules, id, s.bob.Identity(), audit.Owner{Certificate: make([]byte, audit.MaxCertificate+1), Proof: clear.Proof}))(t, zkbench.ErrLimit, "long certificate")
	must.FailGet(audit.Seal(&rules, id, s.bob.Identity(), audit.Owner{Certificate: clear.Certificate}))(t, zkbench.ErrLimit, "no proof")
	bad := rules
	bad.Auditors = []token.Auditor{{KEM: token.X25519, Key: make([]byte, 32)}}
	must.FailGet(audit.Seal(&bad, id, s.bob.Identity(), clear))(t, zkbench.ErrParams, "a key of small order")
	golden.Equal(t, "what is sealed of nobody", audit.Owner{}, must.Get(audit.Seal(&rules, id, s.alice.Identity(), audit.Owner{}))(t))
}

// away is the key of a token that does not answer.
type away struct{ public []byte }

func (away) Curve() ecdh.Curve { return ecdh.X25519() }

func (a away) PublicKey() *ecdh.PublicKey {
	public, err := ecdh.X25519().NewPublicKey(a.public)
	if err != nil {
		panic(err)
	}
	return public
}

func (away) ECDH(*ecdh.PublicKey) ([]byte, error) { return nil, zkbench.ErrEnv }

// TestSealedAction: what a party has sealed of its action holds for its place in one request on one ledger.
func TestSealedAction(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	rules, id, anchor := &s.params.Policy, s.genesis.ID(), s.request.Anchor
	want := must.Get(s.auditor.Check(t.Context(), s.request, s.info))(t)
	check := func(first, second audit.Action) (*audit.Report, error) {
		info := &audit.Information{Actions: []audit.Action{first, second}}
		data := must.Get(info.Encode())(t)
		for i := range data {
			must.FailGet(audit.Decode(data[:i]))(t, zkbench.ErrMalformed, "cut")
		}
		return s.auditor.Check(t.Context(), s.request, must.Get(audit.Decode(data))(t))
	}
	seal := func(action int, ledger token.LedgerID, anchor []byte, place int) audit.Action {
		return must.Get(s.info.Actions[action].Seal(rules, ledger, anchor, place))(t)
	}
	first, second := seal(0, id, anchor, 0), seal(1, id, anchor, 1)
	golden.Equal(t, "report", want, must.Get(check(first, second))(t))
	golden.Equal(t, "report, of one that is sealed", want, must.Get(check(s.info.Actions[0], second))(t))
	golden.Equal(t, "sealed again", second, must.Get(second.Seal(rules, id, anchor, 1))(t))
	foreign := id
	foreign[0]++
	must.FailGet(check(second, first))(t, zkbench.ErrMalformed, "exchanged")
	must.FailGet(check(first, seal(1, id, anchor, 2)))(t, zkbench.ErrMalformed, "of another place")
	must.FailGet(check(first, seal(1, id, []byte("b"), 1)))(t, zkbench.ErrMalformed, "of another anchor")
	must.FailGet(check(first, seal(1, foreign, anchor, 1)))(t, zkbench.ErrMalformed, "of another ledger")
	must.FailGet(check(first, seal(0, id, anchor, 1)))(t, zkbench.ErrPolicy, "of another action")
	none := *rules
	none.Auditors = nil
	must.FailGet(s.info.Actions[0].Seal(&none, id, anchor, 0))(t, zkbench.ErrParams, "nobody to seal to")
	bad := audit.Action{Inputs: make([]audit.Item, token.MaxTokens+1)}
	must.FailGet(bad.Seal(rules, id, anchor, 0))(t, zkbench.ErrLimit, "too many tokens")
}

func TestInformationEncoding(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.bob.Identity()
	s.info.Actions[0].Outputs[1].Owners[0] = must.Get(audit.Seal(&s.params.Policy, s.genesis.ID(), id, s.info.Actions[0].Outputs[1].Owners[0]))(t)
	data := must.Get(s.info.Encode())(t)
	got := must.Get(audit.Decode(data))(t)
	golden.Equal(t, "information", s.info, got, cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) }))
	for n := range data {
		must.FailGet(audit.Decode(data[:n]))(t, zkbench.ErrMalformed, "%d of %d bytes", n, len(data))
	}
	must.FailGet(audit.Decode(append(data, 0)))(t, zkbench.ErrMalformed, "trailing byte")
	empty := audit.Information{Actions: []audit.Action{{Outputs: []audit.Item{{Opening: token.Opening{Blinding: make([]byte, 32)}, Owners: make([]audit.Owner, 1)}}}}}
	data = must.Get(empty.Encode())(t)
	must.Get(audit.Decode(data))(t)
	data[len(data)-1] = 1 // in clear: a certificate and a proof of no bytes
	must.FailGet(audit.Decode(append(data, 0, 0, 0, 0)))(t, zkbench.ErrMalformed, "a second encoding of an empty owner")
	s.info.Actions[0].Outputs[0].Opening.Blinding = nil
	must.FailGet(s.info.Encode())(t, zkbench.ErrLimit, "no blinding")
}

func FuzzDecode(f *testing.F) {
	s := newScene(f)
	f.Add(must.Get(s.info.Encode())(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := audit.Decode(data)
		if err != nil {
			must.Fail(t, err, zkbench.ErrMalformed, "untyped error")
			return
		}
		golden.Equal(t, "the same information, encoded again", data, must.Get(info.Encode())(t))
	})
}

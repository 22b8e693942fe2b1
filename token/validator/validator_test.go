package validator_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/validator"
)

// smallTables makes small tables, which are built fast, because a test proves little.
var smallTables = token.Tuning{Table: group.TableOptions{Window: 4, Spacing: 8}}

// system is a token system with one issuer, one auditor, some owners, and the tokens on its ledger, with
// the openings that their owners know.
type system struct {
	ahead uint64 // of the validator's policy, the auditor's
	testing.TB
	params   *token.PublicParams
	id       token.LedgerID
	pp       token.CryptoParams
	v        *validator.Validator
	issuer   identity.Signer
	auditor  identity.Signer
	owners   []identity.Signer // Ed25519, Ed25519, a pseudonym
	ledger   ledger
	openings map[string]token.Opening
	at       time.Time
}

// ledger is a view of a ledger.
type ledger map[string][]byte

func (l ledger) Token(_ context.Context, id token.ID) ([]byte, error) {
	if t, ok := l[string(id)]; ok {
		return t, nil
	}
	return nil, zkbench.ErrSpent
}

func (l ledger) Tokens(ctx context.Context, ids []token.ID) ([]ledgers.Found, error) {
	return validator.TokenFunc(l.Token).Tokens(ctx, ids)
}

func newSystem(t testing.TB, redeem token.RedeemPolicy, edit ...func(p *token.Policy)) *system {
	t.Helper()
	s := &system{TB: t, ledger: make(ledger), openings: make(map[string]token.Opening), at: time.Unix(1_800_000_000, 0)}
	key := func(name string) identity.Signer {
		seed := sha256.Sum256([]byte(name))
		return must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(s)
	}
	s.issuer, s.auditor, s.owners = key("issuer"), key("auditor"), []identity.Signer{key("alice"), key("bob")}
	scheme := must.Get(identity.NewScheme("BN254"))(s)
	holder := must.Get(scheme.NewHolder(rand.Reader))(s)
	pseudonym := must.Get(holder.Pseudonym(rand.Reader))(s)
	s.owners = append(s.owners, pseudonym)

	s.params = must.Get(token.NewPublicParams("BN254", 8, token.CSP, token.Bulletproof))(s)
	s.params.Policy.Issuers, s.params.Policy.Redeem = ledgertest.Issuers(s.issuer.Identity()), redeem
	s.params.Policy.Auditors = ledgertest.Auditors(s, s.auditor.Identity())
	s.params.Policy.Limits = token.Limits{Inputs: 3, Outputs: 3, Metadata: 10, Ahead: time.Minute}
	for _, f := range edit {
		f(&s.params.Policy)
	}
	genesis := ledgertest.Genesis(s, s.params)
	s.id = genesis.ID()
	s.pp = must.Get(s.params.Crypto(token.CSP, smallTables))(s)
	s.v = must.Get(validator.New(s.params, genesis, executor.Serial(), smallTables, 100))(s)
	return s
}

// issued returns an unsigned request that issues values, the i-th to owner i, and the openings.
func (s *system) issued(anchor string, values ...uint64) (*request.Request, []token.Opening) {
	s.Helper()
	var outputs []action.Output
	for i, v := range values {
		outputs = append(outputs, action.Output{Owner: s.owners[i%len(s.owners)].Identity(), Value: v})
	}
	d := must.Get(action.NewIssue(s.Context(), executor.Serial(), s.pp, "USD", action.Spec{Outputs: outputs, Anchor: request.ActionAnchor(s.id, []byte(anchor), 0)}))(s)
	raw := must.Get(d.Prove(s.Context()))(s)
	return &request.Request{Anchor: []byte(anchor), Actions: []request.Action{{
		Kind: token.Issue, ProofType: token.CSP, Raw: raw, Issuer: s.issues(),
	}}}, d.Openings
}

// issues returns the issuer without a signature.
func (s *system) issues() *request.Issuer { return &request.Issuer{Identity: s.issuer.Identity()} }

// moved returns an unsigned transfer, as action n of its request.
func (s *system) moved(anchor string, n int, metadata string, inputs []token.ID, outputs ...action.Output) (request.Action, []token.Opening) {
	s.Helper()
	var owned []action.Owned
	for _, id := range inputs {
		t := must.Get(token.DecodeToken(s.pp.PointLen(), s.ledger[string(id)]))(s)
		owned = append(owned, action.Owned{Input: action.Input{ID: id, Token: *t}, Opening: s.openings[string(id)]})
	}
	sender := must.Get(action.NewSender(s.Context(), executor.Serial(), s.pp, owned))(s)
	d := must.Get(sender.Transfer(s.Context(), action.Spec{Outputs: outputs, Metadata: []byte(metadata), Anchor: request.ActionAnchor(s.id, []byte(anchor), n)}))(s)
	raw := must.Get(d.Prove(s.Context()))(s)
	return request.Action{Kind: token.Transfer, ProofType: token.CSP, Raw: raw, Spends: make([]request.Spend, len(inputs))}, d.Openings
}

// sign fills in all signatures: of the inputs' owners by action, and of issuer and auditor if the request
// needs them.
func (s *system) sign(r *request.Request, owners ...[]identity.Signer) []byte {
	s.Helper()
	signature := func(signer identity.Signer, role request.Role, of uint64) []byte {
		message := request.ToSign(r.Message(s.id), role, of, signer.Identity())
		return must.Get(signer.Sign(message[:], nil))(s)
	}
	for i := range r.Actions {
		for j := range r.Actions[i].Spends {
			r.Actions[i].Spends[j].Signatures = [][]byte{signature(owners[i][j], request.Owner, 0)}
		}
		if r.Actions[i].Issuer != nil {
			r.Actions[i].Issuer.Signature = signature(s.issuer, request.IssuerRole, uint64(i))
		}
	}
	r.Auditors = [][]byte{s.audited(r)}
	return s.encode(r)
}

// audited returns the auditor's signature.
func (s *system) audited(r *request.Request) []byte {
	s.Helper()
	message := request.ToSign(r.AuditMessage(r.Message(s.id)), request.Auditor, s.v.Policy().Version+s.ahead, s.auditor.Identity())
	return must.Get(s.auditor.Sign(message[:], nil))(s)
}

func (s *system) encode(r *request.Request) []byte {
	s.Helper()
	return must.Get(r.Encode())(s)
}

// apply validates a request and applies it.
func (s *system) apply(raw []byte, openings ...token.Opening) *validator.Valid {
	s.Helper()
	valid := must.Get(s.v.Validate(s.Context(), s.ledger, raw, s.at))(s)
	for _, id := range valid.Spends {
		delete(s.ledger, string(id))
	}
	for i, c := range valid.Creates {
		s.ledger[string(c.ID)] = c.Token
		s.openings[string(c.ID)] = openings[i]
	}
	return valid
}

// funded returns a system on whose ledger each owner has a token of 100.
func funded(t testing.TB, redeem token.RedeemPolicy) (*system, []token.ID) {
	t.Helper()
	s := newSystem(t, redeem)
	r, openings := s.issued("genesis", 100, 100, 100)
	valid := s.apply(s.sign(r), openings...)
	var ids []token.ID
	for _, c := range valid.Creates {
		ids = append(ids, c.ID)
	}
	return s, ids
}

func output(owner identity.Identity, value uint64) action.Output {
	return action.Output{Owner: owner, Value: value}
}

// TestLife: issue, transfer with a pseudonym, two actions in one request, redeem.
func TestLife(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemOwner)
	a, opened := s.moved("pay", 0, "memo", []token.ID{ids[0], ids[2]}, output(s.owners[1].Identity(), 150), output(s.owners[2].Identity(), 50))
	b, more := s.moved("pay", 1, "", []token.ID{ids[1]}, output(s.owners[0].Identity(), 60), output(nil, 40))
	r := &request.Request{Anchor: []byte("pay"), Actions: []request.Action{a, b}}
	raw := s.sign(r, []identity.Signer{s.owners[0], s.owners[2]}, []identity.Signer{s.owners[1]})
	valid := s.apply(raw, opened[0], opened[1], more[0])
	if len(valid.Spends) != 3 || len(valid.Creates) != 3 || len(s.ledger) != 3 {
		t.Errorf("%d spent, %d made, %d on the ledger; want 3 each: the redeemed output is none", len(valid.Spends), len(valid.Creates), len(s.ledger))
	}
	if valid.Digest != r.Digest(s.id) || !valid.At.Equal(s.at) || !bytes.Equal(valid.Raw, raw) {
		t.Errorf("%+v", valid)
	}
	// Once more: its inputs are spent.
	_, err := s.v.Validate(t.Context(), s.ledger, raw, s.at)
	want(t, "again", err, validator.Inputs, 0, 0, zkbench.ErrSpent)
}

// want fails the test unless err names the check, the position and the cause, or, if check is empty, unless
// err is nil.
func want(t *testing.T, name string, err error, check string, action, index int, cause error) {
	t.Helper()
	if check == "" {
		must.Do(t, err, name)
		return
	}
	c, ok := errors.AsType[*zkbench.CheckError](err)
	if !ok || c.Check != check || c.Action != action || c.Index != index || !errors.Is(err, cause) {
		t.Errorf("%s: %v, want %s of action %d, %d: %v", name, err, check, action, index, cause)
	}
}

// TestEveryCheckFailsAlone: requests that are right in all but one thing.
func TestEveryCheckFailsAlone(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemIssuer)
	alice, bob := s.owners[0], s.owners[1]
	pay := func(metadata string, outputs ...action.Output) *request.Request {
		a, _ := s.moved("pay", 0, metadata, ids[:1], outputs...)
		return &request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}
	}
	plain := func() *request.Request { return pay("", output(bob.Identity(), 60), output(alice.Identity(), 40)) }
	signed := func(r *request.Request) []byte { return s.sign(r, []identity.Signer{alice}) }
	var image [script.ImageLen]byte
	lock := func(deadline time.Time) []byte {
		l := must.Get(script.NewHashLock(image, uint64(deadline.Unix()), alice.Identity(), bob.Identity()))(s)
		return l.Owner()
	}
	edit := func(f func(r *request.Request)) func() []byte {
		return func() []byte {
			r := plain()
			signed(r)
			f(r)
			return s.encode(r)
		}
	}
	must.Get(s.v.Validate(t.Context(), s.ledger, signed(plain()), s.at))(t) // what all others are made of
	flip := func(b []byte) { b[len(b)-1] ^= 1 }

	for _, test := range []struct {
		name          string
		raw           func() []byte
		check         string
		action, index int
		cause         error
	}{
		{"truncated", func() []byte { raw := signed(plain()); return raw[:len(raw)-1] }, validator.Structure, -1, -1, zkbench.ErrMalformed},
		{"action truncated", func() []byte {
			r := plain()
			r.Actions[0].Raw = r.Actions[0].Raw[:50]
			return signed(r)
		}, validator.Structure, 0, -1, zkbench.ErrMalformed},
		{"proof type that is not allowed", func() []byte {
			r := plain()
			r.Actions[0].ProofType = token.BulletproofAgg
			return signed(r)
		}, validator.Structure, 0, -1, zkbench.ErrParams},
		{"too many outputs", func() []byte {
			return signed(pay("", output(bob.Identity(), 25), output(bob.Identity(), 25), output(bob.Identity(), 25), output(bob.Identity(), 25)))
		}, validator.Structure, 0, -1, zkbench.ErrLimit},
		{"a signature too many", edit(func(r *request.Request) { r.Actions[0].Spends = append(r.Actions[0].Spends, request.Spend{}) }), validator.Structure, 0, -1, zkbench.ErrPolicy},
		{"a signature of an auditor too many", edit(func(r *request.Request) { r.Auditors = append(r.Auditors, r.Auditors[0]) }), validator.Structure, -1, -1, zkbench.ErrPolicy},
		{"no signature of the auditor", edit(func(r *request.Request) { r.Auditors = nil }), validator.Structure, -1, -1, zkbench.ErrPolicy},
		{"metadata too long", func() []byte { return signed(pay("eleven byte", output(bob.Identity(), 100))) }, validator.Metadata, 0, -1, zkbench.ErrLimit},
		{"one token in two actions", func() []byte {
			a, _ := s.moved("pay", 0, "", ids[:1], output(bob.Identity(), 100))
			b, _ := s.moved("pay", 1, "", ids[:1], output(bob.Identity(), 100))
			return s.sign(&request.Request{Anchor: []byte("pay"), Actions: []request.Action{a, b}}, []identity.Signer{alice}, []identity.Signer{alice})
		}, validator.DuplicateInputs, 1, 0, zkbench.ErrPolicy},
		{"redeemed without the issuer", func() []byte { return signed(pay("", output(nil, 100))) }, validator.RedeemPolicy, 0, -1, zkbench.ErrPolicy},
		{"issuer's signature for nothing", func() []byte {
			r := plain()
			r.Actions[0].Issuer = s.issues()
			return signed(r)
		}, validator.RedeemPolicy, 0, -1, zkbench.ErrPolicy},
		{"redeemed with another's signature", func() []byte {
			r := pay("", output(nil, 100))
			r.Actions[0].Issuer = s.issues()
			signed(r)
			flip(r.Actions[0].Issuer.Signature)
			return s.encode(r)
		}, validator.Issuers, 0, -1, zkbench.ErrSignature},
		{"issuer that does not exist", func() []byte {
			r := pay("", output(nil, 100))
			r.Actions[0].Issuer = &request.Issuer{Identity: s.auditor.Identity()}
			return signed(r)
		}, validator.RedeemPolicy, 0, -1, zkbench.ErrPolicy},
		{"issue without the issuer", func() []byte {
			r, _ := s.issued("mint", 1)
			r.Actions[0].Issuer = nil
			return s.sign(r)
		}, validator.Issuers, 0, -1, zkbench.ErrPolicy},
		{"issue to nobody", func() []byte {
			d := must.Get(action.NewIssue(t.Context(), executor.Serial(), s.pp, "USD", action.Spec{Outputs: []action.Output{{Value: 1}}, Anchor: request.ActionAnchor(s.id, []byte("mint"), 0)}))(s)
			raw := must.Get(d.Prove(t.Context()))(s)
			return s.sign(&request.Request{Anchor: []byte("mint"), Actions: []request.Action{{Kind: token.Issue, ProofType: token.CSP, Raw: raw, Issuer: s.issues()}}})
		}, validator.Structure, 0, 0, zkbench.ErrPolicy},
		{"locked until now", func() []byte { return signed(pay("", output(lock(s.at), 100))) }, validator.Scripts, 0, 0, zkbench.ErrPolicy},
		{"locked beside another output", func() []byte {
			return signed(pay("", output(lock(s.at.Add(time.Hour)), 60), output(alice.Identity(), 40)))
		}, validator.Scripts, 0, 0, zkbench.ErrPolicy},
		{"validity that has ended", func() []byte {
			r := plain()
			r.Until = uint64(s.at.Unix()) - 1
			return signed(r)
		}, validator.Validity, -1, -1, zkbench.ErrPolicy},
		{"another end of validity", edit(func(r *request.Request) { r.Until = uint64(s.at.Unix()) }), validator.Owners, 0, 0, zkbench.ErrSignature},
		{"a plain owner's preimage", edit(func(r *request.Request) { r.Actions[0].Spends[0].Preimage = []byte{2} }), validator.Scripts, 0, 0, zkbench.ErrPolicy},
		{"a plain owner unlocked", edit(func(r *request.Request) { r.Actions[0].Spends[0].Unlock = []byte{2} }), validator.Scripts, 0, 0, zkbench.ErrPolicy},
		{"an output to no identity", func() []byte { return signed(pay("", output(identity.Identity("nobody"), 100))) }, validator.OutputOwners, 0, 0, zkbench.ErrMalformed},
		{"no signature of the owner", edit(func(r *request.Request) { r.Actions[0].Spends[0].Signatures = nil }), validator.Owners, 0, 0, zkbench.ErrPolicy},
		{"two signatures of one owner", edit(func(r *request.Request) {
			s := &r.Actions[0].Spends[0].Signatures
			*s = append(*s, (*s)[0])
		}), validator.Owners, 0, 0, zkbench.ErrPolicy},
		{"another owner's signature", func() []byte { return s.sign(plain(), []identity.Signer{bob}) }, validator.Owners, 0, 0, zkbench.ErrSignature},
		{"signature of another request", edit(func(r *request.Request) { r.Anchor = []byte("buy") }), validator.Owners, 0, 0, zkbench.ErrSignature},
		{"auditor's signature given as an owner", edit(func(r *request.Request) {
			message := request.ToSign(r.AuditMessage(r.Message(s.id)), request.Owner, 0, s.auditor.Identity())
			signature := must.Get(s.auditor.Sign(message[:], nil))(s)
			r.Auditors[0] = signature
		}), validator.Auditors, -1, 0, zkbench.ErrSignature},
		{"an output to everybody", func() []byte {
			return signed(pay("", output(append(identity.Identity{byte(identity.TypeEd25519), 1}, make([]byte, 31)...), 100)))
		}, validator.OutputOwners, 0, 0, zkbench.ErrPolicy},
		{"proof longer than it is", func() []byte {
			r := plain()
			a := must.Get(action.Parse(s.pp.PointLen(), token.Transfer, r.Actions[0].Raw))(s)
			r.Actions[0].Raw = must.Get(a.Encode(append(slices.Clone(a.Proof()), 0)))(s)
			return signed(r)
		}, validator.Structure, 0, -1, zkbench.ErrMalformed},
		{"auditor's signature flipped", edit(func(r *request.Request) { flip(r.Auditors[0]) }), validator.Auditors, -1, 0, zkbench.ErrSignature},
		{"proof of another anchor", func() []byte {
			r := plain()
			r.Anchor = []byte("buy")
			return signed(r)
		}, validator.Proofs, 0, -1, zkbench.ErrProof},
		{"proof of another place", func() []byte {
			a, _ := s.moved("pay", 1, "", ids[:1], output(bob.Identity(), 100))
			return signed(&request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}})
		}, validator.Proofs, 0, -1, zkbench.ErrProof},
		{"proof flipped", func() []byte {
			r := plain()
			flip(r.Actions[0].Raw)
			return signed(r)
		}, validator.Proofs, 0, -1, zkbench.ErrProof},
		{"a commitment off the curve", func() []byte {
			r := plain()
			a := must.Get(action.Parse(s.pp.PointLen(), token.Transfer, r.Actions[0].Raw))(s)
			for i := range a.Outputs[0].Commitment {
				a.Outputs[0].Commitment[i] = 0xff
			}
			return signed(r)
		}, validator.Proofs, 0, -1, zkbench.ErrMalformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			raw := test.raw()
			_, err := s.v.Validate(t.Context(), s.ledger, raw, s.at)
			want(t, "alone", err, test.check, test.action, test.index, test.cause)
			// Whoever needs neither clock, proofs nor auditors says the same.
			asked := test.check
			if test.check == validator.Auditors || test.check == validator.Proofs || test.check == validator.Validity || test.name == "locked until now" {
				asked = ""
			}
			want(t, "authorized", s.v.Authorized(t.Context(), raw), asked, test.action, test.index, test.cause)
			// In a batch it is named, and the others stand.
			good := signed(plain())
			results := s.v.ValidateBatch(t.Context(), s.ledger, [][]byte{good, raw, good}, s.at)
			want(t, "in a batch", results[1].Err, test.check, test.action, test.index, test.cause)
			for _, i := range []int{0, 2} {
				if results[i].Err != nil || results[i].Valid == nil {
					t.Errorf("request %d beside it: %v", i, results[i].Err)
				}
			}
		})
	}

	stolen := ledger{string(ids[0]): s.ledger[string(ids[1])]}
	_, err := s.v.Validate(t.Context(), stolen, signed(plain()), s.at)
	want(t, "another token on the ledger", err, validator.Inputs, 0, 0, zkbench.ErrPolicy)
}

// TestAnotherLedger: what one ledger has accepted is refused by another one under the same parameters, which has
// the same tokens, by the first signature of each kind; and so is, where all have signed for it anew, the proof.
func TestAnotherLedger(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemIssuer)
	genesis := ledgertest.Genesis(t, s.params)
	genesis.Nonce[0]++
	other := must.Get(validator.New(s.params, genesis, executor.Serial(), smallTables, 100))(t)
	refused := func(check string, raw []byte) {
		t.Helper()
		_, err := other.Validate(t.Context(), s.ledger, raw, s.at)
		if bad, ok := errors.AsType[*zkbench.CheckError](err); !ok || bad.Check != check {
			t.Errorf("%v, want a failure of %q", err, check)
		}
	}
	issue, _ := s.issued("issue", 5)
	action, _ := s.moved("pay", 0, "", ids[:1], output(s.owners[1].Identity(), 100))
	pay := &request.Request{Anchor: []byte("pay"), Actions: []request.Action{action}}
	for _, signed := range []bool{false, true} { // by all, for the other ledger
		if signed {
			s.id = genesis.ID()
		}
		for check, raw := range map[string][]byte{validator.Issuers: s.sign(issue), validator.Owners: s.sign(pay, s.owners[:1])} {
			if signed {
				check = validator.Proofs
			} else {
				must.Get(s.v.Validate(t.Context(), s.ledger, raw, s.at))(t)
			}
			refused(check, raw)
		}
	}
	// An auditor alone does not let it pass.
	s.id = genesis.ID()
	again := s.sign(pay, s.owners[:1])
	r := must.Get(request.Decode(again))(t)
	s.id = ledgertest.Genesis(t, s.params).ID()
	r.Auditors = must.Get(request.Decode(s.sign(pay, s.owners[:1])))(t).Auditors
	refused(validator.Auditors, s.encode(r))
	narrow := *s.params
	narrow.Policy.Limits.Inputs = 1
	must.FailGet(validator.New(&narrow, genesis, executor.Serial(), smallTables, 100))(t, zkbench.ErrParams, "another ledger's parameters")
}

// TestOwnerKinds: outputs to owners of kinds that the policy does not allow are refused, beside them those of scripts.
func TestOwnerKinds(t *testing.T) {
	t.Parallel()
	without := func(kind token.OwnerKinds) *system {
		return newSystem(t, token.RedeemOwner, func(p *token.Policy) { p.Owners &^= kind })
	}
	locked := func(s *system, recipient identity.Identity) identity.Identity {
		image := must.Get(script.Image([]byte("a secret")))(t)
		lock := must.Get(script.NewHashLock(image, uint64(s.at.Add(time.Hour).Unix()), s.owners[0].Identity(), recipient))(t)
		return lock.Owner()
	}
	for name, test := range map[string]struct {
		s     *system
		owner func(s *system) identity.Identity
		check string
	}{
		"ed25519":                {without(token.OwnerPseudonym), func(s *system) identity.Identity { return s.owners[0].Identity() }, ""},
		"pseudonym":              {without(token.OwnerPseudonym), func(s *system) identity.Identity { return s.owners[2].Identity() }, validator.OutputOwners},
		"lock":                   {without(token.OwnerPseudonym), func(s *system) identity.Identity { return locked(s, s.owners[1].Identity()) }, ""},
		"lock of a pseudonym":    {without(token.OwnerPseudonym), func(s *system) identity.Identity { return locked(s, s.owners[2].Identity()) }, validator.OutputOwners},
		"lock where none may be": {without(token.OwnerHashLock), func(s *system) identity.Identity { return locked(s, s.owners[1].Identity()) }, validator.OutputOwners},
	} {
		d := must.Get(action.NewIssue(t.Context(), executor.Serial(), test.s.pp, "USD",
			action.Spec{Outputs: []action.Output{output(test.owner(test.s), 1)}, Anchor: request.ActionAnchor(test.s.id, []byte("mint"), 0)}))(t)
		raw := must.Get(d.Prove(t.Context()))(t)
		signed := test.s.sign(&request.Request{Anchor: []byte("mint"), Actions: []request.Action{{Kind: token.Issue, ProofType: token.CSP, Raw: raw, Issuer: test.s.issues()}}})
		_, err := test.s.v.Validate(t.Context(), test.s.ledger, signed, test.s.at)
		want(t, name, err, test.check, 0, 0, zkbench.ErrPolicy)
	}
}

// TestHashLock: lock, claim with the preimage before the deadline, reclaim from it on.
func TestHashLock(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemOwner)
	alice, bob := s.owners[0], s.owners[1]
	preimage := []byte("a secret")
	image := must.Get(script.Image(preimage))(s)
	deadline := s.at.Add(time.Hour)
	lock := must.Get(script.NewHashLock(image, uint64(deadline.Unix()), alice.Identity(), bob.Identity()))(s)
	a, opened := s.moved("lock", 0, "", ids[:1], output(lock.Owner(), 100))
	locked := s.apply(s.sign(&request.Request{Anchor: []byte("lock"), Actions: []request.Action{a}}, []identity.Signer{alice}), opened...)
	id := locked.Creates[0].ID

	spend := func(unlock script.Unlock, signer identity.Signer, owner identity.Identity) []byte {
		a, _ := s.moved("open", 0, "", []token.ID{id}, output(owner, 100))
		a.Spends[0].Unlock, a.Spends[0].Preimage = must.Get(unlock.Encode())(s), unlock.Preimage
		return s.sign(&request.Request{Anchor: []byte("open"), Actions: []request.Action{a}}, []identity.Signer{signer})
	}
	claim := script.Unlock{Kind: script.Claim, Preimage: preimage}
	reclaim := script.Unlock{Kind: script.Reclaim}
	for _, test := range []struct {
		name   string
		unlock script.Unlock
		signer identity.Signer
		owner  identity.Identity
		at     time.Time
		check  string // empty: accepted
	}{
		{"claim before", claim, bob, bob.Identity(), deadline.Add(-time.Second), ""},
		{"claim at the deadline", claim, bob, bob.Identity(), deadline, validator.Scripts},
		{"claim with another preimage", script.Unlock{Kind: script.Claim, Preimage: []byte("guess")}, bob, bob.Identity(), s.at, validator.Scripts},
		{"claim by the sender", claim, alice, bob.Identity(), s.at, validator.Owners},
		{"claim for the sender", claim, bob, alice.Identity(), s.at, validator.Scripts},
		{"reclaim before", reclaim, alice, alice.Identity(), deadline.Add(-time.Second), validator.Scripts},
		{"reclaim at the deadline", reclaim, alice, alice.Identity(), deadline, ""},
		{"reclaim by the recipient", reclaim, bob, alice.Identity(), deadline, validator.Owners},
	} {
		_, err := s.v.Validate(t.Context(), s.ledger, spend(test.unlock, test.signer, test.owner), test.at)
		cause := zkbench.ErrPolicy
		if test.check == validator.Owners {
			cause = zkbench.ErrSignature
		}
		want(t, test.name, err, test.check, 0, 0, cause)
	}
}

// TestBatchNamesEveryBadRequest: whichever requests are bad, and however.
func TestBatchNamesEveryBadRequest(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemOwner)
	var raws [][]byte
	for i := range 8 {
		anchor := fmt.Sprintf("pay %d", i)
		a, _ := s.moved(anchor, 0, "", ids[:1], output(s.owners[1].Identity(), 100))
		if i == 2 || i == 5 {
			a.Raw[len(a.Raw)-1] ^= 1
		}
		r := &request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}
		signer := s.owners[0]
		if i == 3 {
			signer = s.owners[1]
		}
		raws = append(raws, s.sign(r, []identity.Signer{signer}))
	}
	raws[7] = nil
	var bad []int
	for i, r := range s.v.ValidateBatch(t.Context(), s.ledger, raws, s.at) {
		_, alone := s.v.Validate(t.Context(), s.ledger, raws[i], s.at)
		golden.Equal(t, fmt.Sprintf("request %d in the batch, by its verdict alone", i), fmt.Sprint(alone), fmt.Sprint(r.Err))
		if r.Err != nil {
			bad = append(bad, i)
		}
	}
	golden.Equal(t, "bad requests", []int{2, 3, 5, 7}, bad)
	if got := s.v.ValidateBatch(t.Context(), s.ledger, nil, s.at); len(got) != 0 {
		t.Errorf("%d results of no request", len(got))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i, r := range s.v.ValidateBatch(ctx, s.ledger, raws[:2], s.at) {
		must.Fail(t, r.Err, context.Canceled, "request %d of a cancelled batch", i)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(p *token.PublicParams){
		"issuers[0]":  func(p *token.PublicParams) { p.Policy.Issuers = ledgertest.Issuers([]byte{1, 2, 3}) },
		"auditors[0]": func(p *token.PublicParams) { p.Policy.Auditors = ledgertest.Auditors(t, []byte{99}) },
		"small order": func(p *token.PublicParams) {
			p.Policy.Issuers = ledgertest.Issuers(append([]byte{byte(identity.TypeEd25519), 1}, make([]byte, 31)...))
		},
		"early stop": func(p *token.PublicParams) { p.RangeProofs[0].Stop = 0 },
		"digest":     func(p *token.PublicParams) { p.RangeProofs[0].Digest[0] ^= 1 },
	} {
		p := must.Get(token.NewPublicParams("BN254", 8, token.CSP))(t)
		edit(p)
		if _, err := validator.New(p, ledgertest.Genesis(t, p), executor.Serial(), smallTables, 10); !errors.Is(err, zkbench.ErrParams) || !bytes.Contains([]byte(err.Error()), []byte(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCallersKeepTheirBuffers: what was validated does not change with the bytes or
// the parameters that the caller gave.
func TestCallersKeepTheirBuffers(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemIssuer)
	a, _ := s.moved("pay", 0, "", ids[:1], output(s.owners[1].Identity(), 100))
	raw := s.sign(&request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}, []identity.Signer{s.owners[0]})
	valid := must.Get(s.v.Validate(t.Context(), s.ledger, raw, s.at))(s)
	clear(raw)
	if !bytes.Equal(valid.Spends[0], ids[0]) || bytes.Equal(valid.Raw, raw) {
		t.Error("the validated request changed with the caller's buffer")
	}
	s.params.Policy.Redeem = token.RedeemOwner
	a, _ = s.moved("out", 0, "", ids[:1], output(nil, 100))
	raw = s.sign(&request.Request{Anchor: []byte("out"), Actions: []request.Action{a}}, []identity.Signer{s.owners[0]})
	_, err := s.v.Validate(t.Context(), s.ledger, raw, s.at)
	want(t, "policy changed after New", err, validator.RedeemPolicy, 0, -1, zkbench.ErrPolicy)
}

// broken is a ledger that cannot be reached.
type broken struct{}

func (broken) Tokens(context.Context, []token.ID) ([]ledgers.Found, error) {
	return nil, zkbench.ErrEnv
}

func TestAnOutageIsNoVerdict(t *testing.T) {
	t.Parallel()
	s, raw := payment(t)
	_, err := s.v.Validate(t.Context(), broken{}, raw, s.at)
	if _, verdict := errors.AsType[*zkbench.CheckError](err); verdict || !errors.Is(err, zkbench.ErrEnv) {
		t.Errorf("%v, want an ErrEnv that is no CheckError", err)
	}
	for name, view := range map[string]asked{
		"of one token":      func([]token.ID) []ledgers.Found { return []ledgers.Found{{Err: zkbench.ErrEnv}} },
		"fewer answers":     func([]token.ID) []ledgers.Found { return nil },
		"more answers":      func([]token.ID) []ledgers.Found { return make([]ledgers.Found, 2) },
		"answers of nobody": func(ids []token.ID) []ledgers.Found { return make([]ledgers.Found, len(ids)) },
	} {
		_, err := s.v.Validate(t.Context(), view, raw, s.at)
		_, verdict := errors.AsType[*zkbench.CheckError](err)
		if err == nil || verdict != (name == "answers of nobody") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// asked is a view of a ledger that calls the function.
type asked func(ids []token.ID) []ledgers.Found

func (a asked) Tokens(_ context.Context, ids []token.ID) ([]ledgers.Found, error) { return a(ids), nil }

// TestAskedOnce: a ledger is asked once for all inputs of a batch, and for none of a request whose signatures do not hold.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemOwner)
	var raws [][]byte
	for i := range ids {
		anchor := fmt.Sprint("pay ", i)
		a, _ := s.moved(anchor, 0, "", ids[i:i+1], output(s.owners[1].Identity(), 100))
		r := &request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}
		raw := s.sign(r, s.owners[i:i+1])
		if i == 1 {
			r.Auditors[0][5] ^= 1
			raw = s.encode(r)
		}
		raws = append(raws, raw)
	}
	var questions [][]token.ID
	view := asked(func(ids []token.ID) []ledgers.Found {
		questions = append(questions, ids)
		return must.Get(s.ledger.Tokens(t.Context(), ids))(t)
	})
	results := s.v.ValidateBatch(t.Context(), view, raws, s.at)
	for i, r := range results {
		if (r.Err == nil) != (i != 1) {
			t.Errorf("request %d: %v", i, r.Err)
		}
	}
	golden.Equal(t, "questions", [][]token.ID{{ids[0], ids[2]}}, questions)
	must.Get(s.v.Validate(t.Context(), asked(nil), func() []byte { r, _ := s.issued("issue", 1); return s.sign(r) }(), s.at))(t)
}

// FuzzValidate: of mutated requests none is accepted that says anything else than
// the signed one, and none panics.
func FuzzValidate(f *testing.F) {
	s, ids := funded(f, token.RedeemOwner)
	a, _ := s.moved("pay", 0, "", ids[:1], output(s.owners[1].Identity(), 60), output(s.owners[0].Identity(), 40))
	raw := s.sign(&request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}, []identity.Signer{s.owners[0]})
	f.Add(0, byte(0), 0)
	f.Add(len(raw)/2, byte(1), 0)
	f.Add(len(raw)-1, byte(255), 3)
	f.Fuzz(func(t *testing.T, at int, flip byte, cut int) {
		mutated := slices.Clone(raw)
		if at >= 0 && at < len(mutated) {
			mutated[at] ^= flip
		}
		if cut > 0 && cut < len(mutated) {
			mutated = slices.Delete(mutated, cut, cut+1)
		}
		_, err := s.v.Validate(context.Background(), s.ledger, mutated, s.at)
		if (err == nil) != bytes.Equal(mutated, raw) {
			t.Errorf("accepted: %v; the signed bytes: %v", err == nil, bytes.Equal(mutated, raw))
		}
	})
}

package entry_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
)

const pointLen = 32

var home = token.LedgerID{1}

// encoded returns a request whose actions have these inputs and outputs, and no proofs.
func encoded(t must.TB, anchor string, actions ...*action.Action) []byte {
	r := &request.Request{Anchor: []byte(anchor)}
	for _, a := range actions {
		a.Notes = make([][]byte, len(a.Outputs))
		r.Actions = append(r.Actions, request.Action{Kind: a.Kind(), ProofType: token.CSP, Raw: must.Get(a.Encode(nil))(t), Spends: make([]request.Spend, len(a.Inputs))})
	}
	return must.Get(r.Encode())(t)
}

func made(owner string, fill byte) token.Token {
	return token.Token{Owner: []byte(owner), Commitment: slices.Repeat([]byte{fill}, pointLen)}
}

// issue returns an action that creates two tokens. transfer spends two, creates one and redeems another.
func issue() *action.Action {
	return &action.Action{Outputs: []token.Token{made("anna", 1), made("ben", 2)}}
}

func transfer() *action.Action {
	return &action.Action{
		Inputs:  []action.Input{{ID: token.ID("a"), Token: made("anna", 3)}, {ID: token.ID("b"), Token: made("anna", 4)}},
		Outputs: []token.Token{made("", 5), made("carl", 6)},
	}
}

// TestRequest: anchor, digest, spends and creations are those of the request, redeemed outputs create nothing, and each field that is not is named.
func TestRequest(t *testing.T) {
	raw := encoded(t, "pay", issue(), transfer())
	p := must.Get(entry.Parse(home, pointLen, raw))(t)
	id := func(action, output int) token.ID { return request.OutputID([]byte("pay"), action, output) }
	var creates []ledger.Created
	for _, c := range []struct {
		id token.ID
		of token.Token
	}{{id(0, 0), made("anna", 1)}, {id(0, 1), made("ben", 2)}, {id(1, 1), made("carl", 6)}} {
		creates = append(creates, ledger.Created{ID: c.id, Token: must.Get(c.of.Encode())(t)})
	}
	want := ledger.Entry{
		Anchor: []byte("pay"), Digest: p.Request.Digest(home), Request: raw,
		Spends: []token.ID{token.ID("a"), token.ID("b")}, Creates: creates,
	}
	golden.Equal(t, "entry", want, p.Entry)
	if p.Entry.Digest == must.Get(entry.Parse(token.LedgerID{2}, pointLen, raw))(t).Entry.Digest {
		t.Error("one digest on two ledgers")
	}
	must.Do(t, entry.Check(&ledger.Record{Seq: 7, Entry: want}, &p.Entry))
	for name, edit := range map[string]func(e *ledger.Entry){
		"its anchor is": func(e *ledger.Entry) { e.Anchor = []byte("other") },
		"its digest is": func(e *ledger.Entry) { e.Digest[31] ^= 1 },
		"its policy version, policy digest or update flag is": func(e *ledger.Entry) { e.Policy++ },
		"policy digest or update flag is":                     func(e *ledger.Entry) { e.PolicyDigest[0]++ },
		"update flag is":                                      func(e *ledger.Entry) { e.Update = true },
		"the tokens that it spends are":                       func(e *ledger.Entry) { e.Spends = e.Spends[:1] },
		"tokens that it spends are":                           func(e *ledger.Entry) { e.Spends = append(slices.Clone(e.Spends), token.ID("c")) },
		"that it spends are":                                  func(e *ledger.Entry) { e.Spends = []token.ID{e.Spends[1], e.Spends[0]} },
		"the tokens that it creates are":                      func(e *ledger.Entry) { e.Creates = e.Creates[1:] },
		"tokens that it creates are":                          func(e *ledger.Entry) { e.Creates = slices.Clone(e.Creates); e.Creates[1].ID = token.ID("x") },
		"that it creates are": func(e *ledger.Entry) {
			e.Creates = slices.Clone(e.Creates)
			e.Creates[2].Token = e.Creates[1].Token
		},
	} {
		bent := want
		edit(&bent)
		err := entry.Check(&ledger.Record{Seq: 7, Entry: bent}, &p.Entry)
		if corrupt, ok := errors.AsType[*ledger.CorruptError](err); !ok || corrupt.Place != "request 7" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden.Contains(t, err.Error(), name+" not the request's")
	}
}

// TestUpdate: an update has the anchor of its version, and the policy before it.
func TestUpdate(t *testing.T) {
	p := token.DefaultPolicy()
	p.Administrators = token.Administrators{Identities: [][]byte{[]byte("anna")}, Threshold: 1}
	p.Version = 3
	u := &policy.Update{Ledger: home, Policy: p}
	raw := must.Get(u.Encode())(t)
	got := must.Get(entry.Parse(home, pointLen, raw))(t)
	golden.Equal(t, "entry", ledger.Entry{Anchor: policy.Anchor(3), Digest: must.Get(u.Digest())(t), Request: raw, Policy: 2, Update: true, PolicyDigest: must.Get(p.Digest())(t)}, got.Entry)
	u.Policy.Version = 0
	must.FailGet(entry.Parse(home, pointLen, must.Get(u.Encode())(t)))(t, zkbench.ErrMalformed, "an update to the first policy")
}

// TestRefused: what is no request, and a request under an update's anchor, have no entry.
func TestRefused(t *testing.T) {
	must.FailGet(entry.Parse(home, pointLen, nil))(t, zkbench.ErrMalformed, "nothing")
	must.FailGet(entry.Parse(home, pointLen, encoded(t, string(policy.Anchor(1)), issue())))(t, zkbench.ErrPolicy, "an update's anchor")
	raw := encoded(t, "pay", issue())
	must.FailGet(entry.Parse(home, pointLen+1, raw))(t, zkbench.ErrMalformed, "commitments of another length")
	must.FailGet(entry.Parse(home, pointLen, raw[:len(raw)-1]))(t, zkbench.ErrMalformed, "the last byte missing")
}

// TestRandom: of random requests as many tokens are created as have owners, under ids of their own.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var actions []*action.Action
		owned, spent := 0, 0
		for range rapid.IntRange(1, 4).Draw(t, "actions") {
			a := new(action.Action)
			for i := range rapid.IntRange(0, 3).Draw(t, "inputs") {
				a.Inputs = append(a.Inputs, action.Input{ID: token.ID{byte(len(actions) + 1), byte(i)}, Token: made("anna", 1)})
				spent++
			}
			for range rapid.IntRange(1, 3).Draw(t, "outputs") {
				owner := rapid.SampledFrom([]string{"", "ben", "carl"}).Draw(t, "owner")
				a.Outputs = append(a.Outputs, made(owner, 2))
				if owner != "" {
					owned++
				}
			}
			actions = append(actions, a)
		}
		e := must.Get(entry.Parse(home, pointLen, encoded(t, "pay", actions...)))(t).Entry
		ids := map[string]bool{}
		for _, c := range e.Creates {
			ids[string(c.ID)] = true
		}
		if len(e.Spends) != spent || len(e.Creates) != owned || len(ids) != owned {
			t.Fatalf("%d spends and %d creations, want %d and %d", len(e.Spends), len(e.Creates), spent, owned)
		}
		must.Do(t, e.Check(0))
	})
}

func FuzzParse(f *testing.F) {
	f.Add(encoded(f, "pay", issue(), transfer()))
	f.Add([]byte{0x81})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := entry.Parse(home, pointLen, data)
		if err != nil {
			if !errors.Is(err, zkbench.ErrMalformed) && !errors.Is(err, zkbench.ErrParams) && !errors.Is(err, zkbench.ErrPolicy) {
				t.Errorf("untyped error %v", err)
			}
			return
		}
		if (p.Request == nil) == (p.Update == nil) || p.Entry.Update != policy.IsUpdate(data) {
			t.Error("neither a request nor an update, or both")
		}
		must.Do(t, p.Entry.Check(0), "an entry that no ledger takes")
	})
}

package receipt_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/receipt"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/request"
)

var noon = time.Unix(1_800_000_000, 0).UTC()

func key(t must.TB, name string) identity.Signer {
	seed := sha256.Sum256([]byte(name))
	return must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(t)
}

// validators makes these the validators of a policy, all but one of whom must sign a head.
func validators(t must.TB, p *token.Policy, names ...string) {
	p.Validators, p.HeadThreshold = nil, len(names)-1
	for _, name := range names {
		p.Validators = append(p.Validators, token.Validator{HeadKey: [32]byte(key(t, name).Identity()[1:])})
	}
	slices.SortFunc(p.Validators, func(a, b token.Validator) int { return bytes.Compare(a.HeadKey[:], b.HeadKey[:]) })
}

// parameters returns parameters whose policy an administrator can change. The derivation of generators is shared.
var parameters = sync.OnceValues(func() (*token.PublicParams, error) {
	return token.NewPublicParams("BN254", 8, token.CSP)
})

var crypto = sync.OnceValues(func() (token.CryptoParams, error) {
	p, err := parameters()
	if err != nil {
		return nil, err
	}
	return p.Crypto(token.CSP, token.LeastTables())
})

// book is a ledger whose requests are well-formed. Their proofs are empty, as no validator looks at them.
type book struct {
	t       testing.TB
	params  *token.PublicParams
	genesis ledger.Genesis
	policy  *token.Policy
	*bolt.Ledger
}

// newParams returns parameters with these validators.
func newParams(t testing.TB, names ...string) *token.PublicParams {
	t.Helper()
	p := *must.Get(parameters())(t)
	p.Policy = *p.Policy.Clone()
	p.Policy.Administrators = token.Administrators{Identities: [][]byte{key(t, "anna").Identity()}, Threshold: 1}
	if len(names) > 0 {
		validators(t, &p.Policy, names...)
	}
	return &p
}

func newBook(t testing.TB, params *token.PublicParams, nonce byte) *book {
	t.Helper()
	return openBook(t, params, ledger.Genesis{
		Params: must.Get(params.Digest())(t), Policy: must.Get(params.Policy.Digest())(t), Nonce: [32]byte{nonce},
	})
}

func openBook(t testing.TB, params *token.PublicParams, genesis ledger.Genesis) *book {
	t.Helper()
	l := must.Get(bolt.Create(filepath.Join(t.TempDir(), "ledger.db"), genesis))(t)
	t.Cleanup(func() { _ = l.Close() })
	return &book{t, params, genesis, &params.Policy, l}
}

// land records an entry that was computed from a request.
func (b *book) land(e ledger.Entry) {
	b.t.Helper()
	state := must.Get(b.State(b.t.Context()))(b.t)
	e.Time = noon.Add(time.Duration(state.Last) * time.Second)
	if !e.Update {
		e.Policy, e.PolicyDigest = b.policy.Version, must.Get(b.policy.Digest())(b.t)
	}
	must.Do(b.t, b.Apply(b.t.Context(), []ledger.Entry{e}))
}

// opening returns an opening of USD, and opened the output with it. The blinding is a small scalar.
func opening(value uint64, blinding byte) token.Opening {
	return token.Opening{Type: "USD", Value: value, Blinding: append(make([]byte, 31), blinding)}
}

func opened(t must.TB, owner string, o token.Opening) token.Token {
	pp := must.Get(crypto())(t)
	made := token.Token{Commitment: must.Get(pp.Commit(context.Background(), executor.Serial(), []token.Opening{o}))(t)[0]}
	if owner != "" {
		made.Owner = key(t, owner).Identity()
	}
	return made
}

// pay records a request that issues tokens, each list with an action.
func (b *book) pay(anchor string, lists ...[]token.Token) {
	b.t.Helper()
	r := &request.Request{Anchor: []byte(anchor)}
	for _, list := range lists {
		a := &action.Action{Outputs: list, Notes: make([][]byte, len(list))}
		r.Actions = append(r.Actions, request.Action{Kind: a.Kind(), ProofType: token.CSP, Raw: must.Get(a.Encode(nil))(b.t)})
	}
	b.land(must.Get(entry.Parse(b.genesis.ID(), must.Get(crypto())(b.t).PointLen(), must.Get(r.Encode())(b.t)))(b.t).Entry)
}

// update records an update of the policy, signed by the administrator.
func (b *book) update(edit func(p *token.Policy)) {
	b.t.Helper()
	next := b.policy.Clone()
	edit(next)
	u := must.Get(policy.New(b.genesis.ID(), b.policy, next))(b.t)
	must.Do(b.t, u.Sign(b.policy, key(b.t, "anna")))
	b.land(must.Get(entry.FromUpdate(u, must.Get(u.Encode())(b.t)))(b.t))
	b.policy = &u.Policy
}

// head returns the head of the log as it is, signed by the validators with these names.
func (b *book) head(names ...string) []byte {
	b.t.Helper()
	state := must.Get(b.State(b.t.Context()))(b.t)
	h := head.Head{Ledger: b.genesis.ID(), Size: state.Last + 1, Root: state.Root}
	return signed(b.t, h, names...)
}

func signed(t testing.TB, h head.Head, names ...string) []byte {
	t.Helper()
	var all [][]byte
	for i, name := range names {
		path := filepath.Join(t.TempDir(), "heads")
		must.Do(t, head.CreateSigner(path, key(t, name), h, noon))
		s := must.Get(head.OpenSigner(path, key(t, name), h.Ledger))(t)
		all = append(all, must.Get(s.Sign(t.Context(), h, noon.Add(time.Duration(i)*time.Minute), unproved))(t))
		must.Do(t, s.Close())
	}
	return must.Get(head.Merge(note.VerifierList(), all...))(t)
}

func unproved(_ context.Context, from, to uint64) (tlog.TreeProof, error) {
	return nil, fmt.Errorf("no proof from %d to %d", from, to)
}

// putHead stores the head that the validators with these names have signed.
func (b *book) putHead(names ...string) {
	b.t.Helper()
	must.Do(b.t, b.PutHead(b.t.Context(), must.Get(b.State(b.t.Context()))(b.t).Last+1, b.head(names...), true))
}

// made returns the receipt of an anchor.
func (b *book) made(anchor string) *receipt.Receipt {
	b.t.Helper()
	return must.Get(receipt.Make(b.t.Context(), b, []byte(anchor)))(b.t)
}

func encoded(t must.TB, r *receipt.Receipt) []byte {
	return must.Get(r.Encode())(t)
}

// The openings of the payment "two": the first two are of one action, the third of another.
var twos = []token.Opening{opening(40, 1), opening(2, 2), opening(7, 3)}

// town is a book with four requests and the head that covers them, and a fifth after that head. The update "three"
// replaces a validator.
func town(t testing.TB) *book {
	t.Helper()
	b := newBook(t, newParams(t, "v1", "v2", "v3"), 1)
	b.pay("one", []token.Token{opened(t, "carl", opening(42, 9))})
	b.pay("two", []token.Token{opened(t, "ben", twos[0]), opened(t, "", twos[1])}, []token.Token{opened(t, "dora", twos[2])})
	b.update(func(p *token.Policy) { validators(t, p, "v2", "v3", "v4") })
	b.pay("four", []token.Token{opened(t, "carl", opening(1, 4))})
	b.putHead("v2", "v4")
	b.pay("five", []token.Token{opened(t, "carl", opening(1, 5))})
	return b
}

package service_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// addresses returns addresses of every kind.
func addresses(t testing.TB, w *world) map[string]service.Address {
	alice, bob := w.pseudonyms(t, "Alice"), w.key(t, "bob")
	a, b := must.Get(alice.Address(&w.params.Policy, nil))(t), must.Get(bob.Address(&w.params.Policy, nil))(t)
	quantum := w.params.Policy
	quantum.Notes = token.MLKEM768X25519
	vouched := a
	must.Do(t, vouched.Sign(w.genesis.ID(), []byte("nonce"), key(t, "the bank of Alice")))
	return map[string]service.Address{
		"vouched": vouched, "pseudonym": a, "key": b, "nobody": {}, "lock": must.Get(service.Locked([32]byte{}, 1, a, b))(t), "ML-KEM": must.Get(alice.Address(&quantum, nil))(t),
	}
}

func TestAddressRoundTrip(t *testing.T) {
	for name, a := range addresses(t, newWorld(t, nil)) {
		data := must.Get(a.Encode())(t)
		if diff := cmp.Diff(a, must.Get(service.DecodeAddress(data))(t), cmpopts.IgnoreUnexported(note.Payee{})); diff != "" && name != "nobody" {
			t.Errorf("%s: %s", name, diff)
		}
		for i := range data {
			must.FailGet(service.DecodeAddress(data[:i]))(t, zkbench.ErrMalformed, "%s: %d of %d bytes", name, i, len(data))
		}
		must.FailGet(service.DecodeAddress(append(bytes.Clone(data), 0)))(t, zkbench.ErrMalformed, "%s: a byte more", name)
	}
	long := service.Address{Owner: make([]byte, token.MaxOwner+1)}
	must.FailGet(long.Encode())(t, zkbench.ErrLimit, "owner")
	long = service.Address{Members: make([]service.Member, token.MaxMembers+1)}
	must.FailGet(long.Encode())(t, zkbench.ErrLimit, "members")
	long = service.Address{Members: []service.Member{{Payee: note.Payee{Key: make([]byte, 1<<16)}}}}
	must.FailGet(long.Encode())(t, zkbench.ErrLimit, "key")
	long = service.Address{Members: []service.Member{{Payee: note.Payee{Key: make([]byte, 32)}, Audit: audit.Owner{Certificate: make([]byte, audit.MaxCertificate+1)}}}}
	must.FailGet(long.Encode())(t, zkbench.ErrLimit, "certificate")
	for _, v := range []service.Vouch{{}, {Identity: make([]byte, identity.MaxLen+1)}, {Identity: []byte{2}, Signature: make([]byte, request.MaxSignature+1)}} {
		long = service.Address{Vouched: &v}
		must.FailGet(long.Encode())(t, zkbench.ErrLimit, "signer")
	}
}

// TestVouchedAddress: a payer who knows a key is handed the address that its owner has signed, for this ledger and conversation, and
// no other one: a pseudonym says nothing of whose it is.
func TestVouchedAddress(t *testing.T) {
	w := newWorld(t, nil)
	here, nonce, bank := w.genesis.ID(), []byte("the payer's nonce"), key(t, "bank")
	keys := w.pseudonyms(t, "Alice")
	address := func() service.Address { return must.Get(keys.Address(&w.params.Policy, nil))(t) }
	a := address()
	must.Fail(t, a.Verify(here, nonce, bank.Identity()), zkbench.ErrSignature, "signed by nobody")
	must.Do(t, a.Sign(here, nonce, bank))
	sent := must.Get(service.DecodeAddress(must.Get(a.Encode())(t)))(t)
	must.Do(t, sent.Verify(here, nonce, bank.Identity()))
	must.Fail(t, sent.Verify(token.LedgerID{1}, nonce, bank.Identity()), zkbench.ErrSignature, "for another ledger")
	must.Fail(t, sent.Verify(here, []byte("another"), bank.Identity()), zkbench.ErrSignature, "in another conversation")
	must.Fail(t, sent.Verify(here, nil, bank.Identity()), zkbench.ErrSignature, "in no conversation")
	must.Fail(t, sent.Verify(here, nonce, key(t, "mallory").Identity()), zkbench.ErrSignature, "by another key")
	for name, edit := range map[string]func(a *service.Address){
		"another owner": func(a *service.Address) { a.Owner = address().Owner },
		"another tag":   func(a *service.Address) { a.Members[0].Payee.Tag[20] ^= 1 },
		"another key":   func(a *service.Address) { a.Members[0].Payee.Key = address().Members[0].Payee.Key },
		"another name":  func(a *service.Address) { a.Members[0].Audit = address().Members[0].Audit },
		"a signature moved to another address": func(a *service.Address) {
			other := address()
			other.Vouched = a.Vouched
			*a = other
		},
		"a signer put into its place": func(a *service.Address) {
			other := address()
			must.Do(t, other.Sign(here, nonce, key(t, "mallory")))
			a.Vouched = other.Vouched
		},
	} {
		bad := must.Get(service.DecodeAddress(must.Get(a.Encode())(t)))(t)
		edit(&bad)
		must.Fail(t, bad.Verify(here, nonce, bank.Identity()), zkbench.ErrSignature, "%s", name)
	}
	// A renewed certificate of the key that the payer knows is as good.
	secret := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	_, old := w.certified(t, secret, "Bank")
	_, renewed := w.certified(t, secret, "Bank, renewed")
	must.Do(t, a.Sign(here, nonce, renewed))
	must.Do(t, a.Verify(here, nonce, old.Identity()))
	scheme := must.Get(identity.NewScheme(w.params.Curve))(t)
	pseudonym := must.Get(must.Get(scheme.NewHolder(nil))(t).Pseudonym(nil))(t)
	must.Fail(t, a.Sign(here, nonce, pseudonym), zkbench.ErrParams, "by a pseudonym, which proves nothing")
	small := append(identity.Identity{byte(identity.TypeEd25519), 1}, make([]byte, 31)...)
	a.Vouched = &service.Vouch{Identity: small, Signature: append(append([]byte{1}, make([]byte, 31)...), make([]byte, 32)...)}
	must.Fail(t, a.Verify(here, nonce, small), zkbench.ErrSignature, "a key for which anybody signs")
}

// FuzzDecodeAddress: what decodes is the one encoding of an address.
func FuzzDecodeAddress(f *testing.F) {
	for _, a := range addresses(f, newWorld(f, nil)) {
		f.Add(must.Get(a.Encode())(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := service.DecodeAddress(data)
		if err == nil {
			golden.Equal(t, "the same address, encoded again", data, must.Get(a.Encode())(t))
		}
	})
}

// TestPayersLearnNothing: an address of a holder shows neither name nor certificate, and two addresses have nothing in common but
// what all addresses on the ledger have; addresses of two holders have as much.
func TestPayersLearnNothing(t *testing.T) {
	w := newWorld(t, nil)
	alice, bob := w.pseudonyms(t, "Alice the payee"), w.pseudonyms(t, "Bob, somebody else")
	encoded := func(k *service.Keys) []byte {
		a := must.Get(k.Address(&w.params.Policy, nil))(t)
		return must.Get(a.Encode())(t)
	}
	common := func(a, b []byte) (n int) {
		if len(a) != len(b) {
			t.Fatalf("addresses of %d and %d bytes", len(a), len(b))
		}
		for i := range a {
			if a[i] == b[i] {
				n++
			}
		}
		return n
	}
	// Positions with equal bytes in all pairs: versions, lengths, the auditor's key. Others agree by chance, 1 in 256.
	first, second, other := encoded(alice), encoded(alice), encoded(bob)
	if own, foreign := common(first, second), common(first, other); own > foreign+20 {
		t.Errorf("two addresses of one payee have %d bytes in common, those of two payees %d", own, foreign)
	}
	for _, a := range [][]byte{first, second} {
		for _, secret := range []string{"Alice", string(w.authority.Identity()[1:])} {
			if bytes.Contains(a, []byte(secret)) {
				t.Errorf("an address shows %q", secret)
			}
		}
	}
	var varying [2][]byte // without what all addresses have, beside which a byte that agrees by chance would make a window
	for i := range first {
		if first[i] != second[i] || first[i] != other[i] {
			varying[0], varying[1] = append(varying[0], first[i]), append(varying[1], second[i])
		}
	}
	for i := range varying[0][15:] {
		if window := varying[0][i : i+16]; bytes.Contains(varying[1], window) {
			t.Errorf("two addresses of one payee have %x in common", window)
		}
	}
}

// TestStrangersNotes: what somebody writes into a note makes nobody's token: a tag that is copied, an opening of another commitment,
// a note for another owner, for another token, and none.
func TestStrangersNotes(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, mallory := w.party(t, w.pseudonyms(t, "Alice")), w.party(t, w.pseudonyms(t, "Mallory"))
	a, m := alice.address(t), mallory.address(t)
	stolen := m
	stolen.Members = slices.Clone(m.Members)
	stolen.Members[0].Payee.Tag = a.Members[0].Payee.Tag // found by Alice, encrypted to Mallory
	foreign := m
	foreign.Members = slices.Clone(a.Members) // encrypted to Alice, owned by Mallory
	foreign.Members[0].Audit = m.Members[0].Audit
	deaf := a
	deaf.Members = slices.Clone(a.Members)
	deaf.Members[0].Payee.Tag = m.Members[0].Payee.Tag // owned by Alice, found by Mallory
	for name, to := range map[string]service.Address{"stolen tag": stolen, "another's owner": foreign, "another's tag": deaf} {
		w.land(t, must.Get(w.issuer.Issue(ctx, paying(to, 5)))(t))
		must.Do(t, alice.Sync(ctx, w.ledger), name)
		must.Do(t, mallory.Sync(ctx, w.ledger), name)
		alice.has(t, 0, name)
		mallory.has(t, 0, name)
	}
	// The note of another token, and of another opening: by who makes requests of their own.
	good := must.Get(w.issuer.Issue(ctx, paying(a, 5)))(t)
	signed := func(edit func(*action.Action)) {
		t.Helper()
		ra := &good.Request.Actions[0]
		parsed := must.Get(action.Parse(32, ra.Kind, ra.Raw))(t)
		edit(parsed)
		r := request.Request{Anchor: []byte{byte(len(w.ledger.log))}, Actions: []request.Action{{Kind: ra.Kind, ProofType: ra.ProofType, Raw: must.Get(parsed.Encode(nil))(t)}}}
		w.ledger.append(t, must.Get(r.Encode())(t))
		must.Do(t, alice.Sync(ctx, w.ledger))
		alice.has(t, 0, "a note that is not the token's")
	}
	opening := good.Information.Actions[0].Outputs[0].Opening
	reseal := func(edit func(*note.Place, *token.Opening)) func(*action.Action) {
		return func(parsed *action.Action) {
			o, place := opening, note.Place{Ledger: w.genesis.ID(), ID: request.OutputID([]byte{byte(len(w.ledger.log))}, 0, 0), Owner: a.Owner}
			edit(&place, &o)
			parsed.Notes[0] = must.Get(note.Seal(place, []note.Payee{a.Members[0].Payee}, o))(t)
		}
	}
	signed(func(*action.Action) {}) // of another anchor, and so another token
	signed(reseal(func(_ *note.Place, o *token.Opening) { o.Value = 1 << 15 }))
	signed(reseal(func(_ *note.Place, o *token.Opening) { o.Type = "EUR" }))
	signed(reseal(func(p *note.Place, _ *token.Opening) { p.Ledger[0]++ }))
	shares := func(owner []byte, payees ...note.Payee) func(*action.Action) {
		return func(parsed *action.Action) {
			parsed.Outputs[0].Owner = owner
			place := note.Place{Ledger: w.genesis.ID(), ID: request.OutputID([]byte{byte(len(w.ledger.log))}, 0, 0), Owner: owner}
			parsed.Notes[0] = must.Get(note.Seal(place, payees, opening))(t)
		}
	}
	one, other := a.Members[0].Payee, m.Members[0].Payee
	signed(shares(a.Owner, one, one)) // more to decrypt than the owner has identities
	signed(shares(a.Owner, other, one))
	lock := must.Get(service.Locked([32]byte{}, 1, a, m))(t)
	signed(shares(lock.Owner, other, one)) // in another order than the owner's
	signed(shares(lock.Owner, one))
	golden.Equal(t, "locked", 0, len(alice.locked(t)))
	signed(func(parsed *action.Action) { parsed.Notes[0] = nil })
	signed(func(parsed *action.Action) { parsed.Notes[0] = []byte("nonsense") })
	// An opening that is none, in a record before a good one: they are tried together.
	bad := must.Get(action.Parse(32, token.Issue, good.Request.Actions[0].Raw))(t)
	reseal(func(_ *note.Place, o *token.Opening) { o.Blinding = bytes.Repeat([]byte{0xff}, 32) })(bad)
	broken := request.Request{Anchor: []byte{byte(len(w.ledger.log))}, Actions: []request.Action{{Kind: token.Issue, ProofType: token.CSP, Raw: must.Get(bad.Encode(nil))(t)}}}
	w.ledger.append(t, must.Get(broken.Encode())(t))
	ra := must.Get(action.Parse(32, token.Issue, good.Request.Actions[0].Raw))(t)
	reseal(func(*note.Place, *token.Opening) {})(ra)
	r := request.Request{Anchor: []byte{byte(len(w.ledger.log))}, Actions: []request.Action{{Kind: token.Issue, ProofType: token.CSP, Raw: must.Get(ra.Encode(nil))(t)}}}
	w.ledger.append(t, must.Get(r.Encode())(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 5, "the token's own note")
}

// TestNotARequest: a log that holds something else is refused, and what came before it counts.
func TestNotARequest(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.party(t, w.key(t, "alice"))
	w.land(t, must.Get(w.issuer.Issue(t.Context(), paying(alice.address(t), 5)))(t))
	must.Do(t, alice.Sync(t.Context(), w.ledger))
	w.ledger.log = append(w.ledger.log, ledgers.Record{Seq: 2, Entry: ledgers.Entry{Anchor: []byte("x"), Time: blockTime, Request: []byte("nonsense")}})
	if err := alice.Sync(t.Context(), w.ledger); !isCorrupt(err) {
		t.Errorf("%v, want a corrupt ledger", err)
	}
	alice.has(t, 5, "what came before")
}

// randomized signs otherwise each time.
type randomized struct{ identity.Signer }

func (r randomized) Sign(message []byte, _ io.Reader) ([]byte, error) {
	s, err := r.Signer.Sign(message, nil)
	nonce, _ := service.NewNonce(nil)
	copy(s, nonce[:])
	return s, err
}

func TestRandomizedSigner(t *testing.T) {
	w := newWorld(t, nil)
	must.FailGet(service.NewKey(w.genesis, randomized{key(t, "alice")}))(t, zkbench.ErrParams, "a signer from which nothing derives")
}

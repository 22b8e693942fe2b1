package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

func deliveries() *rapid.Generator[service.Delivery] {
	return rapid.Custom(func(t *rapid.T) service.Delivery {
		bytes := func(label string, lo, hi int) []byte { return rapid.SliceOfN(rapid.Byte(), lo, hi).Draw(t, label) }
		var owners []audit.Owner
		for range rapid.IntRange(0, 2).Draw(t, "identities") {
			owners = append(owners, audit.Owner{Certificate: bytes("certificate", 0, 100), Proof: bytes("proof", 0, 100)})
		}
		return service.Delivery{
			Audit: owners,
			ID:    bytes("id", 1, token.MaxID),
			Token: token.Token{Owner: bytes("owner", 0, 100), Commitment: bytes("commitment", 1, 48)},
			Opening: token.Opening{
				Type: string(bytes("type", 0, token.MaxType)), Value: rapid.Uint64().Draw(t, "value"), Blinding: bytes("blinding", 32, 32),
			},
		}
	})
}

// TestDeliveryRoundTrip: a delivery comes back, and no proper prefix or extension of
// its encoding decodes.
func TestDeliveryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := deliveries().Draw(t, "delivery")
		data := must.Get(d.Encode())(t)
		got := must.Get(service.DecodeDelivery(data))(t)
		if diff := cmp.Diff(d, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		for _, bad := range [][]byte{data[:cut], append(bytes.Clone(data), 0)} {
			must.FailGet(service.DecodeDelivery(bad))(t, zkbench.ErrMalformed, "%d of %d bytes", len(bad), len(data))
		}
	})
}

func TestLongestDelivery(t *testing.T) {
	d := service.Delivery{
		ID:      make([]byte, token.MaxID),
		Token:   token.Token{Owner: make([]byte, token.MaxOwner), Commitment: make([]byte, 255)},
		Opening: token.Opening{Type: strings.Repeat("x", token.MaxType), Blinding: make([]byte, 32)},
	}
	for range 2 {
		d.Audit = append(d.Audit, audit.Owner{Certificate: make([]byte, audit.MaxCertificate), Proof: make([]byte, audit.MaxProof)})
	}
	data := must.Get(d.Encode())(t)
	golden.Equal(t, "bytes of the largest delivery", service.MaxDelivery, len(data))
	d.Token.Owner = make([]byte, token.MaxOwner+1)
	if _, err := d.Encode(); !errors.Is(err, zkbench.ErrLimit) || !strings.Contains(err.Error(), "owner") {
		t.Error(err)
	}
	d.Token.Owner, d.Audit = nil, make([]audit.Owner, 3)
	if _, err := d.Encode(); !errors.Is(err, zkbench.ErrLimit) || !strings.Contains(err.Error(), "identities") {
		t.Error(err)
	}
	d.Audit = []audit.Owner{{Certificate: make([]byte, audit.MaxCertificate+1)}}
	must.FailGet(d.Encode())(t, zkbench.ErrLimit, "a certificate that is too long")
}

// FuzzDecodeDelivery: what decodes is the one encoding of a delivery.
func FuzzDecodeDelivery(f *testing.F) {
	d := service.Delivery{ID: []byte("id"), Token: token.Token{Owner: []byte("owner"), Commitment: make([]byte, 32)}, Opening: token.Opening{Type: "USD", Value: 7, Blinding: make([]byte, 32)}}
	data := must.Get(d.Encode())(f)
	f.Add(data)
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := service.DecodeDelivery(data)
		if err != nil {
			if e, ok := errors.AsType[*zkbench.DecodeError](err); !ok || e.Offset < 0 || e.Offset > len(data) {
				t.Fatalf("%v", err)
			}
			return
		}
		golden.Equal(t, "the same delivery, encoded again", data, must.Get(d.Encode())(t))
	})
}

// junk is a delivery of a token that opens, to an address, under an id, and is on no
// ledger.
func junk(t *testing.T, w *world, id token.ID, to service.Address, value uint64) service.Delivery {
	t.Helper()
	pp := must.Get(w.params.Crypto(token.CSP, smallTables))(t)
	made := must.Get(action.NewIssue(t.Context(), executor.Serial(), pp, usd, action.Spec{Outputs: []action.Output{{Owner: to.Owner, Value: value}}}))(t)
	return service.Delivery{ID: id, Token: made.Outputs[0], Opening: made.Openings[0]}
}

// TestStrangersDeliveries: deliveries of tokens that are on no ledger, under the ids of a
// transfer to come, neither keep it back nor take the place of its change; what is
// delivered beside them counts.
func TestStrangersDeliveries(t *testing.T) {
	w := newWorld(t, nil)
	alice, bob := w.party(t, w.key(t, "alice")), w.party(t, w.key(t, "bob"))
	w.fund(t, alice, 100)
	mine, bobs := alice.address(t), bob.address(t)
	for j := range 2 {
		id := request.OutputID([]byte("order 17"), 0, j)
		for i := range service.MaxCandidates {
			must.Do(t, alice.Receive(t.Context(), junk(t, w, id, mine, uint64(i))))
		}
		must.Fail(t, alice.Receive(t.Context(), junk(t, w, id, mine, 1000)), zkbench.ErrLimit, "one delivery too many under one id")
		for i := range service.MaxCandidates - 1 {
			must.Do(t, bob.Receive(t.Context(), junk(t, w, id, bobs, uint64(i))))
		}
	}
	sub := must.Get(alice.pay.Transfer(t.Context(), anchored("order 17", paying(bobs, 30))))(t)
	must.Do(t, bob.Receive(t.Context(), sub.Deliveries...))
	must.Do(t, bob.Receive(t.Context(), sub.Deliveries...)) // which it has
	alice.crash(t, w)
	w.land(t, sub)
	asked := w.ledger.asked
	must.Do(t, alice.Sync(t.Context(), w.ledger))
	if n := w.ledger.asked - asked; n != 3 { // the anchor and two ids
		t.Errorf("%d questions, want 3", n)
	}
	must.Do(t, bob.Sync(t.Context(), w.ledger))
	alice.has(t, 70, "after paying")
	bob.has(t, 30, "after being paid")
	// The ledger has decided: nothing is asked any more.
	must.Do(t, alice.Delivered(t.Context(), sub.Request.Anchor))
	asked = w.ledger.asked
	must.Do(t, alice.Sync(t.Context(), w.ledger))
	golden.Equal(t, "questions about what is settled", 0, w.ledger.asked-asked)
}

// TestFullIDEmpties: where strangers have filled an id, the right delivery is an error
// that loses nothing, and is taken once the ledger has told which it is.
func TestFullIDEmpties(t *testing.T) {
	w := newWorld(t, nil)
	bob := w.party(t, w.key(t, "bob"))
	sub := must.Get(w.issuer.Issue(t.Context(), paying(bob.address(t), 10)))(t)
	for i := range service.MaxCandidates {
		must.Do(t, bob.Receive(t.Context(), junk(t, w, sub.Deliveries[0].ID, bob.address(t), uint64(i))))
	}
	must.Fail(t, bob.Receive(t.Context(), sub.Deliveries...), zkbench.ErrLimit, "the right delivery under a full id")
	w.land(t, sub)
	must.Do(t, bob.Sync(t.Context(), w.ledger))
	must.Do(t, bob.Receive(t.Context(), sub.Deliveries...))
	must.Do(t, bob.Sync(t.Context(), w.ledger))
	bob.has(t, 10, "with the right delivery")
}

// limited is a ledger that is out of reach after so many questions for tokens, when it
// cancels what it is asked in, and for some ids always.
type limited struct {
	*memory
	left   int
	cancel context.CancelFunc
	deaf   map[string]bool
}

func (l *limited) Token(ctx context.Context, id token.ID) ([]byte, error) {
	if l.left--; l.left == 0 {
		l.cancel()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if l.deaf[string(id)] {
		return nil, zkbench.ErrEnv
	}
	return l.memory.Token(ctx, id)
}

// expecting is a party that expects so many tokens of 1, and their deliveries.
func expecting(t *testing.T, w *world, n int) (*party, []service.Delivery) {
	t.Helper()
	bob := w.party(t, w.key(t, "bob"))
	var all []service.Delivery
	for len(all) < n {
		sub := must.Get(w.issuer.Issue(t.Context(), paying(bob.address(t), 1, 1, 1, 1)))(t)
		w.land(t, sub)
		must.Do(t, bob.Receive(t.Context(), sub.Deliveries...))
		all = append(all, sub.Deliveries...)
	}
	return bob, all
}

// TestSyncInPieces: what a Sync has learned when its context ends is kept, and the next
// one goes on behind it, also where tokens come first that are on no ledger.
func TestSyncInPieces(t *testing.T) {
	w := newWorld(t, nil)
	bob, _ := expecting(t, w, 12)
	for i := range 12 {
		must.Do(t, bob.Receive(t.Context(), junk(t, w, token.ID{0, byte(i)}, bob.address(t), 1)))
	}
	for range 6 {
		ctx, cancel := context.WithCancel(t.Context())
		err := bob.Sync(ctx, &limited{memory: w.ledger, left: 5, cancel: cancel})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
		cancel()
	}
	bob.has(t, 12, "after 6 times 4 answers for 24 tokens")
}

// TestOneQuestionFails: a question without answer keeps no other from being asked, and
// the error names what it was about.
func TestOneQuestionFails(t *testing.T) {
	w := newWorld(t, nil)
	bob, deliveries := expecting(t, w, 8)
	deaf := map[string]bool{string(deliveries[0].ID): true, string(deliveries[5].ID): true}
	err := bob.Sync(t.Context(), &limited{memory: w.ledger, deaf: deaf})
	if !errors.Is(err, zkbench.ErrEnv) {
		t.Errorf("%v, want %v", err, zkbench.ErrEnv)
	}
	for id := range deaf {
		if want := fmt.Sprintf("token %x", id); !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	bob.has(t, 6, "the two without answers wait")
	must.Do(t, bob.Sync(t.Context(), w.ledger))
	bob.has(t, 8, "after all were answered")
}

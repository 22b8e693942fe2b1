package client_test

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// apart is how far a wrong clock differs from the right one in these tests.
const apart = 10 * time.Minute

// skewed returns a clock that is ahead of the right one, or behind it.
func skewed(ahead time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(ahead) }
}

// TestClockOfCertificates: certificates that have just been issued are accepted by clients and servers whose clocks are ten minutes
// behind the authority's or ahead of it. A clock that is further behind refuses them with an error that says so.
func TestClockOfCertificates(t *testing.T) {
	t.Parallel()
	authority := must.Get(peer.NewAuthority("new"))(t)
	own, wallet := must.Get(authority.Issue("bank", peer.Validator, "127.0.0.1"))(t), must.Get(authority.Issue("me", peer.Wallet))(t)
	dial := func(clientAhead, serverAhead time.Duration) error {
		config := peer.Server(own, authority.Pool())
		config.NextProtos, config.Time = []string{"h2"}, skewed(serverAhead)
		s := serve(t, server.Options{}, config)
		o := client.Options{TLS: peer.Client(&wallet, authority.Pool(), peer.Validator), Patience: time.Minute}
		o.TLS.Time = skewed(clientAhead)
		c, err := client.Dial(t.Context(), s.url, o)
		if err == nil {
			must.Do(t, c.Close())
		}
		return err
	}
	for _, ahead := range [][2]time.Duration{{-apart, 0}, {apart, 0}, {0, -apart}, {0, apart}, {-apart, apart}, {apart, -apart}} {
		must.Do(t, dial(ahead[0], ahead[1]), fmt.Sprintf("the client is ahead by %v, the server by %v", ahead[0], ahead[1]))
	}

	tooFar := apart + time.Minute
	err := dial(-tooFar, 0)
	early, ok := errors.AsType[x509.CertificateInvalidError](err)
	if _, verified := errors.AsType[*tls.CertificateVerificationError](err); !ok || !verified || early.Reason != x509.Expired || !strings.Contains(err.Error(), "not yet valid") {
		t.Errorf("a client that is further behind: %v", err)
	}
	err = dial(0, -tooFar)
	if refused, ok := errors.AsType[*net.OpError](err); !ok || refused.Op != "remote error" || !strings.Contains(err.Error(), "expired certificate") {
		t.Errorf("a server that is further behind: %v", err)
	}
	if errors.Is(err, zkbench.ErrEnv) {
		t.Errorf("the client tries again: %v", err)
	}
}

// validatorAt serves a further validator of the ledger, whose clock is ahead of the right one, and returns a wallet's client of it.
func (s *system) validatorAt(ahead time.Duration) *client.Client {
	t := s.t
	t.Helper()
	v := must.Get(validator.New(s.params, s.store.Genesis(), executor.Serial(), smallTables, 100))(t)
	submitter := must.Get(validator.NewSubmitter(v, s.store, skewed(ahead)))(t)
	url := s.serve(peer.Validator, must.Get(server.NewLedger(server.Ledger{Store: s.store, Submitter: submitter, Params: s.params, Policy: v.Policy}))(t))
	c := must.Get(client.Dial(t.Context(), url, s.options(peer.Wallet, peer.Validator)))(t)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	return c
}

// encoded has the auditor sign a submission, and returns the request.
func (w *wallet) encoded(sub *service.Submission) []byte {
	t := w.system.t
	t.Helper()
	must.Do(t, sub.Audit(t.Context(), must.Get(w.ledger.Policy(t.Context()))(t), w.auditor))
	return must.Get(sub.Request.Encode())(t)
}

// submitted submits a request and returns its verdict.
func submitted(t testing.TB, c *client.Client, raw []byte) (*ledger.Record, error) {
	t.Helper()
	verdict := must.Get(c.Submit(t.Context(), [][]byte{raw}))(t)[0]
	return verdict.Record, verdict.Err
}

// funded returns a wallet with some tokens that were issued now, by the right clock.
func (s *system) funded(name string, values ...uint64) *wallet {
	t := s.t
	t.Helper()
	w, issuer := s.wallet(name), s.issuerFor(peer.Issuer)
	for i, v := range values {
		_, _, err := issuer.Issue(t.Context(), fmt.Sprint(name, i), usd, service.Payment{To: w.address(), Value: v})
		must.Do(t, err)
	}
	must.Do(t, w.Sync(t.Context(), w.ledger))
	return w
}

// TestClockOfValidators: a validator refuses to record while the ledger's last time is further ahead of its clock than the policy
// allows. Nothing is lost: the same request is recorded by a validator whose clock is right, or when the clock is.
func TestClockOfValidators(t *testing.T) {
	t.Parallel()
	pays := func(w *wallet) []byte {
		to := w.system.wallet("bob").address()
		return w.encoded(must.Get(w.transfer.Transfer(t.Context(), service.Order{Type: usd, Payments: []service.Payment{{To: to, Value: 1}}}))(t))
	}
	refuses := func(c *client.Client, raw []byte, behind time.Duration) {
		t.Helper()
		_, err := submitted(t, c, raw)
		wrong, ok := errors.AsType[*ledger.AheadError](err)
		if !ok || !errors.Is(err, zkbench.ErrEnv) {
			t.Fatalf("a validator that is behind: %v", err)
		}
		golden.Equal(t, "most that the policy allows", time.Minute, wrong.Max)
		golden.Equal(t, "minutes behind", behind, wrong.Time.Sub(wrong.Clock).Round(apart))
	}
	s := newSystem(t, false, nil)
	alice := s.funded("alice", 5, 5)
	raw := pays(alice)
	refuses(s.validatorAt(-apart), raw, apart)
	golden.Equal(t, "records", uint64(2), s.records())
	must.Get(submitted(t, alice.ledger, raw))(t)

	ahead := s.validatorAt(apart)
	raw = pays(alice)
	r := must.Get(submitted(t, ahead, raw))(t)
	golden.Equal(t, "minutes ahead", apart, time.Until(r.Time).Round(apart))
	must.Do(t, alice.Sync(t.Context(), alice.ledger))
	next := pays(alice)
	refuses(alice.ledger, next, apart) // the right clock, now
	must.Get(submitted(t, ahead, next))(t)
	again := must.Get(submitted(t, alice.ledger, raw))(t) // what is recorded is told at any time
	golden.Equal(t, "record", r.Seq, again.Seq)

	s = newSystem(t, false, func(p *token.PublicParams) { p.Policy.Limits.Ahead = 2 * apart })
	alice = s.funded("alice", 5, 5)
	r = must.Get(submitted(t, s.validatorAt(apart), pays(alice)))(t)
	late := must.Get(submitted(t, s.validatorAt(-apart+time.Minute), pays(alice)))(t)
	golden.Equal(t, "times of both records are the ledger's", true, late.Time.Equal(r.Time))
}

// TestClockOfDeadlines: the ends that a wallet sets to its payments and locks are compared with the validator's clock. If the wallet's
// clock is behind by more than the time that it gives, the request is refused; if it is ahead, the time is longer.
func TestClockOfDeadlines(t *testing.T) {
	t.Parallel()
	const given = 5 * time.Minute
	s := newSystem(t, false, nil)
	ctx, preimage := t.Context(), []byte("a secret")
	alice, bob := s.funded("alice", 5, 5, 5, 5), s.wallet("bob")
	refused := func(what string, err error) {
		t.Helper()
		if _, ok := errors.AsType[*zkbench.CheckError](err); !ok || !errors.Is(err, zkbench.ErrPolicy) {
			t.Errorf("%s: %v", what, err)
		}
	}
	makes := func(o service.Order) (sub *service.Submission, raw []byte) {
		t.Helper()
		o.Type = usd
		sub = must.Get(alice.transfer.Transfer(ctx, o))(t)
		return sub, alice.encoded(sub)
	}
	locks := func(ahead time.Duration) service.Order {
		end := skewed(ahead)().Add(given)
		to := must.Get(service.Locked(sha256.Sum256(preimage), uint64(end.Unix()), alice.address(), bob.address()))(t)
		return service.Order{Payments: []service.Payment{{To: to, Value: 5}}}
	}
	for _, make := range []struct {
		what  string
		order func(ahead time.Duration) service.Order
	}{
		{"a payment with an end", func(ahead time.Duration) service.Order {
			return service.Order{Payments: []service.Payment{{To: bob.address(), Value: 5}}, Until: skewed(ahead)().Add(given)}
		}},
		{"a lock with a deadline", locks},
	} {
		sub, raw := makes(make.order(-apart))
		_, err := submitted(t, alice.ledger, raw)
		refused(make.what+" by a clock that is behind", err)
		must.Do(t, alice.Discard(ctx, sub.Request.Anchor))
		_, raw = makes(make.order(apart))
		_, err = submitted(t, alice.ledger, raw)
		must.Do(t, err, make.what+" by a clock that is ahead")
		must.Do(t, alice.Sync(ctx, alice.ledger))
		must.Do(t, bob.Sync(ctx, bob.ledger))
	}
	locked := func() token.ID {
		t.Helper()
		for l, err := range bob.Locked() {
			must.Do(t, err)
			return l.ID
		}
		t.Fatal("no lock")
		return token.ID{}
	}
	id := locked() // until 15 minutes from now
	claim, reclaim := bob.encoded(must.Get(bob.transfer.Claim(ctx, id, preimage))(t)), alice.encoded(must.Get(alice.transfer.Reclaim(ctx, id))(t))
	_, err := submitted(t, alice.ledger, reclaim)
	refused("a reclaim before the deadline", err)
	must.Get(submitted(t, bob.ledger, claim))(t)

	_, raw := makes(locks(0))
	must.Get(submitted(t, alice.ledger, raw))(t)
	must.Do(t, alice.Sync(ctx, alice.ledger))
	must.Do(t, bob.Sync(ctx, bob.ledger))
	id = locked() // until 5 minutes from now
	claim, reclaim = bob.encoded(must.Get(bob.transfer.Claim(ctx, id, preimage))(t)), alice.encoded(must.Get(alice.transfer.Reclaim(ctx, id))(t))
	ahead := s.validatorAt(apart)
	_, err = submitted(t, ahead, claim)
	refused("a claim at a validator whose clock is ahead", err)
	must.Get(submitted(t, ahead, reclaim))(t)
}

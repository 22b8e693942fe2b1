package wallet_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// servers are the servers of a town.
type servers struct {
	*town
	honest    ledger.Submitter
	submitter *lying // of the ledger's server
	allow     *lying // of the auditor's server
	ledgerURL string
	auditor   string // URL
}

// lying is a server's part that lies: it refuses what it is given, and keeps it.
type lying struct {
	ledger.Submitter
	refuses error // nil: honest
	kept    [][]byte
}

// Submit implements ledger.Submitter.
func (l *lying) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	if l.refuses == nil {
		return l.Submitter.Submit(ctx, requests)
	}
	verdicts := make([]ledger.Verdict, len(requests))
	for i, raw := range requests {
		r, err := request.Decode(raw)
		if err != nil {
			return nil, err
		}
		verdicts[i] = ledger.Verdict{Anchor: r.Anchor, Err: l.refuses}
	}
	l.kept = append(l.kept, requests...)
	return verdicts, nil
}

// Allow implements service.Policy.
func (l *lying) Allow(context.Context, *audit.Report) error { return l.refuses }

// Settled implements service.Policy.
func (l *lying) Settled(context.Context, []byte, [32]byte, bool) error { return nil }

// newServers starts a validator's and an auditor's server of a new town.
func newServers(t *testing.T) *servers {
	t.Helper()
	s := &servers{town: newTown(t), submitter: new(lying), allow: new(lying)}
	v := must.Get(validator.New(s.params, s.ledger.Genesis(), executor.Pool(), token.LeastTables(), 64))(t)
	must.Do(t, v.Follow(t.Context(), s.ledger))
	s.honest = must.Get(validator.NewSubmitter(v, s.ledger, nil))(t)
	s.submitter.Submitter = s.honest
	s.ledgerURL = s.serve(must.Get(server.NewLedger(server.Ledger{Store: s.ledger, Submitter: s.submitter, Params: s.params, Policy: v.Policy}))(t))
	keys := must.Get(keyfile.Read("key", s.town.auditor(), "a key"))(t)
	vault := must.Get(service.OpenVault(wallet.VaultBeside(s.town.auditor()), s.ledger.Genesis()))(t)
	t.Cleanup(func() { must.Do(t, vault.Close()) })
	a := must.Get(service.NewAuditorService(s.params, token.LeastTables(), executor.Pool(), vault, service.Auditor{
		Signer: keys.Self(), Key: keys.Opening, Policy: s.allow, Authorities: keys.Identities,
	}))(t)
	s.auditor = s.serve(must.Get(server.NewAuditor(server.Auditor{Service: a, Ledger: s.client()}))(t))
	return s
}

func (s *servers) serve(services ...server.Service) (url string) {
	s.t.Helper()
	handler := must.Get(server.New(server.Options{}, services...))(s.t)
	h := handler.HTTP()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(s.t)
	go h.Serve(listener)
	s.t.Cleanup(func() {
		handler.Stop()
		must.Do(s.t, h.Shutdown(context.Background()))
	})
	return "http://" + listener.Addr().String()
}

func (s *servers) client() *client.Client {
	s.t.Helper()
	c := must.Get(client.Dial(s.t.Context(), s.ledgerURL, client.Options{}))(s.t)
	s.t.Cleanup(func() { must.Do(s.t, c.Close()) })
	return c
}

// payer returns a payer that reaches both servers.
func (s *servers) payer(p *wallet.Purse) *wallet.Payer {
	s.t.Helper()
	r := must.Get(wallet.NewPayer(s.t.Context(), p, wallet.Served(s.client()), wallet.Auditors{URLs: []string{s.auditor}, Dial: client.Options{Patience: time.Second}}))(s.t)
	s.t.Cleanup(func() { must.Do(s.t, r.Close()) })
	return r
}

// TestPayServed: wallets pay each other through the servers of a validator and of an auditor, and no file changes hands.
func TestPayServed(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	south := s.bank("south")
	me := s.kept(wallet.Create(filepath.Join(t.TempDir(), "wallet"), s.client().Params(), s.client().Genesis(), must.Get(wallet.NewKey())(t)))
	r := s.payer(south)
	m := must.Get(r.Pay(t.Context(), s.order(me, 35)))(t)
	if m.Status != service.Landed || m.Number != 8 {
		t.Errorf("movement %+v", m)
	}
	must.Get(me.Refresh(t.Context(), s.client()))(t)
	s.holds(me, "35", "0")
	must.Get(s.payer(me).Pay(t.Context(), s.order(south, 5)))(t)
	s.holds(south, "60", "0")
	must.Get(r.Consolidate(t.Context(), "USD"))(t)
	golden.Equal(t, "findings", 0, len(must.Get(south.Check(t.Context(), s.client(), true))(t)))

	_, err := wallet.NewPayer(t.Context(), south, wallet.Served(s.client()), wallet.Auditors{URLs: []string{s.auditor, s.auditor}})
	if refused, ok := errors.AsType[*argument.ValueError](err); !ok || refused.Field != "auditor" {
		t.Errorf("an auditor twice: %v", err)
	}
	_, err = wallet.NewPayer(t.Context(), south, wallet.Served(s.client()), wallet.Auditors{})
	if refused, ok := errors.AsType[*argument.ValueError](err); !ok || refused.Field != "auditor-key" {
		t.Errorf("no auditor: %v", err)
	}
}

// TestServerRefuses: a payment that a server has refused holds its tokens. The server may record it later, and then it
// has been paid once; or it is taken back, and then the server cannot record it.
func TestServerRefuses(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	ctx := t.Context()
	south, me := s.bank("south"), s.person()
	r := s.payer(south)
	refuses := func(by string) []byte {
		t.Helper()
		_, err := r.Pay(ctx, s.order(me, 35))
		refused, ok := errors.AsType[*wallet.RefusedError](err)
		if !ok || refused.By != by || !refused.Kept {
			t.Fatalf("refused by %s: %v", by, err)
		}
		s.holds(south, "40", "50")
		return refused.Anchor
	}
	s.submitter.refuses = &zkbench.CheckError{Check: "policy", Action: -1, Index: -1, Err: zkbench.ErrPolicy}
	anchor := refuses("validator")
	_, err := r.Again(ctx, anchor)
	if refused, ok := errors.AsType[*wallet.RefusedError](err); !ok || !refused.Kept {
		t.Errorf("again: %v", err)
	}
	late := must.Get(s.honest.Submit(ctx, s.submitter.kept))(t)
	golden.Equal(t, "recorded after all", uint64(8), late[0].Record.Seq)
	golden.Equal(t, "recorded once", uint64(8), late[1].Record.Seq)
	s.holds(south, "55", "0")
	s.holds(me, "35", "0")
	golden.Equal(t, "status", service.Landed, must.Get(r.Again(ctx, anchor))(t).Status)

	// A payment that is refused although it is recorded.
	s.submitter.kept = nil
	south2 := s.payer(south)
	south2.Through(func(ledger.Submitter) ledger.Submitter { return recording{s.honest, s.submitter.refuses} })
	m := must.Get(south2.Pay(ctx, s.order(me, 1)))(t)
	golden.Equal(t, "status", service.Landed, m.Status)
	s.holds(me, "36", "0")

	// A payment that is taken back cannot be recorded later.
	_, err = r.Pay(ctx, s.order(me, 2))
	refused, ok := errors.AsType[*wallet.RefusedError](err)
	if !ok || !refused.Kept {
		t.Fatal(err)
	}
	s.submitter.refuses = nil
	must.Get(r.Cancel(ctx, refused.Anchor))(t)
	late = must.Get(s.honest.Submit(ctx, s.submitter.kept))(t)
	must.Fail(t, late[0].Err, zkbench.ErrSpent, "a payment that was taken back")
	s.holds(south, "54", "0")
	s.holds(me, "36", "0")
}

// recording is a submitter that records, and says that it does not.
type recording struct {
	ledger.Submitter
	refuses error
}

// Submit implements ledger.Submitter.
func (r recording) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	verdicts, err := r.Submitter.Submit(ctx, requests)
	for i := range verdicts {
		verdicts[i].Record, verdicts[i].Err = nil, r.refuses
	}
	return verdicts, err
}

// TestAuditorRefuses: an auditor at a server may have signed what it refuses, so the tokens are held. What an auditor in
// this process refuses has been shown to nobody.
func TestAuditorRefuses(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	ctx := t.Context()
	south, me := s.bank("south"), s.person()
	r := s.payer(south)
	s.allow.refuses = errors.New("above the limit")
	_, err := r.Pay(ctx, s.order(me, 35))
	refused, ok := errors.AsType[*wallet.RefusedError](err)
	if !ok || refused.By != "auditor" || !refused.Kept {
		t.Fatal(err)
	}
	golden.Contains(t, err.Error(), "above the limit")
	s.holds(south, "40", "50")
	s.allow.refuses = nil
	golden.Equal(t, "status", service.Landed, must.Get(r.Cancel(ctx, refused.Anchor))(t).Status)
	s.holds(south, "90", "0")
}

// claims is a ledger's server that answers that it has recorded what it has not.
type claims struct{ ledger.Store }

// Submit implements ledger.Submitter.
func (c claims) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	verdicts := make([]ledger.Verdict, len(requests))
	for i, raw := range requests {
		r, err := request.Decode(raw)
		if err != nil {
			return nil, err
		}
		verdicts[i] = ledger.Verdict{Anchor: r.Anchor, Record: &ledger.Record{Seq: 8, Entry: ledger.Entry{Anchor: r.Anchor}}}
	}
	return verdicts, nil
}

// TestServerClaims: a payment that the server only claims to have recorded is not believed.
func TestServerClaims(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	south, me := s.bank("south"), s.person()
	r := s.payer(south)
	r.Through(func(ledger.Submitter) ledger.Submitter { return claims{s.ledger} })
	_, err := r.Pay(t.Context(), s.order(me, 35))
	if _, ok := errors.AsType[*wallet.UnknownError](err); !ok {
		t.Fatal(err)
	}
	s.holds(south, "40", "50")
}

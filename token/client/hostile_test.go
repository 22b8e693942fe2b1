package client_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// TestPartyRoles: each server accepts only the certificates of its authority, now, and of the parties that have to do with it.
func TestPartyRoles(t *testing.T) {
	t.Parallel()
	s := newSystem(t, true, nil)
	ctx := t.Context()
	audits := func(o client.Options) error {
		a, err := client.DialAuditor(ctx, s.auditorURL, o)
		if err == nil {
			must.Do(t, a.Close())
		}
		return err
	}
	issues := func(o client.Options) error {
		i, err := client.DialIssuer(ctx, s.issuerURL, o)
		if err != nil {
			return err
		}
		defer i.Close()
		_, _, err = i.Issue(ctx, "a key", usd)
		return err
	}
	approves := func(o client.Options) error {
		i, err := client.DialIssuer(ctx, s.issuerURL, o)
		if err != nil {
			return err
		}
		defer i.Close()
		return i.Approve(ctx, &request.Request{Anchor: []byte("a"), Actions: []request.Action{{ProofType: "csp", Raw: []byte{0}, Issuer: &request.Issuer{Identity: []byte{1}}}}}, 0)
	}
	for name, c := range map[string]struct {
		role     peer.Role
		at       peer.Role
		call     func(client.Options) error
		accepted bool
	}{
		"a wallet at an auditor":      {peer.Wallet, peer.Auditor, audits, true},
		"an issuer at an auditor":     {peer.Issuer, peer.Auditor, audits, true},
		"a validator at an auditor":   {peer.Validator, peer.Auditor, audits, false},
		"an auditor at an auditor":    {peer.Auditor, peer.Auditor, audits, false},
		"a program at an auditor":     {peer.Program, peer.Auditor, audits, false},
		"an issuer issues":            {peer.Issuer, peer.Issuer, issues, true},
		"a wallet issues":             {peer.Wallet, peer.Issuer, issues, false},
		"a validator issues":          {peer.Validator, peer.Issuer, issues, false},
		"a wallet has approved":       {peer.Wallet, peer.Issuer, approves, true},
		"an auditor has approved":     {peer.Auditor, peer.Issuer, approves, false},
		"an auditor as an issuer":     {peer.Wallet, peer.Issuer, audits, false},
		"an issuer as a validator":    {peer.Wallet, peer.Validator, issues, false},
		"an issuer as another issuer": {peer.Wallet, peer.Issuer, approves, true},
	} {
		err := c.call(s.options(c.role, c.at))
		// The calls that are let through are refused by their services, or are not.
		if refused := err != nil && connect.CodeOf(err) == connect.CodePermissionDenied || isRole(err); refused == c.accepted {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := must.Get(peer.NewAuthority("another authority"))(t)
	for name, cert := range map[string]func() *client.Options{
		"expired": func() *client.Options {
			c := must.Get(s.authority.IssueFor(-time.Minute, "late", peer.Wallet))(t)
			return &client.Options{TLS: peer.Client(&c, s.authority.Pool(), peer.Auditor)}
		},
		"another authority": func() *client.Options {
			c := must.Get(other.Issue("stranger", peer.Wallet))(t)
			return &client.Options{TLS: peer.Client(&c, s.authority.Pool(), peer.Auditor)}
		},
		"no certificate": func() *client.Options {
			return &client.Options{TLS: peer.Client(nil, s.authority.Pool(), peer.Auditor)}
		},
		"a server of another authority": func() *client.Options {
			c := must.Get(s.authority.Issue("wallet", peer.Wallet))(t)
			return &client.Options{TLS: peer.Client(&c, other.Pool(), peer.Auditor)}
		},
	} {
		if err := audits(*cert()); err == nil || errors.Is(err, zkbench.ErrEnv) { // the error of a client that gives up
			t.Errorf("%s: %v", name, err)
		}
	}
	golden.Equal(t, "records", uint64(0), s.records())
}

// TestHuge: requests to sign that are too long, or whose parts are, are refused before they are worked on.
func TestHuge(t *testing.T) {
	t.Parallel()
	s := newSystem(t, false, nil)
	for name, m := range map[string]*tokenv1.SignRequest{
		"request":     {Request: make([]byte, token.MaxRequest+1)},
		"information": {Request: []byte{request.Version}, Information: make([]byte, audit.MaxInformation+1)},
		"message":     {Request: make([]byte, rpc.MaxMessage)},
		"nothing":     {},
	} {
		if code := s.asked(t, peer.Auditor, tokenv1connect.AuditorServiceSignProcedure, m); code != http.StatusBadRequest && code != http.StatusTooManyRequests {
			t.Errorf("%s: %d", name, code)
		}
	}
}

// TestNothingSecret: neither errors nor logs show values, openings or idempotency keys: not when calls are refused, and not
// when a vault or the ledger cannot be reached.
func TestNothingSecret(t *testing.T) {
	t.Parallel()
	s := newSystem(t, false, nil)
	ctx := t.Context()
	const value, key = 31337, "a secret key"
	alice := s.wallet("alice")
	program := s.issuerFor(peer.Issuer)
	_, _, err := program.Issue(ctx, key, usd, service.Payment{To: alice.address(), Value: value})
	must.Do(t, err)
	alice.holds(fmt.Sprint(value))
	var told []error
	_, _, err = program.Issue(ctx, key, usd, service.Payment{To: alice.address(), Value: value - 1})
	told = append(told, err)
	sub := must.Get(alice.transfer.Transfer(ctx, service.Order{Type: usd, Payments: []service.Payment{{Value: value}}}))(t)
	redeemed := must.Get(sub.Redeemed(0))(t)
	told = append(told, program.Approve(ctx, sub.Request, 0, redeemed[0], redeemed[0]))
	item := &sub.Information.Actions[0].Outputs[0].Opening
	item.Value--
	told = append(told, sub.Audit(ctx, s.validator.Policy(), alice.auditor))
	item.Value++
	impatient := s.options(peer.Issuer, peer.Issuer)
	impatient.Patience = -1
	program = must.Get(client.DialIssuer(ctx, s.issuerURL, impatient))(t)
	defer program.Close()
	must.Do(t, s.issued.Close())
	_, _, err = program.Issue(ctx, key, usd, service.Payment{To: alice.address(), Value: value})
	told = append(told, err)
	text := s.log.String()
	for i, err := range told {
		if err == nil {
			t.Errorf("call %d succeeds", i)
			continue
		}
		text += err.Error() + "\n"
	}
	golden.Contains(t, text, "call failed") // the log has something
	blinding := redeemed[0].Blinding
	for _, secret := range []string{
		fmt.Sprint(value), fmt.Sprint(value - 1), key, hex.EncodeToString(blinding[:8]), base64.StdEncoding.EncodeToString(blinding)[:10], string(blinding[:8]),
	} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is told or logged:\n%s", secret, text)
		}
	}
}

// liar is an auditor's server that answers what it wants.
type liar struct {
	tokenv1connect.UnimplementedAuditorServiceHandler
	identity  identity.Identity
	ledger    []byte
	signature func(r *tokenv1.SignRequest) []byte
	seen      *tokenv1.SignRequest
}

func (l *liar) GetAuditor(context.Context, *tokenv1.GetAuditorRequest) (*tokenv1.GetAuditorResponse, error) {
	return &tokenv1.GetAuditorResponse{Protocol: 1, Ledger: l.ledger, Identity: l.identity}, nil
}

func (l *liar) Sign(_ context.Context, r *tokenv1.SignRequest) (*tokenv1.SignResponse, error) {
	l.seen = r
	return &tokenv1.SignResponse{Signature: l.signature(r), Policy: r.GetPolicy()}, nil
}

// lies starts a server of a liar.
func (s *system) lies(l *liar) (url string) {
	_, h := tokenv1connect.NewAuditorServiceHandler(l)
	id := s.store.Genesis().ID()
	web := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(rpc.LedgerHeader, hex.EncodeToString(id[:]))
		h.ServeHTTP(w, r)
	})}
	web.Protocols.SetUnencryptedHTTP2(true)
	s.t.Cleanup(func() { must.Do(s.t, web.Close()) })
	return s.listen(peer.Auditor, web)
}

// isRole reports whether a certificate has another role than was asked for.
func isRole(err error) bool {
	_, ok := errors.AsType[*peer.RoleError](err)
	return ok
}

// TestLyingAuditor: a signature that is not the auditor's own, of this request and under this policy, is not used; and
// who is at the auditor's URL learns nothing from the information without the auditor's key.
func TestLyingAuditor(t *testing.T) {
	t.Parallel()
	s := newSystem(t, false, nil)
	ctx := t.Context()
	alice := s.wallet("alice")
	_, _, err := s.issuerFor(peer.Issuer).Issue(ctx, "a key", usd, service.Payment{To: alice.address(), Value: 10})
	must.Do(t, err)
	alice.holds("10")
	rules, id := s.validator.Policy(), s.store.Genesis().ID()
	auditor := signer(t, "auditor")
	signs := func(of identity.Signer, edit func(r *request.Request), role request.Role, version uint64) func(*tokenv1.SignRequest) []byte {
		return func(m *tokenv1.SignRequest) []byte {
			r := must.Get(request.Decode(bytes.Clone(m.GetRequest())))(t)
			if edit != nil {
				edit(r)
			}
			message := request.ToSign(r.AuditMessage(r.Message(id)), role, version, of.Identity())
			return must.Get(of.Sign(message[:], nil))(t)
		}
	}
	l := &liar{identity: auditor.Identity(), ledger: id[:]}
	url := s.lies(l)
	for name, c := range map[string]struct {
		signature func(*tokenv1.SignRequest) []byte
		want      error
	}{
		"honest":          {signs(auditor, nil, request.Auditor, rules.Version), nil},
		"another auditor": {signs(signer(t, "another"), nil, request.Auditor, rules.Version), zkbench.ErrSignature},
		"another anchor":  {signs(auditor, func(r *request.Request) { r.Anchor[0] ^= 1 }, request.Auditor, rules.Version), zkbench.ErrSignature},
		"another action":  {signs(auditor, func(r *request.Request) { r.Actions[0].Raw[9] ^= 1 }, request.Auditor, rules.Version), zkbench.ErrSignature},
		"another witness": {signs(auditor, func(r *request.Request) { r.Actions[0].Spends[0].Unlock = []byte{1} }, request.Auditor, rules.Version), zkbench.ErrSignature},
		"another policy":  {signs(auditor, nil, request.Auditor, rules.Version+1), zkbench.ErrSignature},
		"another role":    {signs(auditor, nil, request.Owner, rules.Version), zkbench.ErrSignature},
		"none":            {func(*tokenv1.SignRequest) []byte { return nil }, zkbench.ErrSignature},
		"long":            {func(*tokenv1.SignRequest) []byte { return make([]byte, 1<<20) }, zkbench.ErrSignature},
	} {
		l.signature = c.signature
		a := must.Get(client.DialAuditor(ctx, url, s.options(peer.Wallet, peer.Auditor)))(t)
		sub := must.Get(alice.transfer.Transfer(ctx, service.Order{Type: usd, Payments: []service.Payment{{To: alice.address(), Value: 1}}}))(t)
		err := sub.Audit(ctx, rules, a)
		if c.want == nil {
			must.Do(t, err, name)
		} else {
			must.Fail(t, err, c.want, "%s", name)
		}
		golden.Equal(t, name+": signed", c.want == nil, sub.Request.Auditors[0] != nil)
		for _, a := range sub.Information.Actions {
			for _, item := range append(a.Inputs, a.Outputs...) {
				if bytes.Contains(l.seen.GetInformation(), item.Opening.Blinding) {
					t.Errorf("%s: the server sees a blinding", name)
				}
			}
		}
		info := must.Get(audit.Decode(l.seen.GetInformation()))(t)
		stranger := must.Get(audit.New(s.params, s.store.Genesis(), executor.Serial(), smallTables, ledgertest.AuditorKey(t, []byte("another"))))(t)
		must.FailGet(stranger.Check(ctx, sub.Request, info))(t, zkbench.ErrPolicy, "%s: another auditor's key", name)
		must.Do(t, alice.Discard(ctx, sub.Request.Anchor))
		must.Do(t, a.Close())
	}
	l.identity = signer(t, "another").Identity()
	a := must.Get(client.DialAuditor(ctx, url, s.options(peer.Wallet, peer.Auditor)))(t)
	defer a.Close()
	must.FailGet(a.Sign(ctx, rules, nil, nil))(t, zkbench.ErrParams, "a server of another auditor")
	l.ledger = make([]byte, 32)
	must.FailGet(client.DialAuditor(ctx, url, s.options(peer.Wallet, peer.Auditor)))(t, zkbench.ErrParams, "an auditor of another ledger")
	l.ledger = nil
	must.FailGet(client.DialAuditor(ctx, url, s.options(peer.Wallet, peer.Auditor)))(t, zkbench.ErrMalformed, "no ledger")
}

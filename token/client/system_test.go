package client_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// usd is the type of the tests' tokens.
const usd = "USD"

// smallTables are built fast: a system proves little.
var smallTables = token.Tuning{Table: group.TableOptions{Window: 4, Spacing: 8}}

func signer(t testing.TB, name string) identity.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	return must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(t)
}

// system is a token system whose parties reach each other only over the network.
type system struct {
	t         testing.TB
	params    *token.PublicParams
	store     *bolt.Ledger
	validator *validator.Validator
	submitter ledger.Submitter
	authority *peer.Authority // nil: without TLS
	auditor   *service.AuditorService
	issuer    *service.IssueService
	issued    *service.Vault
	issuedAt  string // path

	ledgerURL, auditorURL, issuerURL string

	cut      cuts    // of all servers
	log      journal // of all servers
	handlers map[peer.Role]http.Handler
}

// journal collects what servers log.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *journal) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *journal) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// cuts cuts connections after a server has acted.
type cuts struct {
	calls atomic.Int64 // that are still to be cut
	seen  atomic.Int64 // that were cut
}

// through returns a handler that makes the calls of a handler, and does not always answer.
func (c *cuts) through(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || c.calls.Add(-1) < 0 {
			c.calls.Store(0)
			h.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		c.seen.Add(1)
		panic(http.ErrAbortHandler)
	})
}

// newSystem starts a validator, an auditor and an issuer.
func newSystem(t testing.TB, secure bool, edit func(*token.PublicParams)) *system {
	t.Helper()
	s := &system{t: t, handlers: make(map[peer.Role]http.Handler), params: must.Get(token.NewPublicParams("BN254", 16, token.CSP))(t)}
	rules := &s.params.Policy
	rules.Issuers = ledgertest.Issuers(signer(t, "issuer").Identity())
	rules.Auditors = ledgertest.Auditors(t, signer(t, "auditor").Identity())
	rules.Redeem = token.RedeemIssuer
	rules.Administrators.Threshold, rules.Administrators.Identities = 1, [][]byte{signer(t, "administrator").Identity()}
	if edit != nil {
		edit(s.params)
	}
	if secure {
		s.authority = must.Get(peer.NewAuthority("the tests' authority"))(t)
	}
	genesis := ledgertest.Genesis(t, s.params)
	s.store = must.Get(bolt.Create(filepath.Join(t.TempDir(), "ledger.db"), genesis))(t)
	t.Cleanup(func() { must.Do(t, s.store.Close()) })
	s.validator = must.Get(validator.New(s.params, genesis, executor.Serial(), smallTables, 100))(t)
	s.submitter = must.Get(validator.NewSubmitter(s.validator, s.store, nil))(t)
	s.ledgerURL = s.serve(peer.Validator, must.Get(server.NewLedger(server.Ledger{Store: s.store, Submitter: s.submitter, Params: s.params, Policy: s.validator.Policy}))(t))

	audited := s.vault("auditor")
	s.auditor = must.Get(service.NewAuditorService(s.params, smallTables, executor.Serial(), audited, service.Auditor{
		Signer: signer(t, "auditor"), Key: ledgertest.AuditorKey(t, signer(t, "auditor").Identity()), Policy: service.SignAll{},
	}))(t)
	s.auditorURL = s.serve(peer.Auditor, must.Get(server.NewAuditor(server.Auditor{Service: s.auditor, Ledger: s.ledger(peer.Auditor)}))(t))

	s.issuedAt = filepath.Join(t.TempDir(), "issuer.vault")
	s.issued = must.Get(service.CreateVault(s.issuedAt, genesis))(t)
	t.Cleanup(func() { s.closed(s.issued) })
	s.issuerURL = s.serveIssuer(s.issued, s.ledger(peer.Issuer))
	return s
}

func (s *system) closed(v *service.Vault) {
	if err := v.Close(); !errors.Is(err, fs.ErrClosed) {
		must.Do(s.t, err)
	}
}

func (s *system) vault(name string) *service.Vault {
	s.t.Helper()
	v := must.Get(service.CreateVault(filepath.Join(s.t.TempDir(), name), s.store.Genesis()))(s.t)
	s.t.Cleanup(func() { s.closed(v) })
	return v
}

// serveIssuer starts a server of the issuer with a vault.
func (s *system) serveIssuer(v *service.Vault, submitter ledger.Submitter) (url string) {
	s.t.Helper()
	s.issuer = must.Get(service.NewIssueService(s.params, "", smallTables, executor.Serial(), v, signer(s.t, "issuer")))(s.t)
	return s.serve(peer.Issuer, must.Get(server.NewIssuer(server.Issuer{
		Service: s.issuer, Ledger: s.ledger(peer.Issuer), Submitter: submitter, Auditors: []service.AuditSigner{s.auditorFor(peer.Issuer)},
	}))(s.t))
}

// serve starts a server, and returns its URL.
func (s *system) serve(role peer.Role, services ...server.Service) (url string) {
	s.t.Helper()
	handler := must.Get(server.New(server.Options{Log: slog.New(slog.NewJSONHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, services...))(s.t)
	s.handlers[role] = handler
	h := handler.HTTP()
	h.Handler = s.cut.through(handler)
	url = s.listen(role, h)
	s.t.Cleanup(func() {
		handler.Stop()
		must.Do(s.t, h.Shutdown(context.Background()))
	})
	return url
}

func (s *system) listen(role peer.Role, h *http.Server) (url string) {
	s.t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(s.t)
	if s.authority == nil {
		go h.Serve(listener)
		return "http://" + listener.Addr().String()
	}
	h.TLSConfig = peer.Server(must.Get(s.authority.Issue(string(role), role, "127.0.0.1"))(s.t), s.authority.Pool())
	go h.ServeTLS(listener, "", "")
	return "https://" + listener.Addr().String()
}

// options returns those of a party's client of a server.
func (s *system) options(own, of peer.Role) client.Options {
	s.t.Helper()
	o := client.Options{Ledger: s.store.Genesis().ID(), Params: s.params, Patience: 20 * time.Second}
	if s.authority != nil {
		c := must.Get(s.authority.Issue(string(own), own))(s.t)
		o.TLS = peer.Client(&c, s.authority.Pool(), of)
	}
	return o
}

func (s *system) ledger(own peer.Role) *client.Client {
	s.t.Helper()
	c := must.Get(client.Dial(s.t.Context(), s.ledgerURL, s.options(own, peer.Validator)))(s.t)
	s.t.Cleanup(func() { must.Do(s.t, c.Close()) })
	return c
}

func (s *system) auditorFor(own peer.Role) *client.Auditor {
	s.t.Helper()
	c := must.Get(client.DialAuditor(s.t.Context(), s.auditorURL, s.options(own, peer.Auditor)))(s.t)
	s.t.Cleanup(func() { must.Do(s.t, c.Close()) })
	return c
}

func (s *system) issuerFor(own peer.Role) *client.Issuer {
	s.t.Helper()
	c := must.Get(client.DialIssuer(s.t.Context(), s.issuerURL, s.options(own, peer.Issuer)))(s.t)
	s.t.Cleanup(func() { must.Do(s.t, c.Close()) })
	return c
}

// records returns how many the ledger has.
func (s *system) records() uint64 { return must.Get(s.store.State(s.t.Context()))(s.t).Last }

// wallet is a party that is paid and pays.
type wallet struct {
	*service.Wallet
	system   *system
	ledger   *client.Client
	auditor  *client.Auditor
	transfer *service.TransferService
}

func (s *system) wallet(name string) *wallet {
	s.t.Helper()
	w := &wallet{system: s, ledger: s.ledger(peer.Wallet), auditor: s.auditorFor(peer.Wallet)}
	w.Wallet = must.Get(service.NewWallet(s.params, s.vault(name), must.Get(service.NewKey(s.store.Genesis(), signer(s.t, name)))(s.t)))(s.t)
	w.transfer = must.Get(service.NewTransferService(s.params, "", smallTables, executor.Serial(), w.Wallet))(s.t)
	return w
}

func (w *wallet) address() service.Address {
	w.system.t.Helper()
	return must.Get(w.Address(nil))(w.system.t)
}

// submit has the auditor sign a submission and puts it on the ledger.
func (w *wallet) submit(sub *service.Submission) *ledger.Record {
	t := w.system.t
	t.Helper()
	must.Do(t, sub.Audit(t.Context(), must.Get(w.ledger.Policy(t.Context()))(t), w.auditor))
	verdicts := must.Get(w.ledger.Submit(t.Context(), [][]byte{must.Get(sub.Request.Encode())(t)}))(t)
	must.Do(t, verdicts[0].Err)
	return verdicts[0].Record
}

// pays pays a value to an address.
func (w *wallet) pays(to service.Address, value uint64) *ledger.Record {
	w.system.t.Helper()
	return w.submit(must.Get(w.transfer.Transfer(w.system.t.Context(), service.Order{Type: usd, Payments: []service.Payment{{To: to, Value: value}}}))(w.system.t))
}

// holds fails the test unless the wallet has so much.
func (w *wallet) holds(sum string) {
	w.system.t.Helper()
	must.Do(w.system.t, w.Sync(w.system.t.Context(), w.ledger))
	golden.Equal(w.system.t, "holdings", sum, must.Get(w.Holdings(usd))(w.system.t).Sum.String())
}

// update puts an update of the policy on the ledger.
func (s *system) update(edit func(p *token.Policy)) {
	s.t.Helper()
	current := s.validator.Policy()
	next := current.Clone()
	edit(next)
	u := must.Get(policy.New(s.store.Genesis().ID(), current, next))(s.t)
	must.Do(s.t, u.Sign(current, signer(s.t, "administrator")))
	verdicts := must.Get(s.submitter.Submit(s.t.Context(), [][]byte{must.Get(u.Encode())(s.t)}))(s.t)
	must.Do(s.t, verdicts[0].Err)
	must.Do(s.t, s.validator.Follow(s.t.Context(), s.store))
}

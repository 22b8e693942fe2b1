package zkbench

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

// funds issues tokens of 1000 dollars to addresses.
func (s *served) funds(c *client.Client, n int, address func() string) {
	t := s.t
	t.Helper()
	seed := sha256.Sum256([]byte("ivy"))
	ivy := must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(t)
	vault := must.Get(service.CreateVault(s.path("funds.vault"), c.Genesis()))(t)
	defer vault.Close()
	issuer := must.Get(service.NewIssueService(c.Params(), "", token.Tuning{}, executor.Serial(), vault, ivy))(t)
	for range n {
		_, to, err := service.ParseAddress(address())
		must.Do(t, err)
		sub := must.Get(issuer.Issue(t.Context(), service.Order{Type: "USD", Payments: []service.Payment{{To: to, Value: 1000}}}))(t)
		verdicts := must.Get(c.Submit(t.Context(), [][]byte{must.Get(sub.Request.Encode())(t)}))(t)
		must.Do(t, verdicts[0].Err)
	}
}

// program is a client of a server.
type program struct {
	http *http.Client
	url  string

	mu   sync.Mutex
	told *bytes.Buffer // all that it is told; nil: is not kept
}

// refusal is an answer with another status than 200.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.text) }

// post makes a call of a wallet's server with JSON, and decodes the answer.
func (p *program) post(ctx context.Context, method, body string, answer any) error {
	return p.call(ctx, "WalletService/"+method, body, answer)
}

// call is post for any service.
func (p *program) call(ctx context.Context, procedure, body string, answer any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/zkbench.token.v1."+procedure, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	got, err := p.http.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	data, err := io.ReadAll(got.Body)
	if err != nil {
		return err
	}
	if p.told != nil {
		p.mu.Lock()
		p.told.Write(data)
		p.mu.Unlock()
	}
	if got.StatusCode != http.StatusOK {
		return &refusal{got.StatusCode, string(data)}
	}
	return json.Unmarshal(data, answer)
}

// paid is the answer on a payment.
type paid struct {
	Payment struct {
		Anchor, Status string
		Number         uint64 `json:",string"`
	}
}

// pay pays until it is told that the payment has landed.
func (p *program) pay(ctx context.Context, order string) (answer paid, err error) {
	err = p.repeat(ctx, func(ctx context.Context) (bool, error) {
		answer = paid{}
		err := p.post(ctx, "Pay", order, &answer)
		return answer.Payment.Status == "STATUS_LANDED", err
	})
	return answer, err
}

// repeat makes a call until it is done, or refused by the server. It does not wait long for the first answers, so that it loses
// some.
func (p *program) repeat(ctx context.Context, call func(context.Context) (done bool, err error)) error {
	for patience := 100 * time.Millisecond; ; patience = min(2*patience, 10*time.Second) {
		attempt, cancel := context.WithTimeout(ctx, patience)
		done, err := call(attempt)
		late := attempt.Err() != nil // the answer may be that the caller has gone: it can come before TLS has closed the connection
		cancel()
		refused, is := errors.AsType[*refusal](err)
		if err == nil && done || is && !late && refused.status < http.StatusInternalServerError || ctx.Err() != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // the server may be starting
	}
}

// TestServeWallet kills the server of a wallet and that of its ledger again and again while a program pays, and loses answers.
// Each key pays once, and the program is always told the same record. No secret is in an answer, a log or a metric.
func TestServeWallet(t *testing.T) {
	testsize.Full(t)
	s := newServed(t, "")
	ctx := t.Context()
	s.does("cert", "issue", "--authority", s.path("authority"), "--role", string(peer.Program), "--name", "shop", "--out", s.path("shop"))
	ledgerAt, walletAt, metricsAt := freeAddress(t), freeAddress(t), freeAddress(t)
	validates := func() *process { return s.start(ledgerAt, s.signFlags("vera")[2:]...) }
	north := validates()
	c := s.dial(north.url, time.Minute)
	at := func(name string, args ...string) []string {
		return append(append([]string{"wallet"}, args...), "--dir", s.path(name), "--ledger", north.url, "--tls", s.path("me"))
	}
	address := func(name string) string { return strings.TrimSpace(s.does(at(name, "address")...)) }
	s.does(at("alice", "new")...)
	s.does(at("bob", "new")...)
	const funds = 4
	s.funds(c, funds, func() string { return address("alice") })
	must.Get(c.WaitHead(ctx, funds+1, time.Minute))(t)

	var logs []*strings.Builder
	serves := func() *process {
		p := s.run("--role", "wallet", "--dir", s.path("alice"), "--ledger", north.url, "--listen", walletAt, "--metrics", metricsAt, "--tls", s.path("me"))
		logs = append(logs, p.log)
		return p
	}
	alice := serves()
	certificates := must.Get(serving.LoadCertificates("tls", s.path("shop")))(t)
	p := &program{http: &http.Client{Transport: &http.Transport{TLSClientConfig: certificates.Client(peer.Wallet)}}, url: alice.url, told: new(bytes.Buffer)}
	orders := make([]string, testsize.Pick(8, 8, 200))
	for i := range orders {
		orders[i] = fmt.Sprintf(`{"key": "order %d", "to": %q, "value": 7, "type": "USD"}`, i, address("bob"))
	}
	answers := make([]paid, len(orders))
	var done atomic.Int64
	var callers sync.WaitGroup
	const workers = 3
	for w := range workers {
		callers.Go(func() {
			for i := w; i < len(orders); i += workers {
				var err error
				if answers[i], err = p.pay(ctx, orders[i]); err != nil {
					t.Errorf("order %d: %v", i, err)
				}
				done.Add(1)
			}
		})
	}
	order := rand.New(rand.NewPCG(1, 2))
	for kills := 0; kills < testsize.Pick(3, 3, 60) || done.Load() < int64(len(orders)); kills++ {
		time.Sleep(time.Duration(order.IntN(300)) * time.Millisecond)
		which, again := &alice, serves
		if kills%3 == 1 {
			which, again = &north, validates
		}
		must.Do(t, (*which).Process.Kill())
		_ = (*which).Wait()
		*which = again()
	}
	callers.Wait()
	numbers := make(map[uint64]bool)
	for i := range orders {
		again := must.Get(p.pay(ctx, orders[i]))(t)
		golden.Equal(t, "the answer again", answers[i], again)
		numbers[again.Payment.Number] = true
	}
	golden.Equal(t, "records of payments", len(orders), len(numbers))
	var seen struct{ Followed string }
	must.Do(t, p.post(ctx, "Sync", `{}`, &seen))
	golden.Equal(t, "last record", fmt.Sprint(funds+len(orders)), seen.Followed)
	var balance struct {
		Free    []struct{ Sum string }
		Pending []string
	}
	must.Do(t, p.post(ctx, "GetBalance", `{}`, &balance))
	golden.Equal(t, "alice has", fmt.Sprint(funds*1000-7*len(orders)), balance.Free[0].Sum)
	golden.Equal(t, "pending", 0, len(balance.Pending))
	golden.Contains(t, s.does(at("bob", "balance")...), fmt.Sprintf("%d USD in %d tokens", 7*len(orders), len(orders)))
	_, err := p.pay(ctx, strings.Replace(orders[0], `"value": 7`, `"value": 8`, 1))
	if refused, ok := errors.AsType[*refusal](err); !ok || refused.status != http.StatusConflict || !strings.Contains(refused.text, `order 0`) {
		t.Errorf("another order under a key: %v", err)
	}
	var findings struct{ Findings []any }
	must.Do(t, p.post(ctx, "Check", `{"validate": true}`, &findings))
	golden.Equal(t, "findings", 0, len(findings.Findings))
	var page map[string]any
	must.Do(t, p.post(ctx, "ListHistory", `{}`, &page))
	must.Do(t, p.post(ctx, "MakeReceipt", fmt.Sprintf(`{"anchor": %q, "output": 1}`, answers[0].Payment.Anchor), &page))
	metrics := must.Get(http.Get("http://" + metricsAt + "/metrics"))(t)
	defer metrics.Body.Close()
	shown := string(must.Get(io.ReadAll(metrics.Body))(t))
	golden.Contains(t, shown, `zkbench_vault_findings{kind="token missing",role="wallet"} 0`)
	if code, out, says := call(at("alice", "balance")...); code == cli.ExitOK || !strings.Contains(says, "open elsewhere") {
		t.Errorf("a second process with the wallet: exit code %d, %s%s", code, out, says)
	}
	s.stop(alice)
	s.stop(north)

	for _, log := range logs {
		shown += log.String()
	}
	for _, secret := range s.secrets(c, "alice") {
		if strings.Contains(shown, secret) {
			t.Errorf("a log or a metric has the secret %s", secret)
		}
	}
	receipt := page["receipt"].(string) // opens one output, as asked
	told := strings.Replace(p.told.String(), receipt, "", 1)
	for _, secret := range s.secrets(c, "alice") {
		if strings.Contains(told, secret) {
			t.Errorf("an answer has the secret %s", secret)
		}
	}
}

// secrets returns the secrets of a wallet in the forms that a text may have: the blindings of what it has paid, and its keys.
func (s *served) secrets(c *client.Client, name string) (all []string) {
	s.t.Helper()
	p := must.Get(wallet.Open(s.path(name), c.Genesis()))(s.t)
	defer p.Close()
	for m, err := range p.History() {
		must.Do(s.t, err)
		for _, o := range m.Paid {
			all = append(all, hex.EncodeToString(o.Blinding), base64.StdEncoding.EncodeToString(o.Blinding))
		}
	}
	if len(all) == 0 {
		s.t.Error("no secrets to look for")
	}
	for line := range strings.Lines(string(must.Get(os.ReadFile(filepath.Join(s.path(name), wallet.KeysFile)))(s.t))) {
		if !strings.HasPrefix(line, "-----") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

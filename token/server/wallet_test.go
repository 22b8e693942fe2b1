package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
)

// purse is a wallet in memory.
type purse struct {
	genesis  ledger.Genesis
	pays     func(ctx context.Context, key string, o server.WalletOrder) (*service.Movement, error)
	calls    atomic.Int64 // of Pay
	merges   func()       // nil: nothing
	cancels  func(anchor []byte) (*service.Movement, error)
	findings func() []service.Finding

	mu   sync.Mutex
	paid map[string]*service.Movement // by key
	seen uint64
}

// secret is the blinding of every output of a purse.
var secret = bytes.Repeat([]byte("blinding"), 4)

func (p *purse) Genesis() ledger.Genesis     { return p.genesis }
func (p *purse) Name() string                { return "alice \xff" }
func (p *purse) Sync(context.Context) error  { return nil }
func (p *purse) NewAddress() (string, error) { return "zkaddress:a", nil }

func (p *purse) Followed() (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen, nil
}

func (p *purse) Pay(ctx context.Context, key string, o server.WalletOrder) (*service.Movement, error) {
	p.calls.Add(1)
	if p.pays != nil {
		return p.pays(ctx, key, o)
	}
	return p.put(key, o, service.Landed), nil
}

// put records a payment.
func (p *purse) put(key string, o server.WalletOrder, status service.Status) *service.Movement {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen++
	m := &service.Movement{
		Place: p.seen, Anchor: []byte("anchor of " + key), Status: status, Number: p.seen, Time: time.Unix(0, 5), Made: true,
		Spent: []service.UnspentToken{{Type: o.Type, Value: o.Value}},
		Paid:  []service.Paid{{Owner: []byte("owner"), Opening: token.Opening{Type: o.Type, Value: o.Value, Blinding: secret}}},
	}
	p.paid[key] = m
	return m
}

func (p *purse) Keyed(key string) (*service.Movement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paid[key], nil
}

func (p *purse) Movement(anchor []byte) (*service.Movement, error) {
	for m := range p.HistoryAfter(0) {
		if bytes.Equal(m.Anchor, anchor) {
			return &m, nil
		}
	}
	return nil, nil
}

func (p *purse) Cancel(_ context.Context, anchor []byte) (*service.Movement, error) {
	if p.cancels != nil {
		return p.cancels(anchor)
	}
	return nil, &zkbench.CheckError{Check: "policy", Action: -1, Index: -1, Err: zkbench.ErrPolicy}
}

func (p *purse) Consolidate(_ context.Context, typ string) (*service.Movement, error) {
	if p.merges != nil {
		p.merges()
	}
	if typ != "USD" {
		return nil, &zkbench.CheckError{Check: "policy", Action: -1, Index: -1, Err: zkbench.ErrPolicy}
	}
	return &service.Movement{Anchor: []byte("m"), Status: service.Landed, Number: 7}, nil
}

func (p *purse) Balance() (free, held []service.Total, pending [][]byte, err error) {
	sum, _ := new(big.Int).SetString("36893488147419103232", 10)
	return []service.Total{{Type: "\xfeUSD", Holdings: service.Holdings{Sum: sum, Tokens: 4}}}, nil, nil, nil
}

func (p *purse) HistoryAfter(place uint64) iter.Seq2[service.Movement, error] {
	return func(yield func(service.Movement, error) bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for place := place + 1; place <= p.seen; place++ {
			for _, m := range p.paid {
				if m.Place == place && !yield(*m, nil) {
					return
				}
			}
		}
	}
}

func (p *purse) Receipt(context.Context, []byte, uint64) ([]byte, error) {
	return nil, zkbench.ErrParams
}

func (p *purse) Check(context.Context, bool) ([]service.Finding, error) {
	if p.findings == nil {
		return nil, nil
	}
	return p.findings(), nil
}

// walletServer is a server of a purse.
type walletServer struct {
	*purse
	server  *server.Server
	http    *http.Server
	url     string
	metrics *prometheus.Registry
	log     *buffer
	client  *http.Client
}

// openWallet serves a purse, with TLS if secure is not nil.
func openWallet(t testing.TB, secure *tls.Config, edit func(*purse)) *walletServer {
	t.Helper()
	params := must.Get(token.NewPublicParams("BN254", 16, "bulletproof"))(t)
	w := &walletServer{purse: &purse{genesis: ledgertest.Genesis(t, params), paid: make(map[string]*service.Movement)}, metrics: prometheus.NewRegistry(), log: new(buffer), client: http.DefaultClient}
	if edit != nil {
		edit(w.purse)
	}
	s := must.Get(server.NewWallet(w.purse))(t)
	w.server = must.Get(server.New(server.Options{Metrics: w.metrics, Log: slog.New(slog.NewJSONHandler(w.log, nil))}, s))(t)
	w.http = w.server.HTTP()
	w.http.TLSConfig = secure
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan error, 1)
	if w.url = "http://" + l.Addr().String(); secure == nil {
		go func() { done <- w.http.Serve(l) }()
	} else {
		w.url = "https://" + l.Addr().String()
		go func() { done <- w.http.ServeTLS(l, "", "") }()
	}
	t.Cleanup(func() {
		w.server.Stop()
		must.Do(t, w.http.Close())
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return w
}

// try makes a call with JSON, and returns the status and the answer.
func (w *walletServer) try(ctx context.Context, method, body string) (status int, answer map[string]any, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/zkbench.token.v1.WalletService/"+method, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	got, err := w.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer got.Body.Close()
	return got.StatusCode, answer, json.NewDecoder(got.Body).Decode(&answer)
}

// call is try for a call that must be answered.
func (w *walletServer) call(t testing.TB, method, body string) (status int, answer map[string]any) {
	t.Helper()
	status, answer, err := w.try(t.Context(), method, body)
	must.Do(t, err)
	return status, answer
}

// reason returns the reason of an error.
func reason(answer map[string]any) string {
	details, _ := answer["details"].([]any)
	if len(details) == 0 {
		return ""
	}
	debug, _ := details[0].(map[string]any)["debug"].(map[string]any)
	text, _ := debug["reason"].(string)
	return text
}

func payment(answer map[string]any) map[string]any {
	m, _ := answer["payment"].(map[string]any)
	return m
}

// TestWalletCalls: the answers on each call, in JSON. Texts that are not UTF-8, which payers choose, break no answer, and
// blindings are in none.
func TestWalletCalls(t *testing.T) {
	t.Parallel()
	w := openWallet(t, nil, nil)
	_, who := w.call(t, "GetWallet", `{}`)
	golden.Equal(t, "name", "alice \ufffd", who["name"].(string))
	_, address := w.call(t, "NewAddress", `{}`)
	golden.Equal(t, "address", "zkaddress:a", address["address"].(string))
	_, balance := w.call(t, "GetBalance", `{}`)
	free := balance["free"].([]any)[0].(map[string]any)
	golden.Equal(t, "balance", "\ufffdUSD 36893488147419103232 4", free["type"].(string)+" "+free["sum"].(string)+" "+free["tokens"].(string))
	for _, key := range []string{"a", "b", "c"} {
		status, paid := w.call(t, "Pay", `{"key": "`+key+`", "to": "zkaddress:b", "value": "20", "type": "USD"}`)
		golden.Equal(t, "status", http.StatusOK, status)
		golden.Equal(t, "payment", "STATUS_LANDED", payment(paid)["status"].(string))
	}
	_, by := w.call(t, "GetPayment", `{"key": "b", "waitMs": 100}`)
	golden.Equal(t, "number", "2", payment(by)["number"].(string))
	_, same := w.call(t, "GetPayment", `{"anchor": "`+payment(by)["anchor"].(string)+`"}`)
	golden.Equal(t, "by anchor", "2", payment(same)["number"].(string))
	_, none := w.call(t, "GetPayment", `{"key": "none", "waitMs": 60000}`)
	golden.Equal(t, "no payment", 0, len(none))

	status, page := w.call(t, "ListHistory", `{"after": "1", "most": 1}`)
	golden.Equal(t, "status", http.StatusOK, status)
	m := page["movements"].([]any)[0].(map[string]any)
	golden.Equal(t, "place", "2", m["place"].(string))
	golden.Equal(t, "output", "20", m["outputs"].([]any)[0].(map[string]any)["value"].(string))
	golden.Equal(t, "more", true, page["more"].(bool))
	if text := string(must.Get(json.Marshal(page))(t)); strings.Contains(text, "linding") || strings.Contains(text, "Ymxpbm") {
		t.Errorf("a blinding in %s", text)
	}
	_, last := w.call(t, "ListHistory", `{"after": "3"}`)
	golden.Equal(t, "the last page", 0, len(last))

	for method, body := range map[string]string{
		"Pay":           `{"key": ""}`,
		"GetPayment":    `{}`,
		"CancelPayment": `{"key": "a", "anchor": "YQ=="}`,
		"MakeReceipt":   `{}`,
	} {
		status, answer := w.call(t, method, body)
		golden.Equal(t, method, http.StatusBadRequest, status)
		golden.Equal(t, method, "REASON_PARAMS", reason(answer))
	}
	status, answer := w.call(t, "ListHistory", `{"most": 1001}`)
	golden.Equal(t, "a page that is too long", http.StatusTooManyRequests, status)
	golden.Equal(t, "a page that is too long", "REASON_LIMIT", reason(answer))
	status, answer = w.call(t, "CancelPayment", `{"key": "none"}`)
	golden.Equal(t, "no payment", http.StatusNotFound, status)
	golden.Equal(t, "no payment", "REASON_NOT_FOUND", reason(answer))
	status, _ = w.call(t, "Pay", `{"key": "\ud800"}`)
	golden.Equal(t, "a key that is not UTF-8", http.StatusBadRequest, status)
}

// TestWalletConsolidates: tokens are merged by one call at a time, which goes on when its caller has gone.
func TestWalletConsolidates(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w := openWallet(t, nil, func(p *purse) {
		p.merges = func() { once.Do(func() { close(begun); <-goOn }) }
	})
	gone, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if _, _, err := w.try(gone, "Consolidate", `{"type": "USD"}`); err == nil {
			t.Error("a caller that has gone has an answer")
		}
	})
	<-begun
	leave()
	all.Wait()
	status, answer := w.call(t, "Consolidate", `{"type": "USD"}`)
	golden.Equal(t, "beside another call", http.StatusTooManyRequests, status)
	golden.Equal(t, "beside another call", "REASON_LIMIT", reason(answer))
	close(goOn)
	for status, answer = w.call(t, "Consolidate", `{"type": "USD"}`); status == http.StatusTooManyRequests; {
		status, answer = w.call(t, "Consolidate", `{"type": "USD"}`)
	}
	golden.Equal(t, "status", http.StatusOK, status)
	golden.Equal(t, "number", "7", answer["payment"].(map[string]any)["number"].(string))
	status, answer = w.call(t, "Consolidate", `{"type": "EUR"}`)
	golden.Equal(t, "nothing to merge", http.StatusBadRequest, status)
	golden.Equal(t, "nothing to merge", "REASON_POLICY", reason(answer))
}

// running waits until n calls run or wait.
func (w *walletServer) running(n int) {
	for testutil.ToFloat64(gauge{&bank{metrics: w.metrics}, "zkbench_calls_running"}) < float64(n) {
		time.Sleep(time.Millisecond)
	}
}

// TestWalletCancelsLater: taking back a payment that a call makes never says that there is no such payment. It waits until the
// payment is made.
func TestWalletCancelsLater(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	w := openWallet(t, nil, func(p *purse) {
		p.pays = func(_ context.Context, key string, o server.WalletOrder) (*service.Movement, error) {
			close(begun)
			<-goOn
			return p.put(key, o, service.Landed), nil
		}
		p.cancels = func(anchor []byte) (*service.Movement, error) { return p.Movement(anchor) }
	})
	var all sync.WaitGroup
	all.Go(func() { w.call(t, "Pay", `{"key": "rent", "to": "b", "value": "20", "type": "USD"}`) })
	<-begun
	all.Go(func() {
		status, answer := w.call(t, "CancelPayment", `{"key": "rent"}`)
		golden.Equal(t, "status", http.StatusOK, status)
		golden.Equal(t, "payment", "STATUS_LANDED", fmt.Sprint(payment(answer)["status"]))
	})
	w.running(2)
	time.Sleep(200 * time.Millisecond) // from the count to the payment
	close(goOn)
	all.Wait()
}

// TestWalletCancelsOnce: calls that take the same payment back at the same time have the same answer.
func TestWalletCancelsOnce(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	var calls atomic.Int64
	w := openWallet(t, nil, func(p *purse) {
		p.pays = func(_ context.Context, key string, o server.WalletOrder) (*service.Movement, error) {
			return p.put(key, o, service.Pending), nil
		}
		p.cancels = func(anchor []byte) (*service.Movement, error) {
			if calls.Add(1) > 1 {
				return nil, zkbench.ErrPolicy
			}
			<-goOn
			return &service.Movement{Anchor: anchor, Status: service.Cancelled}, nil
		}
	})
	w.call(t, "Pay", `{"key": "rent", "to": "b", "value": "20", "type": "USD"}`)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			status, answer := w.call(t, "CancelPayment", `{"key": "rent"}`)
			golden.Equal(t, "status", http.StatusOK, status)
			golden.Equal(t, "payment", "STATUS_CANCELLED", fmt.Sprint(payment(answer)["status"]))
		})
	}
	w.running(3)
	time.Sleep(200 * time.Millisecond) // from the count to the payment
	close(goOn)
	all.Wait()
	golden.Equal(t, "calls", 1, calls.Load())
}

// TestWalletShare: a program whose payments take long leaves payments to others.
func TestWalletShare(t *testing.T) {
	t.Parallel()
	a := must.Get(peer.NewAuthority("test"))(t)
	own := must.Get(a.Issue("alice", peer.Wallet, "127.0.0.1"))(t)
	release := make(chan struct{})
	w := openWallet(t, peer.Server(own, a.Pool()), func(p *purse) {
		p.pays = func(_ context.Context, key string, o server.WalletOrder) (*service.Movement, error) {
			if strings.HasPrefix(key, "slow") {
				<-release
			}
			return p.put(key, o, service.Landed), nil
		}
	})
	as := func(name string) *walletServer {
		cert := must.Get(a.Issue(name, peer.Program))(t)
		other := &walletServer{url: w.url, metrics: w.metrics, client: &http.Client{Transport: &http.Transport{TLSClientConfig: peer.Client(&cert, a.Pool(), peer.Wallet)}}}
		t.Cleanup(other.client.CloseIdleConnections)
		return other
	}
	pay := func(key string) string { return `{"key": "` + key + `", "to": "b", "value": "1", "type": "USD"}` }
	greedy, other := as("greedy"), as("other")
	var slow sync.WaitGroup
	for n := range server.MaxOwnPaying {
		slow.Go(func() {
			status, _ := greedy.call(t, "Pay", pay(fmt.Sprint("slow ", n)))
			golden.Equal(t, "status of a slow payment", http.StatusOK, status)
		})
	}
	for w.calls.Load() < server.MaxOwnPaying {
		time.Sleep(time.Millisecond)
	}
	status, answer := greedy.call(t, "Pay", pay("one more"))
	golden.Equal(t, "status of one more", http.StatusTooManyRequests, status)
	golden.Equal(t, "reason", "REASON_LIMIT", reason(answer))
	status, _ = other.call(t, "Pay", pay("another program's"))
	golden.Equal(t, "status of another program's", http.StatusOK, status)
	close(release)
	slow.Wait()
}

// TestWalletBounds: the wallet is compared with the ledger for one caller at a time, and a page of the history counts as memory.
func TestWalletBounds(t *testing.T) {
	t.Parallel()
	var checks atomic.Int64
	release := make(chan struct{})
	w := openWallet(t, nil, func(p *purse) {
		p.findings = func() []service.Finding {
			checks.Add(1)
			<-release
			return nil
		}
		p.put("large", server.WalletOrder{}, service.Landed).Paid[0].Owner = make([]byte, 64<<20)
	})
	status, answer := w.call(t, "ListHistory", `{}`)
	golden.Equal(t, "status of a large page", http.StatusTooManyRequests, status)
	golden.Equal(t, "reason", "REASON_LIMIT", reason(answer))
	for checks.Load() < 1 { // of the server itself
		time.Sleep(time.Millisecond)
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { w.call(t, "Check", `{"validate": true}`) })
	}
	w.running(5)
	time.Sleep(20 * time.Millisecond) // from the count to the check
	if n := checks.Load(); n > 2 {
		t.Errorf("%d checks at one time", n)
	}
	close(release)
	all.Wait()
	golden.Equal(t, "checks", int64(6), checks.Load())
}

// TestWalletJoins: calls with one key make one payment, which goes on when its first caller has gone. One with another order
// is refused. A panic ends one call.
func TestWalletJoins(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	w := openWallet(t, nil, func(p *purse) {
		p.pays = func(ctx context.Context, key string, o server.WalletOrder) (*service.Movement, error) {
			if key == "panics" {
				panic("of the wallet")
			}
			close(begun)
			<-goOn
			return p.put(key, o, service.Landed), ctx.Err()
		}
	})
	const body = `{"key": "rent", "to": "b", "value": "20", "type": "USD"}`
	gone, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if _, _, err := w.try(gone, "Pay", body); err == nil {
			t.Error("a caller that has gone has an answer")
		}
	})
	<-begun
	leave()
	status, answer := w.call(t, "Pay", `{"key": "rent", "to": "b", "value": "21", "type": "USD"}`)
	golden.Equal(t, "another order", http.StatusConflict, status)
	golden.Equal(t, "another order", "REASON_ANCHOR_CONFLICT", reason(answer))
	golden.Contains(t, answer["message"].(string), `"rent"`)
	for range 3 {
		all.Go(func() {
			if status, _, err := w.try(t.Context(), "Pay", body); status != http.StatusOK || err != nil {
				t.Errorf("status %d, %v", status, err)
			}
		})
	}
	for testutil.ToFloat64(w.counter(t, "zkbench_calls_running", "method", "Pay")) < 4 { // three that wait, and the one whose caller has gone
		time.Sleep(time.Millisecond)
	}
	_, made := w.call(t, "GetPayment", `{"key": "rent", "waitMs": 1}`)
	golden.Equal(t, "while it is made", "STATUS_PENDING", payment(made)["status"].(string))
	all.Go(func() {
		if _, made, err := w.try(t.Context(), "GetPayment", `{"key": "rent", "waitMs": 60000}`); err != nil || payment(made)["status"] != "STATUS_LANDED" {
			t.Errorf("who waits for it is told %v, %v", made, err)
		}
	})
	close(goOn)
	all.Wait()
	golden.Equal(t, "payments", int64(1), w.calls.Load())
	status, answer = w.call(t, "Pay", `{"key": "panics", "to": "b", "value": "20", "type": "USD"}`)
	golden.Equal(t, "a panic", http.StatusInternalServerError, status)
	if text := string(must.Get(json.Marshal(answer))(t)); strings.Contains(text, "of the wallet") {
		t.Errorf("a client sees %s", text)
	}
	golden.Equal(t, "status", 1, int(testutil.ToFloat64(w.counter(t, "zkbench_calls_total", "code", "internal"))))
}

// TestWalletConflict: only another order under a key is told as a conflict of keys; an auditor's or the ledger's is not.
func TestWalletConflict(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"key":     {&server.KeyError{Key: "rent"}, "REASON_ANCHOR_CONFLICT"},
		"auditor": {fmt.Errorf("the auditor refuses: %w", zkbench.ErrAnchorConflict), "REASON_POLICY"},
		"ledger":  {&zkbench.CheckError{Check: "anchor", Action: -1, Index: -1, Err: zkbench.ErrAnchorConflict}, "REASON_POLICY"},
	} {
		w := openWallet(t, nil, func(p *purse) {
			p.pays = func(context.Context, string, server.WalletOrder) (*service.Movement, error) { return nil, test.err }
		})
		_, answer := w.call(t, "Pay", `{"key": "rent", "to": "b", "value": "20", "type": "USD"}`)
		golden.Equal(t, name, test.want, reason(answer))
	}
}

// TestWalletRoles: with TLS, only programs reach a wallet's server. Without, only this machine's own names do.
func TestWalletRoles(t *testing.T) {
	t.Parallel()
	a := must.Get(peer.NewAuthority("test"))(t)
	own := must.Get(a.Issue("alice", peer.Wallet, "127.0.0.1"))(t)
	w := openWallet(t, peer.Server(own, a.Pool()), nil)
	for _, role := range peer.Roles() {
		cert := must.Get(a.Issue("somebody", role))(t)
		w.client = &http.Client{Transport: &http.Transport{TLSClientConfig: peer.Client(&cert, a.Pool(), peer.Wallet)}}
		for _, method := range []string{"GetBalance", "Pay"} {
			status, answer := w.call(t, method, `{"key": "k", "to": "b", "value": "1", "type": "USD"}`)
			if role == peer.Program && status != http.StatusOK || role != peer.Program && status != http.StatusForbidden {
				t.Errorf("%s by a %s: status %d, %v", method, role, status, answer)
			}
		}
	}
	w.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Pool()}}}
	if _, _, err := w.try(t.Context(), "GetBalance", `{}`); err == nil {
		t.Error("a client without a certificate has an answer")
	}

	plain := openWallet(t, nil, nil)
	for host, want := range map[string]int{"localhost:7300": http.StatusOK, "[::1]:80": http.StatusOK, "127.0.0.1": http.StatusOK, "evil.example:7300": http.StatusForbidden, "10.0.0.1": http.StatusForbidden} {
		r := must.Get(http.NewRequest(http.MethodPost, plain.url+"/zkbench.token.v1.WalletService/GetBalance", strings.NewReader(`{}`)))(t)
		r.Header.Set("Content-Type", "application/json")
		r.Host = host
		answer := must.Get(http.DefaultClient.Do(r))(t)
		golden.Equal(t, host, want, answer.StatusCode)
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	// What a page of any website can have a browser send without asking the server: forms, text, and GET.
	const order = `{"key": "k", "to": "b", "value": "1", "type": "USD"}`
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"} {
		r := must.Get(http.NewRequest(http.MethodPost, plain.url+"/zkbench.token.v1.WalletService/Pay", strings.NewReader(order)))(t)
		if kind != "" {
			r.Header.Set("Content-Type", kind)
		}
		answer := must.Get(http.DefaultClient.Do(r))(t)
		golden.Equal(t, "a body of the type "+kind, http.StatusUnsupportedMediaType, answer.StatusCode)
		answer.Body.Close()
	}
	answer := must.Get(http.Get(plain.url + "/zkbench.token.v1.WalletService/Pay?encoding=json&message=" + url.QueryEscape(order)))(t)
	golden.Equal(t, "GET", http.StatusMethodNotAllowed, answer.StatusCode)
	answer.Body.Close()
	golden.Equal(t, "payments", int64(0), plain.calls.Load())
}

// TestWalletFindings: what differs in two checks is counted and logged. What the ledger has recorded meanwhile is not.
func TestWalletFindings(t *testing.T) {
	t.Parallel()
	var checks atomic.Int64
	lost := service.Finding{Kind: service.TokenMissing, Token: token.ID("id")}
	w := openWallet(t, nil, func(p *purse) {
		p.findings = func() []service.Finding {
			if checks.Add(1)%2 == 1 {
				return []service.Finding{lost, {Kind: service.RequestLanded, Anchor: []byte("a"), Number: 3}}
			}
			return []service.Finding{lost, {Kind: service.RequestLanded, Anchor: []byte("b"), Number: 4}}
		}
	})
	for checks.Load() < 2 || testutil.ToFloat64(w.counter(t, "zkbench_vault_check_time_seconds", "", "")) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	golden.Equal(t, "token missing", 1, int(testutil.ToFloat64(w.counter(t, "zkbench_vault_findings", "kind", "token missing"))))
	golden.Equal(t, "request landed", 0, int(testutil.ToFloat64(w.counter(t, "zkbench_vault_findings", "kind", "request landed"))))
	golden.Contains(t, w.log.String(), "token missing: 6964")
	_, answer := w.call(t, "Check", `{}`)
	golden.Equal(t, "findings", 1, len(answer["findings"].([]any)))
}

// counter returns a metric of a server, by the value of one label (no label: ""). It is 0 if there is none.
func (w *walletServer) counter(t testing.TB, name, label, value string) prometheus.Collector {
	t.Helper()
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "value"})
	for _, family := range must.Get(w.metrics.Gather())(t) {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			match := label == ""
			for _, l := range m.GetLabel() {
				match = match || l.GetName() == label && l.GetValue() == value
			}
			if match {
				g.Set(m.GetGauge().GetValue() + m.GetCounter().GetValue())
			}
		}
	}
	return g
}

// FuzzWallet: whatever a program sends has an answer of JSON, and no call panics.
func FuzzWallet(f *testing.F) {
	methods := []string{"GetWallet", "NewAddress", "Pay", "GetPayment", "CancelPayment", "Consolidate", "GetBalance", "ListHistory", "Sync", "MakeReceipt"}
	for i, body := range []string{`{}`, `{"key": "a", "value": "1"}`, `{"anchor": "YQ==", "output": "1"}`, `{"after": "18446744073709551615", "most": 1000}`, `[`, "\x00"} {
		f.Add(byte(i), body)
	}
	w := openWallet(f, nil, nil)
	f.Fuzz(func(t *testing.T, method byte, body string) {
		r := httptest.NewRequest(http.MethodPost, "/zkbench.token.v1.WalletService/"+methods[int(method)%len(methods)], strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
		answer := httptest.NewRecorder()
		w.server.ServeHTTP(answer, r)
		if answer.Code >= 500 || !json.Valid(answer.Body.Bytes()) {
			t.Errorf("status %d, %q", answer.Code, answer.Body)
		}
	})
}

// TestWalletOutcomes: however many names another server gives its checks, the metrics have a bounded number of them.
func TestWalletOutcomes(t *testing.T) {
	t.Parallel()
	n := 0
	w := openWallet(t, nil, func(p *purse) {
		p.pays = func(context.Context, string, server.WalletOrder) (*service.Movement, error) {
			n++
			return nil, &zkbench.CheckError{Check: fmt.Sprint("check ", n), Action: -1, Index: -1, Err: zkbench.ErrPolicy}
		}
	})
	for i := range 200 {
		status, _ := w.call(t, "Pay", fmt.Sprintf(`{"key": "%d", "to": "b", "value": "20", "type": "USD"}`, i))
		golden.Equal(t, "status", http.StatusBadRequest, status)
	}
	golden.Equal(t, "names", 65, must.Get(testutil.GatherAndCount(w.metrics, "zkbench_verdicts_total"))(t))
	golden.Equal(t, "verdicts", 200.0, testutil.ToFloat64(gauge{&bank{metrics: w.metrics}, "zkbench_verdicts_total"}))
}

package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
)

// submitFunc is a submitter.
type submitFunc func(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error)

func (f submitFunc) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	return f(ctx, requests)
}

// refuses refuses every request.
func refuses(_ context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	verdicts := make([]ledger.Verdict, len(requests))
	for i := range verdicts {
		verdicts[i].Err = &zkbench.CheckError{Check: "structure", Action: -1, Index: -1, Err: zkbench.ErrMalformed}
	}
	return verdicts, nil
}

// bank is a ledger behind a server.
type bank struct {
	params  *token.PublicParams
	store   *bolt.Ledger
	server  *server.Server
	http    *http.Server
	url     string
	metrics *prometheus.Registry
	log     *buffer
}

// buffer is a log that several goroutines write.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// open serves a new ledger, with TLS if secure is not nil.
func open(t testing.TB, limits server.Limits, secure *tls.Config, submit submitFunc) *bank {
	return openWith(t, server.Options{Limits: limits}, secure, submit, func(l *bolt.Ledger) ledger.Store { return l })
}

// openWith is open with options, to which it adds the metrics and the log, and through a store that reads the ledger.
func openWith(t testing.TB, o server.Options, secure *tls.Config, submit submitFunc, through func(l *bolt.Ledger) ledger.Store) *bank {
	b := &bank{params: must.Get(token.NewPublicParams("BN254", 16, "bulletproof"))(t), metrics: prometheus.NewRegistry(), log: new(buffer)}
	b.store = must.Get(bolt.Create(filepath.Join(t.TempDir(), "ledger.db"), ledgertest.Genesis(t, b.params)))(t)
	service := must.Get(server.NewLedger(server.Ledger{Store: through(b.store), Submitter: submit, Params: b.params, Policy: func() *token.Policy { return &b.params.Policy }}))(t)
	o.Metrics, o.Log = b.metrics, slog.New(slog.NewJSONHandler(b.log, nil))
	b.server = must.Get(server.New(o, service))(t)
	b.http = b.server.HTTP()
	b.http.TLSConfig = secure
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan error, 1)
	if b.url = "http://" + l.Addr().String(); secure == nil {
		go func() { done <- b.http.Serve(l) }()
	} else {
		b.url = "https://" + l.Addr().String()
		go func() { done <- b.http.ServeTLS(l, "", "") }()
	}
	t.Cleanup(func() {
		b.server.Stop()
		must.Do(t, b.http.Close())
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		must.Do(t, b.store.Close())
	})
	return b
}

func (b *bank) dial(t testing.TB, o client.Options) *client.Client {
	c := must.Get(client.Dial(t.Context(), b.url, o))(t)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	return c
}

// post makes a call with JSON, and returns the status and the answer.
func (b *bank) post(t testing.TB, method string, body any) (int, map[string]any) {
	answer := must.Get(http.Post(b.url+"/zkbench.token.v1.LedgerService/"+method, "application/json", bytes.NewReader(must.Get(json.Marshal(body))(t))))(t)
	defer answer.Body.Close()
	var values map[string]any
	must.Do(t, json.NewDecoder(answer.Body).Decode(&values))
	return answer.StatusCode, values
}

func apply(t testing.TB, b *bank, anchor string) {
	e := ledgertest.Issue(anchor, 1)
	e.PolicyDigest = b.store.Genesis().Policy
	ledgertest.Apply(t, b.store, e)
}

// TestJSON: programs without the library call by HTTP.
func TestJSON(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{}, nil, refuses)
	apply(t, b, "first")
	status, answer := b.post(t, "GetRecord", map[string]any{"anchor": []byte("first")})
	golden.Equal(t, "status", http.StatusOK, status)
	golden.Equal(t, "number", "1", answer["record"].(map[string]any)["number"].(string))
	status, answer = b.post(t, "Submit", map[string]any{"requests": [][]byte{[]byte("x")}})
	golden.Equal(t, "status of a verdict", http.StatusOK, status)
	golden.Equal(t, "verdict", "REASON_MALFORMED", answer["verdicts"].([]any)[0].(map[string]any)["problem"].(map[string]any)["reason"].(string))
	status, answer = b.post(t, "GetRecord", map[string]any{"anchor": []byte("none"), "waitMs": 60_001})
	golden.Equal(t, "status of a limit", http.StatusTooManyRequests, status)
	golden.Equal(t, "code of a limit", "resource_exhausted", answer["code"].(string))
	text := must.Get(http.Post(b.url+"/grpc.health.v1.Health/Check", "application/json", strings.NewReader("{}")))(t)
	golden.Equal(t, "health", `{"status":"SERVING_STATUS_SERVING"}`, strings.ReplaceAll(string(must.Get(io.ReadAll(text.Body))(t)), " ", ""))
	must.Do(t, text.Body.Close())
}

// TestWaits: who waits for a record or a head has it when it is there, also if another process wrote it; and has an
// answer when the time is over.
func TestWaits(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{}, nil, refuses)
	c := b.dial(t, client.Options{})
	if _, found, err := c.WaitRecord(t.Context(), []byte("none"), 50*time.Millisecond); found || err != nil {
		t.Errorf("a record that is not there: %v, %v", found, err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if r, found, err := c.WaitRecord(t.Context(), []byte("later"), time.Minute); !found || err != nil || r.Seq != 1 {
				t.Errorf("record %d, %v, %v", r.Seq, found, err)
			}
		})
	}
	all.Go(func() {
		seen := uint64(0)
		for r, err := range c.Follow(t.Context(), 1) {
			must.Do(t, err)
			if seen++; r.Seq != seen {
				t.Errorf("record %d, want %d", r.Seq, seen)
			}
			if seen == 3 {
				break
			}
		}
	})
	time.Sleep(20 * time.Millisecond)
	for _, anchor := range []string{"later", "second", "third"} {
		apply(t, b, anchor)
	}
	all.Wait()
}

// TestStop: a server that stops answers what it has begun, refuses the rest, and ends those that wait.
func TestStop(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}, 1), make(chan struct{})
	b := open(t, server.Limits{}, nil, func(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		begun <- struct{}{}
		<-release
		return refuses(ctx, requests)
	})
	c := b.dial(t, client.Options{Patience: -1})
	answered, waited, followed := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := c.Submit(context.Background(), [][]byte{[]byte("x")})
		answered <- err
	}()
	go func() {
		_, _, err := c.WaitRecord(context.Background(), []byte("none"), time.Minute)
		waited <- err
	}()
	go func() {
		for _, err := range c.Follow(context.Background(), 1) {
			followed <- err
		}
	}()
	<-begun
	for testutil.ToFloat64(gauge{b, "zkbench_calls_running"}) < 3 {
		time.Sleep(time.Millisecond)
	}
	b.server.Stop()
	must.Fail(t, <-waited, zkbench.ErrEnv, "a call that waits")
	must.Fail(t, <-followed, zkbench.ErrEnv, "a call that follows the log")
	_, err := c.Submit(t.Context(), [][]byte{[]byte("y")})
	must.Fail(t, err, zkbench.ErrEnv, "a request after the stop")
	close(release)
	must.Do(t, <-answered)
	must.Do(t, b.http.Shutdown(t.Context()))
	if strings.Contains(b.log.String(), "call failed") {
		t.Errorf("a stop is logged as a failure:\n%s", b.log)
	}
}

// gauge sums a metric of a bank over its labels.
type gauge struct {
	*bank
	name string
}

func (g gauge) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, ch) }

func (g gauge) Collect(ch chan<- prometheus.Metric) {
	families, _ := g.metrics.Gather()
	sum := 0.0
	for _, f := range families {
		if f.GetName() == g.name {
			for _, m := range f.GetMetric() {
				sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("sum", "", nil, nil), prometheus.GaugeValue, sum)
}

// TestBatches: requests that arrive while a batch is decided on are submitted together, each caller gets the verdicts on
// its own, and one that leaves takes its requests along if they have not been submitted.
func TestBatches(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sizes []int
	seen := map[string]int{}
	release := make(chan struct{})
	b := open(t, server.Limits{}, nil, func(_ context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		<-release
		mu.Lock()
		defer mu.Unlock()
		sizes = append(sizes, len(requests))
		verdicts := make([]ledger.Verdict, len(requests))
		for i, r := range requests {
			seen[string(r)]++
			verdicts[i].Err = &zkbench.CheckError{Check: string(r), Action: -1, Index: -1, Err: zkbench.ErrMalformed}
		}
		return verdicts, nil
	})
	c := b.dial(t, client.Options{Patience: -1})
	var calls sync.WaitGroup
	for n := range 40 {
		calls.Go(func() {
			mine := [][]byte{fmt.Appendf(nil, "a%d", n), fmt.Appendf(nil, "b%d", n)}
			verdicts, err := c.Submit(t.Context(), mine)
			must.Do(t, err)
			for i, v := range verdicts {
				if check, ok := errors.AsType[*zkbench.CheckError](v.Err); !ok || check.Check != string(mine[i]) {
					t.Errorf("the verdict on %s is %v", mine[i], v.Err)
				}
			}
		})
	}
	for testutil.ToFloat64(gauge{b, "zkbench_calls_running"}) < 40 {
		time.Sleep(time.Millisecond)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	must.FailGet(c.Submit(short, [][]byte{[]byte("left")}))(t, context.DeadlineExceeded, "a caller that leaves")
	for testutil.ToFloat64(gauge{b, "zkbench_calls_running"}) > 40 {
		time.Sleep(time.Millisecond)
	}
	close(release)
	calls.Wait()
	golden.Equal(t, "requests", 80, len(seen))
	if len(sizes) > 6 {
		t.Errorf("batches of %v requests, want few", sizes)
	}
}

// TestPanic: a request that makes the validator panic gets an error, and the server goes on.
func TestPanic(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{}, nil, func(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		if string(requests[0]) == "panic" {
			panic("with a secret")
		}
		return refuses(ctx, requests)
	})
	c := b.dial(t, client.Options{Patience: -1})
	_, err := c.Submit(t.Context(), [][]byte{[]byte("panic")})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a panic: %v", err)
	}
	_, err = c.Submit(t.Context(), [][]byte{[]byte("x")})
	must.Do(t, err)
}

// TestLimits: each limit refuses what is beyond it, with its name, and lets the rest through.
func TestLimits(t *testing.T) {
	t.Parallel()
	over := func(err error, what string) {
		t.Helper()
		limit, ok := errors.AsType[*zkbench.LimitError](err)
		if !ok || !strings.Contains(limit.What, what) {
			t.Errorf("%v, want the limit of %s", err, what)
		}
	}
	t.Run("calls", func(t *testing.T) {
		b := open(t, server.Limits{Calls: 1}, nil, refuses)
		c := b.dial(t, client.Options{Patience: -1})
		var err error
		for range 3 {
			_, err = c.Head(t.Context())
		}
		over(err, "calls of one client")
		golden.Equal(t, "refused", true, testutil.ToFloat64(gauge{b, "zkbench_refused_total"}) > 0)
		patient := b.dial(t, client.Options{Patience: 10 * time.Second})
		_, err = patient.Head(t.Context())
		must.Do(t, err)
	})
	t.Run("proofs", func(t *testing.T) {
		b := open(t, server.Limits{Proofs: 1}, nil, refuses)
		c := b.dial(t, client.Options{Patience: -1})
		large := [][]byte{make([]byte, token.MaxRequest)} // as many as a client may submit at once
		_, err := c.Submit(t.Context(), large)
		must.Do(t, err)
		_, err = c.Submit(t.Context(), large)
		over(err, "proofs")
	})
	t.Run("streams", func(t *testing.T) {
		b := open(t, server.Limits{ClientStreams: 2}, nil, refuses)
		c := b.dial(t, client.Options{Patience: -1})
		ctx, cancel := context.WithCancel(t.Context())
		var streams sync.WaitGroup
		for range 2 {
			streams.Go(func() {
				for range c.Follow(ctx, 1) {
				}
			})
		}
		for testutil.ToFloat64(gauge{b, "zkbench_streams"}) < 2 {
			time.Sleep(time.Millisecond)
		}
		for _, err := range c.Log(t.Context(), 1) {
			over(err, "streams of one client")
		}
		cancel()
		streams.Wait()
		for testutil.ToFloat64(gauge{b, "zkbench_streams"}) > 0 {
			time.Sleep(time.Millisecond)
		}
		for _, err := range c.Log(t.Context(), 1) {
			must.Do(t, err)
		}
	})
	t.Run("running", func(t *testing.T) {
		b := open(t, server.Limits{ClientRunning: 2}, nil, refuses)
		c := b.dial(t, client.Options{Patience: -1})
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		for range 2 {
			waiting.Go(func() { _, _, _ = c.WaitRecord(ctx, []byte("none"), time.Minute) })
		}
		for testutil.ToFloat64(gauge{b, "zkbench_calls_running"}) < 2 {
			time.Sleep(time.Millisecond)
		}
		_, err := c.Head(t.Context())
		over(err, "calls of one client at one time")
		cancel()
		waiting.Wait()
		for testutil.ToFloat64(gauge{b, "zkbench_calls_running"}) > 0 {
			time.Sleep(time.Millisecond)
		}
		_, err = b.dial(t, client.Options{}).Head(t.Context())
		must.Do(t, err)
	})
	t.Run("requests of a call", func(t *testing.T) {
		b := open(t, server.Limits{}, nil, refuses)
		status, _ := b.post(t, "Submit", map[string]any{"requests": make([]string, 257)})
		golden.Equal(t, "status", http.StatusTooManyRequests, status)
		_, err := b.dial(t, client.Options{}).Submit(t.Context(), make([][]byte, 600)) // which the client cuts
		must.Do(t, err)
	})
}

// TestRoles: only certificates of the authority, valid, with a role that the service accepts, reach it.
func TestRoles(t *testing.T) {
	t.Parallel()
	ours, theirs := must.Get(peer.NewAuthority("ours"))(t), must.Get(peer.NewAuthority("theirs"))(t)
	own := must.Get(ours.Issue("bank", peer.Validator, "127.0.0.1"))(t)
	b := open(t, server.Limits{}, peer.Server(own, ours.Pool()), refuses)
	wallet := must.Get(ours.Issue("me", peer.Wallet))(t)
	dial := func(config *tls.Config) error {
		c, err := client.Dial(t.Context(), b.url, client.Options{TLS: config, Patience: 10 * time.Second})
		if err == nil {
			err = c.Close()
		}
		return err
	}
	start := time.Now()
	must.Do(t, dial(peer.Client(&wallet, ours.Pool(), peer.Validator)))
	program := must.Get(ours.Issue("shop", peer.Program))(t)
	expired := must.Get(ours.IssueFor(-time.Hour, "me", peer.Wallet))(t)
	stranger := must.Get(theirs.Issue("me", peer.Wallet))(t)
	for what, config := range map[string]*tls.Config{
		"no certificate":                 peer.Client(nil, ours.Pool(), peer.Validator),
		"a certificate that has expired": peer.Client(&expired, ours.Pool(), peer.Validator),
		"one of another authority":       peer.Client(&stranger, ours.Pool(), peer.Validator),
		"one for another role":           peer.Client(&program, ours.Pool(), peer.Validator),
		"a server of another authority":  peer.Client(&wallet, theirs.Pool(), peer.Validator),
		"a server with another role":     peer.Client(&wallet, ours.Pool(), peer.Auditor),
		"a server without its host's name": func() *tls.Config {
			c := peer.Client(&wallet, ours.Pool(), peer.Validator)
			c.ServerName = "other.example"
			return c
		}(),
	} {
		if err := dial(config); err == nil {
			t.Errorf("%s: reached", what)
		} else if strings.Contains(err.Error(), "tried until") {
			t.Errorf("%s was tried again: %v", what, err)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("what cannot succeed took %v", took)
	}
	must.FailGet(client.Dial(t.Context(), "http://192.0.2.1:7300", client.Options{}))(t, zkbench.ErrParams, "another machine without TLS")
	must.FailGet(client.Dial(t.Context(), "https://127.0.0.1:7300", client.Options{}))(t, zkbench.ErrParams, "https without certificates")
	must.FailGet(client.Dial(t.Context(), "http://127.0.0.1:7300", client.Options{TLS: new(tls.Config)}))(t, zkbench.ErrParams, "certificates without https")
}

// TestSlow: a client that sends a request by trickles, or does not read its answer, holds little memory and keeps nobody
// else from the server. It runs alone, because it measures memory.
func TestSlow(t *testing.T) {
	b := open(t, server.Limits{ClientStreams: 200}, nil, refuses)
	for n := range 40 {
		var batch []ledger.Entry
		for k := range 100 {
			e := ledgertest.Issue(fmt.Sprint(n, "/", k), 1)
			e.PolicyDigest, e.Request = b.store.Genesis().Policy, make([]byte, 4000)
			batch = append(batch, e)
		}
		ledgertest.Apply(t, b.store, batch...)
	}
	address := strings.TrimPrefix(b.url, "http://")
	before := heap()
	for n := range 64 {
		conn := must.Get(net.Dial("tcp", address))(t)
		defer conn.Close()
		if n%2 == 0 { // 16 MB are announced, and few come
			must.Get(fmt.Fprintf(conn, "POST /zkbench.token.v1.LedgerService/Submit HTTP/1.1\r\nHost: %s\r\nContent-Type: application/proto\r\nContent-Length: %d\r\n\r\nxxxx", address, 16<<20))(t)
			continue
		}
		body := []byte{0, 0, 0, 0, 2, 8, 1} // one message of a stream: from 1
		must.Get(fmt.Fprintf(conn, "POST /zkbench.token.v1.LedgerService/ReadLog HTTP/1.1\r\nHost: %s\r\nContent-Type: application/connect+proto\r\nConnect-Protocol-Version: 1\r\nContent-Length: %d\r\n\r\n%s", address, len(body), body))(t)
	}
	for testutil.ToFloat64(gauge{b, "zkbench_streams"}) < 32 {
		time.Sleep(time.Millisecond)
	}
	grown, most := int64(0), int64(80<<20) // of which a stream has the 1 MiB that the store reads ahead
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond) // until all are blocked
		if grown = heap() - before; grown <= most {
			break
		}
	}
	if grown > most {
		t.Errorf("64 slow clients hold %d MiB", grown>>20)
	}
	c := b.dial(t, client.Options{Patience: -1})
	n := 0
	for _, err := range c.Log(t.Context(), 1) {
		must.Do(t, err)
		n++
	}
	golden.Equal(t, "records for another client", 4000, n)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// FuzzCall: whatever bytes a call has, the server answers it and does not panic.
func FuzzCall(f *testing.F) {
	b := open(f, server.Limits{Calls: 1 << 20, Bytes: 1 << 40, Proofs: 1 << 30}, nil, refuses)
	apply(f, b, "first")
	methods := []string{"GetLedger", "Submit", "GetRecord", "GetTokens", "GetHashes", "GetInclusion", "GetConsistency", "GetHead", "GetPolicy", "ReadLog"}
	for i := range methods {
		f.Add(byte(i), []byte{})
		f.Add(byte(i), []byte{8, 1})
		f.Add(byte(i), []byte{10, 5, 'f', 'i', 'r', 's', 't'})
		f.Add(byte(i), []byte{8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 16, 3})
	}
	f.Fuzz(func(t *testing.T, method byte, body []byte) {
		name, kind := methods[int(method)%len(methods)], "application/proto"
		if name == "ReadLog" {
			kind = "application/connect+proto"
			body = append([]byte{0, 0, 0, byte(len(body) >> 8), byte(len(body))}, body...)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/zkbench.token.v1.LedgerService/"+name, bytes.NewReader(body)))(t)
		r.Header.Set("Content-Type", kind)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if answer.StatusCode == http.StatusInternalServerError {
				t.Errorf("%s of %x: a fault of the server", name, body)
			}
		} else if ctx.Err() == nil {
			t.Error(err)
		}
		if strings.Contains(b.log.String(), "panicked") {
			t.Fatal(b.log)
		}
	})
}

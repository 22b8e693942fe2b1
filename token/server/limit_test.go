package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
)

// secured is a bank whose clients have certificates.
type secured struct {
	*bank
	authority *peer.Authority
}

func openSecured(t testing.TB, limits server.Limits, submit submitFunc) *secured {
	return openSecuredThrough(t, limits, submit, func(l *bolt.Ledger) ledger.Store { return l })
}

func openSecuredThrough(t testing.TB, limits server.Limits, submit submitFunc, through func(l *bolt.Ledger) ledger.Store) *secured {
	authority := must.Get(peer.NewAuthority("ours"))(t)
	own := must.Get(authority.Issue("bank", peer.Validator, "127.0.0.1"))(t)
	return &secured{openWith(t, server.Options{Limits: limits}, peer.Server(own, authority.Pool()), submit, through), authority}
}

// as returns a client with a certificate of its own, which tries nothing again.
func (s *secured) as(t testing.TB, name string) *client.Client {
	own := must.Get(s.authority.Issue(name, peer.Wallet))(t)
	return s.dial(t, client.Options{TLS: peer.Client(&own, s.authority.Pool(), peer.Validator), Patience: -1})
}

// empties waits until no request is in memory: the last call ends after its answer.
func (b *bank) empties() {
	for testutil.ToFloat64(gauge{b, "zkbench_memory_bytes"}) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// waitRunning waits until n calls run or wait.
func waitRunning(b *bank, n int) {
	for testutil.ToFloat64(gauge{b, "zkbench_calls_running"}) < float64(n) {
		time.Sleep(time.Millisecond)
	}
}

// TestMemory: the bytes of calls that have not ended count, as they arrive and not before; beyond the limit a call is
// refused; and they are given back when the calls end.
func TestMemory(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var submitted atomic.Int64
	b := openSecured(t, server.Limits{}, func(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		submitted.Add(int64(len(requests)))
		<-release
		return refuses(ctx, requests)
	})
	var calls sync.WaitGroup
	large := [][]byte{make([]byte, token.MaxRequest)}
	refusals := atomic.Int64{}
	for n := range 12 { // at 48 MB each, five fit
		c := b.as(t, fmt.Sprint("client ", n))
		calls.Go(func() {
			if _, err := c.Submit(t.Context(), large); errors.Is(err, zkbench.ErrLimit) {
				refusals.Add(1)
			} else {
				must.Do(t, err)
			}
		})
	}
	for refusals.Load() < 7 {
		time.Sleep(time.Millisecond)
	}
	if used := testutil.ToFloat64(gauge{b.bank, "zkbench_memory_bytes"}); used > server.DefaultMemory {
		t.Errorf("%.0f bytes, limit %d", used, server.DefaultMemory)
	}
	close(release)
	calls.Wait()
	b.empties()
	golden.Equal(t, "submitted", 12-refusals.Load(), submitted.Load())
}

// TestShare: one client cannot have more than its share of the memory, so others go on.
func TestShare(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := openSecured(t, server.Limits{}, func(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		if len(requests[0]) == token.MaxRequest && requests[0][0] == 0 {
			<-release
		}
		return refuses(ctx, requests)
	})
	greedy, other := b.as(t, "greedy"), b.as(t, "other")
	large := make([]byte, token.MaxRequest)
	var first sync.WaitGroup
	first.Go(func() {
		_, err := greedy.Submit(t.Context(), [][]byte{large})
		must.Do(t, err)
	})
	for testutil.ToFloat64(gauge{b.bank, "zkbench_memory_bytes"}) < float64(3*len(large)) {
		time.Sleep(time.Millisecond)
	}
	_, err := greedy.Submit(t.Context(), [][]byte{large})
	limit, ok := errors.AsType[*zkbench.LimitError](err)
	if !ok || !strings.Contains(limit.What, "of one client") {
		t.Errorf("a second request: %v", err)
	}
	theirs := bytes.Clone(large)
	theirs[0] = 1
	_, err = other.Submit(t.Context(), [][]byte{theirs})
	must.Do(t, err)
	close(release)
	first.Wait()
	b.empties()
}

// TestGreedyStreams: when all streams are taken, those who have several lose some with the next message, and another client
// gets one.
func TestGreedyStreams(t *testing.T) {
	t.Parallel()
	b := openSecured(t, server.Limits{Streams: 16}, refuses)
	apply(t, b.bank, "first")
	follow := func(c *client.Client) error {
		next, stop := iter.Pull2(c.Follow(t.Context(), 1))
		t.Cleanup(stop)
		_, err, _ := next()
		if limit, ok := errors.AsType[*zkbench.LimitError](err); err != nil && (!ok || !strings.HasPrefix(limit.What, "streams of one client")) {
			t.Fatal(err)
		}
		return err
	}
	for client := range 5 {
		for c := b.as(t, fmt.Sprint("greedy ", client)); follow(c) == nil; {
		}
	}
	other := b.as(t, "other")
	must.Fail(t, follow(other), must.ErrAny, "a stream more than all")
	apply(t, b.bank, "second")
	for end := time.Now().Add(10 * time.Second); follow(other) != nil; {
		if time.Sleep(time.Millisecond); time.Now().After(end) {
			t.Fatal("no stream is left to another client")
		}
	}
	if open := testutil.ToFloat64(gauge{b.bank, "zkbench_streams"}); open < 6 {
		t.Errorf("%v streams, want at least one for each client", open)
	}
}

// TestShortBody: over HTTP/1.1, a call whose body never comes ends too, also if it is so short that the server would read on
// to use the connection again.
func TestShortBody(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{}, nil, refuses)
	b.server.SetSlack(100 * time.Millisecond)
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(b.url, "http://")))(t)
	defer conn.Close()
	must.Get(fmt.Fprint(conn, "POST /zkbench.token.v1.LedgerService/Submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/proto\r\nContent-Length: 100\r\n\r\n12345"))(t)
	must.Do(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	answer := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	defer answer.Body.Close()
	golden.Equal(t, "status", http.StatusGatewayTimeout, answer.StatusCode)
	for end := time.Now().Add(10 * time.Second); testutil.ToFloat64(gauge{b, "zkbench_calls_running"}) > 0; {
		if time.Sleep(time.Millisecond); time.Now().After(end) {
			t.Fatal("the call runs for ever")
		}
	}
}

// TestLongBody: a call that goes on after the greatest length of a message is ended there, and holds no memory.
func TestLongBody(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{Memory: 8 << 30, Bytes: 1 << 28}, nil, refuses) // so that no other limit ends it
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(b.url, "http://")))(t)
	defer conn.Close()
	must.Get(fmt.Fprintf(conn, "POST /zkbench.token.v1.LedgerService/Submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/proto\r\nContent-Length: %d\r\n\r\n", 1<<30))(t)
	sent := 0
	for part := make([]byte, 1<<20); sent < 1<<30; sent += len(part) {
		if _, err := conn.Write(part); err != nil {
			break
		}
	}
	if sent > 4*server.MaxBody {
		t.Errorf("the server took %d MiB of a call", sent>>20)
	}
	b.empties()
}

// TestOwnAnswers: the parameters, the policy and the head that a client is told of count as memory: they can be large.
func TestOwnAnswers(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	b := open(t, server.Limits{Memory: 6 * server.MaxBody}, nil, func(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		close(entered)
		<-release
		return refuses(ctx, requests)
	})
	state := must.Get(b.store.State(t.Context()))(t)
	text := head.Head{Ledger: b.store.Genesis().ID(), Size: 1, Root: state.Root}.Checkpoint()
	must.Do(t, b.store.PutHead(t.Context(), 1, []byte(text+"\n\u2014 nobody AAAAAAAA\n"), true))
	methods := []string{"GetLedger", "GetPolicy", "GetHead"}
	for _, method := range methods {
		status, answer := b.post(t, method, struct{}{})
		golden.Equal(t, fmt.Sprint("status of ", method, " ", answer), http.StatusOK, status)
	}
	b.empties()
	var full sync.WaitGroup
	full.Go(func() { // what one client may have in memory, but for some bytes
		body := `{"requests":["eA=="]}`
		body += strings.Repeat(" ", server.MaxMessage-16-len(body))
		answer := must.Get(http.Post(b.url+"/zkbench.token.v1.LedgerService/Submit", "application/json", strings.NewReader(body)))(t)
		golden.Equal(t, "status of the first call", http.StatusOK, answer.StatusCode)
		must.Do(t, answer.Body.Close())
	})
	<-entered
	for _, method := range methods {
		status, answer := b.post(t, method, struct{}{})
		golden.Equal(t, fmt.Sprint("status of ", method, " beside it: ", answer), http.StatusTooManyRequests, status)
	}
	close(release)
	full.Wait()
	b.empties()
}

// TestRecordedWhenFull: a request that was recorded gets its record, even if there is no memory left for the answer.
func TestRecordedWhenFull(t *testing.T) {
	t.Parallel()
	raw := make([]byte, 10<<20)
	b := open(t, server.Limits{Memory: 6 * server.MaxBody}, nil, func(_ context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		e := ledgertest.Issue("large", 1)
		e.Request = requests[0]
		return []ledger.Verdict{{Anchor: e.Anchor, Record: &ledger.Record{Seq: 1, Entry: e}}}, nil
	})
	status, answer := b.post(t, "Submit", map[string]any{"requests": [][]byte{raw}})
	golden.Equal(t, "status", http.StatusOK, status)
	golden.Equal(t, "number", "1", answer["verdicts"].([]any)[0].(map[string]any)["record"].(map[string]any)["number"].(string))
}

// TestStandardCalls: the calls for health and reflection have the limits of all calls, and a few bytes do not become many. It
// runs alone, because it measures memory.
func TestStandardCalls(t *testing.T) {
	b := open(t, server.Limits{}, nil, refuses)
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	must.Get(w.Write([]byte{10, 0x80, 0x80, 0x80, 0x20}))(t) // a name of 64 MiB
	for range 64 {
		must.Get(w.Write(make([]byte, 1<<20)))(t)
	}
	must.Do(t, w.Close())
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	h := &http.Client{Transport: &http.Transport{Protocols: protocols, DisableCompression: true}}
	for path, kind := range map[string]string{
		"/grpc.health.v1.Health/Check":                                   "application/proto",
		"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      "application/grpc",
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "application/grpc",
	} {
		for _, encoding := range []string{"gzip", "identity"} {
			body := bomb.Bytes()
			if encoding == "identity" {
				body = append([]byte{10, 0x80, 0x80, 0x80, 4}, make([]byte, 8<<20)...)
			}
			if kind == "application/grpc" {
				n := len(body)
				body = append([]byte{map[string]byte{"gzip": 1, "identity": 0}[encoding], byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body...)
			}
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+path, bytes.NewReader(body)))(t)
			r.Header.Set("Content-Type", kind)
			r.Header.Set("Content-Encoding", encoding)
			r.Header.Set("Grpc-Encoding", encoding)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			answer, err := h.Do(r)
			if err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				if answer.StatusCode == http.StatusOK && answer.Trailer.Get("Grpc-Status") == "0" {
					t.Errorf("%s, %s: accepted", path, encoding)
				}
			}
			runtime.ReadMemStats(&after)
			if took := int64(after.TotalAlloc - before.TotalAlloc); took > 48<<20 {
				t.Errorf("%s, %s: allocated %d MiB", path, encoding, took>>20)
			}
		}
	}
	few := open(t, server.Limits{Calls: 1}, nil, refuses)
	codes := map[int]int{}
	for range 4 {
		answer := must.Get(http.Post(few.url+"/grpc.health.v1.Health/Check", "application/json", strings.NewReader("{}")))(t)
		must.Do(t, answer.Body.Close())
		codes[answer.StatusCode]++
	}
	if codes[http.StatusTooManyRequests] == 0 || codes[http.StatusOK] == 0 {
		t.Errorf("four calls at once: %v", codes)
	}
}

// TestConnections: connections beyond the limit are closed at once, and one that ends makes room.
func TestConnections(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{Open: 8}, nil, refuses) // two of one address
	dial := func() net.Conn { return must.Get(net.Dial("tcp", strings.TrimPrefix(b.url, "http://")))(t) }
	answers := func(c net.Conn) bool {
		_, _ = fmt.Fprint(c, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_, err := io.ReadFull(c, make([]byte, 12))
		return err == nil
	}
	first, second := dial(), dial()
	defer second.Close()
	golden.Equal(t, "the first two are answered", true, answers(first) && answers(second))
	third := dial()
	defer third.Close()
	golden.Equal(t, "the third is answered", false, answers(third))
	must.Do(t, first.Close())
	for {
		next := dial()
		ok := answers(next)
		must.Do(t, next.Close())
		if ok {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if refused := testutil.ToFloat64(gauge{b, "zkbench_refused_total"}); refused < 1 {
		t.Errorf("%.0f refused", refused)
	}
}

// TestLoopback: the loopback addresses are one client, and a page of another host's name reaches nothing.
func TestLoopback(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{Calls: 1}, nil, refuses)
	call := func(from, host string) int {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		h := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
		defer h.CloseIdleConnections()
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/zkbench.token.v1.LedgerService/GetPolicy", strings.NewReader("{}")))(t)
		r.Header.Set("Content-Type", "application/json")
		r.Host = host
		answer, err := h.Do(r)
		if err != nil {
			t.Skipf("no second loopback address: %v", err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	for _, host := range []string{"evil.example", "192.0.2.1:80", ""} {
		if want := http.StatusForbidden; host != "" {
			golden.Equal(t, host, want, call("127.0.0.1", host))
		}
	}
	codes := map[int]int{}
	for n := range 4 {
		codes[call(fmt.Sprint("127.0.0.", n+1), "localhost")]++
	}
	if codes[http.StatusTooManyRequests] == 0 {
		t.Errorf("calls from four loopback addresses: %v", codes)
	}
}

// TestQuietStream: a stream of a log that does not grow stays open longer than a client has for a part of an answer.
func TestQuietStream(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{}, nil, refuses)
	b.server.SetSlack(200 * time.Millisecond)
	apply(t, b, "first")
	c := b.dial(t, client.Options{Patience: -1})
	for r, err := range c.Follow(t.Context(), 1) {
		must.Do(t, err)
		if r.Seq == 2 {
			break
		}
		go func() {
			time.Sleep(time.Second)
			apply(t, b, "second")
		}()
	}
}

// TestLongCall: over HTTP/1.1 and HTTP/2, a call waits, and a stream is silent, for longer than a client has for a part of its
// request or of an answer.
func TestLongCall(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{}, nil, refuses)
	b.server.SetSlack(100 * time.Millisecond)
	apply(t, b, "first")
	status, answer := b.post(t, "GetRecord", map[string]any{"anchor": []byte("none"), "waitMs": 500})
	golden.Equal(t, "status of a call without TLS", http.StatusOK, status)
	golden.Equal(t, "answer", map[string]any{}, answer)

	for version := 1; version <= 2; version++ {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(version == 1)
		protocols.SetUnencryptedHTTP2(version == 2)
		h := &http.Client{Transport: &http.Transport{Protocols: protocols}}
		defer h.CloseIdleConnections()
		calls := tokenv1connect.NewLedgerServiceClient(h, b.url)
		must.Get(calls.GetRecord(t.Context(), &tokenv1.GetRecordRequest{Anchor: []byte("none"), WaitMs: 500}))(t)
		stream := must.Get(calls.ReadLog(t.Context(), &tokenv1.ReadLogRequest{Follow: true}))(t)
		defer stream.Close()
		last := ""
		for _, anchor := range []string{"", fmt.Sprint("later ", version)} {
			if anchor != "" {
				time.Sleep(500 * time.Millisecond)
				apply(t, b, anchor)
			}
			for n := 0; n == 0; n = len(stream.Msg().GetLeaves()) {
				if !stream.Receive() {
					t.Fatalf("HTTP/%d: a stream after %q: %v", version, last, stream.Err())
				}
			}
			last = anchor
		}
	}
}

// TestHeartbeat: somebody who follows a log that does not grow gets messages without records.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	b := open(t, server.Limits{}, nil, refuses)
	b.server.SetHeartbeat(10 * time.Millisecond)
	apply(t, b, "first")
	calls := tokenv1connect.NewLedgerServiceClient(http.DefaultClient, b.url)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stream := must.Get(calls.ReadLog(ctx, &tokenv1.ReadLogRequest{Follow: true}))(t)
	defer stream.Close()
	next := func() string {
		if !stream.Receive() {
			t.Fatal(stream.Err())
		}
		return fmt.Sprintf("%d records from %d", len(stream.Msg().GetLeaves()), stream.Msg().GetFirst())
	}
	golden.Equal(t, "first message", "1 records from 1", next())
	for range 3 {
		golden.Equal(t, "heartbeat", "0 records from 2", next())
	}
	apply(t, b, "second")
	message := next()
	for message == "0 records from 2" {
		message = next()
	}
	golden.Equal(t, "after heartbeats", "1 records from 2", message)
}

// TestManyFields: a message of many small fields is refused before it is decoded: it would take many times its length. It runs
// alone, because it measures memory.
func TestManyFields(t *testing.T) {
	b := open(t, server.Limits{Proofs: 1 << 30}, nil, refuses)
	const size = 8 << 20
	packed := append([]byte{10, 0x80, 0x80, 0x80, 4}, make([]byte, size)...) // numbers of one byte
	for _, call := range []struct {
		method, kind string
		body         []byte
	}{
		{"Submit", "application/proto", bytes.Repeat([]byte{10, 0}, size/2)},
		{"GetTokens", "application/proto", bytes.Repeat([]byte{10, 0}, size/2)},
		{"GetHashes", "application/proto", packed},
		{"Submit", "application/json", append(append([]byte(`{"requests":[`), bytes.Repeat([]byte(`"",`), size/3)...), `""]}`...)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		answer := must.Get(http.Post(b.url+"/zkbench.token.v1.LedgerService/"+call.method, call.kind, bytes.NewReader(call.body)))(t)
		text := string(must.Get(io.ReadAll(answer.Body))(t))
		must.Do(t, answer.Body.Close())
		runtime.ReadMemStats(&after)
		golden.Equal(t, call.method+" by "+call.kind, http.StatusBadRequest, answer.StatusCode)
		golden.Contains(t, text, "limit exceeded")
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > 8*size {
			t.Errorf("%s by %s: allocated %d MiB", call.method, call.kind, took>>20)
		}
	}
}

// TestTurns: a client with many calls that wait does not keep another one waiting behind all of them.
func TestTurns(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}, 1), make(chan struct{})
	var mu sync.Mutex
	var order []byte // of the clients' requests, in the order in which they are decided on
	b := openSecured(t, server.Limits{}, func(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		select {
		case begun <- struct{}{}:
		default:
		}
		<-release
		mu.Lock()
		defer mu.Unlock()
		for _, r := range requests {
			order = append(order, r[0])
		}
		return refuses(ctx, requests)
	})
	greedy, other := b.as(t, "greedy"), b.as(t, "other")
	full := make([][]byte, 256)
	for i := range full {
		full[i] = []byte("g")
	}
	var calls sync.WaitGroup
	const many = 20
	for range many {
		calls.Go(func() {
			_, err := greedy.Submit(t.Context(), full)
			must.Do(t, err)
		})
	}
	<-begun
	waitRunning(b.bank, many)
	calls.Go(func() {
		_, err := other.Submit(t.Context(), [][]byte{[]byte("o")})
		must.Do(t, err)
	})
	waitRunning(b.bank, many+1)
	time.Sleep(200 * time.Millisecond) // from the count to the queue
	close(release)
	calls.Wait()
	if at := bytes.IndexByte(order, 'o'); at > 5*256 {
		t.Errorf("the other client's request was decided on after %d of the greedy one's", at)
	}
}

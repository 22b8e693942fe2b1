package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
)

// counts is a submitter that refuses everything, counts its calls, and takes a time for each.
type counts struct {
	calls atomic.Int64
	begun chan struct{} // gets a value with each call, if there is room
	takes time.Duration
}

func (c *counts) Submit(_ context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	c.calls.Add(1)
	select {
	case c.begun <- struct{}{}:
	default:
	}
	time.Sleep(c.takes)
	verdicts := make([]ledger.Verdict, len(requests))
	for i := range verdicts {
		verdicts[i].Err = &zkbench.CheckError{Check: strings.Repeat("x", 300), Action: -1, Index: -1, Err: zkbench.ErrMalformed}
	}
	return verdicts, nil
}

// between starts a server between a client and a server, which changes answers.
func between(t *testing.T, s *serving, change func(r *http.Response) error) (address string) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	proxy := httputil.NewSingleHostReverseProxy(must.Get(url.Parse(s.url))(t))
	proxy.ModifyResponse = change
	h := &http.Server{Handler: proxy, Protocols: protocols}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	go h.Serve(l)
	t.Cleanup(func() { must.Do(t, h.Close()) })
	return "http://" + l.Addr().String()
}

// TestAnotherHeader: an answer of another ledger's server does not say what became of the requests.
func TestAnotherHeader(t *testing.T) {
	t.Parallel()
	submitter := &counts{}
	s := serveBy(t, server.Options{}, nil, submitter)
	address := between(t, s, func(r *http.Response) error {
		if strings.HasSuffix(r.Request.URL.Path, "Submit") {
			r.Header.Set("Zkbench-Ledger", strings.Repeat("00", 32))
		}
		return nil
	})
	c := must.Get(client.Dial(t.Context(), address, client.Options{Patience: time.Second}))(t)
	defer c.Close()
	_, err := c.Submit(t.Context(), [][]byte{[]byte("a")})
	must.Fail(t, err, zkbench.ErrOutcomeUnknown, "an answer of another ledger")
	golden.Equal(t, "calls of the submitter", 1, submitter.calls.Load())
}

// TestSpoiled: somebody between client and server who spoils what the client sends does not make it believe that a request was
// not submitted. The client submits it again.
func TestSpoiled(t *testing.T) {
	t.Parallel()
	ours := must.Get(peer.NewAuthority("ours"))(t)
	own := must.Get(ours.Issue("bank", peer.Validator, "127.0.0.1"))(t)
	wallet := must.Get(ours.Issue("me", peer.Wallet))(t)
	submitter := &counts{begun: make(chan struct{}, 1), takes: 100 * time.Millisecond}
	s := serveBy(t, server.Options{}, peer.Server(own, ours.Pool()), submitter)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	var once sync.Once
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(s.url, "https://"))
			if err != nil {
				return
			}
			go io.Copy(out, in)
			go func() { _, _ = io.Copy(in, out); in.Close() }()
			once.Do(func() {
				go func() {
					<-submitter.begun
					_, _ = out.Write(append([]byte{23, 3, 3, 0, 40}, make([]byte, 40)...)) // a TLS record that nobody sealed
				}()
			})
		}
	}()
	c := must.Get(client.Dial(t.Context(), "https://"+l.Addr().String(), client.Options{TLS: peer.Client(&wallet, ours.Pool(), peer.Validator), Patience: 10 * time.Second}))(t)
	defer c.Close()
	verdicts := must.Get(c.Submit(t.Context(), [][]byte{[]byte("a")}))(t)
	must.Fail(t, verdicts[0].Err, zkbench.ErrMalformed, "the verdict of the second call")
	golden.Equal(t, "calls of the submitter", 2, submitter.calls.Load())
}

// cutting copies what a server sends until a number of bytes, and then closes the connection. It cuts one connection only.
type cutting struct {
	listener net.Listener
	left     atomic.Int64
	cuts     atomic.Int64
}

func newCutting(t *testing.T, to string) *cutting {
	c := &cutting{listener: must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)}
	c.left.Store(1 << 40)
	t.Cleanup(func() { must.Do(t, c.listener.Close()) })
	go func() {
		for n := 0; ; n++ {
			in, err := c.listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(out, in); out.Close() }()
			go func() {
				defer in.Close()
				defer out.Close()
				for b := make([]byte, 1); ; {
					if _, err := out.Read(b); err != nil {
						return
					}
					if n == 0 && c.left.Add(-1) < 0 {
						c.cuts.Add(1)
						return
					}
					if _, err := in.Write(b); err != nil {
						return
					}
				}
			}()
		}
	}()
	return c
}

// TestCut: wherever in an answer the connection ends, the client gets the answer by another one.
func TestCut(t *testing.T) {
	t.Parallel()
	s := serveBy(t, server.Options{Limits: server.Limits{Calls: 1 << 20}}, nil, &counts{})
	for _, anchor := range []string{"a", "b", "c"} {
		e := ledgertest.Issue(anchor, 1)
		e.PolicyDigest = s.store.Genesis().Policy
		ledgertest.Apply(t, s.store, e)
	}
	for what, call := range map[string]func(c *client.Client) error{
		"submit": func(c *client.Client) error {
			verdicts, err := c.Submit(t.Context(), [][]byte{[]byte("a"), []byte("b")})
			if err == nil && !errors.Is(verdicts[1].Err, zkbench.ErrMalformed) {
				err = verdicts[1].Err
			}
			return err
		},
		"log": func(c *client.Client) error {
			n := 0
			for _, err := range c.Log(t.Context(), 1) {
				if err != nil {
					return err
				}
				n++
			}
			golden.Equal(t, "records", 3, n)
			return nil
		},
	} {
		cuts := int64(0)
		for at := int64(0); at < 1200; at += 23 {
			proxy := newCutting(t, strings.TrimPrefix(s.url, "http://"))
			c := must.Get(client.Dial(t.Context(), "http://"+proxy.listener.Addr().String(), client.Options{Patience: 10 * time.Second}))(t)
			proxy.left.Store(at)
			if err := call(c); err != nil {
				t.Errorf("%s, cut after %d bytes: %v", what, at, err)
			}
			must.Do(t, c.Close())
			cuts += proxy.cuts.Load()
		}
		if cuts < 20 {
			t.Errorf("%s: only %d answers were cut", what, cuts)
		}
	}
}

// TestIssueCut: an issue whose answer ends early may have been made, and the error says so. An answer that is none says so too.
func TestIssueCut(t *testing.T) {
	t.Parallel()
	s := newSystem(t, false, nil)
	pays := service.Payment{To: s.wallet("alice").address(), Value: 1}
	proxy := newCutting(t, strings.TrimPrefix(s.issuerURL, "http://"))
	o := s.options(peer.Issuer, peer.Issuer)
	o.Patience = -1
	program := must.Get(client.DialIssuer(t.Context(), "http://"+proxy.listener.Addr().String(), o))(t)
	defer program.Close()
	proxy.left.Store(60) // into the headers of the answer, or what is behind them
	_, _, err := program.Issue(t.Context(), "a key", usd, pays)
	must.Fail(t, err, zkbench.ErrOutcomeUnknown, "an answer that ends early")
	golden.Equal(t, "cut", int64(1), proxy.cuts.Load())
	golden.Equal(t, "records", uint64(1), s.records())

	address := between(t, &serving{url: s.issuerURL}, func(r *http.Response) error {
		if strings.HasSuffix(r.Request.URL.Path, "/Issue") {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("")), 0 // of an issue without anchor and number
			r.Header.Set("Content-Length", "0")
		}
		return nil
	})
	program = must.Get(client.DialIssuer(t.Context(), address, o))(t)
	defer program.Close()
	_, _, err = program.Issue(t.Context(), "another key", usd, pays)
	must.Fail(t, err, zkbench.ErrOutcomeUnknown, "an answer without an anchor")
	golden.Equal(t, "records", uint64(2), s.records())
}

// TestManyVerdicts: an answer of many small fields is refused before it takes many times its length. It runs alone, because it
// measures memory.
func TestManyVerdicts(t *testing.T) {
	const size = 8 << 20
	s := serve(t, server.Options{}, nil)
	address := between(t, s, func(r *http.Response) error {
		if strings.HasSuffix(r.Request.URL.Path, "Submit") {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("\x0a\x00", size/2))), -1
			r.Header.Del("Content-Length")
		}
		return nil
	})
	c := must.Get(client.Dial(t.Context(), address, client.Options{Patience: -1}))(t)
	defer c.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.Submit(t.Context(), [][]byte{[]byte("a")})
	runtime.ReadMemStats(&after)
	must.Fail(t, err, zkbench.ErrMalformed, "an answer of many fields")
	must.Fail(t, err, zkbench.ErrOutcomeUnknown, "an answer that says nothing")
	if took := int64(after.TotalAlloc - before.TotalAlloc); took > 16*size {
		t.Errorf("allocated %d MiB", took>>20)
	}
}

// TestLagOnce: a server that has told a number too high is refused once, and then followed again.
func TestLagOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, server.Options{}, nil)
	e := ledgertest.Issue("a", 1)
	e.PolicyDigest = s.store.Genesis().Policy
	ledgertest.Apply(t, s.store, e)
	address := between(t, s, func(r *http.Response) error {
		if strings.HasSuffix(r.Request.URL.Path, "GetLedger") {
			body := must.Get(io.ReadAll(r.Body))(t)
			r.Body = io.NopCloser(strings.NewReader(string(body) + "\x20\xff\xff\x03")) // the field last
			r.Header.Del("Content-Length")
			r.ContentLength = -1
		}
		return nil
	})
	c := must.Get(client.Dial(t.Context(), address, client.Options{Patience: -1}))(t)
	defer c.Close()
	read := func() (n int, err error) {
		for _, e := range c.Log(t.Context(), 1) {
			if e != nil {
				return n, e
			}
			n++
		}
		return n, nil
	}
	_, err := read()
	must.Fail(t, err, ledger.ErrRolledBack, "a log that ends before what was told")
	n, err := read()
	must.Do(t, err)
	golden.Equal(t, "records", 1, n)
}

// TestLargeSubmit: a call that is cut into several submits nothing if a request is too long, and does not say that nothing was
// submitted if only the last of its parts fails.
func TestLargeSubmit(t *testing.T) {
	t.Parallel()
	submitter := &counts{}
	s := serveBy(t, server.Options{Limits: server.Limits{Proofs: 1}}, nil, submitter)
	c := must.Get(client.Dial(t.Context(), s.url, client.Options{Patience: -1}))(t)
	defer c.Close()
	requests := make([][]byte, 300)
	requests[299] = make([]byte, token.MaxRequest+1)
	_, err := c.Submit(t.Context(), requests)
	must.Fail(t, err, zkbench.ErrLimit, "a request that is too long")
	golden.Equal(t, "calls of the submitter", 0, submitter.calls.Load())
	requests[298], requests[299] = make([]byte, token.MaxRequest), make([]byte, token.MaxRequest) // more proofs than one client may submit
	_, err = c.Submit(t.Context(), requests)
	must.Fail(t, err, zkbench.ErrOutcomeUnknown, "the last part")
	golden.Equal(t, "calls of the submitter: 256 requests, 42, and one", 3, submitter.calls.Load())
}

// TestClose: a client that is closed has no connection left.
func TestClose(t *testing.T) {
	t.Parallel()
	s := serve(t, server.Options{}, nil)
	closed := make(chan struct{})
	proxy := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer proxy.Close()
	go func() {
		in, err := proxy.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(in, out); in.Close() }()
		_, _ = io.Copy(out, in)
		out.Close()
		close(closed)
	}()
	c := must.Get(client.Dial(t.Context(), "http://"+proxy.Addr().String(), client.Options{}))(t)
	must.Do(t, c.Close())
	select {
	case <-closed:
	case <-time.After(30 * time.Second): // half the time after which an idle connection ends by itself
		t.Error("the connection is open")
	}
}

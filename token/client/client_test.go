package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/server"
)

// params are the parameters of the tests' ledgers.
func params(t testing.TB) *token.PublicParams {
	return must.Get(token.NewPublicParams("BN254", 16, "bulletproof"))(t)
}

// refuses is a submitter that refuses everything.
type refuses struct{}

func (refuses) Submit(_ context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	verdicts := make([]ledger.Verdict, len(requests))
	for i := range verdicts {
		verdicts[i].Err = errors.New("no")
	}
	return verdicts, nil
}

// serving is a ledger behind a server.
type serving struct {
	store ledger.Store
	http  *http.Server
	url   string
}

// serve starts a server of a new ledger in a file, which refuses every request.
func serve(t testing.TB, o server.Options, secure *tls.Config) *serving {
	return serveBy(t, o, secure, refuses{})
}

// serveBy starts a server of a new ledger in a file.
func serveBy(t testing.TB, o server.Options, secure *tls.Config, submitter ledger.Submitter) *serving {
	p := params(t)
	store := must.Get(bolt.Create(filepath.Join(t.TempDir(), "ledger.db"), ledgertest.Genesis(t, p)))(t)
	t.Cleanup(func() { must.Do(t, store.Close()) })
	s := &serving{store: store}
	s.start(t, o, secure, server.Ledger{Store: store, Submitter: submitter, Params: p, Policy: func() *token.Policy { return &p.Policy }}, "127.0.0.1:0")
	return s
}

func (s *serving) start(t testing.TB, o server.Options, secure *tls.Config, l server.Ledger, address string) {
	service := must.Get(server.NewLedger(l))(t)
	handler := must.Get(server.New(o, service))(t)
	s.http = handler.HTTP()
	listener := must.Get(net.Listen("tcp", address))(t)
	s.url = "http://" + listener.Addr().String()
	if secure != nil {
		s.url = "https://" + listener.Addr().String()
		listener = tls.NewListener(listener, secure)
	}
	done := make(chan error)
	go func() { done <- s.http.Serve(listener) }()
	t.Cleanup(func() {
		handler.Stop()
		must.Do(t, s.http.Shutdown(context.Background()))
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// TestReader holds a client to the contract of a ledger's reader.
func TestReader(t *testing.T) {
	t.Parallel()
	s := serve(t, server.Options{}, nil)
	log := ledgertest.Fill(t, s.store)
	c := must.Get(client.Dial(t.Context(), s.url, client.Options{Params: params(t)}))(t)
	defer c.Close()
	ledgertest.Reader(t, c, log)
	golden.Equal(t, "ledger", s.store.Genesis().ID(), c.Genesis().ID())
	signed := must.Get(c.Head(t.Context()))(t)
	golden.Equal(t, "no head", 0, len(signed))
	if _, err := c.Submit(t.Context(), make([][]byte, 2)); err != nil {
		t.Fatal(err)
	}
	must.FailGet(c.Submit(t.Context(), [][]byte{make([]byte, token.MaxRequest+1)}))(t, zkbench.ErrLimit, "a request that is too long")
}

package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/server"
)

// A program on the server's machine follows the log as it grows. The first answer says which ledger it is; a client that
// knows the id or the parameters refuses any other one.
func Example() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx := context.Background()
	url, store, stop := exampleServer()
	defer stop()
	c, err := client.Dial(ctx, url, client.Options{Ledger: store.Genesis().ID()})
	must(err)
	defer c.Close()
	must(store.Apply(ctx, []ledger.Entry{{
		Anchor: []byte("tx 1"), Creates: []ledger.Created{{ID: token.ID("tx 1/0"), Token: []byte("token")}}, PolicyDigest: store.Genesis().Policy,
	}}))
	for r, err := range c.Follow(ctx, 1) {
		must(err)
		fmt.Printf("request %d: %s\n", r.Seq, r.Anchor)
		break
	}
	_, err = c.Token(ctx, token.ID("tx 2/0"))
	fmt.Println("no such token:", errors.Is(err, ledger.ErrNotFound))

	_, err = client.Dial(ctx, url, client.Options{Ledger: token.LedgerID{1}})
	fmt.Println("another ledger:", errors.Is(err, zkbench.ErrParams))
	// Output:
	// request 1: tx 1
	// no such token: true
	// another ledger: true
}

// exampleServer serves a new ledger that records no requests.
func exampleServer() (url string, store ledger.Store, stop func()) {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "client")
	must(err)
	params, err := token.NewPublicParams("BN254", 16, token.Bulletproof)
	must(err)
	genesis, err := ledger.NewGenesis(params)
	must(err)
	store, err = bolt.Create(filepath.Join(dir, "ledger.db"), genesis)
	must(err)
	service, err := server.NewLedger(server.Ledger{Store: store, Submitter: refuses{}, Params: params, Policy: func() *token.Policy { return &params.Policy }})
	must(err)
	s, err := server.New(server.Options{}, service)
	must(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	h := s.HTTP()
	go h.Serve(listener)
	return "http://" + listener.Addr().String(), store, func() {
		s.Stop()
		must(h.Close())
		must(store.Close())
		must(os.RemoveAll(dir))
	}
}

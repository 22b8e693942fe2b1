package server_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/validator"
)

// A ledger with its validator is served with certificates, and reached by a wallet. A wallet of package service uses the
// client in place of a ledger of its own.
func Example() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "server")
	must(err)
	defer os.RemoveAll(dir)
	params, err := token.NewPublicParams("BN254", 16, token.Bulletproof)
	must(err)
	genesis, err := ledger.NewGenesis(params)
	must(err)
	store, err := bolt.Create(filepath.Join(dir, "ledger.db"), genesis)
	must(err)
	defer store.Close()
	checks, err := validator.New(params, genesis, executor.Pool(), token.Tuning{}, 1024)
	must(err)
	submitter, err := validator.NewSubmitter(checks, store, nil)
	must(err)

	// The operator's authority gives each party a certificate with its role.
	authority, err := peer.NewAuthority("operator")
	must(err)
	own, err := authority.Issue("north bank", peer.Validator, "127.0.0.1")
	must(err)
	wallet, err := authority.Issue("alice", peer.Wallet)
	must(err)

	service, err := server.NewLedger(server.Ledger{Store: store, Submitter: submitter, Params: params, Policy: checks.Policy})
	must(err)
	s, err := server.New(server.Options{}, service)
	must(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	h := s.HTTP()
	h.TLSConfig = peer.Server(own, authority.Pool())
	go h.ServeTLS(listener, "", "")

	c, err := client.Dial(ctx, "https://"+listener.Addr().String(), client.Options{
		TLS: peer.Client(&wallet, authority.Pool(), peer.Validator), Ledger: genesis.ID(), Params: params,
	})
	must(err)
	verdicts, err := c.Submit(ctx, [][]byte{[]byte("no request")})
	must(err)
	fmt.Println(verdicts[0].Err)
	_, found, err := c.Record(ctx, []byte("an anchor"))
	must(err)
	fmt.Println("recorded:", found)
	must(c.Close())

	s.Stop() // what has begun is answered
	must(h.Shutdown(ctx))
	// Output:
	// structure: malformed encoding: version at byte 0: version 110, only 4 is known
	// recorded: false
}

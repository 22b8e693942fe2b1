package service_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// A whole life: tokens are issued to Alice, who pays Bob and keeps the change.
func Example() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	newKey := func() identity.Signer {
		_, secret, err := ed25519.GenerateKey(rand.Reader)
		must(err)
		signer, err := identity.NewEd25519Signer(secret)
		must(err)
		return signer
	}
	ctx, ex, local := context.Background(), executor.Pool(), token.Tuning{}
	dir, err := os.MkdirTemp("", "service")
	must(err)
	defer os.RemoveAll(dir)

	// All agree on parameters, which name the issuer and the auditor.
	issuer, auditor := newKey(), newKey()
	params, err := token.NewPublicParams("BN254", 32, token.Bulletproof)
	must(err)
	kem, err := token.X25519.HPKE()
	must(err)
	auditorKey, err := kem.GenerateKey()
	must(err)
	params.Policy.Issuers = []token.Issuer{{Identity: issuer.Identity()}}
	params.Policy.Auditors = []token.Auditor{{Identity: auditor.Identity(), KEM: token.X25519, Key: auditorKey.PublicKey().Bytes()}}

	// The ledger is a new one; everybody has a vault for it.
	genesis, err := ledger.NewGenesis(params)
	must(err)
	book, err := bolt.Create(filepath.Join(dir, "ledger"), genesis)
	must(err)
	defer book.Close()
	vault := func(name string) *service.Vault {
		v, err := service.CreateVault(filepath.Join(dir, name), genesis)
		must(err)
		return v
	}
	issues, err := service.NewIssueService(params, token.Bulletproof, local, ex, vault("issuer"), issuer)
	must(err)
	audits, err := service.NewAuditorService(params, local, ex, vault("auditor"), service.Auditor{Signer: auditor, Key: auditorKey, Policy: service.SignAll{}})
	must(err)
	wallet := func(name string) *service.Wallet {
		keys, err := service.NewKey(genesis, newKey())
		must(err)
		w, err := service.NewWallet(params, vault(name), keys)
		must(err)
		return w
	}
	alice, bob := wallet("alice"), wallet("bob")
	pays, err := service.NewTransferService(params, token.Bulletproof, local, ex, alice)
	must(err)
	validates, err := validator.New(params, genesis, ex, local, 100)
	must(err)

	// A submission is signed by the auditor, validated and applied.
	submit := func(sub *service.Submission) {
		raw, err := sub.Request.Encode()
		must(err)
		information, err := sub.Information.Encode()
		must(err)
		signature, report, err := audits.Sign(ctx, raw, information)
		must(err)
		fmt.Println("the auditor sees", len(report.Actions[0].Inputs), "in,", len(report.Actions[0].Outputs), "out")
		sub.Request.Auditors[0] = signature
		raw, err = sub.Request.Encode()
		must(err)

		valid, err := validates.Validate(ctx, book, raw, time.Unix(1_800_000_000, 0))
		must(err)
		must(book.Apply(ctx, []ledger.Entry{valid.Entry()}))
	}
	pay := func(w *service.Wallet, value uint64) service.Order {
		to, err := w.Address(nil)
		must(err)
		return service.Order{Type: "USD", Payments: []service.Payment{{To: to, Value: value}}}
	}
	balances := func() {
		for name, w := range map[string]*service.Wallet{"alice": alice, "bob": bob} {
			must(w.Sync(ctx, book))
			b, err := w.Holdings("USD")
			must(err)
			fmt.Println(name, "has", b.Sum)
		}
	}

	sub, err := issues.Issue(ctx, pay(alice, 100))
	must(err)
	submit(sub)
	balances()

	sub, err = pays.Transfer(ctx, pay(bob, 30))
	must(err)
	submit(sub)
	balances()

	// Unordered output:
	// the auditor sees 0 in, 1 out
	// alice has 100
	// bob has 0
	// the auditor sees 1 in, 2 out
	// alice has 70
	// bob has 30
}

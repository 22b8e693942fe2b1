package receipt_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/receipt"
	"github.com/zkbench/zkbench/token/request"
)

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// A payer shows one payment to somebody who has only the public parameters.
func Example() {
	ctx, now := context.Background(), time.Unix(1_800_000_000, 0)
	dir := got(os.MkdirTemp("", "receipt"))
	defer os.RemoveAll(dir)

	// The ledger has one validator, whose key the parameters name.
	validator := got(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))))
	params := got(token.NewPublicParams("BN254", 8, token.CSP))
	params.Policy.Validators = []token.Validator{{HeadKey: [32]byte(validator.Identity()[1:])}}
	params.Policy.HeadThreshold = 1
	genesis := got(ledger.NewGenesis(params))
	book := got(bolt.Create(filepath.Join(dir, "ledger.db"), genesis))
	defer book.Close()

	// A request makes two tokens. Signatures and a validator that checks them are left out here.
	pp := got(params.Crypto(token.CSP, token.LeastTables()))
	draft := got(action.NewIssue(ctx, executor.Serial(), pp, "USD", action.Spec{
		Outputs: []action.Output{{Owner: []byte("alice"), Value: 100}, {Owner: []byte("bob"), Value: 7}},
		Anchor:  request.ActionAnchor(genesis.ID(), []byte("tx 1"), 0),
	}))
	r := &request.Request{Anchor: []byte("tx 1"), Actions: []request.Action{{Kind: token.Issue, ProofType: token.CSP, Raw: got(draft.Prove(ctx))}}}
	e := got(entry.Parse(genesis.ID(), pp.PointLen(), got(r.Encode()))).Entry
	e.Time, e.PolicyDigest = now, genesis.Policy
	got(0, book.Apply(ctx, []ledger.Entry{e}))

	// The validator signs the head of the log.
	state := got(book.State(ctx))
	h := head.Head{Ledger: genesis.ID(), Size: state.Last + 1, Root: state.Root}
	path := filepath.Join(dir, "validator")
	got(0, head.CreateSigner(path, validator, h, now))
	signer := got(head.OpenSigner(path, validator, h.Ledger))
	defer signer.Close()
	got(0, book.PutHead(ctx, h.Size, signer.Last(), true))

	// The payer makes a receipt that opens the second output.
	made := got(receipt.Make(ctx, book, []byte("tx 1")))
	got(0, made.Open(ctx, params, draft.Openings[1]))
	file := got(made.Encode())

	// Anybody who has the parameters can verify it.
	c := got(receipt.Verify(ctx, file, params))
	fmt.Printf("request %d: output %d is %d %s of %s\n", c.Record.Seq, c.Output.Output, c.Output.Value, c.Output.Type, c.Output.Owner)
	fmt.Printf("signed by %d of %d validators at %s\n", len(c.Head.Validators), len(c.Policy.Validators), c.Head.Time.Format(time.TimeOnly))
	// Output:
	// request 1: output 2 is 7 USD of bob
	// signed by 1 of 1 validators at 08:00:00
}

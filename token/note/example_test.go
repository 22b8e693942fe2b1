package note_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/note"
)

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// A payee makes an address of its seed, finds what was written to it among all notes of a ledger, and counts what opens
// a token of its own, each token once.
func Example() {
	ctx, ex := context.Background(), executor.Serial()
	pp := got(token.NewCryptoParams(token.Config{Curve: "BN254", Bits: 32, ProofType: token.CSP}, token.Tuning{}))
	var ledger token.LedgerID
	payee := note.NewReader([]byte("the payee's secret"), ledger)
	var nonce note.Nonce
	got(rand.Read(nonce[:]))
	address := got(payee.Payee(nonce, token.X25519))
	owner := []byte("owner")

	// The payer makes a token of 1, and encrypts its opening for its place on the ledger.
	place := note.Place{Ledger: ledger, ID: token.ID("id"), Owner: owner}
	issue := got(action.NewIssue(ctx, ex, pp, "USD", action.Spec{Outputs: []action.Output{{Owner: owner, Value: 1}}, Anchor: "tx"}))
	honest := got(note.Seal(place, []note.Payee{address}, issue.Openings[0]))

	// Another payer writes of the same token that it is worth 1,000,000.
	more := issue.Openings[0]
	more.Value = 1_000_000
	forged := got(note.Seal(place, []note.Payee{address}, more))

	// A third writes of a token of its own.
	theirs := got(action.NewIssue(ctx, ex, pp, "USD", action.Spec{Outputs: []action.Output{{Owner: []byte("mallory"), Value: 1000}}, Anchor: "tx 2"}))
	elsewhere := note.Place{Ledger: ledger, ID: token.ID("theirs"), Owner: theirs.Outputs[0].Owner}
	stray := got(note.Seal(elsewhere, []note.Payee{address}, theirs.Openings[0]))

	counted := make(map[string]uint64)
	for _, n := range []struct {
		raw   []byte
		place note.Place
		token token.Token // of the ledger, at this place
	}{{honest, place, issue.Outputs[0]}, {forged, place, issue.Outputs[0]}, {honest, place, issue.Outputs[0]}, {stray, elsewhere, theirs.Outputs[0]}} {
		shares := got(note.Decode(n.raw))
		found, mine := payee.Mine(&shares[0].Tag)
		if !mine || found != nonce {
			continue
		}
		opening := got(payee.Open(n.place, &shares[0], found))
		// A note is what its author says: the token says whether that is true, and whose it is.
		err := token.Opens(ctx, ex, pp, &n.token, opening)
		isOwn := bytes.Equal(n.token.Owner, owner)
		fmt.Println(opening.Value, opening.Type, err, isOwn)
		if err == nil && isOwn {
			counted[string(n.place.ID)] = opening.Value
		}
	}
	fmt.Println("counted:", counted)
	// Output:
	// 1 USD <nil> true
	// 1000000 USD proof rejected: the opening is another token's true
	// 1 USD <nil> true
	// 1000 USD <nil> false
	// counted: map[id:1]
}

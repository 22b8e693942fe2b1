package note_test

import (
	"crypto/rand"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/note"
)

// A payee makes an address of its seed, and finds what was written to it among all notes of a ledger.
func Example() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	var ledger token.LedgerID
	payee := note.NewReader([]byte("the payee's secret"), ledger)
	var nonce note.Nonce
	_, err := rand.Read(nonce[:])
	must(err)
	address, err := payee.Payee(nonce, token.X25519)
	must(err)

	// The payer encrypts the opening for its place on the ledger.
	place := note.Place{Ledger: ledger, ID: token.ID("id"), Owner: []byte("owner")}
	raw, err := note.Seal(place, []note.Payee{address}, token.Opening{Type: "USD", Value: 7, Blinding: make([]byte, 32)})
	must(err)

	shares, err := note.Decode(raw)
	must(err)
	found, mine := payee.Mine(&shares[0].Tag)
	opening, err := payee.Open(place, &shares[0], found)
	must(err)
	fmt.Println(mine, found == nonce, opening.Value, opening.Type)
	// Output: true true 7 USD
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// empty is a store without records.
type empty struct{}

func (empty) State(token.ID) (store.State, error)         { return store.State{}, nil }
func (empty) Anchor([]byte) (store.Anchored, bool, error) { return store.Anchored{}, false, nil }

// An implementation of ledger.Store gives Decide its records and a batch, and learns which entries it must reject. Of two
// entries that spend one token, which the batch creates, the second is rejected.
func ExampleDecide() {
	at, id := time.Unix(1_800_000_000, 0), token.ID("tx 1/0")
	call, err := store.NewCall(context.Background(), []ledger.Entry{
		{Anchor: []byte("tx 1"), Digest: [32]byte{1}, Time: at, Creates: []ledger.Created{{ID: id, Token: []byte("token")}}},
		{Anchor: []byte("tx 2"), Digest: [32]byte{2}, Time: at, Spends: []token.ID{id}},
		{Anchor: []byte("tx 3"), Digest: [32]byte{3}, Time: at, Spends: []token.ID{id}},
	}, true)
	if err != nil {
		log.Fatal(err)
	}
	genesis := ledger.Genesis{Nonce: [32]byte{1}}
	decision, err := store.Decide(empty{}, genesis, ledger.NewEdge(genesis), call)
	if err != nil {
		log.Fatal(err)
	}
	for i, err := range decision.Rejected {
		fmt.Printf("tx %d: accepted %v, spends a spent token %v\n", i+1, err == nil, errors.Is(err, zkbench.ErrSpent))
	}
	// Output:
	// tx 1: accepted true, spends a spent token false
	// tx 2: accepted true, spends a spent token false
	// tx 3: accepted false, spends a spent token true
}

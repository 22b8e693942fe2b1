package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
)

// A ledger in a file. A token is created and spent, and cannot be spent again, not even after the file was opened anew.
func Example() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx, at := context.Background(), time.Unix(1_800_000_000, 0)
	dir, err := os.MkdirTemp("", "ledger")
	must(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ledger.db")
	book, err := bolt.Create(path, ledger.Genesis{Nonce: [32]byte{1}}) // ledger.NewGenesis makes a genesis
	must(err)

	id := token.ID("tx 1/0")
	must(book.Apply(ctx, []ledger.Entry{
		{Anchor: []byte("tx 1"), Digest: [32]byte{1}, Time: at, Creates: []ledger.Created{{ID: id, Token: []byte("token")}}},
	}))
	found, err := book.Token(ctx, id)
	fmt.Printf("%s, %v\n", found, err)
	must(book.Apply(ctx, []ledger.Entry{{Anchor: []byte("tx 2"), Digest: [32]byte{2}, Time: at, Spends: []token.ID{id}}}))
	must(book.Close())

	book, err = bolt.Open(path)
	must(err)
	defer book.Close()
	err = book.Apply(ctx, []ledger.Entry{{Anchor: []byte("tx 3"), Digest: [32]byte{3}, Time: at, Spends: []token.ID{id}}})
	fmt.Println("spent:", errors.Is(err, zkbench.ErrSpent))
	for r, err := range book.Log(ctx, 1) {
		must(err)
		fmt.Printf("%d: %s\n", r.Seq, r.Anchor)
	}
	// Output:
	// token, <nil>
	// spent: true
	// 1: tx 1
	// 2: tx 2
}

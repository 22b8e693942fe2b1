package replay_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// A ledger is opened at a path, whichever store it has, and verified from its first request. With the public parameters
// in place of nil, Verify would check proofs and signatures too.
func Example() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "replay")
	must(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, replay.FileName)
	book, err := replay.Create(ctx, path, ledger.Genesis{Nonce: [32]byte{1}})
	must(err)
	must(book.Apply(ctx, []ledger.Entry{{
		Anchor: []byte("tx 1"), Digest: [32]byte{1}, Time: time.Unix(1_800_000_000, 0),
		Creates: []ledger.Created{{ID: token.ID("tx 1/0"), Token: []byte("token")}},
	}}))
	must(book.Close())

	book, err = replay.Open(ctx, dir)
	must(err)
	defer book.Close()
	report, err := replay.Verify(ctx, book, nil, nil)
	must(err)
	fmt.Println(report.Edge.Last(), "request,", report.Created, "token, validated:", report.Validated)
	// Output: 1 request, 1 token, validated: false
}

package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/backup"
	"github.com/zkbench/zkbench/token/ledger/bolt"
)

// A process backs up the ledger that it has open. Later, the ledger is restored in another place.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := bolt.Create(filepath.Join(dir, "ledger.db"), ledger.Genesis{Nonce: [32]byte{1}})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	request := ledger.Entry{Anchor: []byte("tx 1"), Time: time.Unix(1_800_000_000, 0), Request: []byte("a request")}
	if err := l.Apply(ctx, []ledger.Entry{request}); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	state, err := backup.Write(ctx, &file, l, nil)
	if err != nil {
		log.Fatal(err)
	}
	report, err := backup.Restore(ctx, filepath.Join(dir, "restored.db"), &file, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Edge.Last(), "request; same root:", state.Root == report.Edge.Root())
	// Output: 1 request; same root: true
}

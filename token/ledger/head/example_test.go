package head_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// Two validators sign the head of a log, and a wallet opens it. Then the ledger is restored from a backup that lacks the
// last record, and goes on with another one: the validators refuse it.
func Example() {
	dir, err := os.MkdirTemp("", "heads")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ledger := token.LedgerID{0x2a}
	genesis := logWith("genesis")
	now := time.Unix(1_800_000_000, 0)
	policy := &token.Policy{HeadThreshold: 2}
	var signers []*head.Signer
	for i := range 2 {
		seed := make([]byte, ed25519.SeedSize) // of a test; a real key is random
		seed[0] = byte(i)
		key, err := identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed))
		if err != nil {
			log.Fatal(err)
		}
		policy.Validators = append(policy.Validators, token.Validator{HeadKey: [32]byte(key.Identity()[1:])})

		path := filepath.Join(dir, fmt.Sprint("validator ", i))
		if err := head.CreateSigner(path, key, genesis.at(ledger), now); err != nil {
			log.Fatal(err)
		}
		signer, err := head.OpenSigner(path, key, ledger)
		if err != nil {
			log.Fatal(err)
		}
		defer signer.Close()
		signers = append(signers, signer)
	}

	records := logWith("genesis", "issue", "payment")
	var signed [][]byte
	for i, signer := range signers {
		one, err := signer.Sign(context.Background(), records.at(ledger), now.Add(time.Duration(i)*time.Second), records.prove)
		if err != nil {
			log.Fatal(err)
		}
		signed = append(signed, one)
	}
	merged, err := head.Merge(note.VerifierList(head.Validators(policy)...), signed...)
	if err != nil {
		log.Fatal(err)
	}
	opened, err := head.Open(merged, ledger, policy)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d leaves at %s, signed by %d\n", opened.Size, opened.Time.Format(time.TimeOnly), len(opened.Validators))

	restored := logWith("genesis", "issue", "payment to somebody else")
	_, err = signers[0].Sign(context.Background(), restored.at(ledger), now, restored.prove)
	fmt.Println("refused:", errors.Is(err, head.ErrForked))
	// Output:
	// 3 leaves at 08:00:00, signed by 2
	// refused: true
}

// exampleLog is the tree of a log.
type exampleLog struct {
	size   int64
	hashes []tlog.Hash
}

func logWith(leaves ...string) *exampleLog {
	l := new(exampleLog)
	for _, leaf := range leaves {
		hashes, err := tlog.StoredHashes(l.size, []byte(leaf), tlog.HashReaderFunc(l.read))
		if err != nil {
			log.Fatal(err)
		}
		l.size, l.hashes = l.size+1, append(l.hashes, hashes...)
	}
	return l
}

func (l *exampleLog) read(indexes []int64) (hashes []tlog.Hash, err error) {
	for _, i := range indexes {
		hashes = append(hashes, l.hashes[i])
	}
	return hashes, nil
}

func (l *exampleLog) at(ledger token.LedgerID) head.Head {
	root, err := tlog.TreeHash(l.size, tlog.HashReaderFunc(l.read))
	if err != nil {
		log.Fatal(err)
	}
	return head.Head{Ledger: ledger, Size: uint64(l.size), Root: root}
}

func (l *exampleLog) prove(_ context.Context, from, to uint64) (tlog.TreeProof, error) {
	return tlog.ProveTree(int64(to), int64(from), tlog.HashReaderFunc(l.read))
}

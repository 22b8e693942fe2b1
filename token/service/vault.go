package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
)

// Vault is the database of one participant, in one file. It stores a wallet's tokens with their openings, the
// submissions that wait for the ledger, and what an auditor has signed. A wallet's vault, except its pending
// submissions, can be rebuilt from the wallet's keys and the ledger's log. A vault is private to its owner.
// Do not copy a vault's file. (A ledger's file may be copied.) A Vault is safe for concurrent use.
type Vault struct {
	file    *boltfile.File
	genesis ledger.Genesis

	mu    sync.Mutex
	taken map[string]bool // ids of tokens that a call has selected and not yet written

	following sync.Mutex // held by the reader of the log
	current   atomic.Pointer[token.Policy]
	first     atomic.Pointer[token.Policy] // the policy of the parameters
	checks    *checks                      // nil: records are not validated
	maxAge    time.Duration                // of the newest head; 0: any
}

// CreateVault creates an empty vault for the ledger with the given genesis, and opens it. The file has mode
// 0600. The vault can be used only with that ledger. CreateVault returns fs.ErrExist if path exists.
func CreateVault(path string, genesis ledger.Genesis) (*Vault, error) {
	err := boltfile.Create(path, func(tx *bbolt.Tx) error {
		for _, name := range buckets() {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return put(tx, bucketMeta, []byte(formatKey), genesis.Append([]byte{format}))
	})
	if err != nil {
		return nil, withName(err)
	}
	return OpenVault(path, genesis)
}

// OpenVault opens a vault that CreateVault made. It returns fs.ErrNotExist if there is no file, and
// ledger.ErrLocked if another process has it open. It returns a *ledger.CorruptError if the file is damaged,
// and a *zkbench.DecodeError if the file's format has another version. It returns ErrParams if the vault
// belongs to another ledger.
func OpenVault(path string, genesis ledger.Genesis) (*Vault, error) {
	file, err := boltfile.Open(path, func(tx *bbolt.Tx) error { return checkFormat(tx, genesis) })
	if err != nil {
		return nil, withName(err)
	}
	return &Vault{file: file, genesis: genesis, taken: make(map[string]bool)}, nil
}

// VaultGenesis returns the genesis of the ledger that a vault belongs to. Its errors are those of OpenVault about the
// file.
func VaultGenesis(path string) (genesis ledger.Genesis, err error) {
	file, err := boltfile.Open(path, func(tx *bbolt.Tx) (err error) {
		genesis, err = genesisOf(tx)
		return err
	})
	if err == nil {
		err = file.Close()
	}
	return genesis, withName(err)
}

// genesisOf returns the genesis of a vault of the known format.
func genesisOf(tx *bbolt.Tx) (ledger.Genesis, error) {
	if tx.Bucket([]byte(bucketMeta)) == nil {
		return ledger.Genesis{}, ledger.Corruptf("bucket "+bucketMeta, "missing: not a vault")
	}
	body, err := get(tx, bucketMeta, []byte(formatKey))
	switch {
	case err != nil:
		return ledger.Genesis{}, err
	case len(body) < 1:
		return ledger.Genesis{}, ledger.Corruptf("bucket "+bucketMeta, "no format: not a vault")
	case body[0] != format:
		return ledger.Genesis{}, &zkbench.DecodeError{Path: "format", Reason: fmt.Sprintf("version %d, only %d is known", body[0], format)}
	}
	return ledger.DecodeGenesis(body[1:])
}

func checkFormat(tx *bbolt.Tx, genesis ledger.Genesis) error {
	own, err := genesisOf(tx)
	if err == nil {
		err = sameLedger(own, genesis)
	}
	if err != nil {
		return err
	}
	for _, name := range buckets() {
		if tx.Bucket([]byte(name)) == nil {
			return ledger.Corruptf("bucket "+name, "missing")
		}
	}
	// A record under a key that was changed would look as if it had never been written.
	return tx.Bucket([]byte(bucketMeta)).ForEach(func(key, _ []byte) error {
		if !slices.Contains(metaKeys(), string(key)) {
			return ledger.Corruptf("bucket "+bucketMeta, "an unknown key")
		}
		return nil
	})
}

// Close waits for running writes and closes the vault. Calls after Close return fs.ErrClosed.
func (v *Vault) Close() error { return withName(v.file.Close()) }

func (v *Vault) view(read func(*bbolt.Tx) error) error { return withName(v.file.View(read)) }

// update writes in one transaction with other callers. write may run more than once.
func (v *Vault) update(ctx context.Context, write func(*bbolt.Tx) error) error {
	return withName(v.file.Update(ctx, write))
}

// Genesis returns the genesis of the vault's ledger.
func (v *Vault) Genesis() ledger.Genesis { return v.genesis }

// sameLedger returns ErrParams if other is not the vault's own ledger.
func sameLedger(own, other ledger.Genesis) error {
	if own.ID() != other.ID() {
		return refuse("the vault belongs to ledger %x, not to %x", own.ID(), other.ID())
	}
	return nil
}

// withName says that an error of a file is the vault's.
func withName(err error) error {
	var corrupt *ledger.CorruptError
	var decode *zkbench.DecodeError
	if errors.As(err, &corrupt) || errors.As(err, &decode) || errors.Is(err, zkbench.ErrEnv) ||
		errors.Is(err, zkbench.ErrOutcomeUnknown) || errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("vault: %w", err)
	}
	return err
}

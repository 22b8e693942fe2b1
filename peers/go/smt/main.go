// Command smt measures github.com/pokt-network/smt v0.14.1, a sparse Merkle tree, with SHA-256, as a commitment to a
// ledger's state. Its nodes are in memory, or in a bbolt file. The library has no store on the disk; the one here is
// the simplest.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pokt-network/smt"
	"github.com/pokt-network/smt/kvstore"
	"github.com/pokt-network/smt/kvstore/simplemap"
	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/peers/go/contract"
)

const (
	replaced = 4  // records that an update removes, and that it adds
	batch    = 64 // updates that are written together
)

func main() {
	var cases []contract.Case
	for _, records := range []int{1_000, 10_000, 100_000, 1_000_000} {
		cases = append(cases,
			contract.Case{
				Name:  fmt.Sprintf("StateUpdate/records=%d", records),
				Setup: func() (func() error, int, error) { return inMemory(records) },
			},
			contract.Case{
				Name:  fmt.Sprintf("StateWrite/records=%d/batch=%d", records, batch),
				Setup: func() (func() error, int, error) { return onDisk(records) },
			})
	}
	os.Exit(contract.Serve(os.Args[1:], os.Stdout, os.Stderr, cases))
}

// state is a set of records, of which the oldest are removed. A key is a SHA-256, and so is a value.
type state struct {
	tree        *smt.SMT
	first, next uint64
}

func record(i uint64) (key, value []byte) {
	k := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
	v := sha256.Sum256(k[:])
	return k[:], v[:]
}

func (s *state) add(n int) error {
	for range n {
		key, value := record(s.next)
		if err := s.tree.Update(key, value); err != nil {
			return err
		}
		s.next++
	}
	return nil
}

// update replaces records and computes the root.
func (s *state) update() error {
	for range replaced {
		key, _ := record(s.first)
		if err := s.tree.Delete(key); err != nil {
			return err
		}
		s.first++
	}
	if err := s.add(replaced); err != nil {
		return err
	}
	s.tree.Root()
	return nil
}

// check makes sure that the tree proves its newest record, and that it has none which was removed.
func (s *state) check() (proofBytes int, err error) {
	prove := func(key, value []byte) (int, error) {
		proof, err := s.tree.Prove(key)
		if err != nil {
			return 0, err
		}
		ok, err := smt.VerifyProof(proof, s.tree.Root(), key, value, s.tree.Spec())
		if err == nil && !ok {
			err = errors.New("a proof does not verify")
		}
		return sha256.Size * len(proof.SideNodes), err
	}
	key, value := record(s.next - 1)
	if proofBytes, err = prove(key, value); err != nil {
		return 0, err
	}
	key, _ = record(s.first - 1)
	_, err = prove(key, nil)
	return proofBytes, err
}

// inMemory times an update of a tree all of whose nodes are in memory.
func inMemory(records int) (op func() error, proofBytes int, err error) {
	s := &state{tree: smt.NewSparseMerkleTrie(simplemap.NewSimpleMap(), sha256.New())}
	if err := errors.Join(s.add(records), s.update()); err != nil {
		return nil, 0, err
	}
	proofBytes, err = s.check()
	return s.update, proofBytes, err
}

// onDisk times a batch of updates with their commit, which is flushed. Between batches no node is kept in memory
// except in the system's cache of the file.
func onDisk(records int) (op func() error, proofBytes int, err error) {
	dir, err := os.MkdirTemp("", "peer-smt-")
	if err != nil {
		return nil, 0, err
	}
	path := filepath.Join(dir, "nodes")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return nil, 0, err
	}
	if err := os.RemoveAll(dir); err != nil { // the open file stays, until the program ends
		return nil, 0, err
	}
	s, root := new(state), []byte(nil)
	within := func(change func() error) error {
		return db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("nodes"))
			if err != nil {
				return err
			}
			nodes := bucket{b}
			if s.tree = smt.NewSparseMerkleTrie(nodes, sha256.New()); root != nil {
				s.tree = smt.ImportSparseMerkleTrie(nodes, sha256.New(), root)
			}
			if err := errors.Join(change(), s.tree.Commit()); err != nil {
				return err
			}
			root = bytes.Clone(s.tree.Root())
			return nil
		})
	}
	for left := records; left > 0; {
		n := min(left, 50_000)
		if err := within(func() error { return s.add(n) }); err != nil {
			return nil, 0, err
		}
		left -= n
	}
	op = func() error {
		return within(func() error {
			for range batch {
				if err := s.update(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := op(); err != nil {
		return nil, 0, err
	}
	err = within(func() (err error) {
		proofBytes, err = s.check()
		return err
	})
	return op, proofBytes, err
}

// bucket is a bbolt bucket as a store of nodes.
type bucket struct{ b *bbolt.Bucket }

var _ kvstore.MapStore = bucket{}

func (b bucket) Get(key []byte) ([]byte, error) {
	value := b.b.Get(key)
	if value == nil {
		return nil, fmt.Errorf("no node %x", key)
	}
	return bytes.Clone(value), nil // a page may be written over within the transaction
}

func (b bucket) Set(key, value []byte) error { return b.b.Put(key, value) }

func (b bucket) Delete(key []byte) error { return b.b.Delete(key) }

func (b bucket) Len() (int, error) { return b.b.Stats().KeyN, nil }

func (b bucket) ClearAll() error { return errors.New("never called") }

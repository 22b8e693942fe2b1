package ours

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/token/ledger/state"
)

// State is the name of our peer that commits to a ledger's state.
const State = "state"

const (
	replacedRecords = 4  // records that an update removes, and that it adds
	writtenUpdates  = 64 // updates that are written together
)

// States returns the cases of the peer State. An update replaces records of a state and computes the commitment. In
// StateWrite, a batch of updates is written to a file and flushed: our side writes the sum, and the peer writes nodes of
// a tree.
func States() (cases []peer.Case) {
	for _, records := range []int{1_000, 10_000, 100_000, 1_000_000} {
		cases = append(cases,
			peer.Case{
				Name: fmt.Sprintf("StateUpdate/records=%d", records),
				Setup: func() (func() error, map[string]float64, error) {
					s := newReplacing(records)
					return func() error { s.update(); return nil }, nil, s.check()
				},
			},
			peer.Case{
				Name:  fmt.Sprintf("StateWrite/records=%d/batch=%d", records, writtenUpdates),
				Setup: func() (func() error, map[string]float64, error) { return writeState(newReplacing(records)) },
			})
	}
	return cases
}

// replacing is a state whose oldest records are replaced.
type replacing struct {
	sum         state.Sum
	first, next uint64
}

func newReplacing(records int) *replacing {
	s := new(replacing)
	s.add(records)
	return s
}

// stateRecord returns a record with a SHA-256 for its key and another for its value.
func stateRecord(i uint64) state.Record {
	key := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
	return state.Record{Kind: state.Used, Key: key[:], Value: state.Digest(key[:])}
}

func (s *replacing) add(n int) {
	for range n {
		s.sum.Add(stateRecord(s.next))
		s.next++
	}
}

// update replaces records and computes the commitment.
func (s *replacing) update() {
	for range replacedRecords {
		s.sum.Remove(stateRecord(s.first))
		s.first++
	}
	s.add(replacedRecords)
	s.sum.Commitment()
}

// check makes sure that an update leads to the commitment of its records in another order.
func (s *replacing) check() error {
	s.update()
	other := new(replacing)
	for i := s.next; i > s.first; i-- {
		other.sum.Add(stateRecord(i - 1))
	}
	if other.sum.Commitment() != s.sum.Commitment() {
		return errors.New("another commitment to the same records")
	}
	return nil
}

// writeState returns a function that updates the state and writes it durably.
func writeState(s *replacing) (op func() error, extra map[string]float64, err error) {
	dir, err := os.MkdirTemp("", "zkbench-state-")
	if err != nil {
		return nil, nil, err
	}
	db, err := bbolt.Open(filepath.Join(dir, "state"), 0o600, nil)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	op = func() error {
		return db.Update(func(tx *bbolt.Tx) error {
			for range writtenUpdates {
				s.update()
			}
			b, err := tx.CreateBucketIfNotExists([]byte("state"))
			if err == nil {
				err = b.Put([]byte("sum"), s.sum.Append(nil))
			}
			return err
		})
	}
	_ = os.RemoveAll(dir) // the open file stays until the process ends; Windows does not remove it
	return op, nil, op()
}

package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bberrors "go.etcd.io/bbolt/errors"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/record"
)

// journalFile is the journal within a suite's folder.
const journalFile = "journal.db"

// journalFormat is the number of the journal's format.
const journalFormat = 1

// Journal keeps what a suite's cases have given, each once, on bbolt. A record is durable
// when Put returns.
type Journal struct{ db *bbolt.DB }

// Header says what suite a journal is of.
type Header struct {
	Format int       `json:"format"`
	Suite  string    `json:"suite"`
	Begun  time.Time `json:"begun"`
	Plan   []string  `json:"plan"` // keys of all cases, in their order
}

var (
	headBucket  = []byte("head")
	headKey     = []byte("header")
	casesBucket = []byte("cases")
)

// Create makes the journal of a suite in a folder that has none.
func Create(dir string, h Header) (*Journal, error) {
	path := filepath.Join(dir, journalFile)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%w: %s is there already; accepted: another folder, or --resume with this one", zkbench.ErrParams, path)
	}
	j, err := open(path)
	if err != nil {
		return nil, err
	}
	h.Format = journalFormat
	raw, err := json.Marshal(h)
	if err == nil {
		err = j.db.Update(func(tx *bbolt.Tx) error {
			head, err := tx.CreateBucket(headBucket)
			if err != nil {
				return err
			}
			if _, err := tx.CreateBucket(casesBucket); err != nil {
				return err
			}
			return head.Put(headKey, raw)
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), j.Close())
	}
	return j, nil
}

// Open opens the journal of a folder.
func Open(dir string) (*Journal, Header, error) {
	var h Header
	path := filepath.Join(dir, journalFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, h, fmt.Errorf("%w: %s is not there; accepted: the folder of a suite", zkbench.ErrParams, path)
	}
	j, err := open(path)
	if err != nil {
		return nil, h, err
	}
	err = j.db.View(func(tx *bbolt.Tx) error {
		head := tx.Bucket(headBucket)
		if head == nil || tx.Bucket(casesBucket) == nil {
			return &zkbench.DecodeError{Path: "journal", Reason: "no suite was begun in it"}
		}
		if err := json.Unmarshal(head.Get(headKey), &h); err != nil {
			return &zkbench.DecodeError{Path: "journal.header", Reason: err.Error()}
		}
		if h.Format != journalFormat {
			return &zkbench.DecodeError{Path: "journal.format", Reason: fmt.Sprintf("%d; accepted: %d", h.Format, journalFormat)}
		}
		return nil
	})
	if err != nil {
		return nil, h, errors.Join(fmt.Errorf("%s: %w", path, err), j.Close())
	}
	return j, h, nil
}

func open(path string) (*Journal, error) {
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{Timeout: time.Second})
	if errors.Is(err, bberrors.ErrTimeout) {
		return nil, fmt.Errorf("%w: %s: another suite runs in this folder", zkbench.ErrEnv, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Journal{db}, nil
}

// Put keeps the record of a case that has none.
func (j *Journal) Put(key string, r *record.Record) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return j.db.Update(func(tx *bbolt.Tx) error {
		cases := tx.Bucket(casesBucket)
		if cases.Get([]byte(key)) != nil {
			return fmt.Errorf("%s has a record already", key)
		}
		return cases.Put([]byte(key), raw)
	})
}

// Get returns the record of a case; nil: it has none yet.
func (j *Journal) Get(key string) (*record.Record, error) {
	var r *record.Record
	err := j.db.View(func(tx *bbolt.Tx) error {
		raw := tx.Bucket(casesBucket).Get([]byte(key))
		if raw == nil {
			return nil
		}
		recs, err := record.ReadAll(bytes.NewReader(raw))
		if err != nil {
			return fmt.Errorf("record of %s: %w", key, err)
		}
		if len(recs) != 1 {
			return &zkbench.DecodeError{Path: key, Reason: fmt.Sprintf("%d records", len(recs))}
		}
		r = recs[0]
		return nil
	})
	return r, err
}

// Close closes the file.
func (j *Journal) Close() error { return j.db.Close() }

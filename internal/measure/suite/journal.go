package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bberrors "go.etcd.io/bbolt/errors"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/outdir"
)

// journalFile is the journal within a suite's folder.
const journalFile = "journal.db"

// journalFormat is the number of the journal's format.
const journalFormat = 1

// Journal stores one record for each case of a suite, in a bbolt database. When Put returns without
// an error, the record is on the disk.
type Journal struct {
	db   *bbolt.DB
	path string
	file fs.FileInfo // as it was opened
}

// Header says which suite a journal belongs to. It contains the suite's cases, so that a suite that
// is resumed measures the cases with which it was begun, even if the suite's file has changed
// since.
type Header struct {
	Format  int       `json:"format"`
	Suite   string    `json:"suite"`
	Session string    `json:"session"` // of the suite's records
	Begun   time.Time `json:"begun"`
	Plan    []Case    `json:"plan"` // in order, with every repetition
	// Headline is the case that the suite's report begins with, or nil if the suite's file does not say so.
	Headline *record.Headline `json:"headline,omitempty"`
	// Program is the SHA-256 of the program that began the suite.
	Program string `json:"program"`
	// Hosts are the environments of the machines that the suite was begun on, by the machine's name.
	Hosts map[string]record.Env `json:"hosts,omitempty"`
	// Study is the name of the study that the plan is of, empty for a suite.
	Study string `json:"study,omitempty"`
	// Portable is the SHA-256 of the program without assembly that runs some of a study's cases, empty if none does.
	Portable string `json:"portable,omitempty"`
	// HostWait is how long to wait for a host whose connection is lost.
	HostWait time.Duration `json:"host_wait,omitempty"` // ns
	Noise
}

// Noise says what a suite does if other programs work on the machine while the suite measures.
type Noise struct {
	QuietWait time.Duration `json:"quiet_wait,omitempty"` // ns, how long cases may wait in total for a quiet machine
	Again     bool          `json:"again,omitempty"`      // measure a disturbed case once more
}

var (
	headBucket  = []byte("head")
	headKey     = []byte("header")
	casesBucket = []byte("cases")
)

// IsFree returns an error, zkbench.ErrParams, if the folder dir already has a suite or the records
// of another run. It returns nil if a suite can begin in the folder.
func IsFree(dir string) error {
	if path := filepath.Join(dir, journalFile); exists(path) {
		return fmt.Errorf("%w: %s exists already; accepted: another folder, or --resume with this one", zkbench.ErrParams, path)
	}
	if other := outdir.Records(dir); exists(other) {
		return fmt.Errorf("%w: %s belongs to another run; accepted: a folder without records", zkbench.ErrParams, other)
	}
	return nil
}

// Create creates the journal of a suite in the folder dir. It returns zkbench.ErrParams if the
// folder already has a suite or the records of another run.
func Create(dir string, h Header) (*Journal, error) {
	path := filepath.Join(dir, journalFile)
	if err := IsFree(dir); err != nil {
		return nil, err
	}
	h.Format = journalFormat
	raw, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	raw = sealed(raw)
	j, err := open(path)
	if err != nil {
		return nil, err
	}
	err = j.update(func(tx *bbolt.Tx) error {
		head, err := tx.CreateBucket(headBucket)
		if err != nil {
			return err
		}
		if _, err := tx.CreateBucket(casesBucket); err != nil {
			return err
		}
		return head.Put(headKey, raw)
	})
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// Open opens the journal in the folder dir. It returns zkbench.ErrParams if the folder has no
// journal, and zkbench.ErrEnv if another process has the journal open. It returns a
// *zkbench.DecodeError if the journal is damaged or has another format.
func Open(dir string) (*Journal, Header, error) {
	var h Header
	path := filepath.Join(dir, journalFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, h, fmt.Errorf("%w: %s does not exist; accepted: the folder of a suite", zkbench.ErrParams, path)
	}
	j, err := open(path)
	if err != nil {
		return nil, h, err
	}
	err = j.view(func(tx *bbolt.Tx) error {
		head := tx.Bucket(headBucket)
		if head == nil || tx.Bucket(casesBucket) == nil {
			return &zkbench.DecodeError{Path: "journal", Reason: "no suite was begun in it"}
		}
		raw, err := unsealed("journal.header", head.Get(headKey))
		if err != nil {
			return err
		}
		// The format is read first, by itself: in another format other fields may have other types.
		if err := json.Unmarshal(raw, &struct {
			Format *int `json:"format"`
		}{&h.Format}); err != nil {
			return &zkbench.DecodeError{Path: "journal.header", Reason: err.Error()}
		}
		if h.Format != journalFormat {
			return &zkbench.DecodeError{Path: "journal.format", Reason: fmt.Sprintf("%d; accepted: %d", h.Format, journalFormat)}
		}
		if err := json.Unmarshal(raw, &h); err != nil {
			return &zkbench.DecodeError{Path: "journal.header", Reason: err.Error()}
		}
		return nil
	})
	if err != nil {
		return nil, h, errors.Join(err, j.Close())
	}
	return j, h, nil
}

// sealed returns raw after its digest, so that damage can be detected.
func sealed(raw []byte) []byte {
	sum := sha256.Sum256(raw)
	return append(sum[:], raw...)
}

// unsealed returns what sealed was given, or a *zkbench.DecodeError if all is damaged.
func unsealed(what string, all []byte) ([]byte, error) {
	if len(all) < sha256.Size {
		return nil, &zkbench.DecodeError{Path: what, Reason: "missing or cut"}
	}
	sum, raw := all[:sha256.Size], all[sha256.Size:]
	if have := sha256.Sum256(raw); !bytes.Equal(sum, have[:]) {
		return nil, &zkbench.DecodeError{Path: what, Reason: "damaged: its digest does not match"}
	}
	return raw, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func open(path string) (*Journal, error) {
	j := &Journal{path: path}
	err := guard(func() (err error) {
		j.db, err = bbolt.Open(path, 0o644, &bbolt.Options{Timeout: time.Second})
		return err
	})
	if errors.Is(err, bberrors.ErrTimeout) {
		return nil, fmt.Errorf("%w: %s: another suite runs in this folder", zkbench.ErrEnv, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if j.file, err = os.Stat(path); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// guard calls work, which uses bbolt's pages, and returns its panics and page faults as errors.
// bbolt panics on some kinds of damage, and a wrong offset reads beyond the mapped file.
func guard(work func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &zkbench.DecodeError{Path: "journal", Reason: fmt.Sprintf("damaged: %v", r)}
		}
	}()
	return work()
}

func (j *Journal) update(work func(tx *bbolt.Tx) error) error {
	return j.withPath(guard(func() error { return j.db.Update(work) }))
}

func (j *Journal) view(work func(tx *bbolt.Tx) error) error {
	return j.withPath(guard(func() error { return j.db.View(work) }))
}

func (j *Journal) withPath(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", j.path, err)
}

// Put stores the record r of the case with the given key (Case.Key). It returns an error if the
// case already has a record, or if the journal's file was moved, removed or replaced after it was
// opened.
func (j *Journal) Put(key string, r *record.Record) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	err = j.update(func(tx *bbolt.Tx) error {
		cases := tx.Bucket(casesBucket)
		if cases.Get([]byte(key)) != nil {
			return fmt.Errorf("%s has a record already", key)
		}
		return cases.Put([]byte(key), sealed(raw))
	})
	if err != nil {
		return err
	}
	return j.inPlace()
}

// Forget removes the records of cases, so that new records of these cases can be stored.
func (j *Journal) Forget(keys ...string) error {
	return j.update(func(tx *bbolt.Tx) error {
		for _, key := range keys {
			if err := tx.Bucket(casesBucket).Delete([]byte(key)); err != nil {
				return err
			}
		}
		return nil
	})
}

// inPlace returns zkbench.ErrEnv if the file is no longer at its path. If its folder was removed,
// writes succeed, but nobody will find them.
func (j *Journal) inPlace() error {
	now, err := os.Stat(j.path)
	if err != nil {
		return fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
	}
	if !os.SameFile(now, j.file) {
		return fmt.Errorf("%w: %s has been replaced by another file", zkbench.ErrEnv, j.path)
	}
	return nil
}

// Records returns a map from the key of each case (Case.Key) to the case's stored record. If a
// record cannot be read, the error names its case.
func (j *Journal) Records() (map[string]*record.Record, error) {
	all := make(map[string]*record.Record)
	err := j.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(casesBucket).ForEach(func(key, value []byte) error {
			raw, err := unsealed("record", value)
			if err != nil {
				return fmt.Errorf("record of %s: %w", key, err)
			}
			recs, err := record.ReadAll(bytes.NewReader(raw))
			if err != nil {
				return fmt.Errorf("record of %s: %w", key, err)
			}
			if len(recs) != 1 {
				return &zkbench.DecodeError{Path: string(key), Reason: fmt.Sprintf("%d records", len(recs))}
			}
			all[string(key)] = recs[0]
			return nil
		})
	})
	return all, err
}

// Close closes the journal's file.
func (j *Journal) Close() error { return j.db.Close() }

// running reports whether some process has the journal of a folder open.
func running(dir string) bool {
	var db *bbolt.DB
	err := guard(func() (err error) {
		db, err = bbolt.Open(filepath.Join(dir, journalFile), 0o644, &bbolt.Options{ReadOnly: true, Timeout: time.Millisecond})
		return err
	})
	if err != nil {
		return errors.Is(err, bberrors.ErrTimeout)
	}
	return guard(db.Close) != nil
}

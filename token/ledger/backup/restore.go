package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// Restore makes a ledger of a backup, in one of the places that replay.Open accepts, where there must be none. If log
// is not nil, it is the file of a Mirror of the same ledger. The ledger then gets the records of that file too which
// come after the backup. Its State.Bytes remain those of the backup.
//
// Every record is checked when it is read, and the ledger is verified like replay.Verify does. Restore returns what
// that reports. A ledger in a file appears complete or not at all. If Restore fails or is killed while it fills a
// database, the ledger there lacks records: drop its schema.
//
// Restore returns fs.ErrExist if there is a ledger already. It returns a *zkbench.DecodeError or a
// *ledger.CorruptError if a file is damaged, and a *ledger.RolledBackError if the log does not begin with the
// backup. It returns zkbench.ErrParams if log is of another ledger. It calls progress, which may be nil, as
// replay.Verify does.
func Restore(ctx context.Context, place string, backup, log io.Reader, progress func(done, total uint64)) (*replay.Report, error) {
	s := &sources{}
	var err error
	if s.backup, err = newDecoder(backup, backupKind); err != nil {
		return nil, err
	}
	if log != nil {
		if s.log, err = newDecoder(log, mirrorKind); err != nil {
			return nil, fmt.Errorf("log: %w", err)
		}
		if own, other := s.backup.genesis.ID(), s.log.genesis.ID(); own != other {
			return nil, fmt.Errorf("%w: the backup is of ledger %x, the log of ledger %x", zkbench.ErrParams, own, other)
		}
	}
	if replay.IsDatabase(place) {
		report, err := s.restore(ctx, place, progress)
		if err != nil && s.created {
			err = fmt.Errorf("the ledger lacks records, drop its schema: %w", err)
		}
		return report, err
	}
	return s.restoreFile(ctx, place, progress)
}

// sources are what a ledger is restored from.
type sources struct {
	backup, log *decoder // log is nil if there is none
	created     bool     // whether there is a ledger at the place
}

// restoreFile restores into a file with another name, and names it when it is complete.
func (s *sources) restoreFile(ctx context.Context, path string, progress func(done, total uint64)) (report *replay.Report, err error) {
	path = replay.FilePath(path)
	if _, err := os.Lstat(path); err == nil {
		return nil, &os.PathError{Op: "restore", Path: path, Err: os.ErrExist}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".restore-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if report, err = s.restore(ctx, dir, progress); err != nil {
		return nil, err
	}
	return report, boltfile.Link(replay.FilePath(dir), path)
}

// restore restores into a place and verifies the ledger there.
func (s *sources) restore(ctx context.Context, place string, progress func(done, total uint64)) (_ *replay.Report, err error) {
	l, err := replay.Create(ctx, place, s.backup.genesis)
	if err != nil {
		return nil, err
	}
	s.created = true
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := replay.Fill(ctx, l, s.records()); err != nil {
		return nil, err
	}
	if len(s.backup.state) > 0 {
		if err := l.ApplyState(ctx, nil, s.backup.state); err != nil {
			return nil, err
		}
	}
	if len(s.backup.head) > 0 {
		leaves, err := headLeaves(s.backup.head)
		if err == nil {
			err = l.PutHead(ctx, leaves, s.backup.head, true)
		}
		if err != nil {
			return nil, err
		}
	}
	report, err := replay.Verify(ctx, l, nil, progress)
	if err != nil {
		return nil, err
	}
	edge := s.edge()
	return report, checkEnd(&report.Edge, new(edge.State(nil)))
}

// edge returns the edge of the records that were read.
func (s *sources) edge() ledger.Edge {
	if s.log != nil && s.log.edge.Last() > s.backup.edge.Last() {
		return s.log.edge
	}
	return s.backup.edge
}

// records yields the records of the backup, and those that come after them in the log.
func (s *sources) records() iter.Seq2[ledger.Record, error] {
	return func(yield func(ledger.Record, error) bool) {
		logged := s.log != nil
		for {
			r, err := s.backup.next()
			if err == io.EOF {
				break
			}
			if err == nil && logged {
				logged, err = s.compare()
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		for logged {
			r, err := s.log.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				err = fmt.Errorf("log: %w", err)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// compare reads the record of the log that must be the backup's last one, and reports whether there is one. It
// returns a *ledger.RolledBackError if it is another one.
func (s *sources) compare() (logged bool, err error) {
	switch _, err := s.log.next(); {
	case err == io.EOF:
		return false, nil
	case err != nil:
		return true, fmt.Errorf("log: %w", err)
	case s.log.edge != s.backup.edge:
		return true, fmt.Errorf("the log does not begin with the backup: %w", &ledger.RolledBackError{Seen: s.log.edge.Tree(), Now: s.backup.edge.Tree()})
	}
	return true, nil
}

package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// Mirror keeps the log of a ledger in a file. It is not safe for concurrent use.
type Mirror struct {
	file    *os.File
	path    string
	opened  os.FileInfo
	size    int64 // of the file
	end     int64 // of the last complete record
	genesis ledger.Genesis
	edge    ledger.Edge // of the records that the file has
}

// OpenMirror opens the file of a mirror of the ledger with the given genesis, or creates it with mode 0600. It reads
// and checks all records. If a mirror was killed while it wrote, Follow replaces the record that is not complete.
//
// It returns zkbench.ErrParams if the file is of another ledger, and a *zkbench.DecodeError or a *ledger.CorruptError
// if it is damaged or is no mirror's.
func OpenMirror(path string, g ledger.Genesis) (*Mirror, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	m := &Mirror{file: file, path: path, genesis: g}
	if err := m.load(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return m, nil
}

// load reads the file.
func (m *Mirror) load() (err error) {
	if m.path, err = filepath.Abs(m.path); err != nil {
		return err
	}
	if m.opened, err = m.file.Stat(); err != nil {
		return err
	}
	if !m.opened.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is not a file", zkbench.ErrEnv, m.path)
	}
	want := beginning(mirrorKind, m.genesis)
	begin := make([]byte, min(int64(len(want)), m.opened.Size()))
	if _, err := m.file.ReadAt(begin, 0); err != nil {
		return err
	}
	if len(begin) < len(want) && bytes.HasPrefix(want, begin) { // a new file, or a kill cut it off there
		if _, err := m.file.WriteAt(want, 0); err != nil {
			return err
		}
		m.size, m.end, m.edge = int64(len(want)), int64(len(want)), ledger.NewEdge(m.genesis)
		return errors.Join(m.file.Sync(), atomicfile.SyncDir(filepath.Dir(m.path)))
	}
	d, err := newDecoder(m.file, mirrorKind)
	if err != nil {
		return err
	}
	if own, other := d.genesis.ID(), m.genesis.ID(); own != other {
		return fmt.Errorf("%w: the log is of ledger %x, not %x", zkbench.ErrParams, own, other)
	}
	for err == nil {
		m.edge = d.edge
		_, err = d.next()
	}
	m.size, m.end = m.opened.Size(), int64(d.whole)
	if err == io.EOF {
		err = nil
	}
	return err
}

// Close closes the file.
func (m *Mirror) Close() error { return m.file.Close() }

// Edge returns the edge of the log that the mirror has.
func (m *Mirror) Edge() ledger.Edge { return m.edge }

// followBytes is how many bytes of records Follow reads before it checks their root and writes them.
const followBytes = 4 << 20

// Follow appends the records that the ledger has and the mirror does not have, up to the record that is the ledger's
// last one when Follow begins. They are durable when Follow returns. Follow checks that the records follow each
// other, that each commits to the state that they lead to, and that the ledger's root covers them.
//
// If the ledger does not continue the mirror's log, Follow returns a *ledger.RolledBackError with both ends. If the
// log contradicts itself, it returns a *ledger.CorruptError. It returns a *ledger.ReplacedError if the file is not
// the one that was opened. After an error, and when ctx ends, the mirror has the records that were written so far, and
// Follow may be called again. Follow calls progress, which may be nil, with the number of records that the mirror
// has and the total.
func (m *Mirror) Follow(ctx context.Context, l ledger.Store, progress func(done, total uint64)) error {
	if own, other := m.genesis.ID(), l.Genesis().ID(); own != other {
		return fmt.Errorf("%w: the log is of ledger %x, not %x", zkbench.ErrParams, own, other)
	}
	s, err := l.State(ctx)
	if err != nil {
		return err
	}
	if err := m.continues(ctx, l, &s); err != nil {
		return err
	}
	var records []byte
	edge := m.edge
	for r, err := range replay.UpTo(s.Last, l.Log(ctx, m.edge.Last()+1)) {
		if err != nil {
			return err
		}
		encoded := r.Append(nil)
		if err := advance(&edge, m.genesis, &r, encoded); err != nil {
			return err
		}
		records = appendRecord(records, &edge, &r, encoded)
		if r.Seq < s.Last && len(records) < followBytes {
			continue
		}
		if err := begins(ctx, l, &edge, &s); err != nil {
			if errors.Is(err, errOther) {
				err = ledger.Corruptf("log", "its first %d requests have root %v, which is not under the ledger's root %v", edge.Last(), edge.Root(), tlog.Hash(s.Root))
			}
			return err
		}
		if err := m.append(records, edge); err != nil {
			return err
		}
		records = records[:0]
		if progress != nil {
			progress(edge.Last(), s.Last)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return checkEnd(&m.edge, &s)
}

// continues checks that the ledger in state s has the log that the mirror has.
func (m *Mirror) continues(ctx context.Context, l ledger.Reader, s *ledger.State) (err error) {
	if s.Last >= m.edge.Last() {
		if err = begins(ctx, l, &m.edge, s); !errors.Is(err, errOther) {
			return err
		}
	}
	return &ledger.RolledBackError{Seen: m.edge.Tree(), Now: tlog.Tree{N: int64(s.Last + 1), Hash: s.Root}}
}

// errOther is returned for a log that is not the beginning of another one.
var errOther = errors.New("the log does not begin with the other one")

// begins returns nil if the log of the ledger in state s begins with the log that has the given edge, and errOther if
// it does not.
func begins(ctx context.Context, l ledger.Reader, e *ledger.Edge, s *ledger.State) error {
	proof, err := ledger.Consistency(ctx, l, e.Last()+1, s.Last+1)
	if err != nil {
		return err
	}
	before := e.Tree()
	if tlog.CheckTree(proof, int64(s.Last+1), s.Root, before.N, before.Hash) != nil {
		return errOther
	}
	return nil
}

// append writes records that lead to an edge, in place of a record that is not complete.
func (m *Mirror) append(records []byte, edge ledger.Edge) error {
	if info, err := os.Stat(m.path); err != nil || !os.SameFile(info, m.opened) || info.Size() != m.size {
		return &ledger.ReplacedError{Path: m.path}
	}
	_, err := m.file.WriteAt(records, m.end)
	m.size = m.end + int64(len(records))
	if err = errors.Join(err, m.file.Truncate(m.size), m.file.Sync()); err != nil {
		m.size = m.end
		return errors.Join(err, m.file.Truncate(m.size))
	}
	m.end, m.edge = m.size, edge
	return nil
}

package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// Write writes a backup of a ledger to w: its log up to the record that is the last one when Write begins, and what
// State.Bytes and Head are then. The ledger may be used meanwhile. Write returns the state that the backup has. It
// returns a *ledger.CorruptError if the log does not lead to that state, or an error of the ledger or of w. From time
// to time it calls progress, which may be nil, with the number of records written so far and the total.
func Write(ctx context.Context, w io.Writer, l ledger.Store, progress func(done, total uint64)) (ledger.State, error) {
	head, err := l.Head(ctx) // before the state, so that the backup has all that the head covers
	if err != nil {
		return ledger.State{}, err
	}
	if len(head) > 0 {
		if _, err := headLeaves(head); err != nil {
			return ledger.State{}, err
		}
	}
	s, err := l.State(ctx)
	if err != nil {
		return ledger.State{}, err
	}
	sum := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	g := l.Genesis()
	_, _ = out.Write(beginning(backupKind, g)) // Flush returns its error
	edge := ledger.NewEdge(g)
	for r, err := range replay.UpTo(s.Last, l.Log(ctx, 1)) {
		if err != nil {
			return ledger.State{}, err
		}
		encoded := r.Append(nil)
		if err := advance(&edge, g, &r, encoded); err != nil {
			return ledger.State{}, err
		}
		if _, err := out.Write(appendRecord(nil, &edge, &r, encoded)); err != nil {
			return ledger.State{}, err
		}
		if progress != nil && (r.Seq%progressStep == 0 || r.Seq == s.Last) {
			progress(r.Seq, s.Last)
		}
	}
	if err := checkEnd(&edge, &s); err != nil {
		return ledger.State{}, err
	}
	end := binary.BigEndian.AppendUint32(make([]byte, 4), uint32(len(s.Bytes)))
	end = binary.BigEndian.AppendUint32(append(end, s.Bytes...), uint32(len(head)))
	_, _ = out.Write(append(end, head...))
	if err := out.Flush(); err != nil {
		return ledger.State{}, err
	}
	_, err = w.Write(sum.Sum(nil))
	return s, err
}

// WriteFile writes a backup as Write does, to a new file with mode 0600. The file appears complete and durable, or not
// at all. WriteFile returns fs.ErrExist if path exists. The file system must support hard links.
func WriteFile(ctx context.Context, path string, l ledger.Store, progress func(done, total uint64)) (s ledger.State, err error) {
	if _, err := os.Lstat(path); err == nil {
		return s, &os.PathError{Op: "backup", Path: path, Err: os.ErrExist}
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".backup-*")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	s, err = Write(ctx, file, l, progress)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return s, err
	}
	return s, boltfile.Link(file.Name(), path)
}

// progressStep is the number of records between two calls of a function progress.
const progressStep = 256

// checkEnd checks the edge of a log that was read to its end against what the ledger says of that end.
func checkEnd(e *ledger.Edge, s *ledger.State) error {
	if tree := e.Tree(); e.Last() != s.Last || tree.Hash != s.Root || e.Commitment() != s.Commitment {
		return ledger.Corruptf("log", "it leads to %d requests with root %v, the ledger says %d with root %v", e.Last(), tree.Hash, s.Last, tlog.Hash(s.Root))
	}
	return nil
}

package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// FuzzDecoder reads files of both kinds. Whatever is read to its end without an error is what would be written.
func FuzzDecoder(f *testing.F) {
	ctx := context.Background()
	dir := f.TempDir()
	l := must.Get(bolt.Create(filepath.Join(dir, "l.db"), ledger.Genesis{}))(f)
	defer l.Close()
	e := ledgertest.Issue("a", 2)
	ledgertest.Apply(f, l, e, ledgertest.Spend("b", e.Creates[0].ID))
	must.Do(f, l.ApplyState(ctx, nil, []byte("state")))
	must.Do(f, l.PutHead(ctx, 2, []byte(head.Head{Size: 2}.Checkpoint()+"\n"), true))
	var backup bytes.Buffer
	must.Get(Write(ctx, &backup, l, nil))(f)
	f.Add(backup.Bytes())
	m := must.Get(OpenMirror(filepath.Join(dir, "log"), l.Genesis()))(f)
	must.Do(f, m.Follow(ctx, l, nil))
	must.Do(f, m.Close())
	f.Add(must.Get(os.ReadFile(filepath.Join(dir, "log")))(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range []kind{backupKind, mirrorKind} {
			read, err := readAll(data, k)
			switch {
			case err == io.EOF:
				if !bytes.HasPrefix(data, read) {
					t.Error("not what would be written")
				}
			case !errors.As(err, new(*zkbench.DecodeError)) && !errors.As(err, new(*ledger.CorruptError)):
				t.Error(err)
			}
		}
	})
}

// readAll reads a file, and returns its header and records as they would be written.
func readAll(data []byte, k kind) (written []byte, err error) {
	d, err := newDecoder(bytes.NewReader(data), k)
	if err != nil {
		return nil, err
	}
	written = beginning(k, d.genesis)
	for {
		r, err := d.next()
		if err != nil {
			return written, err
		}
		written = appendRecord(written, &d.edge, &r, r.Append(nil))
	}
}

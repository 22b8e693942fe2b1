package zkbench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/backup"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// longer adds a request to a smallLedger.
func longer(t *testing.T, path string) {
	t.Helper()
	l := must.Get(bolt.Open(path))(t)
	spend := ledger.Entry{Anchor: []byte("tx4"), Time: time.Unix(1e9, 1), Spends: []token.ID{token.ID("id10")}}
	must.Do(t, errors.Join(l.Apply(t.Context(), []ledger.Entry{spend}), l.Close()))
}

// done runs a command that must end well, and returns its output.
func done(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := call(args...)
	if code != cli.ExitOK || stderr != "" {
		t.Fatalf("%q: exit code %d, %q", args, code, stderr)
	}
	return stdout
}

// TestLedgerBackup loses a ledger after its backup, and restores it without and with the log that a mirror has kept.
func TestLedgerBackup(t *testing.T) {
	dir := t.TempDir()
	path, file, log := filepath.Join(dir, replay.FileName), filepath.Join(dir, "backup"), filepath.Join(dir, "log")
	smallLedger(t, path)
	golden.Contains(t, done(t, "ledger", "mirror", dir, "--log", log), "4 requests; ledger ")
	out := done(t, "ledger", "backup", path, file)
	golden.Contains(t, out, "backup of 4 requests; ledger ")
	early := done(t, "ledger", "verify", path)
	longer(t, path)
	golden.Contains(t, done(t, "ledger", "mirror", path, "--log", log, "--once"), "5 requests; ledger ")
	late := done(t, "ledger", "verify", path)

	older, whole := filepath.Join(dir, "older.db"), filepath.Join(dir, "whole.db")
	golden.Equal(t, "restored", firstLine(early), strings.TrimSuffix(done(t, "ledger", "restore", file, older), "\n"))
	golden.Equal(t, "verified", early, done(t, "ledger", "verify", older))
	golden.Equal(t, "restored with the log", firstLine(late), strings.TrimSuffix(done(t, "ledger", "restore", file, whole, "--log", log), "\n"))
	golden.Equal(t, "verified", late, done(t, "ledger", "verify", whole))
	golden.Contains(t, done(t, "ledger", "mirror", whole, "--log", log), "5 requests; ledger ")

	// The ledger without the last request is not a continuation of the log.
	code, stdout, stderr := call("ledger", "mirror", older, "--log", log)
	if code != cli.ExitFailed || stdout != "" {
		t.Errorf("exit code %d, %q", code, stdout)
	}
	golden.Contains(t, stderr, "the ledger went back to an earlier state: it had 5 requests with root ", ", now it has 4 requests with root ")

	other := filepath.Join(dir, "other.params")
	must.Do(t, os.WriteFile(other, []byte("no backup of a ledger, but as long as one"), 0o600))
	refuses(t, "file already exists", "ledger", "backup", path, file)
	refuses(t, "file already exists", "ledger", "restore", file, older)
	refuses(t, "first line at byte 0: want \"zkbench ledger backup 1\"", "ledger", "restore", other, filepath.Join(dir, "new.db"))
	refuses(t, "no such file", "ledger", "restore", filepath.Join(dir, "none"), filepath.Join(dir, "new.db"))
	refuses(t, "first line", "ledger", "mirror", path, "--log", file)
	refuses(t, "accepted: the path of a file", "ledger", "mirror", path)
	refuses(t, "FILE and LEDGER of ledger restore", "ledger", "restore", file)
	refuses(t, "LEDGER and FILE of ledger backup", "ledger", "backup")
	l := must.Get(bolt.Open(path))(t)
	defer l.Close()
	refuses(t, "open elsewhere", "ledger", "backup", path, filepath.Join(dir, "second"))
	refuses(t, "open elsewhere", "ledger", "mirror", path, "--log", log)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// TestLedgerBackupDatabase moves a ledger into a database, where it is backed up and mirrored while another process
// has it open.
func TestLedgerBackupDatabase(t *testing.T) {
	var server pgtest.Server
	url := server.URL(t)
	t.Cleanup(server.Stop)
	dir := t.TempDir()
	path, log := filepath.Join(dir, replay.FileName), filepath.Join(dir, "log")
	smallLedger(t, path)
	done(t, "ledger", "backup", path, filepath.Join(dir, "1"))
	done(t, "ledger", "restore", filepath.Join(dir, "1"), url)
	used := must.Get(replay.Open(t.Context(), url))(t)
	defer used.Close()
	done(t, "ledger", "backup", url, filepath.Join(dir, "2"))
	golden.Equal(t, "the database's backup", string(must.Get(os.ReadFile(filepath.Join(dir, "1")))(t)), string(must.Get(os.ReadFile(filepath.Join(dir, "2")))(t)))

	// A mirror follows until it is told to stop.
	ctx, cancel := context.WithCancel(t.Context())
	m := must.Get(backup.OpenMirror(log, used.Genesis()))(t)
	spend := ledger.Entry{Anchor: []byte("tx4"), Time: time.Unix(1e9, 1), Spends: []token.ID{token.ID("id10")}}
	err := follow(ctx, m, used, false, func(kept, total uint64) {
		if kept == 4 {
			must.Do(t, used.Apply(context.Background(), []ledger.Entry{spend}))
		}
		if kept == 5 {
			cancel()
		}
	})
	must.Fail(t, err, context.Canceled, "a mirror that was stopped")
	must.Do(t, m.Close())
	golden.Contains(t, done(t, "ledger", "mirror", url, "--log", log, "--once"), "5 requests; ")
}

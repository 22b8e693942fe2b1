package pgtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

const orphan = "ZKBENCH_PGTEST_ORPHAN" // how the child of TestTether ends

// ask sends one query of one text.
func ask(t *testing.T, url, query string) (answer string) {
	t.Helper()
	ctx := context.Background()
	conn := must.Get(pgx.Connect(ctx, url))(t)
	defer conn.Close(ctx)
	must.Do(t, conn.QueryRow(ctx, query).Scan(&answer))
	return answer
}

const (
	clusterID  = "SELECT system_identifier::text FROM pg_control_system()"
	inRecovery = "SELECT pg_is_in_recovery()::text"
)

// TestServer: the server keeps its data over a restart, takes settings, can be a
// standby, and leaves nothing when it is stopped.
func TestServer(t *testing.T) {
	var s Server
	defer s.Stop()
	url := s.URL(t)
	golden.Equal(t, "fsync", "on", ask(t, url, "SELECT current_setting('fsync')"))
	identity := ask(t, url, clusterID)
	s.Restart(t, "fsync=off")
	golden.Equal(t, "fsync", "off", ask(t, s.URL(t), "SELECT current_setting('fsync')"))
	golden.Equal(t, "cluster", identity, ask(t, url, clusterID))
	s.Standby(t)
	golden.Equal(t, "in recovery", "true", ask(t, url, inRecovery))
	s.Restart(t)
	golden.Equal(t, "in recovery", "false", ask(t, url, inRecovery))
	golden.Equal(t, "cluster", identity, ask(t, url, clusterID))
	dir := s.dir
	s.Stop()
	must.FailGet(os.Stat(dir))(t, fs.ErrNotExist, "after Stop")
}

// TestBouncer: PgBouncer passes queries on in the mode that it is told, is away while it is killed, and leaves nothing
// when its test ends.
func TestBouncer(t *testing.T) {
	var s Server
	defer s.Stop()
	identity := ask(t, s.URL(t), clusterID)
	var b *Bouncer
	t.Run("test", func(t *testing.T) {
		b = s.Bouncer(t, "statement", 1)
		conn := must.Get(pgx.Connect(t.Context(), b.URL()))(t)
		if _, err := conn.Exec(t.Context(), "BEGIN"); err == nil {
			t.Error("a transaction in statement mode")
		}
		golden.Equal(t, "cluster", identity, ask(t, b.URL(), clusterID))
		b.Command(t, "SET pool_mode = 'session'")
		conn = must.Get(pgx.Connect(t.Context(), b.URL()))(t)
		_, err := conn.Exec(t.Context(), "BEGIN")
		must.Do(t, err)
		b.Kill()
		_, err = net.Dial("unix", b.Socket())
		must.Fail(t, err, syscall.ECONNREFUSED, "a socket whose process was killed")
		b.Start(t)
		golden.Equal(t, "cluster", identity, ask(t, b.URL(), clusterID))
	})
	must.FailGet(os.Stat(b.dir))(t, fs.ErrNotExist, "after the test")
}

// TestTetherChild is the child of TestTether.
func TestTetherChild(t *testing.T) {
	how := os.Getenv(orphan)
	if how == "" {
		t.Skip("runs as the child of TestTether")
	}
	var s Server
	url := s.URL(t)
	if how == "kill pooled" {
		b := s.Bouncer(t, "session", 1)
		fmt.Println("bouncer", b.dir)
		url = b.URL()
	}
	fmt.Println("server", ask(t, url, "SELECT current_setting('data_directory')"))
	if how == "panic" {
		panic("as asked")
	}
	<-make(chan struct{})
}

// TestTether: a test binary that is killed, or panics, takes its server and PgBouncer with it.
func TestTether(t *testing.T) {
	var probe Server
	probe.URL(t) // or skip
	defer probe.Stop()
	for _, how := range []string{"panic", "kill", "kill pooled"} {
		t.Run("how="+how, func(t *testing.T) {
			if how == "kill pooled" {
				probe.Bouncer(t, "session", 1) // or skip
			}
			exe := must.Get(os.Executable())(t)
			cmd := exec.Command(exe, "-test.run=^TestTetherChild$")
			cmd.Env = append(os.Environ(), orphan+"="+how)
			out := must.Get(cmd.StdoutPipe())(t)
			// The child's processes have this pipe too: it ends when all of them have.
			alive, hold, err := os.Pipe()
			must.Do(t, err)
			defer alive.Close()
			cmd.ExtraFiles = []*os.File{hold}
			err = cmd.Start()
			_ = hold.Close()
			must.Do(t, err)
			var dirs []string
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if of, dir, ok := strings.Cut(lines.Text(), " "); ok && (of == "bouncer" || of == "server") {
					dirs = append(dirs, dir)
					if of == "server" && how != "panic" {
						must.Do(t, cmd.Process.Kill())
					}
				}
			}
			if err := cmd.Wait(); err == nil || len(dirs) == 0 {
				t.Fatalf("the child was to fail after it had a server: %v, %q", err, dirs)
			}
			must.Get(io.ReadAll(alive))(t)
			for _, dir := range dirs {
				must.FailGet(os.Stat(dir))(t, fs.ErrNotExist, "%s is still there", dir)
			}
		})
	}
}

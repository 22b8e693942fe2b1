package pgtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
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

// TestTetherChild is the child of TestTether.
func TestTetherChild(t *testing.T) {
	how := os.Getenv(orphan)
	if how == "" {
		t.Skip("runs as the child of TestTether")
	}
	var s Server
	fmt.Println("server", ask(t, s.URL(t), "SELECT current_setting('data_directory')"))
	if how == "panic" {
		panic("as asked")
	}
	<-make(chan struct{})
}

// TestTether: a test binary that is killed, or panics, takes its server with it.
func TestTether(t *testing.T) {
	var probe Server
	probe.URL(t) // or skip
	probe.Stop()
	for _, how := range []string{"panic", "kill"} {
		t.Run("how="+how, func(t *testing.T) {
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
			data := ""
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if dir, ok := strings.CutPrefix(lines.Text(), "server "); ok {
					data = dir
					if how == "kill" {
						must.Do(t, cmd.Process.Kill())
					}
				}
			}
			if err := cmd.Wait(); err == nil || data == "" {
				t.Fatalf("the child was to fail after it had a server: %v, %q", err, data)
			}
			must.Get(io.ReadAll(alive))(t)
			must.FailGet(os.Stat(data))(t, fs.ErrNotExist, "%s is still there", data)
		})
	}
}

package pgtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// Bouncer is a PgBouncer in front of a Server. It listens only on a Unix socket in a temporary folder. It
// stops when its test or the test binary ends.
type Bouncer struct {
	dir    string
	tether io.WriteCloser
	cmd    *exec.Cmd
}

// Bouncer starts a PgBouncer with the given pool mode ("session", "transaction" or "statement") and the given
// number of server connections. It skips tests as URL does. If there is no PgBouncer, it skips the test too,
// unless ZKBENCH_REQUIRE names "pgbouncer" (see package testsize).
func (s *Server) Bouncer(t testing.TB, mode string, size int) *Bouncer {
	t.Helper()
	s.URL(t)
	program(t)
	b := &Bouncer{dir: must.Get(os.MkdirTemp("", "zkpb"))(t)}
	t.Cleanup(func() { b.end("") })
	for name, text := range map[string]string{
		"users": `"` + superuser + `" ""`,
		"ini": fmt.Sprintf(`
[databases]
* = host=%s port=5432
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = %s
auth_type = trust
auth_file = %s
admin_users = %s
max_client_conn = 200
pool_mode = %s
default_pool_size = %d
`, s.dir, b.dir, filepath.Join(b.dir, "users"), superuser, mode, size),
	} {
		must.Do(t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644))
	}
	b.Start(t)
	return b
}

func program(t testing.TB) string {
	t.Helper()
	return testsize.Program(t, "pgbouncer", "pgbouncer", "/usr/sbin/pgbouncer")
}

// Start starts PgBouncer again after Kill.
func (b *Bouncer) Start(t testing.TB) {
	t.Helper()
	cmd := exec.Command("sh", "-c", tether, "sh", "KILL", b.dir, program(t), filepath.Join(b.dir, "ini"))
	must.Do(t, asUser(cmd, b.dir))
	b.tether = must.Get(cmd.StdinPipe())(t)
	stderr := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	b.cmd = cmd
	var output []string
	for in := bufio.NewScanner(stderr); in.Scan(); {
		output = append(output, in.Text())
		if strings.Contains(in.Text(), "process up") {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return
		}
	}
	t.Fatalf("PgBouncer did not start:\n%s", strings.Join(output, "\n"))
}

// Kill kills PgBouncer, and returns when its sockets are closed.
func (b *Bouncer) Kill() { b.end("keep\n") }

// end tells the shell to kill PgBouncer, with word as its last input, and waits for it.
func (b *Bouncer) end(word string) {
	if b.cmd == nil {
		return
	}
	_, _ = io.WriteString(b.tether, word)
	_ = b.tether.Close()
	_ = b.cmd.Wait() // a process that is killed exits with an error
	b.cmd = nil
}

// URL returns the address of the database behind PgBouncer.
func (b *Bouncer) URL() string { return b.url("postgres") }

// Socket returns the path of PgBouncer's Unix socket.
func (b *Bouncer) Socket() string { return filepath.Join(b.dir, ".s.PGSQL.5432") }

func (b *Bouncer) url(database string) string {
	return (&url.URL{
		Scheme: "postgres", User: url.User(superuser), Path: "/" + database,
		RawQuery: url.Values{"host": {b.dir}}.Encode(),
	}).String()
}

// Command executes a command of PgBouncer's administration console, for example "SET pool_mode = 'session'".
func (b *Bouncer) Command(t testing.TB, text string) {
	t.Helper()
	ctx := context.Background()
	config := must.Get(pgx.ParseConfig(b.url("pgbouncer")))(t)
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // the console has no other
	conn := must.Get(pgx.ConnectConfig(ctx, config))(t)
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, text); err != nil {
		t.Fatalf("PgBouncer: %s: %v", text, err)
	}
}

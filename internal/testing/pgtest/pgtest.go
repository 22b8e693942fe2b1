// Package pgtest runs a PostgreSQL server for a test binary, and PgBouncer in front of it. The server has
// its own cluster in a temporary folder and listens only on a Unix socket in that folder. It stops when the
// binary ends, even if the binary is killed.
package pgtest

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// Server is a PostgreSQL server that starts when a test first uses it. The zero value is ready to use.
// A test binary has one Server and stops it in TestMain.
type Server struct {
	mu     sync.Mutex
	dir    string // of the cluster and the socket; "" before the first start
	tether io.WriteCloser
	cmd    *exec.Cmd
	ready  chan struct{} // a value each time that the server is ready again after the first time
}

// URL returns the address of the server. It starts the server if it is not running. It skips short
// tests. If there is no PostgreSQL, it skips the test too, unless ZKBENCH_REQUIRE names "postgres" (see
// package testsize).
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		s.start(t, "")
	}
	return (&url.URL{
		Scheme: "postgres", User: url.User(superuser), Path: "/postgres",
		RawQuery: url.Values{"host": {s.dir}}.Encode(),
	}).String()
}

// Socket returns the path of the server's Unix socket. Like URL, it starts the server if it is not
// running, and skips tests.
func (s *Server) Socket(t testing.TB) string {
	t.Helper()
	s.URL(t)
	return filepath.Join(s.dir, ".s.PGSQL.5432")
}

// Restart stops the server without a checkpoint, like a crash, and starts it again with the given
// settings, each of the form "name=value".
func (s *Server) Restart(t testing.TB, settings ...string) {
	t.Helper()
	s.URL(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end("keep\n")
	s.start(t, "", settings...)
}

// Standby restarts the server as a hot standby without a primary: it answers queries, and accepts no
// writes until Restart is called.
func (s *Server) Standby(t testing.TB) {
	t.Helper()
	s.URL(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end("keep\n")
	s.start(t, "standby.signal")
}

// Recovered waits until the server has restarted all its processes after one of them was lost.
func (s *Server) Recovered() { <-s.ready }

// Stop stops the server and removes its folder.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		s.end("")
		s.dir = ""
	}
}

// end tells the shell to stop the server, with word as its last input, and waits for it.
func (s *Server) end(word string) {
	_, _ = io.WriteString(s.tether, word)
	_ = s.tether.Close()
	_ = s.cmd.Wait() // a server that is stopped like this exits with an error
	s.cmd = nil
}

const superuser = "zkbench"

// The shell creates the cluster and runs the server.
const script = `
bin=$1 dir=$2 signal=$3; shift 3
test -d "$dir/data" ||
	"$bin/initdb" -D "$dir/data" -U ` + superuser + ` -A trust -k -E UTF8 --locale=C --no-sync --no-instructions >/dev/null || exit
rm -f "$dir"/data/*.signal
test -z "$signal" || : >"$dir/data/$signal"
set -- QUIT "$dir" "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c port=5432 -c logging_collector=off "$@"
` + tether

// The shell runs the command $3 with the arguments that follow. It ends it with signal $1 when its own standard input has
// a line or ends, and the input ends when the test binary does. It keeps the folder $2 only if the line is "keep". It
// must not write "Killed" to a pipe that the test binary no longer reads: that would end it before it removes the folder.
const tether = `
signal=$1 dir=$2; shift 2
exec 9<&0
"$@" </dev/null &
server=$!
exec 2>/dev/null
(read -r word <&9; test "$word" = keep && : >"$dir/keep"; kill -"$signal" $server) &
wait $server
kill $! 2>/dev/null
test -e "$dir/keep" && rm "$dir/keep" || rm -rf "$dir"
`

const isReady = "database system is ready to accept" // connections, or read-only ones

// start starts the server and waits until it accepts connections. If signal is not empty, start first
// creates the file with that name in the data folder.
func (s *Server) start(t testing.TB, signal string, settings ...string) {
	t.Helper()
	testsize.Full(t)
	bin, err := find()
	if err != nil {
		testsize.Without(t, "postgres", err.Error())
	}
	if s.dir == "" {
		s.dir = must.Get(os.MkdirTemp("", "zkpg"))(t)
	}
	args := []string{"-c", script, "sh", bin, s.dir, signal}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	cmd := exec.Command("sh", args...)
	must.Do(t, asUser(cmd, s.dir))
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	s.tether = must.Get(cmd.StdinPipe())(t)
	stderr := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	s.cmd, s.ready = cmd, make(chan struct{}, 1000)
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(stderr); in.Scan(); {
			lines <- in.Text()
		}
	}()
	var output []string
	for line := range lines {
		output = append(output, line)
		if strings.Contains(line, isReady) {
			ready := s.ready
			go func() {
				for line := range lines {
					if strings.Contains(line, isReady) {
						ready <- struct{}{}
					}
				}
			}()
			return
		}
	}
	s.end("")
	s.dir = ""
	t.Fatalf("the database server did not start:\n%s", strings.Join(output, "\n"))
}

// find returns the folder of PostgreSQL's programs: one in the PATH, or else the newest of the versions
// that Debian installs side by side.
func find() (string, error) {
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	slices.Reverse(dirs)
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), dirs...) {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("PostgreSQL's initdb and postgres are neither in the PATH nor in /usr/lib/postgresql")
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

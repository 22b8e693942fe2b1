// Package pgtest runs a PostgreSQL server for a test binary: a cluster of its
// own in a temporary folder, on a Unix socket there and on nothing else. The
// server does not outlive the binary, however that ends.
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

// Server is a server that starts when it is first asked for. The zero value is
// ready; a test binary has one, and stops it in TestMain.
type Server struct {
	mu     sync.Mutex
	dir    string // of the cluster and the socket; none before the first start
	tether io.WriteCloser
	cmd    *exec.Cmd
	ready  chan struct{} // one for each time that the server says so after the first
}

// URL returns the address of the server, which it starts if need be. It skips short
// tests, and those that find no PostgreSQL unless "postgres" is required (testsize).
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

// Socket returns the path of the server's Unix socket.
func (s *Server) Socket(t testing.TB) string {
	t.Helper()
	s.URL(t)
	return filepath.Join(s.dir, ".s.PGSQL.5432")
}

// Restart stops the server as a crash does, without a checkpoint, and starts it
// again with more settings, each "name=value".
func (s *Server) Restart(t testing.TB, settings ...string) {
	t.Helper()
	s.URL(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end("keep\n")
	s.start(t, "", settings...)
}

// Standby restarts the server as a hot standby of nobody: it shows what it has, and
// takes no writes until it is restarted.
func (s *Server) Standby(t testing.TB) {
	t.Helper()
	s.URL(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end("keep\n")
	s.start(t, "standby.signal")
}

// Recovered waits until a server that has lost one of its processes has started
// all of them again.
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

// end lets the shell stop the server, and waits for it.
func (s *Server) end(word string) {
	_, _ = io.WriteString(s.tether, word)
	_ = s.tether.Close()
	_ = s.cmd.Wait() // a server that is stopped like this has failed
	s.cmd = nil
}

const superuser = "zkbench"

// The shell makes the cluster, runs the server, and stops it when its standard
// input says or ends, which it does when the test binary ends. Only where it
// says "keep" the folder stays.
const script = `
bin=$1 dir=$2 signal=$3; shift 3
test -d "$dir/data" ||
	"$bin/initdb" -D "$dir/data" -U ` + superuser + ` -A trust -k -E UTF8 --locale=C --no-sync --no-instructions >/dev/null || exit
rm -f "$dir"/data/*.signal
test -z "$signal" || : >"$dir/data/$signal"
exec 9<&0
"$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c port=5432 -c logging_collector=off "$@" </dev/null &
server=$!
(read -r word <&9; test "$word" = keep && : >"$dir/keep"; kill -QUIT $server) &
wait $server
kill $! 2>/dev/null
test -e "$dir/keep" && rm "$dir/keep" || rm -rf "$dir"
`

const isReady = "database system is ready to accept" // connections, or read-only ones

// start starts the server, with the file signal in its data folder if there is to be
// one, and waits until it accepts connections.
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

// find returns the folder of PostgreSQL's programs, the newest of those that
// Debian keeps beside each other.
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
	return "", fmt.Errorf("PostgreSQL's initdb and postgres are in no folder of the PATH and not in /usr/lib/postgresql")
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

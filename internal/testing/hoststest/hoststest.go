// Package hoststest runs OpenSSH servers for tests. Each server acts as a host, on a port of 127.0.0.1 and for
// the user who runs the test, with its own keys and its own cache. The servers do not use that user's ssh
// configuration or the machine's own server.
package hoststest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// Server is an OpenSSH server that acts as a host.
type Server struct {
	Name    string // alias, known to the ssh that Start puts into the PATH
	Address string // host:port, which works as a name too
	Cache   string // XDG_CACHE_HOME of programs on this host

	Config string // path of the server's configuration, which it reads when it starts

	sshd   string
	cmd    *exec.Cmd // nil: it is down
	tether io.Closer
}

// The shell runs the server, and kills it when its standard input ends. The input ends when the test binary
// does, even if the binary is killed.
const script = `"$1" -D -e -f "$2" </dev/null & read -r word; kill -9 $!`

// Start starts a host for each name, and puts an ssh command that knows these hosts into the test's PATH. It
// skips the test if there is no OpenSSH server. For the name of a host, setEnv returns environment variables,
// each of the form "NAME=value", that the host sets for its programs.
func Start(t *testing.T, setEnv func(name string) string, names ...string) []*Server {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the server is run on Unix only")
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", strings.Join([]string{path, "/usr/local/sbin", "/usr/sbin"}, string(filepath.ListSeparator)))
	sshd := testsize.Program(t, "sshd", "sshd")
	ssh := testsize.Program(t, "sshd", "ssh")
	if os.Geteuid() == 0 {
		must.Do(t, os.MkdirAll("/run/sshd", 0o755)) // sshd requires this folder to exist and to be empty
	}
	dir := t.TempDir()
	file := func(name string, mode os.FileMode, lines ...string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), mode))
		return path
	}
	key := func(name string) (path, public string) {
		path = filepath.Join(dir, name)
		out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput()
		must.Do(t, err, string(out))
		return path, strings.TrimSpace(string(must.Get(os.ReadFile(path + ".pub"))(t)))
	}
	user, userPublic := key("user")
	host, hostPublic := key("host")
	authorized := file("authorized", 0o600, userPublic)
	known := []string{}
	client := []string{}
	var all []*Server
	for _, name := range names {
		port := freePort(t)
		s := &Server{Name: name, Address: "127.0.0.1:" + port, Cache: filepath.Join(dir, name), sshd: sshd}
		temp := filepath.Join(dir, name+"-tmp")
		must.Do(t, os.Mkdir(temp, 0o700))
		known = append(known, "[127.0.0.1]:"+port+" "+hostPublic)
		client = append(client, "Host "+name, "HostName 127.0.0.1", "Port "+port)
		s.Config = file(name+".conf", 0o600, "ListenAddress "+s.Address, "HostKey "+host, "AuthorizedKeysFile "+authorized,
			"StrictModes no", "UsePAM no", "PidFile none", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin yes",
			"SetEnv XDG_CACHE_HOME="+s.Cache+" TMPDIR="+temp+" "+setEnv(name)) // another machine would have its own cache and temporary folder
		all = append(all, s)
		s.Up(t)
		t.Cleanup(s.Down)
	}
	client = append(client, "Host *", "IdentityFile "+user, "IdentitiesOnly yes", "IdentityAgent none", "StrictHostKeyChecking yes",
		"UserKnownHostsFile "+file("known", 0o600, known...), "GlobalKnownHostsFile "+os.DevNull)
	bin := filepath.Join(dir, "bin")
	must.Do(t, os.Mkdir(bin, 0o755))
	file("bin/ssh", 0o755, "#!/bin/sh", fmt.Sprintf(`exec %s -F %s "$@"`, ssh, file("client.conf", 0o600, client...)))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+path)
	return all
}

// Up starts the server and returns when it accepts connections.
func (s *Server) Up(t *testing.T) {
	t.Helper()
	s.cmd = exec.Command("sh", "-c", script, "sh", s.sshd, s.Config)
	s.tether = must.Get(s.cmd.StdinPipe())(t)
	stderr := must.Get(s.cmd.StderrPipe())(t)
	must.Do(t, s.cmd.Start())
	lines := bufio.NewScanner(stderr)
	var said []string
	for lines.Scan() {
		if said = append(said, lines.Text()); strings.Contains(lines.Text(), "Server listening on") {
			go func() {
				for lines.Scan() {
				}
			}()
			return
		}
	}
	t.Fatalf("sshd did not start: %s", strings.Join(said, "\n"))
}

// Down kills the server and its sessions, so that clients see what they would see if the machine lost power.
// Programs that the sessions started continue to run.
func (s *Server) Down() {
	if s.cmd == nil {
		return
	}
	for _, pid := range servers(s.cmd.Process.Pid) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	_ = s.tether.Close()
	_ = s.cmd.Wait() // whose server has been killed
	s.cmd = nil
}

// servers returns the processes of sshd below pid: the server and its sessions.
func servers(pid int) (all []int) {
	for _, line := range processes("pid=,ppid=,comm=") {
		var child, parent int
		var name string
		if n, _ := fmt.Sscan(line, &child, &parent, &name); n == 3 && parent == pid && strings.HasPrefix(filepath.Base(name), "sshd") {
			all = append(append(all, child), servers(child)...)
		}
	}
	return all
}

// Running returns the command lines of running programs that were copied to the host.
func (s *Server) Running() (all []string) {
	for _, line := range processes("args=") {
		if strings.HasPrefix(line, s.Cache) {
			all = append(all, line)
		}
	}
	return all
}

// Quiet waits until no program that was copied to the host is running. It fails the test after 30 seconds.
func (s *Server) Quiet(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := s.Running()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("left running on %s: %q", s.Name, left)
			return
		}
	}
}

func processes(columns string) []string {
	out, _ := exec.Command("ps", "-A", "-ww", "-o", columns).Output()
	var lines []string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// freePort returns a port that nothing uses at the moment.
func freePort(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	must.Do(t, err)
	return port
}

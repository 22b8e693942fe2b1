package zkbench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/server"
)

// instruction is a line of a unit or of a container's file.
type instruction struct{ name, value string }

type instructions []instruction

// readInstructions reads a file of docs/operate, in whose lines the separator follows the name.
func readInstructions(t *testing.T, file, separator string) (all instructions) {
	t.Helper()
	for line := range strings.Lines(string(must.Get(os.ReadFile(filepath.Join("..", "..", "..", "docs", "operate", file)))(t))) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), separator); found && !strings.HasPrefix(name, "#") {
			all = append(all, instruction{name, value})
		}
	}
	return all
}

// all returns the values of the instructions with a name.
func (i instructions) all(name string) (values []string) {
	for _, one := range i {
		if one.name == name {
			values = append(values, one.value)
		}
	}
	return values
}

// one returns the value of the only instruction with a name.
func (i instructions) one(t *testing.T, name string) string {
	t.Helper()
	values := i.all(name)
	golden.Equal(t, "instructions "+name, 1, len(values))
	return values[0]
}

// configured makes a ledger with what a validator needs, in two directories: its state, and what its administrator puts into
// /etc/zkbench.
func configured(t *testing.T) (s *served, state, etc string) {
	s = newServed(t, "")
	state, etc = t.TempDir(), t.TempDir()
	move := func(from, dir, to string) {
		must.Do(t, os.Rename(s.path(filepath.FromSlash(from)), filepath.Join(dir, to)))
	}
	move("ledger.db", state, "ledger.db")
	move("vera.head", state, "validator.head")
	move("vera.key", etc, "validator.pem")
	move("params", etc, "token.params")
	for _, name := range []string{serving.AuthorityFile, serving.CertificateFile, serving.KeyFile} {
		move("north/"+name, etc, name)
	}
	return s, state, etc
}

// serves runs a server in its state's directory, at a free address, and stops it with a signal.
func (s *served) serves(state string, args []string, stop syscall.Signal) {
	s.t.Helper()
	cmd := exec.Command("zkbench-real", args...)
	cmd.Dir = state
	p := s.runs(cmd)
	must.Do(s.t, p.Process.Signal(stop))
	golden.Equal(s.t, "exit code", cli.ExitOK, clitest.ExitCode(s.t, p.Cmd))
}

// anyPort replaces the addresses of a container and of a unit by free ones of this machine.
var anyPort = regexp.MustCompile(`\b(0\.0\.0\.0|127\.0\.0\.1):\d+`)

// TestUnit serves as docs/operate/zkbench.service says, and compares its limits with the server's.
func TestUnit(t *testing.T) {
	t.Parallel()
	unit := readInstructions(t, "zkbench.service", "=")
	s, state, etc := configured(t)
	credentials := t.TempDir()
	for _, c := range unit.all("LoadCredential") {
		id, path, _ := strings.Cut(c, ":")
		from := strings.Replace(path, "/etc/zkbench", etc, 1)
		must.Do(t, os.WriteFile(filepath.Join(credentials, id), must.Get(os.ReadFile(from))(t), 0o400))
	}
	golden.Equal(t, "state", "%S/"+unit.one(t, "StateDirectory"), unit.one(t, "WorkingDirectory"))
	command := anyPort.ReplaceAllString(strings.ReplaceAll(unit.one(t, "ExecStart"), "%d", credentials), "127.0.0.1:0")
	args := strings.Fields(command)
	golden.Equal(t, "signal", "SIGTERM", unit.one(t, "KillSignal"))
	s.serves(state, args[1:], syscall.SIGTERM)

	seconds := must.Get(strconv.Atoi(unit.one(t, "TimeoutStopSec")))(t)
	if stop := time.Duration(seconds) * time.Second; stop <= serving.StopTime {
		t.Errorf("systemd kills the server after %v, which may stop for %v", stop, serving.StopTime)
	}
	golden.Equal(t, "limit of files", strconv.Itoa(2*server.DefaultOpen), unit.one(t, "LimitNOFILE"))

	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd-analyze")
	}
	text := string(must.Get(os.ReadFile(filepath.Join("..", "..", "..", "docs", "operate", "zkbench.service")))(t))
	copied := filepath.Join(t.TempDir(), "zkbench.service")
	program := must.Get(exec.LookPath("zkbench-real"))(t)
	must.Do(t, os.WriteFile(copied, []byte(strings.ReplaceAll(text, args[0], program)), 0o600))
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", copied).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// TestContainer serves as docs/operate/Containerfile says, and checks that its image has no secrets, no names of hosts, and an
// ordinary user, and that it is built by the Go version of go.mod.
func TestContainer(t *testing.T) {
	t.Parallel()
	file := readInstructions(t, "Containerfile", " ")
	_, version, _ := strings.Cut(string(must.Get(os.ReadFile(filepath.Join("..", "..", "..", "go.mod")))(t)), "\ngo ")
	version, _, _ = strings.Cut(version, "\n")
	golden.Equal(t, "images", []string{"golang:" + version + " AS build", "scratch"}, file.all("FROM"))
	image := file
	for i, line := range file {
		if line == (instruction{"FROM", "scratch"}) {
			image = file[i:]
		}
	}
	for _, c := range image.all("COPY") {
		if !strings.HasPrefix(c, "--from=build ") {
			t.Errorf("the image has a file that is not built: %s", c)
		}
	}
	if user := image.one(t, "USER"); !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user) {
		t.Errorf("the user is %q", user)
	}
	golden.Equal(t, "volume", image.one(t, "WORKDIR"), image.one(t, "VOLUME"))

	s, state, etc := configured(t)
	list := func(name string) (words []string) {
		must.Do(t, json.Unmarshal([]byte(image.one(t, name)), &words))
		return words
	}
	golden.Equal(t, "program", []string{"/usr/local/bin/zkbench"}, list("ENTRYPOINT"))
	args := list("CMD")
	for i := range args {
		args[i] = anyPort.ReplaceAllString(strings.Replace(args[i], "/etc/zkbench", etc, 1), "127.0.0.1:0")
	}
	golden.Equal(t, "signal", "SIGTERM", image.one(t, "STOPSIGNAL"))
	s.serves(state, args, syscall.SIGTERM)
}

package zkbench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// town is a system that zkbench local runs.
type town struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	lines  *bufio.Reader // of its standard output
	errors *strings.Builder
}

// start starts the command in its directory, and returns what it prints until it runs.
func (w *town) start() (shown string) {
	w.t.Helper()
	w.cmd, w.errors = exec.Command("zkbench-real", "local", "--dir", "town", "--listen", "127.0.0.1:0"), new(strings.Builder)
	w.cmd.Dir, w.cmd.Stderr = w.dir, w.errors
	w.lines = bufio.NewReader(must.Get(w.cmd.StdoutPipe())(w.t))
	must.Do(w.t, w.cmd.Start())
	return w.until("Interrupt this command")
}

// until returns what the command prints up to the line that begins with a text.
func (w *town) until(begin string) (shown string) {
	w.t.Helper()
	for {
		line, err := w.lines.ReadString('\n')
		if shown += line; strings.HasPrefix(line, begin) {
			return shown
		}
		if err != nil {
			_ = w.cmd.Wait()
			w.t.Fatalf("%v\n%s%s", err, shown, w.errors)
		}
	}
}

// runs runs a line of a shell in the town's directory, and returns what it prints.
func (w *town) runs(line string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "bash", "-c", asShell+line)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// servers returns the process ids of the servers, by name.
func (w *town) servers() map[string]int {
	w.t.Helper()
	all := make(map[string]int)
	for _, path := range must.Get(filepath.Glob("/proc/[0-9]*/stat"))(w.t) {
		stat, _ := os.ReadFile(path)
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		var state string
		var parent int
		if _, err := fmt.Sscan(string(rest), &state, &parent); err != nil || parent != w.cmd.Process.Pid {
			continue
		}
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		_, name, _ := bytes.Cut(args, []byte("\x00town/tls/"))
		name, _, _ = bytes.Cut(name, []byte{0})
		all[string(name)] = must.Get(strconv.Atoi(filepath.Base(filepath.Dir(path))))(w.t)
	}
	return all
}

// ended waits until processes have ended.
func (w *town) ended(pids map[string]int) {
	w.t.Helper()
	for name, pid := range pids {
		for begin := time.Now(); must.Get(os.FindProcess(pid))(w.t).Signal(syscall.Signal(0)) == nil; time.Sleep(10 * time.Millisecond) {
			if stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); bytes.Contains(stat, []byte(") Z ")) {
				break // nobody has waited for it yet
			}
			if time.Since(begin) > time.Minute {
				w.t.Fatalf("%s, process %d, is left", name, pid)
			}
		}
	}
}

var (
	metricsURL = regexp.MustCompile(`http://\S+/metrics`)
	exported   = regexp.MustCompile(`(?m)^# TYPE (\S+) `)
	metricName = regexp.MustCompile(`\b(?:zkbench|process|go)_[a-z_]*[a-z]`)
	ofHisto    = regexp.MustCompile(`_(?:bucket|sum|count)$`)
)

// exports fails the test if docs or the dashboard name a metric that none of the servers exports, or if docs/serve.md lacks one.
func (w *town) exports(shown string) {
	w.t.Helper()
	has := make(map[string]bool)
	for _, url := range metricsURL.FindAllString(shown, -1) {
		answer := must.Get(http.Get(url))(w.t)
		for _, m := range exported.FindAllSubmatch(must.Get(io.ReadAll(answer.Body))(w.t), -1) {
			has[string(m[1])] = true
		}
		must.Do(w.t, answer.Body.Close())
	}
	docs := filepath.Join("..", "..", "..", "docs")
	named := make(map[string]bool)
	for _, file := range []string{"operate.md", "operate/dashboard.json", "serve.md"} {
		clear(named)
		for _, name := range metricName.FindAllString(string(must.Get(os.ReadFile(filepath.Join(docs, file)))(w.t)), -1) {
			if named[name] = true; !has[name] && !has[ofHisto.ReplaceAllString(name, "")] {
				w.t.Errorf("docs/%s names %s, which no server exports", file, name)
			}
		}
	}
	for name := range has {
		if strings.HasPrefix(name, "zkbench_") && !named[name] {
			w.t.Errorf("docs/serve.md does not name %s", name)
		}
	}
	golden.Within(w.t, "metrics", 40, len(has), 200)
}

// TestLocal runs a system of seven processes. The lines that it prints pay from a wallet on the command line, and from a served
// one. A server that is killed is started again. What was paid is there after the next start. No process is left behind, also
// if the command is killed.
func TestLocal(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS != "linux" {
		t.Skip("the processes are found in /proc")
	}
	testsize.Program(t, "curl", "curl")
	w := &town{t: t, dir: t.TempDir()}
	begin := time.Now()
	shown := w.start()
	t.Logf("serves after %v", time.Since(begin))
	for _, line := range []string{`alice .* 4 BOND, 70 USD`, `bob .* 60 USD`, `carol .* 6 BOND, 20 USD`} {
		if !regexp.MustCompile(line).MatchString(shown) {
			t.Errorf("no %s in\n%s", line, shown)
		}
	}
	golden.Within(t, "lines", 10, strings.Count(shown, "\n"), 24)
	pay := regexp.MustCompile(`(?m)^zkbench wallet pay .*$`).FindString(shown)
	curl := regexp.MustCompile(`(?m)^curl .*$`).FindString(shown)
	golden.Contains(t, w.runs(pay), "paid 5 USD, change 95 USD")
	for range 2 { // with one key: it pays once
		golden.Contains(t, w.runs(curl), "STATUS_LANDED")
	}

	w.runs(strings.ReplaceAll(curl, "tls/program/", "tls/me/")) // whose role the wallet refuses
	w.exports(shown)

	first := w.servers()
	golden.Equal(t, "servers", 7, len(first))
	for name, key := range map[string]string{"alice": "invoice 2", "validator": "invoice 3"} {
		must.Do(t, must.Get(os.FindProcess(first[name]))(t).Kill())
		golden.Contains(t, w.until(name+" serves again at https://"), name+" ended: signal: killed; it is started again in 1s; the last lines of town/"+name+".log:\n")
		golden.Contains(t, w.runs(strings.Replace(curl, "invoice 1", key, 1)), "STATUS_LANDED")
	}
	second := w.servers()
	golden.Equal(t, "servers", 7, len(second))
	must.Do(t, w.cmd.Process.Signal(syscall.SIGTERM))
	golden.Equal(t, "exit code", cli.ExitOK, clitest.ExitCode(t, w.cmd))
	golden.Equal(t, "messages", "", w.errors.String())
	w.ended(second)

	if shown := w.start(); !regexp.MustCompile(`alice .* 4 BOND, 60 USD`).MatchString(shown) { // 70, 5 from me, 15 to me
		t.Errorf("after the second start:\n%s", shown)
	}
	third := w.servers()
	must.Do(t, w.cmd.Process.Kill())
	_ = w.cmd.Wait()
	w.ended(third)
}

// TestLocalRefuses: what the command cannot use is refused with the flag's name. A server that cannot start says why.
func TestLocalRefuses(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
	refuses(t, "dir: ", "local")
	refuses(t, "dir: ", "local", "--dir", dir)
	refuses(t, "dir: ", "local", "--dir", filepath.Join(dir, "mine"))
	for _, listen := range []string{"here", "0.0.0.0:7300", "127.0.0.1:http", "127.0.0.1:65535", "127.0.0.2:7300"} {
		refuses(t, "listen: ", "local", "--dir", filepath.Join(dir, "new"), "--listen", listen)
	}
	must.Do(t, os.MkdirAll(filepath.Join(dir, "half", "keys"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "half", "keys", "validator.pem"), nil, 0o600)) // by a start that was killed
	refuses(t, "perhaps of a start that was interrupted", "local", "--dir", filepath.Join(dir, "half"))
	taken := freeAddress(t)
	l := must.Get(net.Listen("tcp", taken))(t)
	defer l.Close()
	town := exec.Command("zkbench-real", "local", "--dir", filepath.Join(dir, "town"), "--listen", taken)
	var out strings.Builder
	town.Stderr = &out
	must.Do(t, town.Start())
	golden.Equal(t, "exit code", cli.ExitFailed, clitest.ExitCode(t, town))
	golden.Contains(t, out.String(), "validator: exit status 2; the last lines of ")
	golden.Contains(t, out.String(), "address already in use")
}

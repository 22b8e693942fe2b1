package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/hoststest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// onHosts is a suite of a real workload and of one that waits for the test.
const onHosts = `name: hosts
repetitions: 2
cases:
  - run: issuer
    curves: BN254
    bits: 8
    num-outputs: 1
    executor: [serial, pool]
    cpus: 1
    count: 20
    samples: 1
  - run: slow
    bits: 8
    count: 1
    check: none
    cpus: 1
`

// The processes of onHosts: three cases, twice, on each of two hosts. The slow one is the last
// of a round.
const (
	casesOnHost     = 3
	processesOnHost = 2 * casesOnHost
)

// site is two hosts, and where the slow operations of each wait.
type site struct {
	a, b         *hoststest.Server
	doorA, doorB *door
	file, dir    string
}

func newSite(t *testing.T) *site {
	t.Helper()
	testsize.Full(t)
	s := &site{doorA: newDoor(t), doorB: newDoor(t)}
	root := t.TempDir()
	s.file, s.dir = filepath.Join(root, "hosts.yaml"), filepath.Join(root, "logs")
	must.Do(t, os.WriteFile(s.file, []byte(onHosts), 0o600))
	all := hoststest.Start(t, func(name string) string {
		return clitest.StartedEnv + "=" + map[string]*door{"a": s.doorA, "b": s.doorB}[name].Addr().String()
	}, "a", "b")
	s.a, s.b = all[0], all[1]
	return s
}

// knock waits for the slow operation of a host.
func (s *site) knock(t *testing.T, d *door, stderr fmt.Stringer) net.Conn {
	t.Helper()
	l := d.Listener.(*net.TCPListener)
	must.Do(t, l.SetDeadline(time.Now().Add(time.Minute)))
	conn, err := d.Accept()
	must.Do(t, err, stderr)
	must.Do(t, l.SetDeadline(time.Time{}))
	return conn
}

// hostNames returns the names of the hosts for --on: an alias and an address.
func (s *site) hostNames() string { return s.a.Name + "," + s.b.Address }

// check checks that every case is there once for each host and repetition, with its host's
// environment, and that nothing still runs.
func (s *site) check(t *testing.T) {
	t.Helper()
	_, recs := folderIDs(t, s.dir)
	seen := make(map[string]int)
	for _, r := range recs {
		seen[fmt.Sprintf("%s on %s #%d %s", r.Name(), r.Env.Host, r.Process.Index, r.Status)]++
	}
	want := make(map[string]int)
	for i := range 2 {
		for _, host := range []string{s.a.Name, s.b.Address} {
			for _, exec := range []string{"serial", "pool"} {
				want[fmt.Sprintf("Issuer/curve=BN254/bits=8/out=1/proof=bulletproof/exec=%s/cpus=1/workers=1 on %s #%d ok", exec, host, i)] = 1
			}
			want[fmt.Sprintf("Slow/bits=8/cpus=1/workers=1 on %s #%d ok", host, i)] = 1
		}
	}
	golden.Equal(t, "records by case, host and repetition", want, seen)
	s.quiet(t)
}

func (s *site) quiet(t *testing.T) {
	t.Helper()
	s.a.Quiet(t)
	s.b.Quiet(t)
}

// TestSuiteOnHosts: one of two hosts goes down in the middle of a case and comes back, and
// the suite goes on. The figures of each stand apart.
func TestSuiteOnHosts(t *testing.T) {
	s := newSite(t)
	cmd, stdout, stderr := startSuite(t, s.doorA, s.file, "--out", s.dir, "--on", s.hostNames(), "--host-wait", "20s")
	conn := s.knock(t, s.doorB, stderr)
	s.b.Down()
	_, _ = conn.Read(make([]byte, 1)) // until its child is gone too
	conn.Close()
	s.b.Quiet(t)
	s.b.Up(t)
	s.doorA.open()
	s.doorB.open()
	if code := clitest.ExitCode(t, cmd); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	s.check(t)
	golden.Equal(t, "hosts that the program is copied to, once", 2, strings.Count(stdout.String(), ": the program is copied\n"))
	for _, host := range []string{s.a.Name, s.b.Address} {
		golden.Contains(t, stdout.String(), "Slow/bits=8/cpus=1/workers=1 on "+host+": ", "suite hosts on "+s.a.Name+", "+s.b.Address+": 6 cases, 12 processes, ")
		logs := must.Get(filepath.Glob(filepath.Join(s.dir, "logs", "* on "+strings.ReplaceAll(host, ":", "_")+".log")))(t)
		golden.Equal(t, "logs of "+host, casesOnHost, len(logs))
		golden.Contains(t, string(must.Get(os.ReadFile(filepath.Join(s.dir, benchFile)))(t)), "\nhost: "+host+"\n")
		columns := readCSV(t, filepath.Join(s.dir, suite.ResultsFile))[0]
		if !slices.ContainsFunc(columns, func(c string) bool { return strings.HasPrefix(c, "Issuer ("+host+")/") }) {
			t.Errorf("no figures of %s in %s: %q", host, suite.ResultsFile, columns)
		}
		golden.Contains(t, string(must.Get(os.ReadFile(filepath.Join(s.dir, suite.PageFile)))(t)), `["Host","`+host+`"]`)
	}
	charts := must.Get(filepath.Glob(filepath.Join(s.dir, plotsDir, "*.svg")))(t)
	for _, chart := range charts {
		if base := filepath.Base(chart); strings.Contains(base, "issuer") && !strings.Contains(base, "-a.") && !strings.Contains(base, "127-0-0-1") {
			t.Errorf("%s names no host", base)
		}
	}
}

// TestSuiteHostLost: where a host does not come back the other one goes on to the end, and the
// suite says what is missing and how to go on; nothing is measured twice then.
func TestSuiteHostLost(t *testing.T) {
	s := newSite(t)
	cmd, _, stderr := startSuite(t, s.doorA, s.file, "--out", s.dir, "--on", s.hostNames(), "--host-wait", "500ms")
	conn := s.knock(t, s.doorB, stderr)
	s.b.Down()
	conn.Close()
	s.doorA.open()
	golden.Equal(t, "exit code", ExitPartial, clitest.ExitCode(t, cmd))
	port := s.b.Address[strings.Index(s.b.Address, ":")+1:]
	want := "zkbench: host " + s.b.Address + ": 4 of 6 processes missing: not back within 500ms: ssh: connect to host 127.0.0.1 port " + port +
		": Connection refused; 8 of 12 processes measured; resume with: zkbench suite --resume " + s.dir + "\n"
	golden.Equal(t, "messages", want, stderr.String())
	before, recs := folderIDs(t, s.dir)
	golden.Equal(t, "records of the host that is there", processesOnHost, count(recs, s.a.Name))
	must.Get(os.Stat(filepath.Join(s.dir, suite.PageFile)))(t)
	s.quiet(t)

	// It is as lost when the suite goes on, and refuses nothing that is there.
	cmd, _, stderr = startSuite(t, s.doorA, "--resume", s.dir)
	golden.Equal(t, "exit code while it is down", ExitPartial, clitest.ExitCode(t, cmd))
	golden.Equal(t, "messages while it is down", want, stderr.String())

	s.b.Up(t)
	s.doorB.open()
	cmd, _, stderr = startSuite(t, s.doorA, "--resume", s.dir)
	if code := clitest.ExitCode(t, cmd); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	after, _ := folderIDs(t, s.dir)
	for _, id := range before {
		if !slices.Contains(after, id) {
			t.Errorf("record %s is lost", id)
		}
	}
	s.check(t)
}

func count(recs []*record.Record, host string) (n int) {
	for _, r := range recs {
		if r.Env.Host == host {
			n++
		}
	}
	return n
}

// TestSuiteOnHostsInterrupted: an interrupt ends what runs on all hosts, and keeps what has
// ended. A suite does not go on with a host that has become another machine.
func TestSuiteOnHostsInterrupted(t *testing.T) {
	s := newSite(t)
	cmd, _, stderr := startSuite(t, s.doorA, s.file, "--out", s.dir, "--on", s.hostNames())
	for _, d := range []*door{s.doorA, s.doorB} {
		conn := s.knock(t, d, stderr)
		defer conn.Close()
	}
	must.Do(t, cmd.Process.Signal(syscall.SIGINT))
	golden.Equal(t, "exit code", ExitPartial, clitest.ExitCode(t, cmd))
	golden.Equal(t, "messages", "zkbench: interrupted: 4 of 12 processes measured; resume with: zkbench suite --resume "+s.dir+"\n", stderr.String())
	s.quiet(t)
	before, _ := folderIDs(t, s.dir)
	golden.Equal(t, "records", 4, len(before))

	other := strings.Replace(string(must.Get(os.ReadFile(s.b.Config))(t)), "SetEnv ", "SetEnv GOGC=10 ", 1)
	must.Do(t, os.WriteFile(s.b.Config, []byte(other), 0o600))
	s.b.Down()
	s.b.Up(t)
	cmd, _, stderr = startSuite(t, s.doorA, "--resume", s.dir)
	golden.Equal(t, "exit code", ExitUsage, clitest.ExitCode(t, cmd))
	golden.Contains(t, stderr.String(), "host "+s.b.Address+" has changed: gogc: 100 / 10; accepted: the same machine, settings and build\n")
	s.quiet(t)
}

// TestHostsRefused: what cannot be a host is refused in a line with its name, before anything
// is measured or written.
func TestHostsRefused(t *testing.T) {
	s := newSite(t)
	s.b.Down()
	refuse := func(want string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "zkbench-suite", slices.Concat([]string{"suite", s.file, "--out", s.dir}, args)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		must.Do(t, cmd.Start())
		golden.Equal(t, "exit code of "+want, ExitUsage, clitest.ExitCode(t, cmd))
		if got := stderr.String(); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s\nwant one line with %s", got, want)
		}
		if _, err := os.Stat(s.dir); err == nil {
			t.Errorf("%s: the folder is made", want)
		}
	}
	refuse(`on: "b" is not accepted; accepted: hosts of `, "--on", "b,a")
	refuse("Connection refused", "--on", "a,b")
	refuse("Host key verification failed.", "--on", "localhost:"+s.a.Address[strings.Index(s.a.Address, ":")+1:])
	refuse("Permission denied (publickey).", "--on", "no-such-user-here@a")
	s.quiet(t)
}

package zkbench

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
)

// served is a ledger whose servers are processes.
type served struct {
	*office
	place string // of the ledger
}

// newServed makes a ledger at a place, under a policy with the issuer ivy, the validator vera who signs heads, and no auditor,
// and the certificates of a validator and a wallet.
func newServed(t *testing.T, place string) *served {
	o := &office{t: t, dir: t.TempDir()}
	if place == "" {
		place = o.path(replay.FileName)
	}
	o.does("params", "new", "--out", o.path("params"), "--bits", "16", "--proof-type", "csp", "--issuer", o.ed25519Key("ivy"),
		"--validator", o.ed25519Key("vera"), "--head-threshold", "1")
	o.does("ledger", "new", place, "--params", o.path("params"))
	o.does(append([]string{"ledger", "sign", place, "--new"}, o.signFlags("vera")...)...)
	o.does("cert", "authority", "--dir", o.path("authority"))
	for name, role := range map[string]peer.Role{"north": peer.Validator, "me": peer.Wallet} {
		o.does("cert", "issue", "--authority", o.path("authority"), "--role", string(role), "--name", name, "--host", "127.0.0.1", "--out", o.path(name))
	}
	return &served{o, place}
}

// process is a server.
type process struct {
	*exec.Cmd
	url string
	log *strings.Builder
}

// start starts a server of the ledger, and waits until it can be reached.
func (s *served) start(listen string, flags ...string) *process {
	s.t.Helper()
	return s.run(append([]string{"--ledger", s.place, "--params", s.path("params"), "--listen", listen, "--tls", s.path("north")}, flags...)...)
}

// run starts a server, and waits until it can be reached.
func (s *served) run(flags ...string) *process {
	s.t.Helper()
	return s.runs(exec.Command("zkbench-real", append([]string{"serve"}, flags...)...))
}

// runs starts the command of a server, and waits until it can be reached.
func (s *served) runs(cmd *exec.Cmd) *process {
	s.t.Helper()
	p := &process{Cmd: cmd, log: new(strings.Builder)}
	p.Stderr = p.log
	out := must.Get(p.StdoutPipe())(s.t)
	must.Do(s.t, p.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = p.Wait()
		s.t.Fatalf("%v\n%s", err, p.log)
	}
	_, p.url, _ = strings.Cut(strings.TrimSpace(line), " at ")
	return p
}

// stop interrupts a server, which ends with exit code 0.
func (s *served) stop(p *process) {
	s.t.Helper()
	must.Do(s.t, p.Process.Signal(syscall.SIGTERM))
	golden.Equal(s.t, "exit code", cli.ExitOK, clitest.ExitCode(s.t, p.Cmd))
}

// dial reaches a server as a wallet.
func (s *served) dial(url string, patience time.Duration) *client.Client {
	s.t.Helper()
	certificates := must.Get(serving.LoadCertificates("tls", s.path("me")))(s.t)
	c := must.Get(client.Dial(s.t.Context(), url, client.Options{
		TLS: certificates.Client(peer.Validator), Params: must.Get(loadParams(s.path("params")))(s.t), Patience: patience,
	}))(s.t)
	s.t.Cleanup(func() { must.Do(s.t, c.Close()) })
	return c
}

// issues returns requests that each issue one token.
func (s *served) issues(genesis ledger.Genesis, n int) (requests [][]byte) {
	t := s.t
	seed := sha256.Sum256([]byte("ivy"))
	ivy := must.Get(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(seed[:])))(t)
	vault := must.Get(service.CreateVault(s.path("ivy.vault"), genesis))(t)
	defer vault.Close()
	params := must.Get(loadParams(s.path("params")))(t)
	issuer := must.Get(service.NewIssueService(params, "", token.Tuning{}, executor.Serial(), vault, ivy))(t)
	keys := must.Get(service.NewKey(genesis, ivy))(t)
	for i := range n {
		to := must.Get(keys.Address(&params.Policy, nil))(t)
		sub := must.Get(issuer.Issue(t.Context(), service.Order{Anchor: fmt.Appendf(nil, "issue %d", i), Type: "USD", Payments: []service.Payment{{To: to, Value: uint64(i + 1)}}}))(t)
		requests = append(requests, must.Get(sub.Request.Encode())(t))
	}
	return requests
}

// freeAddress returns an address that nothing listens on. Its port is below those that systems give to outgoing
// connections, so that none takes it while the server is down.
func freeAddress(t *testing.T) string {
	for {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(22_000)))
		if err == nil {
			must.Do(t, l.Close())
			return l.Addr().String()
		}
	}
}

// TestServeKilled kills servers and the database again and again while clients submit: each request that a client has a record of
// is on the ledger once, under that number, and heads are signed over all of them. What was killed goes on where it was.
func TestServeKilled(t *testing.T) {
	testsize.Full(t)
	for where, servers := range map[string]int{"file": 1, "database": 2} {
		t.Run(where, func(t *testing.T) {
			var database pgtest.Server
			place := ""
			if where == "database" {
				place = database.URL(t)
				t.Cleanup(database.Stop)
			}
			testServeKilled(t, newServed(t, place), servers, func() {
				if where == "database" {
					database.Restart(t)
				}
			})
		})
	}
}

func testServeKilled(t *testing.T, s *served, servers int, restart func()) {
	addresses, processes := make([]string, servers), make([]*process, servers)
	flags := func(i int) []string { // one signs heads
		if i == 0 {
			return s.signFlags("vera")[2:]
		}
		return nil
	}
	for i := range servers {
		addresses[i] = freeAddress(t)
		processes[i] = s.start(addresses[i], flags(i)...)
	}
	clients := make([]*client.Client, servers)
	for i := range clients {
		clients[i] = s.dial(processes[i].url, 2*time.Minute)
	}
	requests := s.issues(clients[0].Genesis(), testsize.Pick(60, 60, 2000))
	var done atomic.Int64
	numbers := make([]uint64, len(requests))
	var callers sync.WaitGroup
	const perCall = 4
	for w := range 3 * servers {
		callers.Go(func() {
			for from := w * perCall; from < len(requests); from += 3 * servers * perCall {
				some := requests[from:min(from+perCall, len(requests))]
				verdicts, err := clients[w%servers].Submit(t.Context(), some)
				if err != nil {
					t.Errorf("requests from %d: %v", from, err)
					return
				}
				for i, v := range verdicts {
					if v.Err != nil {
						t.Errorf("request %d: %v", from+i, v.Err)
						return
					}
					numbers[from+i] = v.Record.Seq
					done.Add(1)
				}
				time.Sleep(20 * time.Millisecond) // so that kills meet the work
			}
		})
	}
	order := rand.New(rand.NewPCG(1, 2))
	for kills := 0; kills < testsize.Pick(3, 4, 60) || done.Load() < int64(len(requests)) && !t.Failed(); kills++ {
		time.Sleep(time.Duration(order.IntN(150)) * time.Millisecond)
		i := order.IntN(servers)
		must.Do(t, processes[i].Process.Kill())
		_ = processes[i].Wait()
		if kills == 1 {
			restart()
		}
		processes[i] = s.start(addresses[i], flags(i)...)
	}
	callers.Wait()
	if t.Failed() {
		t.FailNow()
	}
	copies := must.Get(filepath.Glob(s.path("*" + copyOf)))(t)
	golden.Equal(t, "copies of the ledger", servers-1, len(copies)) // for a file only at the start
	leaves := uint64(len(requests) + 1)
	signed := must.Get(clients[0].WaitHead(t.Context(), leaves, time.Minute))(t)
	golden.Equal(t, "leaves of the head", leaves, must.Get(head.ParseSigned(signed))(t).Size)
	for _, p := range processes {
		s.stop(p)
	}
	golden.Equal(t, "copies of the ledger", 0, len(must.Get(filepath.Glob(s.path("*"+copyOf)))(t)))
	l := must.Get(replay.Open(t.Context(), s.place))(t)
	report := must.Get(replay.Verify(t.Context(), l, must.Get(loadParams(s.path("params")))(t), nil))(t)
	golden.Equal(t, "requests on the ledger", uint64(len(requests)), report.Edge.Last())
	for i, number := range numbers {
		r, found, err := l.Record(t.Context(), fmt.Appendf(nil, "issue %d", i))
		if err != nil || !found || r.Seq != number {
			t.Errorf("request %d: told number %d, has %d, %v, %v", i, number, r.Seq, found, err)
		}
	}
	must.Do(t, l.Close())
}

// TestServeDiskFull: a server whose disk is full says that it does not know the outcome, and ends. Started again, it answers those
// who read. With room again, the same requests are recorded once.
func TestServeDiskFull(t *testing.T) {
	testsize.Full(t)
	s := newServed(t, "")
	size := must.Get(os.Stat(s.place))(t).Size()
	full := func() *process {
		return s.runs(exec.Command("bash", "-c", fmt.Sprintf(`trap '' XFSZ; ulimit -f %d; exec zkbench-real serve --ledger "$1" --params "$2" --listen 127.0.0.1:0 --tls "$3"`, size>>10), "bash",
			s.place, s.path("params"), s.path("north")))
	}
	p := full()
	c := s.dial(p.url, -1)
	requests := s.issues(c.Genesis(), 100)
	landed := 0
	var err error
	for err == nil && landed < len(requests) {
		var verdicts []ledger.Verdict
		if verdicts, err = c.Submit(t.Context(), requests[landed:landed+1]); err == nil {
			if err = verdicts[0].Err; err == nil {
				landed++
			}
		}
	}
	if landed == len(requests) || !errors.Is(err, zkbench.ErrEnv) && !errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Fatalf("%d requests landed, and then: %v", landed, err)
	}
	if _, ok := errors.AsType[*zkbench.CheckError](err); ok {
		t.Errorf("a full disk makes a request invalid: %v", err)
	}
	golden.Equal(t, "exit code", cli.ExitPartial, clitest.ExitCode(t, p.Cmd))
	golden.Contains(t, p.log.String(), "start the server again")
	p = full()
	for i := range requests {
		if _, found, err := s.dial(p.url, -1).Record(t.Context(), fmt.Appendf(nil, "issue %d", i)); err != nil || !found && i < landed {
			t.Errorf("request %d is there: %v, %v", i, found, err)
		}
		if i > landed {
			break
		}
	}
	s.stop(p)
	again := s.start("127.0.0.1:0")
	c = s.dial(again.url, 0)
	for _, v := range must.Get(c.Submit(t.Context(), requests))(t) {
		must.Do(t, v.Err)
	}
	s.stop(again)
	l := must.Get(replay.Open(t.Context(), s.place))(t)
	defer l.Close()
	report := must.Get(replay.Verify(t.Context(), l, must.Get(loadParams(s.path("params")))(t), nil))(t)
	golden.Equal(t, "requests on the ledger", uint64(len(requests)), report.Edge.Last())
}

// TestServeRefuses: what a server cannot be started with is refused with the flag's name.
func TestServeRefuses(t *testing.T) {
	s := newServed(t, "")
	base := []string{"serve", "--ledger", s.place, "--params", s.path("params")}
	refuses(t, "ledger: ", "serve", "--params", s.path("params"))
	refuses(t, "params: ", "serve", "--ledger", s.place)
	refuses(t, "state: ", append(base, "--key", s.path("vera.key"))...)
	refuses(t, "key: ", append(base, "--state", s.path("vera.head"))...)
	refuses(t, "key: ", append(base, "--key", s.path("ivy.key"), "--state", s.path("vera.head"))...)
	refuses(t, "tls: ", append(base, "--tls", s.dir)...)
	refuses(t, `the certificate of "me" has the role "wallet"; accepted: validator`, append(base, "--tls", s.path("me"))...)
	refuses(t, "listen: ", append(base, "--listen", "0.0.0.0:0")...)
	refuses(t, "listen: ", append(base, "--listen", "here")...)
	refuses(t, "authority: ", "cert", "issue", "--authority", s.dir, "--role", "wallet", "--name", "a", "--out", s.path("new"))
	refuses(t, "role: ", "cert", "issue", "--authority", s.path("authority"), "--role", "king", "--name", "a", "--out", s.path("new"))
	refuses(t, "out: ", "cert", "issue", "--authority", s.path("authority"), "--role", "wallet", "--name", "a", "--out", s.path("me"))
	refuses(t, "dir: ", "cert", "authority", "--dir", s.path("authority"))

	// What fails after the state file was opened: there is a request that the key has not signed.
	p := s.start("127.0.0.1:0")
	c := s.dial(p.url, 0)
	must.Get(c.Submit(t.Context(), s.issues(c.Genesis(), 1)))(t)
	s.stop(p)
	flags := s.signFlags("vera")[2:]
	must.Do(t, os.WriteFile(s.path("vera.head"+copyOf), nil, 0o600))
	code, _, stderr := call(append(base, flags...)...)
	golden.Contains(t, stderr, "vera.head"+copyOf)
	golden.Equal(t, "exit code", cli.ExitUsage, code)
}

// residentBytes returns how much memory a process has.
func residentBytes(t *testing.T, pid int) (bytes uint64) {
	status := string(must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t))
	_, rest, _ := strings.Cut(status, "VmRSS:")
	must.Get(fmt.Sscan(rest, &bytes))(t)
	return bytes << 10
}

// TestServeIdle: a server with 1,000 idle connections and 64 streams takes less than 200 MB, and answers.
func TestServeIdle(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS != "linux" {
		t.Skip("memory is read from /proc")
	}
	s := newServed(t, "")
	p := s.start("127.0.0.1:0")
	certificates := must.Get(serving.LoadCertificates("tls", s.path("me")))(t)
	config := certificates.Client(peer.Validator)
	config.NextProtos = []string{"h2"}
	config.ClientSessionCache = nil
	for range 1000 {
		conn := must.Get(tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), config))(t)
		defer conn.Close()
		must.Get(conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")))(t) // and an empty SETTINGS frame
	}
	ctx, cancel := context.WithCancel(t.Context())
	var streams sync.WaitGroup
	for range 64 / server.DefaultClientStreams {
		c := s.dial(p.url, 0)
		for range server.DefaultClientStreams {
			streams.Go(func() {
				for _, err := range c.Follow(ctx, 1) {
					if ctx.Err() == nil {
						t.Error(err)
					}
				}
			})
		}
	}
	c := s.dial(p.url, 0)
	must.Get(c.Head(t.Context()))(t)
	if took := residentBytes(t, p.Process.Pid); took > 200e6 {
		t.Errorf("the server takes %d MB", took/1e6)
	} else {
		t.Logf("the server takes %d MB", took/1e6)
	}
	cancel()
	streams.Wait()
	s.stop(p)
}

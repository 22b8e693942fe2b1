package token

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
)

// ExecServer is the name of the command by which a child process serves what a workload measures. Every program that
// runs such a workload has it: a test's TestMain calls ServerMain for it.
const ExecServer = "exec-server"

// serverJob is the first line that a server's process reads, as JSON.
type serverJob struct {
	Workload    string        `json:"workload"`
	Case        workload.Case `json:"case"`
	Seed        uint64        `json:"seed"`
	Procs       int           `json:"procs"` // GOMAXPROCS
	Authority   []byte        `json:"authority"`
	Certificate []byte        `json:"certificate"`
	Key         []byte        `json:"key"`
}

// serverOrder is each further line: the server now serves the ledger in a file. An empty path stands for the only one
// that the workload has.
type serverOrder struct {
	Open string `json:"open"`
}

// serverAnswer is the line that the process writes after each order.
type serverAnswer struct {
	Address string `json:"address"` // host:port
	Error   string `json:"error"`   // empty if the order was carried out
}

// serverProcess is a server in a child process. It ends when this process does, because its input ends then.
type serverProcess struct {
	process *subprocess.Process
	secure  *tls.Config         // of clients
	leave   func(resources.CPU) // nil: its processor time is not counted
	ended   bool

	mu      sync.Mutex
	orders  *json.Encoder
	answers *json.Decoder
	address string
}

// serverPatience is how long a server may take to carry out an order.
const serverPatience = 5 * time.Minute

// startServer starts the server of a workload's case.
func startServer(ctx context.Context, name string, c workload.Case, seed uint64) (_ *serverProcess, err error) {
	if len(os.Args) > 1 && os.Args[1] == ExecServer || testing.Testing() && !serves {
		return nil, fmt.Errorf("%w: this program starts no servers: it has no command %s", zkbench.ErrEnv, ExecServer)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", zkbench.ErrEnv, err)
	}
	authority, err := peer.NewAuthority("zkbench")
	if err != nil {
		return nil, err
	}
	host := net.IPv4(127, 0, 0, 1).String()
	its, err := authority.Issue("server", peer.Validator, host)
	if err != nil {
		return nil, err
	}
	own, err := authority.Issue("load", peer.Wallet)
	if err != nil {
		return nil, err
	}
	job := serverJob{Workload: name, Case: c, Seed: seed, Procs: runtime.GOMAXPROCS(0), Authority: authority.Certificate()}
	if job.Certificate, job.Key, err = peer.EncodePair(its); err != nil {
		return nil, err
	}
	s := &serverProcess{secure: peer.Client(&own, authority.Pool(), peer.Validator)}
	// The operations that run when the context ends still need the server.
	if s.process, err = subprocess.Start(context.WithoutCancel(ctx), subprocess.Command{Argv: []string{self, ExecServer}}); err != nil {
		return nil, err
	}
	s.orders, s.answers = json.NewEncoder(s.process.Stdin), json.NewDecoder(s.process.Stdout)
	if err := s.orders.Encode(job); err != nil {
		return nil, s.died(err)
	}
	return s, nil
}

// adopt counts the server's processor time as that of the operations, in the place of this process's.
func (s *serverProcess) adopt() {
	s.leave = resources.Adopt(func() resources.CPU {
		look := s.process.Look()
		return resources.CPU{User: look.User, System: look.System}
	})
}

// show makes the server serve the ledger in a file.
func (s *serverProcess) show(ctx context.Context, path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.process.Stdout.SetReadDeadline(time.Now().Add(serverPatience))
	stop := context.AfterFunc(ctx, func() { _ = s.process.Stdout.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var answer serverAnswer
	err := s.orders.Encode(serverOrder{Open: path})
	if err == nil {
		err = s.answers.Decode(&answer)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return s.died(err)
	case answer.Error != "":
		return fmt.Errorf("the server: %s", answer.Error)
	}
	s.address = answer.Address
	return nil
}

// died ends the process, and returns the error with which it ended, or err.
func (s *serverProcess) died(err error) error {
	if !errors.Is(err, io.EOF) { // it does not end by itself
		s.process.Kill()
	}
	if ended := s.Close(); ended != nil {
		err = ended
	}
	return fmt.Errorf("%w: the server's process: %w", zkbench.ErrEnv, err)
}

// dial returns a client of the server.
func (s *serverProcess) dial(ctx context.Context) (*client.Client, error) {
	return client.Dial(ctx, "https://"+s.address, client.Options{TLS: s.secure, Patience: -1})
}

// serverGrace is how long a server may take to end.
const serverGrace = 5 * time.Second

// Close ends the process and waits for it. It returns an error if the process failed.
func (s *serverProcess) Close() error {
	if s.ended {
		return nil
	}
	s.ended = true
	_ = s.process.Stdin.Close()
	late := time.AfterFunc(serverGrace, s.process.Kill)
	_ = s.process.Stdout.SetReadDeadline(time.Now().Add(2 * serverGrace))
	_, _ = io.Copy(io.Discard, s.process.Stdout) // up to its end
	late.Stop()
	use, err := s.process.Wait(context.Background())
	if s.leave != nil {
		s.leave(resources.CPU{User: use.User, System: use.System})
	}
	return err
}

// serves is true in a test's program whose TestMain calls ServerMain. Another one would run its tests as the server.
var serves bool

// ServerMain serves if this program was started as a server's process (ExecServer), and then exits. Otherwise it does
// nothing. TestMain calls it in packages whose benchmarks start servers.
func ServerMain() {
	serves = true
	if len(os.Args) != 2 || os.Args[1] != ExecServer {
		return
	}
	if err := RunServer(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// RunServer does the work of a server's process. It reads a job and orders from in, as lines of JSON, and writes an answer to
// out after each order. It returns when in ends.
func RunServer(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	lines, answers := json.NewDecoder(in), json.NewEncoder(out)
	var job serverJob
	if err := lines.Decode(&job); err != nil {
		return &zkbench.DecodeError{Path: "job", Reason: err.Error()}
	}
	runtime.GOMAXPROCS(job.Procs)
	open, err := job.opener(ctx)
	if err != nil {
		return err
	}
	r := &runningServer{job: &job}
	defer func() { err = errors.Join(err, r.close()) }()
	for {
		var order serverOrder
		if err := lines.Decode(&order); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return &zkbench.DecodeError{Path: "order", Reason: err.Error()}
		}
		var answer serverAnswer
		l, err := open(ctx, order.Open)
		if err == nil {
			answer.Address, err = r.serve(l)
		}
		if err != nil {
			answer.Error = err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}

// opener opens the ledger in a file, and closes the one before. An empty path stands for the only one that there is.
type opener func(ctx context.Context, path string) (server.Ledger, error)

// opener prepares the job's case.
func (j *serverJob) opener(ctx context.Context) (opener, error) {
	switch j.Workload {
	case serveTransfer:
		return servedLedger(ctx, j.Case, j.Seed)
	case logFollowing:
		return servedLog(ctx, j.Case, j.Seed)
	}
	return nil, &argument.ValueError{Field: "workload", Value: j.Workload, Accepted: serveTransfer + " or " + logFollowing}
}

// runningServer serves one ledger after the other at one address.
type runningServer struct {
	job  *serverJob
	http *http.Server // nil: does not listen yet
	at   string
	now  atomic.Pointer[server.Server]
}

func (r *runningServer) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.now.Load().ServeHTTP(w, q)
}

// serve serves a ledger in the place of the one before. No call to that one may be running. It returns the address.
func (r *runningServer) serve(l server.Ledger) (address string, err error) {
	service, err := server.NewLedger(l)
	if err != nil {
		return "", err
	}
	const unlimited = 1 << 30 // one client makes the load of many
	s, err := server.New(server.Options{Limits: server.Limits{Calls: unlimited, Bytes: unlimited, Proofs: unlimited}}, service)
	if err != nil {
		return "", err
	}
	r.now.Store(s)
	if r.http != nil {
		return r.at, nil
	}
	own, err := tls.X509KeyPair(r.job.Certificate, r.job.Key)
	if err != nil {
		return "", err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(r.job.Authority)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	r.at = listener.Addr().String()
	r.http = s.HTTP()
	r.http.Handler, r.http.TLSConfig = r, peer.Server(own, pool)
	go func() { _ = r.http.ServeTLS(listener, "", "") }() // until close
	return r.at, nil
}

func (r *runningServer) close() error {
	if r.http == nil {
		return nil
	}
	r.now.Load().Stop()
	return r.http.Close()
}

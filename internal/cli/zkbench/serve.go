package zkbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/validator"
)

// processFlags are the flags of every server.
type processFlags struct {
	listen, tls, metrics *argument.Option
}

func newProcessFlags(flags *pflag.FlagSet, address string) *processFlags {
	return &processFlags{
		listen:  argument.Define(flags, "listen", argument.KindText, address, serving.AcceptedListen, "the address to serve at: "+serving.AcceptedListen),
		tls:     argument.Define(flags, "tls", argument.KindFile, "", serving.AcceptedDir, "the certificates: "+serving.AcceptedDir),
		metrics: argument.Define(flags, "metrics", argument.KindText, "", "host:port", "the address of the page /metrics, for Prometheus: host:port (default none)"),
	}
}

// process returns the process that the flags describe. It logs to stderr.
func (f *processFlags) process(stderr io.Writer) (*serving.Process, error) {
	p := serving.NewProcess(stderr)
	p.Listen, p.Metrics = f.listen.Text, f.metrics.Text
	if f.tls.Given {
		c, err := serving.LoadCertificates("tls", f.tls.Text)
		if err != nil {
			return nil, err
		}
		if c.Own.Leaf != nil && time.Now().After(c.Own.Leaf.NotAfter) {
			return nil, f.tls.Refuse("tls", fmt.Sprintf("%s: a certificate that expired on %s", f.tls.Text, c.Own.Leaf.NotAfter.Format(time.DateOnly)))
		}
		p.Certificates = &c
	}
	return p, nil
}

// mayServe refuses a certificate of another role, which clients would not accept.
func mayServe(p *serving.Process, role peer.Role) error {
	if p.Certificates == nil {
		return nil
	}
	if err := peer.FromCertificate(p.Certificates.Own.Leaf).Check(role); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	return nil
}

// addresses are where the servers of the roles serve unless a flag says otherwise.
var addresses = map[peer.Role]string{peer.Validator: "127.0.0.1:7300", peer.Auditor: "127.0.0.1:7301", peer.Issuer: "127.0.0.1:7302", peer.Wallet: "127.0.0.1:7303"}

// servedRoles is the set of roles, as flags accept them.
const servedRoles = "validator, auditor, issuer, wallet"

func serveCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve --ledger PATH --params FILE",
		Short: "Serve a ledger with its validator, an auditor, an issuer or a wallet over the network",
		Long: "Serve a ledger with its validator: wallets, issuers and auditors use its URL in place of the ledger's path.\n" +
			"Programs call it by gRPC or by HTTP with JSON; docs/serve.md shows how. With --tls, each party shows a\n" +
			"certificate with its role; without, only programs on this machine reach it. Several processes can serve one\n" +
			"ledger in PostgreSQL. A ledger that is a file is open in one process only.\n\n" +
			"With --key and --state, the server signs heads of the log too, as zkbench ledger sign --watch does.\n\n" +
			"With --role auditor or --role issuer, an auditor or an issuer of the ledger is served. --key is its key, and\n" +
			"--vault its database. An auditor signs every request that is in order. An issuer issues for programs whose\n" +
			"certificates have the role issuer, and has the servers of --auditor sign.\n\n" +
			"With --role wallet, the wallet in the directory --dir is served to programs whose certificates have the role\n" +
			"program. It pays once for each key that a program chooses. Only one process may use a wallet's keys: two\n" +
			"spend each other's tokens.\n\n" +
			"The log goes to standard error, one JSON object a line, without secrets. Traces are exported by OTLP over HTTP\n" +
			"if OTEL_EXPORTER_OTLP_ENDPOINT names a collector; docs/operate.md has the other variables.\n\n" +
			"When the command is interrupted, it answers what it has begun, and ends.",
		Args: cli.NoArguments,
	}
	flags := cmd.Flags()
	tether(cmd)
	f := newProcessFlags(flags, addresses[peer.Validator])
	role := argument.Define(flags, "role", argument.KindText, string(peer.Validator), servedRoles, "what is served: "+servedRoles)
	path := argument.Define(flags, "ledger", argument.KindText, "", acceptedLedger, "the ledger; not a server's for --role validator: "+acceptedLedger)
	params := argument.Define(flags, "params", argument.KindFile, "", "the path of a file of public parameters", "the ledger's public parameters (default for a server: those that it tells)")
	s := &headSigning{stdout: stdout, stderr: stderr}
	s.key = argument.Define(flags, "key", argument.KindFile, "", acceptedHeadKey, "for a validator, sign heads of the log with its secret key: "+acceptedHeadKey+". For an auditor or an issuer, the file of its keys")
	s.state = argument.Define(flags, "state", argument.KindFile, "", acceptedState, "for a validator, the file with the last head that the key has signed, as zkbench ledger sign --new makes it")
	r := &servedRole{params: params, key: s.key, state: s.state, stdout: stdout}
	r.define(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		of := peer.Role(role.Text)
		address, known := addresses[of]
		switch {
		case !known:
			return role.Refuse("role", role.Text)
		case !path.Given:
			return path.Refuse("ledger", "")
		}
		if err := r.unused(of); err != nil {
			return err
		}
		p, err := f.process(stderr)
		if err == nil {
			err = mayServe(p, of)
		}
		if err == nil {
			err = p.Trace(cmd.Context(), "zkbench-"+role.Text)
		}
		if err != nil {
			return err
		}
		if of != peer.Validator {
			if !f.listen.Given {
				p.Listen = address
			}
			r.ledgerFlags = ledgerFlags{ledger: path, tls: f.tls, report: func(r client.Retry) {
				p.Log.Warn("call failed and will be made again", "method", r.Method, "error", r.Err, "until", r.Until)
			}}
			return r.serve(cmd.Context(), of, p)
		}
		switch {
		case isServer(path.Text):
			return (&argument.Option{Accepted: "the path of a ledger, or the URL of a database, for a validator"}).Refuse("ledger", path.Text)
		case !params.Given:
			return params.Refuse("params", "")
		case s.key.Given && s.state.Text == "":
			return s.state.Refuse("state", "")
		case !s.key.Given && s.state.Given:
			return s.key.Refuse("key", "")
		}
		if s.params, err = loadParams(params.Text); err != nil {
			return err
		}
		served := &servedLedger{signing: s, process: p, path: path.Text, stdout: stdout}
		err = withLedger(cmd.Context(), path.Text, func(l replay.Store) error { return served.serve(cmd.Context(), l) })
		if served.stopped != nil {
			return served.stopped
		}
		return err
	}
	return cmd
}

// servedLedger is a ledger that a process serves.
type servedLedger struct {
	signing *headSigning // without a key: signs no heads
	process *serving.Process
	path    string
	stdout  io.Writer
	stopped error // why the ledger's file has stopped
}

// serve serves a ledger until ctx ends.
func (s *servedLedger) serve(ctx context.Context, l replay.Store) (err error) {
	v, err := validator.New(s.signing.params, l.Genesis(), executor.Pool(), token.Tuning{}, 1<<14)
	if err == nil {
		err = v.Follow(ctx, l)
	}
	if err != nil {
		return err
	}
	submitter, err := validator.NewSubmitter(v, l, nil)
	if err != nil {
		return err
	}
	service, err := server.NewLedger(server.Ledger{Store: l, Submitter: submitter, Params: s.signing.params, Policy: v.Policy})
	if err != nil {
		return err
	}
	handler, err := server.New(s.process.Options(), service)
	if err != nil {
		return err
	}
	s.measure(l)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	signed := make(chan struct{})
	close(signed)
	if s.signing.key.Given {
		keeper, closing, err := s.keeper(ctx, l, v)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closing()) }()
		signed = make(chan struct{})
		go func() {
			defer close(signed)
			s.sign(ctx, keeper)
		}()
	}
	if !replay.IsDatabase(s.path) {
		go s.watch(ctx, l, stop)
	}
	id := l.Genesis().ID()
	err = s.process.Run(ctx, handler, func(url, metrics string) error {
		_, err := fmt.Fprintf(s.stdout, "ledger %x at %s\n", id, url)
		if err == nil && metrics != "" {
			_, err = fmt.Fprintf(s.stdout, "metrics at %s\n", metrics)
		}
		return err
	})
	stop(nil)
	<-signed
	if stopped, ok := errors.AsType[*cli.ExitError](context.Cause(ctx)); ok {
		s.stopped = stopped
	}
	return err
}

// watch ends the server if the ledger's file has stopped, which it does when it could not be written: nobody knows then what is
// in it until it is opened again.
func (s *servedLedger) watch(ctx context.Context, l replay.Store, stop context.CancelCauseFunc) {
	for ctx.Err() == nil {
		if _, err := l.State(ctx); err != nil && ctx.Err() == nil {
			s.process.Log.Error("the ledger's file has stopped", "error", err)
			stop(&cli.ExitError{Code: cli.ExitPartial, Text: fmt.Sprintf("%s: %v; start the server again when the cause is gone, for example a full disk", s.path, err)})
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchInterval):
		}
	}
}

// watchInterval is how often the server looks at the ledger's file.
const watchInterval = time.Second

// measure registers how far the log and its heads have come. Both are NaN while the ledger cannot be read.
func (s *servedLedger) measure(l ledger.Store) {
	register := func(name, help string, read func(ctx context.Context) (uint64, error)) {
		s.process.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			ctx, stop := context.WithTimeout(context.Background(), time.Second)
			defer stop()
			n, err := read(ctx)
			if err != nil {
				return math.NaN()
			}
			return float64(n)
		}))
	}
	register("zkbench_ledger_record", "Number of the last record of the log; NaN while the ledger cannot be read.", func(ctx context.Context) (uint64, error) {
		state, err := l.State(ctx)
		return state.Last, err
	})
	register("zkbench_head_record", "Number of the last record under the newest head that counts; 0 if there is none, NaN while the ledger cannot be read.", func(ctx context.Context) (uint64, error) {
		signed, err := l.Head(ctx)
		if errors.Is(err, head.ErrNoHead) || err == nil && signed == nil {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		last, err := head.ParseSigned(signed)
		return last.Size - min(last.Size, 1), err // the genesis is a leaf too
	})
}

// keeper returns the keeper that signs the ledger's heads, and what closes it. A ledger in a database has other writers, so
// its requests are validated once more before they are signed. A file has only this process: what it had before it was
// opened, and is not signed, is validated now, and this process validates the rest.
func (s *servedLedger) keeper(ctx context.Context, l replay.Store, v *validator.Validator) (_ *head.Keeper, _ func() error, err error) {
	key, err := loadSigner(s.signing.key, headKeys(v.Policy()))
	if err != nil {
		return nil, nil, err
	}
	signer, err := s.signing.open(ctx, l, key)
	if err != nil {
		return nil, nil, err
	}
	keep := signer.Close
	defer func() {
		if err != nil {
			err = errors.Join(err, keep())
		}
	}()
	keeper := &head.Keeper{Store: &validated{l, v.Policy, key.Identity()}, Signer: signer, Policy: v.Policy()}
	if !replay.IsDatabase(s.path) {
		all, err := signedAll(ctx, l, signer)
		if err == nil && all {
			err = replay.RemoveCopy(s.signing.state.Text + copyOf)
		}
		if all || err != nil {
			return keeper, keep, err
		}
	}
	follower, err := s.signing.follow(ctx, l, signer)
	if err != nil {
		return nil, nil, err
	}
	keep = func() error { return errors.Join(follower.Close(), signer.Close()) }
	checked := &head.Keeper{Store: &validated{follower.Store(), follower.Policy, key.Identity()}, Signer: signer, Policy: v.Policy()}
	if err := s.signing.signAll(ctx, checked); err != nil {
		return nil, nil, s.signing.accuse(err)
	}
	if replay.IsDatabase(s.path) {
		return checked, keep, nil
	}
	keep = signer.Close
	return keeper, keep, follower.Close()
}

// signedAll reports whether the signer's last head is the one of the whole log.
func signedAll(ctx context.Context, l replay.Store, signer *head.Signer) (bool, error) {
	last, err := head.ParseSigned(signer.Last())
	if err != nil {
		return false, err
	}
	state, err := l.State(ctx)
	return last == head.Head{Ledger: l.Genesis().ID(), Size: state.Last + 1, Root: state.Root}, err
}

// signRetry is how long the server waits before it signs again when the ledger could not be reached.
const signRetry = time.Second

// sign signs heads until ctx ends, or until one cannot be signed for a reason that somebody must look at.
func (s *servedLedger) sign(ctx context.Context, k *head.Keeper) {
	failures := prometheus.NewCounter(prometheus.CounterOpts{Name: "zkbench_head_failures_total", Help: "Heads that could not be signed."})
	stopped := prometheus.NewGauge(prometheus.GaugeOpts{Name: "zkbench_heads_stopped", Help: "1 if the server has stopped signing heads: its log says why."})
	s.process.Registry.MustRegister(failures, stopped)
	for {
		err := k.Run(ctx)
		if ctx.Err() != nil {
			return
		}
		failures.Inc()
		if alarming(err) {
			stopped.Set(1)
			s.process.Log.Error("stopped signing heads", "error", s.signing.accuse(err))
			return
		}
		s.process.Log.Warn("head not signed", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(signRetry):
		}
	}
}

// alarming reports whether an error of head.Keeper.Run must be looked at.
func alarming(err error) bool {
	if !errors.Is(err, zkbench.ErrEnv) || errors.Is(err, head.ErrStopped) || errors.Is(err, ledger.ErrRolledBack) {
		return true
	}
	if _, ok := errors.AsType[*head.ClockError](err); ok {
		return true
	}
	_, replaced := errors.AsType[*ledger.ReplacedError](err)
	return replaced
}

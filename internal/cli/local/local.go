// Package local runs a whole token system on one machine: a validator, an auditor, two issuers and three wallets, each a
// process that serves over TLS, in one directory. It issues tokens, has the wallets pay each other, and keeps the processes
// running. It is for trials: all secret keys lie in one directory.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"text/tabwriter"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/peer"
)

// AcceptedListen says what Options.Listen accepts.
const AcceptedListen = "127.0.0.1:port, [::1]:port or localhost:port; port 0 for free ports"

// metricsAbove is how far the port of a process's metrics is above its own port.
const metricsAbove = 10

// Options are the settings of a local system.
type Options struct {
	Dir     string // does not exist, is empty, or is one that Run has made
	Listen  string // host:port of the validator; the others have the ports after it
	Program string // the name under which this program was started
	Out     io.Writer
}

// system is a system that runs.
type system struct {
	Options
	host string
	port int // of the next process; 0: free ports

	children  []*child // in the order in which they were started
	validator *child
	auditor   *child
	issuers   map[string]*child // by type of token
	wallets   map[string]*child // by name

	printing sync.Mutex // held while a line is written to Out
}

// Run makes the system in its directory if it is not there, starts it, makes the first payments, prints where its processes
// serve and what the wallets hold, and waits until ctx ends. Then it stops the processes. A process that ends before is
// started again. Run returns an *argument.ValueError for a directory that has something else, and for a bad address.
func Run(ctx context.Context, o Options) (err error) {
	s := &system{Options: o, issuers: make(map[string]*child), wallets: make(map[string]*child)}
	if err := s.parse(); err != nil {
		return err
	}
	if err := place(o.Dir).prepare(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.stop())
		if ctx.Err() != nil { // what failed because it was interrupted
			err = nil
		}
	}()
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := s.pay(ctx); err != nil {
		return err
	}
	if err := s.show(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// parse parses the address.
func (s *system) parse() error {
	refuse := &argument.ValueError{Field: "listen", Value: s.Listen, Accepted: AcceptedListen}
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return refuse
	}
	const processes = 2 + 2 + 3
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || !slices.Contains(hosts, host) || n+processes+metricsAbove > 1<<16 {
		return refuse
	}
	s.host, s.port = host, int(n)
	return nil
}

// add adds a process of a party. It serves at the next port.
func (s *system) add(name string, role peer.Role, ledger string, args ...string) *child {
	p := place(s.Dir)
	c := &child{
		name: name, program: s.Program, log: p.log(name), say: s.say,
		listen: net.JoinHostPort(s.host, strconv.Itoa(s.port)), metrics: net.JoinHostPort(s.host, "0"),
		args: append([]string{"serve", "--role", string(role), "--ledger", ledger, "--tls", p.tls(name)}, args...),
	}
	if s.port > 0 {
		c.metrics = net.JoinHostPort(s.host, strconv.Itoa(s.port+metricsAbove))
		s.port++
	}
	s.children = append(s.children, c)
	return c
}

// start starts the processes: first the validator, then the auditor, which needs it, then the others, which need both.
func (s *system) start(ctx context.Context) error {
	p := place(s.Dir)
	s.validator = s.add(validatorName, peer.Validator, p.path(replay.FileName), "--params", p.params(), "--key", p.key(validatorName), "--state", p.state())
	if err := s.validator.begin(ctx); err != nil {
		return err
	}
	s.auditor = s.add(auditorName, peer.Auditor, s.validator.url, "--key", p.key(auditorName))
	if err := s.auditor.begin(ctx); err != nil {
		return err
	}
	for _, typ := range types {
		s.issuers[typ] = s.add(issuerName(typ), peer.Issuer, s.validator.url, "--key", p.key(issuerName(typ)), "--auditor", s.auditor.url)
	}
	for _, name := range walletNames {
		s.wallets[name] = s.add(name, peer.Wallet, s.validator.url, "--dir", p.path(name), "--auditor", s.auditor.url)
	}
	var starting sync.WaitGroup
	rest := s.children[2:]
	failed := make([]error, len(rest))
	for i, c := range rest {
		starting.Go(func() { failed[i] = c.begin(ctx) })
	}
	starting.Wait()
	return errors.Join(failed...)
}

// stop stops the processes that run: first those that need others.
func (s *system) stop() (err error) {
	for len(s.children) > 0 {
		last := len(s.children) - 1
		err = errors.Join(err, s.children[last].end())
		s.children = s.children[:last]
	}
	return err
}

// say writes lines for people.
func (s *system) say(format string, args ...any) {
	s.printing.Lock()
	defer s.printing.Unlock()
	fmt.Fprintf(s.Out, format+"\n", args...)
}

// show prints where the processes serve, what the wallets hold, and how to pay.
func (s *system) show(ctx context.Context) error {
	balances := make(map[*child]string)
	for _, name := range walletNames {
		balance, err := s.balance(ctx, s.wallets[name])
		if err != nil {
			return err
		}
		balances[s.wallets[name]] = balance
	}
	s.printing.Lock()
	defer s.printing.Unlock()
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, c := range s.children {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", c.name, c.url, c.page, balances[c])
	}
	if err := table.Flush(); err != nil {
		return err
	}
	p, q := place(s.Dir), argument.Quote
	_, err := fmt.Fprintf(s.Out, `
The logs, the certificates and all secret keys are in %s. Pay from the wallet %s, which is not served, and from %s:

zkbench wallet pay --dir %s --ledger %s --tls %s --auditor %s --value 5 --type %s --to %s

curl -sS --cacert %s --cert %s --key %s -H 'Content-Type: application/json' -d '{"key":"invoice 1","value":5,"type":"%s","to":"'"$(cat %s)"'"}' %s

Interrupt this command to stop the system. The next start goes on with what is in %s.
`,
		q(s.Dir), ownWallet, walletNames[0],
		q(p.path(ownWallet)), s.validator.url, q(p.tls(ownWallet)), s.auditor.url, currency, q(p.address(walletNames[0])),
		q(p.tls(programName, "ca.pem")), q(p.tls(programName, "cert.pem")), q(p.tls(programName, "key.pem")), currency, q(p.address(ownWallet)), s.wallets[walletNames[0]].url+walletService+"Pay",
		q(s.Dir))
	return err
}

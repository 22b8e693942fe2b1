package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/hosts"
	"github.com/zkbench/zkbench/internal/suite"
)

// ExecHost is the command by which a copy of the program runs cases on another machine.
const ExecHost = "exec-host"

// ExecHostCommand is the other machine's side of a suite with --on.
func ExecHostCommand(stdin io.Reader, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:    ExecHost,
		Short:  "Run cases for another machine: jobs as lines of JSON on standard input, their records as lines on standard output",
		Hidden: true,
		Args:   NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := ownProgram()
			if err != nil {
				return err
			}
			return hosts.Serve(cmd.Context(), stdin, stdout, self.Run)
		},
	}
}

// addHosts makes hosts of names, none of which is connected yet.
func (c *SuiteCall) addHosts(names []string, wait time.Duration) error {
	self, err := os.Executable()
	if err != nil {
		return &ExitError{Code: ExitFailed, Text: err.Error()}
	}
	program, err := hosts.NewProgram(self, ExecHost)
	if err != nil {
		return &ExitError{Code: ExitFailed, Text: err.Error()}
	}
	var telling sync.Mutex
	c.hosts = make(map[string]*hosts.Host)
	for _, name := range names {
		c.hosts[name] = &hosts.Host{Name: name, Program: program, Wait: wait, Copied: func() {
			telling.Lock()
			defer telling.Unlock()
			fmt.Fprintf(c.stdout, "%s: the program is copied\n", name)
		}}
	}
	return nil
}

// connect connects to the hosts of a suite that is to begin, and returns the machines that
// they are. The error names all that cannot be used.
func (c *SuiteCall) connect(ctx context.Context, names []string, wait time.Duration) ([]suite.Machine, error) {
	if err := c.addHosts(names, wait); err != nil {
		return nil, err
	}
	machines := make([]suite.Machine, len(names))
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			e, err := c.hosts[name].Connect(ctx)
			machines[i], errs[i] = suite.Machine{Host: name, Processors: e.GOMAXPROCS}, err
		})
	}
	wg.Wait()
	return machines, errors.Join(errs...)
}

// reconnect connects to the hosts of a suite that goes on, as far as they have cases left. It
// is refused where one is not the machine that it was; one that cannot be reached is waited
// for when its cases run, like one that was lost.
func (c *SuiteCall) reconnect(ctx context.Context, session *suite.Session) error {
	pending, wait := session.Hosts()
	if len(pending) == 0 {
		return nil
	}
	names := make([]string, len(pending))
	for i, p := range pending {
		names[i] = p.Host
	}
	if err := c.addHosts(names, wait); err != nil {
		return err
	}
	errs := make([]error, len(pending))
	var wg sync.WaitGroup
	for i, p := range pending {
		wg.Go(func() {
			host := c.hosts[p.Host]
			if p.Was != nil {
				host.Expect(*p.Was)
			}
			if _, err := host.Connect(ctx); errors.Is(err, zkbench.ErrEnv) {
				errs[i] = err
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// closeHosts ends the connections.
func (c *SuiteCall) closeHosts() {
	var wg sync.WaitGroup
	for _, host := range c.hosts {
		wg.Go(host.Close)
	}
	wg.Wait()
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/hosts"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/workload/prover"
)

// ExecHost is the name of the command by which a copy of the program runs cases on another machine.
const ExecHost = "exec-host"

// ExecHostCommand returns the command that a copy of the program runs on another machine if a
// suite is run with --on. The command reads jobs from stdin and writes their records to stdout.
func ExecHostCommand(stdin io.Reader, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:    ExecHost,
		Short:  "Run cases for another machine: read jobs as lines of JSON, write their records as lines of JSON",
		Hidden: true,
		Args:   NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := ownProgram()
			if err != nil {
				return err
			}
			return hosts.Serve(cmd.Context(), stdin, stdout, func(ctx context.Context, job measure.Job) (*record.Record, error) {
				if err := specHere(job); err != nil {
					return nil, err
				}
				return self.Do(ctx, job)
			})
		},
	}
}

// specHere returns an error if a job's prover needs files that this machine does not have.
func specHere(job measure.Job) error {
	if job.Spec == nil {
		return nil
	}
	spec, err := prover.Decode(job.Spec)
	if err != nil {
		return err
	}
	if info, err := os.Stat(spec.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: this machine has no directory %s, in which the prover runs", job.Workload, spec.Dir)
	}
	return nil
}

// addHosts creates the hosts with the given names, without connecting to them.
func (c *SuiteCall) addHosts(names []string, wait time.Duration) error {
	self, err := os.Executable()
	var here string
	if err == nil {
		here, err = subprocess.Executable()
	}
	var program *hosts.Program
	if err == nil {
		program, err = hosts.NewProgram(here, filepath.Base(self), ExecHost)
	}
	if err != nil {
		return &ExitError{Code: ExitFailed, Text: err.Error()}
	}
	c.hosts = make(map[string]*hosts.Host)
	for _, name := range names {
		c.hosts[name] = &hosts.Host{Name: name, Program: program, Wait: wait}
	}
	return nil
}

// connect connects to the hosts of a suite that is to begin, and returns their machines. The error
// names all that cannot be used.
func (c *SuiteCall) connect(ctx context.Context, names []string, wait time.Duration) ([]suite.Machine, error) {
	if err := c.addHosts(names, wait); err != nil {
		return nil, err
	}
	machines := make([]suite.Machine, len(names))
	err := c.connectEach(ctx, names, func(i int, host *hosts.Host, e record.Env, err error) error {
		machines[i] = suite.Machine{Host: host.Name, Processors: e.GOMAXPROCS, Env: &e}
		return err
	})
	return machines, err
}

// connectEach connects to hosts concurrently, prints where the program is copied, and calls do with the
// result of each. It returns the errors of do, or that ctx has ended.
func (c *SuiteCall) connectEach(ctx context.Context, names []string, do func(i int, host *hosts.Host, e record.Env, err error) error) error {
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	var telling sync.Mutex
	for i, name := range names {
		wg.Go(func() {
			e, copied, err := c.hosts[name].Connect(ctx)
			if copied {
				telling.Lock()
				fmt.Fprintf(c.stdout, "%s: %s\n", name, hosts.Copied)
				telling.Unlock()
			}
			errs[i] = do(i, c.hosts[name], e, err)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return &ExitError{Code: ExitPartial, Text: "interrupted while connecting to " + strings.Join(names, ", ")}
	}
	return errors.Join(errs...)
}

// reconnect connects to the hosts of a resumed suite that have cases left. It returns an error if a
// host is no longer the same machine. A host that cannot be reached is waited for when its cases
// run, like one whose connection was lost.
func (c *SuiteCall) reconnect(ctx context.Context, session *suite.Session) error {
	names, known, wait := session.Hosts()
	if len(names) == 0 {
		return nil
	}
	if err := c.addHosts(names, wait); err != nil {
		return err
	}
	for _, name := range names {
		c.hosts[name].Expect(known[name])
	}
	return c.connectEach(ctx, names, func(_ int, _ *hosts.Host, _ record.Env, err error) error {
		if errors.Is(err, zkbench.ErrEnv) {
			return err
		}
		return nil
	})
}

// closeHosts ends all connections.
func (c *SuiteCall) closeHosts() {
	var wg sync.WaitGroup
	for _, host := range c.hosts {
		wg.Go(host.Close)
	}
	wg.Wait()
}

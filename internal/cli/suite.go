package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/hosts"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/page"
	"github.com/zkbench/zkbench/internal/workload"
)

const (
	acceptedSuiteOut = "the path of a directory without a suite"
	acceptedTimeout  = "a time from 0s to 24h; 0s: none"
	acceptedHostWait = "a time from 0s to 24h"
)

// AgainIfDisturbed is the name of the flag that AgainFlag defines.
const AgainIfDisturbed = "again-if-disturbed"

// AgainFlag defines the flag of suites and studies that measures disturbed cases once more.
func AgainFlag(flags *pflag.FlagSet) *bool {
	return flags.Bool(AgainIfDisturbed, false, "measure a case once more if others used the machine meanwhile")
}

// suiteCommand returns the command suite.
func suiteCommand(p *Program, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suite [name | file.yaml]",
		Short: "Run many cases, resumably; without a name, list the suites",
		Long: "Run the cases of a suite. It is the path of a file, or one of\n" + strings.Join(p.Suites.Names(), ", ") + ".\n\n" +
			"Each case runs in a process of its own, repetitions are interleaved, and results are stored as\n" +
			"they come: a suite that was stopped or killed resumes with --resume DIR. At its end it writes\n" +
			"tables, plots and one page.\n\nA file names cases by commands and their flags:\n\n" +
			"  name: mine\n  headline: sender proof=csp   # the case that the page begins with\n  repetitions: 3\n  cases:\n    - run: [sender, verification-sender-proof]\n" +
			"      proof-type: [bulletproof, csp]\n      cpus: [1, 2, 4]\n      workers: NumCPU\n      duration: 5s\n" +
			"    - stages: pedersen\n      hashes: 8,32",
		Args: cobra.ArbitraryArgs,
	}
	flags := cmd.Flags()
	c := NewSuiteCall(p, flags, stdout, stderr, "directory for all files (default "+suite.FolderName(time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC))+", of the time)")
	repetitions := argument.Define(flags, "repetitions", argument.KindNumber, "", fmt.Sprintf("1 to %d", suite.MaxRepetitions), "processes of each case, interleaved (default the suite's)")
	only := argument.Define(flags, "only", argument.KindList, "", workload.IDs(p.Defs()), "run only these workloads of the suite")
	timeout := argument.Define(flags, "timeout", argument.KindTime, "0s", acceptedTimeout, "stop the process of a case after this time; 0s: never")
	quietWait := argument.Define(flags, "quiet-wait", argument.KindTime, "0s", acceptedTimeout, "how long cases may wait in total for a machine that nobody else uses")
	on := argument.Define(flags, "on", argument.KindList, "", hosts.AcceptedNames, "run the whole suite on each of these hosts, side by side (names of ssh)")
	hostWait := argument.Define(flags, "host-wait", argument.KindTime, hosts.DefaultWait.String(), acceptedHostWait, "with --on: how long to wait for a host whose connection was lost")
	again := AgainFlag(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case c.Resumes() && len(args) > 0:
			return &argument.ValueError{Field: "suite beside --resume", Value: args[0], Accepted: "none: the directory knows its suite"}
		case c.Resumes():
			return c.Resume(cmd)
		case len(args) == 0:
			return p.Suites.WriteList(stdout, p.Defs(), runtime.GOMAXPROCS(0))
		case len(args) > 1:
			return &argument.ValueError{Field: "suite", Value: args[1], Accepted: "one suite at a time"}
		}
		file, err := p.Suites.Find(args[0])
		if err != nil {
			return err
		}
		if len(file.Provers) > 0 {
			var paths []string
			for _, w := range file.Provers {
				paths = append(paths, w.Text)
			}
			if c.p, _, err = p.withProvers(filepath.Dir(args[0]), paths); err != nil {
				return err
			}
		}
		var o suite.Options
		if repetitions.Given {
			n, err := repetitions.Number("repetitions", 1, suite.MaxRepetitions)
			if err != nil {
				return err
			}
			o.Repetitions = int(n)
		}
		if only.Given {
			o.Only = strings.Split(only.Text, ",")
		}
		if o.Timeout, err = timeout.Duration("timeout", 0, measure.MaxDuration); err != nil {
			return err
		}
		o.Again = *again
		if o.QuietWait, err = quietWait.Duration("quiet-wait", 0, measure.MaxDuration); err != nil {
			return err
		}
		switch {
		case hostWait.Given && !on.Given:
			return errors.New("--host-wait needs --on")
		case on.Given && quietWait.Given:
			return &argument.ValueError{Field: "flag beside --on", Value: "--quiet-wait", Accepted: "--" + AgainIfDisturbed}
		case !on.Given:
			return c.Begin(cmd, file, args[0], o)
		}
		names, err := hosts.Parse(on.Text)
		if err != nil {
			return err
		}
		if o.HostWait, err = hostWait.Duration("host-wait", 0, measure.MaxDuration); err != nil {
			return err
		}
		// Mistakes that do not depend on the hosts are reported before any connection.
		planned := o
		for _, name := range names {
			planned.On = append(planned.On, suite.Machine{Host: name, Processors: jobs.MaxProcessors})
		}
		if _, err = suite.NewPlan(c.p.Defs(), file, args[0], 0, planned); err != nil {
			return err
		}
		if c.out.Given {
			if err := suite.IsFree(c.out.Text); err != nil {
				return fmt.Errorf("out: %w", err)
			}
		}
		defer c.closeHosts()
		if o.On, err = c.connect(cmd.Context(), names, o.HostWait); err != nil {
			return err
		}
		return c.Begin(cmd, file, args[0], o)
	}
	return cmd
}

// SuiteCall is a command line that runs a suite. It has the flags that all commands that run suites
// share: --out, --resume and --plan.
type SuiteCall struct {
	p              *Program
	stdout, stderr io.Writer
	out, resume    *argument.Option
	plan           *bool
	hosts          map[string]*hosts.Host // hosts that run cases; empty: this machine does
}

// NewSuiteCall returns a SuiteCall and adds its flags --out, --resume and --plan to a flag set. The
// parameter outHelp is the help text of --out.
func NewSuiteCall(p *Program, flags *pflag.FlagSet, stdout, stderr io.Writer, outHelp string) *SuiteCall {
	return &SuiteCall{
		p: p, stdout: stdout, stderr: stderr,
		out:    argument.Define(flags, "out", argument.KindFile, "", acceptedSuiteOut, outHelp),
		resume: argument.Define(flags, "resume", argument.KindFile, "", "the directory of a suite that was begun", "resume the suite in this directory"),
		plan:   flags.Bool("plan", false, "show the cases and how long they take; run nothing"),
	}
}

// Begin plans and runs the suite that the contents of file describe. The parameter name is the
// suite's name in messages. If --plan was given, Begin only shows the planned cases.
func (c *SuiteCall) Begin(cmd *cobra.Command, file *suite.File, name string, o suite.Options) error {
	plan, err := suite.NewPlan(c.p.Defs(), file, name, runtime.GOMAXPROCS(0), o)
	if err != nil {
		return err
	}
	if *c.plan {
		return plan.Write(c.stdout)
	}
	dir := suite.FolderName(plan.Header.Begun)
	if c.out.Given {
		dir = c.out.Text
	}
	session, err := suite.Begin(dir, plan)
	if err != nil {
		return err
	}
	if err := plan.WriteSummary(c.stdout); err != nil {
		return errors.Join(err, session.Close())
	}
	return c.run(cmd, session)
}

// Resumes reports whether --resume was given.
func (c *SuiteCall) Resumes() bool { return c.resume.Given }

// Resume continues the suite in the directory that --resume names. If --plan was given, Resume only
// shows the suite's cases. It returns an *argument.ValueError if any other flag was given.
func (c *SuiteCall) Resume(cmd *cobra.Command) error {
	var other string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "resume" && flag.Name != "plan" {
			other = flag.Name
		}
	})
	if other != "" {
		return &argument.ValueError{Field: "flag beside --resume", Value: "--" + other, Accepted: "--plan"}
	}
	if *c.plan {
		plan, err := suite.ReadPlan(c.resume.Text)
		if err != nil {
			return err
		}
		return plan.Write(c.stdout)
	}
	session, err := suite.Resume(c.resume.Text, "")
	if err != nil {
		return err
	}
	defer c.closeHosts()
	if err := c.reconnect(cmd.Context(), session); err != nil {
		return errors.Join(fmt.Errorf("resume: %w", err), session.Close())
	}
	return c.run(cmd, session)
}

// attempts is how often a suite tries a case that fails.
const attempts = 2

// specDefs returns the workloads that the cases of a plan describe in their Spec.
func specDefs(plan []suite.Case) (defs []workload.Def) {
	for i := range plan {
		job := &plan[i].Job
		if job.Spec == nil || slices.ContainsFunc(defs, func(d workload.Def) bool { return d.Name == job.Workload }) {
			continue
		}
		if def, err := finder(nil)(*job); err == nil {
			defs = append(defs, def)
		}
	}
	return defs
}

// run measures the cases that a session has not measured yet.
func (c *SuiteCall) run(cmd *cobra.Command, session *suite.Session) error {
	if defs := specDefs(session.Plan()); len(defs) > 0 { // if the suite was resumed, the journal has them
		c.p = c.p.withFamily(slices.DeleteFunc(defs, func(d workload.Def) bool {
			_, err := workload.Find(c.p.Defs(), d.Name)
			return err == nil
		}))
	}
	self, err := ownProgram()
	if err == nil {
		err = session.Run(cmd.Context(), suite.Caller{
			Measure: func(ctx context.Context, one *suite.Case, say func(string)) (*record.Record, error) {
				if one.Host == "" {
					return self.Do(ctx, one.Job)
				}
				return c.hosts[one.Host].Measure(ctx, one.Job, say)
			},
			Views: func(dir string, recs []*record.Record) error {
				if len(recs) == 0 {
					return nil
				}
				title := "suite " + session.Title()
				data := pageData(c.p, title, recs, session.Headline())
				err := errors.Join(session.PutResults(recs), writeViews(c.p, dir, data), writePlots(c.p, c.stderr, dir, recs, session.Headline(), true))
				if err == nil {
					fmt.Fprintf(c.stdout, "%s\n%s: %s\n", page.Sentence(data), dir, strings.Join(suite.Existing(dir, suite.PageFile, suite.PlotsFile, suite.ResultsFile), ", "))
				}
				return err
			},
			Attempts: attempts, Failures: suite.PageFile, Again: cmd.CommandPath(), Stdout: c.stdout, Stderr: c.stderr,
		})
	}
	return SessionError(errors.Join(err, session.Close()))
}

// SessionError converts err, the error of a suite's session, to an *ExitError, which the command
// returns. It returns nil if err is nil.
func SessionError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, suite.ErrInterrupted):
		return &ExitError{Code: ExitPartial, Text: err.Error()}
	}
	return &ExitError{Code: ExitFailed, Text: err.Error()}
}

package own

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/suite"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// studySuite is the suite that has the study's benchmarks.
const studySuite = "study"

// Benchmarking runs the command line args of the program benchmarking, which has the
// interface of the study's script, and returns its exit code.
func Benchmarking(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := Program()
	cmd := benchmarkingCommand(p, stdout, stderr)
	cmd.AddCommand(cli.ExecCaseCommand(stdin, stdout, p.Defs()))
	cmd.AddCommand(cli.ExecHostCommand(stdin, stdout))
	return cli.Execute(cmd, args, stdout, stderr)
}

// benchmarkingCommand is suite for one suite, with the study's flags.
func benchmarkingCommand(p *cli.Program, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "benchmarking",
		Short: "The benchmarks of the study of confidential tokens: zkbench suite " + studySuite + " by the flags of the study's script",
		Args:  cli.NoArguments,
	}
	flags := cmd.Flags()
	c := cli.NewSuiteCall(p, flags, stdout, stderr, "directory of all that is left (default benchmark_logs_ and the time)")
	count := usage.Define(flags, "count", usage.KindNumber, "", fmt.Sprintf("1 to %d", suite.MaxRepetitions), "processes of each case, in turn (default the suite's)")
	timeout := usage.Define(flags, "timeout", usage.KindNumber, "0", "0 to 86400, in seconds; 0: none", "seconds after which a case's process is stopped; 0: none")
	name := usage.Define(flags, "benchName", usage.KindText, "", "", "one benchmark, for example Sender (default all nine)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if c.Resumes() {
			return c.Resume(cmd)
		}
		file, err := p.Suites.Find(studySuite)
		if err != nil {
			return err
		}
		var o suite.Options
		seconds, err := timeout.Number("timeout", 0, uint64(measure.MaxDuration/time.Second))
		if err != nil {
			return err
		}
		o.Timeout = time.Duration(seconds) * time.Second
		if count.Given {
			n, err := count.Number("count", 1, suite.MaxRepetitions)
			if err != nil {
				return err
			}
			o.Repetitions = int(n)
		}
		if name.Given {
			if o.Only, err = benchName(p.Defs(), file, name.Text); err != nil {
				return err
			}
		}
		return c.Begin(cmd, file, studySuite, o)
	}
	return cmd
}

// benchName is the workload that the study calls so: Sender, BenchmarkSender or
// TestParallelBenchmarkSender.
func benchName(defs []workload.Def, file *suite.File, name string) ([]string, error) {
	var names []string
	for _, e := range file.Entries {
		for _, id := range e.IDs() {
			def, err := workload.Find(defs, id)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(names, def.Name) {
				names = append(names, def.Name)
			}
		}
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "TestParallel"), "Benchmark")
	if !slices.Contains(names, plain) {
		return nil, &usage.ValueError{Field: "benchName", Value: name, Accepted: strings.Join(names, ", ")}
	}
	return []string{plain}, nil
}

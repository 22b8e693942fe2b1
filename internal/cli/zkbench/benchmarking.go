package zkbench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/input/yamlfile"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/workload"
)

// studySuite is the name of the suite with the study's benchmarks.
const studySuite = "study"

// Benchmarking runs the program `benchmarking` with the arguments args and returns its exit code.
// The program runs the suite "study", which contains the benchmarks of the study of confidential
// tokens. That study runs its benchmarks with a script of its own. The program accepts the flags of
// that script.
func Benchmarking(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := Program()
	cmd := benchmarkingCommand(p, stdout, stderr)
	cmd.AddCommand(cli.ExecCaseCommand(stdin, stdout, p.Defs()))
	cmd.AddCommand(cli.ExecHostCommand(stdin, stdout))
	return cli.Execute(cmd, args, stdout, stderr)
}

// benchmarkingCommand returns a command that runs one suite, with the study's flags.
func benchmarkingCommand(p *cli.Program, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "benchmarking",
		Short: "Run the benchmarks of the study of confidential tokens: zkbench suite " + studySuite + " with the flags of the study's script",
		Args:  cli.NoArguments,
	}
	flags := cmd.Flags()
	c := cli.NewSuiteCall(p, flags, stdout, stderr, "directory for everything that is written (default benchmark_logs_ and the time)")
	count := argument.Define(flags, "count", argument.KindNumber, "", fmt.Sprintf("1 to %d", suite.MaxRepetitions), "processes of each case, interleaved (default the suite's)")
	timeout := argument.Define(flags, "timeout", argument.KindTime, "0", "0 to 86400, in seconds, or a time up to 24h, for example 4s; 0: none", "stop the process of a case after this time, in seconds or with a unit, for example 4s; 0: none")
	name := argument.Define(flags, "benchName", argument.KindText, "", "", "one benchmark: BenchmarkSender on one processor, TestParallelBenchmarkSender on 1 to 32, Sender on both (default all nine on both)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if c.Resumes() {
			return c.Resume(cmd)
		}
		file, err := p.Suites.Find(studySuite)
		if err != nil {
			return err
		}
		var o suite.Options
		if o.Timeout, err = seconds(timeout); err != nil {
			return err
		}
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
			file.Entries = onProcessors(file.Entries, name.Text)
		}
		return c.Begin(cmd, file, studySuite, o)
	}
	return cmd
}

// seconds parses a time that may be a number of seconds without a unit.
func seconds(o *argument.Option) (time.Duration, error) {
	if n, err := o.Number("timeout", 0, uint64(measure.MaxDuration/time.Second)); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	return o.Duration("timeout", 0, measure.MaxDuration)
}

// The study has two forms of each benchmark, told apart by a prefix: one of package testing, on one
const (
	ofTesting = "Benchmark"
	ofLoad    = "TestParallel"
)

// onProcessors returns the entries that a benchmark's name selects. BenchmarkX selects all entries,
// on one processor. TestParallelBenchmarkX selects those on several processors.
func onProcessors(entries []suite.Entry, name string) (kept []suite.Entry) {
	if !strings.HasPrefix(name, ofTesting) && !strings.HasPrefix(name, ofLoad) {
		return entries
	}
	for _, e := range entries {
		e.Flags = slices.Clone(e.Flags)
		i := slices.IndexFunc(e.Flags, func(f suite.Flag) bool { return f.Name == jobs.ProcessorsAxis().Flag })
		switch {
		case strings.HasPrefix(name, ofTesting):
			e.Flags[i].Values = []yamlfile.Word{{Text: "1", Line: e.Flags[i].Line}}
		case len(e.Flags[i].Values) == 1:
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// benchName returns the workload that the study calls Sender, BenchmarkSender or
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
	plain := strings.TrimPrefix(strings.TrimPrefix(name, ofLoad), ofTesting)
	if !slices.Contains(names, plain) {
		return nil, &argument.ValueError{Field: "benchName", Value: name, Near: argument.Near(name, names), Accepted: strings.Join(names, ", ")}
	}
	return []string{plain}, nil
}

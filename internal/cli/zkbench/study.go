package zkbench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/circuits"
	"github.com/zkbench/zkbench/internal/study/sve"
	"github.com/zkbench/zkbench/internal/study/token"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/internal/view/outdir"
	"github.com/zkbench/zkbench/internal/view/plot"
	"github.com/zkbench/zkbench/internal/workload"
)

// studies returns the published studies that can be reproduced.
func studies() []study.Study {
	return append(append([]study.Study{token.Study()}, circuits.Studies()...), sve.Study())
}

// studyDefs returns the workloads that only studies have.
func studyDefs() (defs []workload.Def) {
	for _, s := range studies() {
		defs = append(defs, s.Defs...)
	}
	return defs
}

// studyCommand returns the command study.
func studyCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "study name",
		Short: "Reproduce a published study and write its report",
		Args:  cobra.ArbitraryArgs,
		RunE:  cli.ACommand,
	}
	for _, s := range studies() {
		one := studyOf(stdout, stderr, &s, slices.Concat(defs, s.Defs))
		if s.Name == sve.Name {
			one.AddCommand(sveModel(stdout))
		}
		cmd.AddCommand(one)
	}
	return cmd
}

const (
	acceptedStudy  = "the path of a directory without records"
	acceptedFrom   = "the directory of a study that was measured"
	acceptedResume = "the directory of a study that was begun"
	// portableProgram is zkbench built with the tag purego.
	portableProgram = "zkbench-purego"
)

// studyOf returns the command of one study.
func studyOf(stdout, stderr io.Writer, s *study.Study, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{Use: s.Name, Short: s.Short, Long: studyHelp(s), Args: cli.NoArguments}
	flags := cmd.Flags()
	parts := strings.Join(s.PartNames(), ", ")
	out := argument.Define(flags, "out", argument.KindFile, "study-"+s.Name, acceptedStudy, "directory for records, page and charts: "+acceptedStudy)
	from := argument.Define(flags, "from", argument.KindFile, "", acceptedFrom, "write page and charts again from the records in this directory; measure nothing")
	only := argument.Define(flags, "only", argument.KindList, strings.Join(s.PartNames(), ","), parts, "parts to measure: "+parts)
	rounds := argument.Define(flags, "rounds", argument.KindNumber, strconv.Itoa(s.Runs), "1 to 100", "rounds of "+strings.Join(s.Rounds, ", ")+": 1 to 100")
	resume, purego := &argument.Option{}, &argument.Option{}
	if s.Resumes {
		resume = argument.Define(flags, "resume", argument.KindFile, "", acceptedResume, "continue the study that was begun in this directory")
	}
	if slices.Contains(s.PartNames(), study.Purego) {
		purego = argument.Define(flags, "purego", argument.KindFile, "", "the path of a program", "program for the part "+study.Purego+" (default "+portableProgram+" beside this one)")
	}
	quick := flags.Bool("quick", false, "few cases and short windows, one round")
	again := cli.AgainFlag(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := alone(flags, "from", "out", "resume", "only", "rounds", "purego", "quick", cli.AgainIfDisturbed); err != nil {
			return err
		}
		if err := alone(flags, "resume", "out", "only", "rounds", "quick", cli.AgainIfDisturbed); err != nil {
			return err
		}
		if from.Given {
			recs, err := s.Read("from", from.Text)
			if err != nil {
				return err
			}
			return s.Write(stdout, from.Text, recs)
		}
		self, err := os.Executable()
		if err != nil {
			return &cli.ExitError{Code: cli.ExitFailed, Text: err.Error()}
		}
		portable := portableBeside(self)
		if purego.Given {
			portable = purego.Text
		}
		digest, _, missing := subprocess.Digest(portable)
		var session *suite.Session
		if resume.Given {
			session, err = s.Resume(resume.Text, digest)
		} else {
			o := study.Options{Workers: runtime.GOMAXPROCS(0), Portable: digest, Quick: *quick, Again: *again}
			typed := strings.Split(only.Text, ",")
			for _, part := range typed {
				if !slices.Contains(s.PartNames(), part) {
					return only.Refuse("only", part)
				}
			}
			o.Parts = slices.DeleteFunc(s.PartNames(), func(part string) bool { return !slices.Contains(typed, part) })
			n, wrong := rounds.Number("rounds", 1, 100)
			if wrong != nil {
				return wrong
			}
			if o.Rounds = int(n); *quick && !rounds.Given {
				o.Rounds = 1
			}
			if i := slices.Index(o.Parts, study.Purego); i >= 0 && missing != nil {
				if purego.Given || only.Given {
					return fmt.Errorf("purego: %w; make portable builds it", missing)
				}
				o.Parts = slices.Delete(o.Parts, i, i+1)
				fmt.Fprintf(stdout, "not measured: the part %s: there is no %s beside this program; accepted: --purego PATH\n", study.Purego, portableProgram)
			}
			session, err = s.Begin(out.Text, defs, o, stdout)
		}
		if err != nil {
			return err
		}
		measured := func(ctx context.Context, c *suite.Case) (*record.Record, error) {
			path := self
			if study.Portable(c) {
				path = portable
			}
			return measure.Program{Path: path, Args: []string{cli.ExecCase}}.Run(ctx, c.Job), nil
		}
		return measureStudy(cmd, s, session, measured, stdout, stderr)
	}
	return cmd
}

// alone returns an error if the flag was given together with one of the others.
func alone(flags *pflag.FlagSet, name string, others ...string) error {
	if i := slices.IndexFunc(others, flags.Changed); i >= 0 && flags.Changed(name) {
		return &argument.ValueError{Field: "flag beside --" + name, Value: "--" + others[i], Accepted: "none"}
	}
	return nil
}

// measureStudy measures what a session of the study has not measured yet.
func measureStudy(cmd *cobra.Command, s *study.Study, session *suite.Session, measured func(context.Context, *suite.Case) (*record.Record, error), stdout, stderr io.Writer) error {
	again := ""
	if s.Resumes {
		again = cmd.CommandPath()
	}
	return cli.SessionError(s.Measure(cmd.Context(), session, measured, again, stdout, stderr))
}

// portableBeside returns the path of the program without assembly that is built beside the one at
// path.
func portableBeside(path string) string {
	return filepath.Join(filepath.Dir(path), portableProgram+filepath.Ext(path))
}

// studyHelp describes a study's parts and the files that it writes.
func studyHelp(s *study.Study) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nEach case runs in a process of its own. Parts:\n", s.Long)
	width := 0
	for _, p := range s.Parts {
		width = max(width, len(p.Name))
	}
	for _, p := range s.Parts {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, p.Name, p.About)
	}
	fmt.Fprintf(&b, "The records are written to %s as they come, and the page to %s, with its charts beside it.", outdir.RecordsFile, s.File())
	return b.String()
}

// sveModel returns the command for the what-if model of the study of SVE, with its parameters as
// flags.
func sveModel(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "model", Args: cli.NoArguments,
		Short: "What if: time, power and cost of a processor with another clock and wider vectors",
		Long: `The model of section 5 of OKX's study of ARM SVE. A processor takes --time at --clock with
vectors of --width bits. At another clock and width, the time shrinks in proportion to the faster
clock and the smaller number of instructions. The dynamic part of its power grows with its speed.
The cost follows from two shares: the processor's in a server's power, and energy's in the cost
of ownership.

The defaults are the study's Graviton4, in units of its x86 processors with AVX-512, and the
instructions of our own kernel. The three shares are assumptions.`,
	}
	f := sve.NewWhatIfFlags(cmd.Flags())
	cmd.RunE = func(*cobra.Command, []string) error {
		w, err := f.Parse()
		if err != nil {
			return err
		}
		if f.Plot.Given {
			var image bytes.Buffer
			if err := plot.Write(&image, plot.SVG, w.Figure()); err != nil {
				return err
			}
			if err := atomicfile.Write(f.Plot.Text, image.Bytes()); err != nil {
				return fmt.Errorf("plot: %w", err)
			}
		}
		_, err = io.WriteString(stdout, w.Table().String())
		return err
	}
	return cmd
}

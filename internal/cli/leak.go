package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/record"
)

// leakDuration is how long each case is measured by default.
const leakDuration = 30 * time.Second

func leakCommand(p *Program, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leak workload ...",
		Short: "Test whether an operation's time depends on its secrets",
		Long: "Test whether an operation's time depends on its secrets. The operation is timed with one fixed\n" +
			"witness and with random ones, in random order; the times are compared by Welch's t-test, cropped\n" +
			"as dudect does. The exit code is 1 if |t| is above 4.5 in a case.",
		Args: cobra.ArbitraryArgs,
	}
	flags, defs := cmd.Flags(), p.Defs()
	axes := jobs.DefineAxes(flags, defs)
	duration := argument.Define(flags, "duration", argument.KindTime, leakDuration.String(), fmt.Sprintf("a time above 0s up to %v, for example 5m", measure.MaxDuration), "measure each case for this time, or longer if its test needs more samples")
	timeout := argument.Define(flags, "timeout", argument.KindTime, "0s", "a time from 0s up to "+measure.MaxDuration.String()+", for example 10m", "stop a case after this time, even if it needs more samples")
	timeout.Default = "three times the duration plus 3m"
	count := argument.Define(flags, "count", argument.KindNumber, "", fmt.Sprintf("1 to %d", measure.MaxCount), "stop a case after this many operations")
	seed := argument.Define(flags, "seed", argument.KindNumber, fmt.Sprint(measure.DefaultSeed), "0 to 2^64-1", "seed of witnesses and their order")
	out := &argument.Option{}
	json := argument.Define(flags, "json", argument.KindFile, "", "the path of a file, which is overwritten", "write records as JSON lines to this file (overwritten)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return &argument.ValueError{Field: "workload", Value: "", Accepted: "one or more of those that list names"}
		}
		s := measure.DefaultSettings(1, 0)
		var err error
		if s.Duration, err = duration.Duration("duration", 1, measure.MaxDuration); err != nil {
			return err
		}
		if count.Given {
			if s.Count, err = count.Number("count", 1, measure.MaxCount); err != nil {
				return err
			}
		}
		if s.Seed, err = seed.Number("seed", 0, math.MaxUint64); err != nil {
			return err
		}
		limit, err := timeout.Duration("timeout", 0, measure.MaxDuration)
		if err != nil {
			return err
		}
		all, err := jobs.SmallPlans(defs, args, jobs.TypedAxes(axes))
		if err != nil {
			return err
		}
		r, err := newReporter(stdout, out, json)
		if err != nil {
			return err
		}
		defer r.close()
		var planned []measure.Job
		for _, p := range all {
			for _, c := range p.Cases {
				planned = append(planned, measure.Job{Workload: p.Def.Name, Spec: p.Def.Spec, Case: c, Settings: s, Deadline: cmp.Or(limit, measure.Deadline(s)), Leak: true})
			}
		}
		leaks := 0
		err = measureEach(cmd.Context(), stderr, planned, 1, "", func(rec *record.Record) error {
			if err := r.keep(rec); err != nil {
				return err
			}
			if leaky(stdout, rec) {
				leaks++
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := Verdict(cmd.Context(), r.recs, len(planned)); err != nil {
			return err
		}
		if leaks > 0 {
			return &ExitError{Code: ExitFailed, Text: fmt.Sprintf("the time of %d of %d cases depends on the witness", leaks, len(planned))}
		}
		return nil
	}
	return cmd
}

// leaky writes the result of a case's test and reports whether it shows a leak.
func leaky(w io.Writer, rec *record.Record) bool {
	m, ok := rec.Metric(record.LeakT)
	if !ok {
		fmt.Fprintf(w, "%s: %s: %s\n", rec.Name(), rec.Status, rec.Error)
		return false
	}
	leak := math.Abs(m.Value) > measure.LeakThreshold
	answer := "no leak shown: |t| is at most"
	if leak {
		answer = "the time depends on the witness: |t| is above"
	}
	fmt.Fprintf(w, "%s: t = %.2f of %d samples with the fixed witness and %d with random ones, of %d operations in all; %s %g", rec.Name(), m.Value,
		rec.Count(record.CountLeakFixed), rec.Count(record.CountLeakRandom), rec.Count(record.CountDone), answer, measure.LeakThreshold)
	for _, f := range rec.Findings {
		fmt.Fprintf(w, "; %s", f.Text)
	}
	fmt.Fprintln(w)
	return leak
}

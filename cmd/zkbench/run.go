package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/meter"
	"github.com/zkbench/zkbench/internal/proc"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/report"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/workload"
)

// profileRoot is where --profile writes, one directory per case.
const profileRoot = "profiles"

// runFlags are the flags of run as they were typed.
type runFlags struct {
	axes                                                   map[string]*option // by the axis' key
	workers, duration, samples, seed, check, json, profile *option
}

// newRunFlags defines the flags of run: those of the axes, and its own.
func newRunFlags(flags *pflag.FlagSet, defs []workload.Def) *runFlags {
	define := func(name, kind, text, accepted, usage string) *option {
		o := &option{kind: kind, accepted: accepted, text: text}
		flags.Var(o, name, usage)
		return o
	}
	f := &runFlags{axes: make(map[string]*option)}
	for _, def := range defs {
		for _, a := range def.Axes {
			if f.axes[a.Key] == nil {
				f.axes[a.Key] = define(a.Long(), kindList, "", a.Accepted, a.Usage+": "+a.Accepted)
			}
		}
	}
	workers, profiles := workload.WorkersAxis(), strings.Join(meter.ProfileKinds(), ", ")
	f.workers = define("workers", kindList, "", workers.Accepted,
		fmt.Sprintf("numbers of workers: %s (default 1, main job %s)", workers.Accepted, workload.NumCPU))
	f.duration = define("duration", kindTime, "", fmt.Sprintf("a time above 0s up to %v, for example 500ms or 10s", maxDuration),
		fmt.Sprintf("window of each case (default %v, main job %v)", workload.DefaultDuration, mainJobDuration))
	f.samples = define("samples", kindNumber, strconv.Itoa(workload.DefaultSamples), fmt.Sprintf("0 to %d", runner.MaxSamples),
		"inputs built before a case and used in turn; 0: each operation builds its own, timed apart")
	f.seed = define("seed", kindNumber, strconv.Itoa(workload.DefaultSeed), "0 to 2^64-1", "seed of the inputs")
	f.check = define("check", kindText, "all", fmt.Sprintf("all, none, sample=N with N from 1 to %d", workload.KeepAll),
		"results checked after the window: all, none or sample=N")
	f.json = define("json", kindFile, "", "the path of a file, which is written anew",
		"write the records as JSON lines to this file, which is written anew")
	f.profile = define("profile", kindList, "", profiles, "write profiles to "+profileRoot+"/: "+profiles)
	return f
}

func runCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [workload ...]",
		Short: "Measure workloads, each case in a process of its own; without a workload: the main job",
		Long: "Measure workloads, each case in a process of its own. Without a workload: the main job,\n" +
			"transfers of two inputs and two outputs proved and verified with both range proofs.\n" +
			"Lists are comma-separated and take ranges: a..b*k geometric, a..b+k arithmetic.\n" +
			"A flag does not concern a workload that lacks its axis.",
		Args: cobra.ArbitraryArgs,
	}
	f := newRunFlags(cmd.Flags(), defs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		typed := make(map[string]string)
		for key, o := range f.axes {
			if o.given {
				typed[key] = o.text
			}
		}
		var err error
		var all []workload.Plan
		duration, workers := workload.DefaultDuration, "1"
		if len(args) == 0 {
			duration, workers = mainJobDuration, workload.NumCPU
			all, err = mainJob(defs, typed)
		} else {
			all, err = plans(defs, args, typed)
		}
		if err != nil {
			return err
		}
		if f.workers.given {
			workers = f.workers.text
		}
		jobs, err := f.jobs(all, workers, duration)
		if err != nil {
			return err
		}
		return runJobs(cmd.Context(), stdout, stderr, f.json, jobs)
	}
	return cmd
}

// jobs returns the jobs of the plans: every case with every number of workers.
func (f *runFlags) jobs(all []workload.Plan, workers string, duration time.Duration) ([]proc.Job, error) {
	counts, err := workload.WorkersAxis().Parse(workers)
	if err != nil {
		return nil, err
	}
	var settings []workload.Settings
	for _, count := range counts {
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, err
		}
		s, err := f.settings(n, duration)
		if err != nil {
			return nil, err
		}
		settings = append(settings, s)
	}
	var jobs []proc.Job
	for _, plan := range all {
		for _, c := range plan.Cases {
			for _, s := range settings {
				if len(s.Profiles) > 0 {
					s.ProfileDir = workload.ProfileDir(profileRoot, plan.Def, c, s.Workers)
				}
				jobs = append(jobs, proc.Job{Workload: plan.Def.Name, Case: c, Settings: s, Deadline: proc.Deadline(s)})
			}
		}
	}
	return jobs, nil
}

// maxDuration bounds --duration.
const maxDuration = 24 * time.Hour

func (f *runFlags) settings(workers int, duration time.Duration) (workload.Settings, error) {
	var none workload.Settings
	var err error
	if f.duration.given {
		if duration, err = time.ParseDuration(f.duration.text); err != nil || duration <= 0 || duration > maxDuration {
			return none, f.duration.refuse("duration", f.duration.text)
		}
	}
	s := workload.DefaultSettings(workers, duration)
	if s.Samples, err = strconv.Atoi(f.samples.text); err != nil || s.Samples < 0 || s.Samples > runner.MaxSamples {
		return none, f.samples.refuse("samples", f.samples.text)
	}
	if s.Seed, err = strconv.ParseUint(f.seed.text, 10, 64); err != nil {
		return none, f.seed.refuse("seed", f.seed.text)
	}
	if f.profile.given {
		for kind := range strings.SplitSeq(f.profile.text, ",") {
			kind = strings.TrimSpace(kind)
			if !slices.Contains(meter.ProfileKinds(), kind) {
				return none, f.profile.refuse("profile", kind)
			}
			if !slices.Contains(s.Profiles, kind) {
				s.Profiles = append(s.Profiles, kind)
			}
		}
	}
	number, sampled := strings.CutPrefix(f.check.text, "sample=")
	switch {
	case f.check.text == "all":
	case f.check.text == "none":
		s.Keep = 0
	default:
		n, err := strconv.Atoi(number)
		if !sampled || err != nil || n < 1 || n > workload.KeepAll {
			return none, f.check.refuse("check", f.check.text)
		}
		s.Keep = n
	}
	return s, nil
}

// runJobs runs the jobs one after the other and writes the latency picture of
// each as it ends, then the table of all. When ctx ends it stops with what it
// has.
func runJobs(ctx context.Context, stdout, stderr io.Writer, jsonPath *option, jobs []proc.Job) error {
	self, err := os.Executable()
	if err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	command := proc.Command{Path: self, Args: []string{execCase}}

	var records *record.Writer
	if jsonPath.given {
		file, err := os.Create(jsonPath.text)
		if err != nil {
			return fmt.Errorf("json: %w", err)
		}
		defer file.Close()
		records = record.NewWriter(file)
	}

	var recs []*record.Record
	for i, job := range jobs {
		if ctx.Err() != nil {
			break
		}
		done := progress(stderr, i, len(jobs), job)
		rec := command.Run(ctx, job)
		done()
		recs = append(recs, rec)
		if records != nil {
			if err := records.Write(rec); err != nil {
				return &exitError{code: exitFailed, text: err.Error()}
			}
		}
		fmt.Fprintf(stdout, "%s/%s\n", rec.Workload, rec.Case)
		if err := report.Picture(stdout, rec); err != nil {
			return &exitError{code: exitFailed, text: err.Error()}
		}
		fmt.Fprintln(stdout)
	}
	if err := report.Table(stdout, recs); err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	return verdict(ctx, recs, len(jobs))
}

// verdict is the error, if any, that the records make of the run.
func verdict(ctx context.Context, recs []*record.Record, planned int) error {
	failed, partial := 0, 0
	for _, rec := range recs {
		switch rec.Status {
		case record.Failed:
			failed++
		case record.Partial:
			partial++
		}
	}
	switch {
	case failed > 0:
		return &exitError{code: exitFailed, text: fmt.Sprintf("%d of %d cases failed", failed, planned)}
	case ctx.Err() != nil:
		return &exitError{code: exitPartial, text: fmt.Sprintf("interrupted: %d of %d cases measured in full", len(recs)-partial, planned)}
	case partial > 0:
		return &exitError{code: exitPartial, text: fmt.Sprintf("%d of %d cases stopped before their end", partial, planned)}
	}
	return nil
}

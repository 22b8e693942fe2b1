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
	lists                                                  map[string]*string // by the axis' key
	long                                                   map[string]string  // the axis' key to its flag
	workers, duration, samples, profile, json, seed, check string
}

func runCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	f := &runFlags{lists: make(map[string]*string), long: make(map[string]string)}
	cmd := &cobra.Command{
		Use:   "run [workload ...]",
		Short: "Measure workloads, each case in a process of its own; without a workload: the main job",
		Long: "Measure workloads, each case in a process of its own. Without a workload: the main job,\n" +
			"transfers of two inputs and two outputs proved and verified with both range proofs.\n" +
			"Lists are comma-separated and take ranges: a..b*k geometric, a..b+k arithmetic.",
		Args: cobra.ArbitraryArgs,
	}
	flags := cmd.Flags()
	for _, def := range defs {
		for _, a := range def.Axes {
			if f.lists[a.Key] == nil {
				f.lists[a.Key] = flags.String(a.Long(), "", a.Usage+": "+a.Accepted)
				f.long[a.Key] = a.Long()
			}
		}
	}
	flags.StringVar(&f.workers, "workers", "", "numbers of workers: "+workload.WorkersAxis().Accepted+fmt.Sprintf(" (default 1, main job %s)", workload.NumCPU))
	flags.StringVar(&f.duration, "duration", "", fmt.Sprintf("window of each case (default %v, main job %v)", workload.DefaultDuration, mainJobDuration))
	flags.StringVar(&f.samples, "samples", strconv.Itoa(workload.DefaultSamples), "inputs built before a case and used in turn; 0: each operation builds its own, timed apart")
	flags.StringVar(&f.profile, "profile", "", "write profiles to "+profileRoot+"/: "+strings.Join(meter.ProfileKinds(), ", "))
	flags.StringVar(&f.json, "json", "", "write the records to this file as JSON lines")
	flags.StringVar(&f.seed, "seed", strconv.Itoa(workload.DefaultSeed), "seed of the inputs")
	flags.StringVar(&f.check, "check", "all", "results checked after the window: all, none or sample=N")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		typed := make(map[string]string)
		for key, long := range f.long {
			if flags.Changed(long) {
				typed[key] = *f.lists[key]
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
		if !flags.Changed("workers") {
			f.workers = workers
		}
		jobs, err := f.jobs(all, duration)
		if err != nil {
			return err
		}
		return runJobs(cmd.Context(), stdout, stderr, f.json, jobs)
	}
	return cmd
}

// jobs returns the jobs of the plans: every case with every number of workers.
func (f *runFlags) jobs(all []workload.Plan, duration time.Duration) ([]proc.Job, error) {
	counts, err := workload.WorkersAxis().Parse(f.workers)
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
	refuse := func(field, value, accepted string) (workload.Settings, error) {
		return workload.Settings{}, &workload.ValueError{Field: field, Value: value, Accepted: accepted}
	}
	if f.duration != "" {
		var err error
		if duration, err = time.ParseDuration(f.duration); err != nil || duration <= 0 || duration > maxDuration {
			return refuse("duration", f.duration, fmt.Sprintf("a time above 0s up to %v, for example 500ms or 10s", maxDuration))
		}
	}
	s := workload.DefaultSettings(workers, duration)
	var err error
	if s.Samples, err = strconv.Atoi(f.samples); err != nil || s.Samples < 0 || s.Samples > runner.MaxSamples {
		return refuse("samples", f.samples, fmt.Sprintf("0 to %d", runner.MaxSamples))
	}
	if s.Seed, err = strconv.ParseUint(f.seed, 10, 64); err != nil {
		return refuse("seed", f.seed, "0 to 2^64-1")
	}
	if f.profile != "" {
		for kind := range strings.SplitSeq(f.profile, ",") {
			kind = strings.TrimSpace(kind)
			if !slices.Contains(meter.ProfileKinds(), kind) {
				return refuse("profile", kind, strings.Join(meter.ProfileKinds(), ", "))
			}
			s.Profiles = append(s.Profiles, kind)
		}
	}
	number, sampled := strings.CutPrefix(f.check, "sample=")
	switch {
	case f.check == "all":
	case f.check == "none":
		s.Keep = 0
	default:
		n, err := strconv.Atoi(number)
		if !sampled || err != nil || n < 1 || n > workload.KeepAll {
			return refuse("check", f.check, fmt.Sprintf("all, none, sample=N with N from 1 to %d", workload.KeepAll))
		}
		s.Keep = n
	}
	return s, nil
}

// runJobs runs the jobs one after the other and writes the latency picture of
// each as it ends, then the table of all. When ctx ends it stops with what it
// has.
func runJobs(ctx context.Context, stdout, stderr io.Writer, jsonPath string, jobs []proc.Job) error {
	self, err := os.Executable()
	if err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	command := proc.Command{Path: self, Args: []string{execCase}}

	var records *record.Writer
	if jsonPath != "" {
		file, err := os.Create(jsonPath)
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

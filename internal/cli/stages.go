package cli

import (
	"crypto/rand"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/proc"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/report"
	"github.com/zkbench/zkbench/internal/workload"
)

// stagesDeadline is how long one case may take.
const stagesDeadline = 2 * time.Hour

// stagesCommand goes through the stages of circuits, once a process.
func stagesCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	var staged []workload.Def // without the axis of stages, through which all cases go
	var ids []string
	for _, d := range defs {
		if d.Stages != nil {
			d.Axes = slices.DeleteFunc(slices.Clone(d.Axes), func(a workload.Axis) bool { return a.Key == workload.StageKey })
			staged, ids = append(staged, d), append(ids, d.ID())
		}
	}
	cmd := &cobra.Command{
		Use:   "stages workload ...",
		Short: "Go through the stages of circuits: build, reference string, keys, witness, prove, verify; time, memory and sizes of each",
		Long: "Go through the stages of circuits, each case once in a process of its own: time, greatest\n" +
			"memory, allocation and sizes of each stage. Axes that are not named take one small value.\n" +
			"Workloads: " + strings.Join(ids, ", ") + ".",
		Args: cobra.ArbitraryArgs,
	}
	flags := cmd.Flags()
	axes := defineAxes(flags, staged, "")
	processors := cpusAxis()
	cpus := defineOption(flags, processors.Flag, kindList, workload.NumCPU, processors.Accepted, processors.Usage+": "+processors.Accepted)
	processes := defineOption(flags, "processes", kindNumber, "1", fmt.Sprintf("1 to %d", maxProcesses), "processes of each case, one after the other in turn")
	seed := defineOption(flags, "seed", kindNumber, fmt.Sprint(workload.DefaultSeed), "0 to 2^64-1", "seed of assignments and of the reference string")
	out := &option{}
	json := defineOption(flags, "json", kindFile, "", "the path of a file, which is written anew", "write the records as JSON lines to this file, which is written anew")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return &workload.ValueError{Field: "workload", Value: "", Accepted: strings.Join(ids, ", ")}
		}
		all, err := smallPlans(staged, args, typedAxes(axes))
		if err != nil {
			return err
		}
		counts, err := processors.Parse(cpus.text)
		if err != nil {
			return err
		}
		rounds, err := processes.number("processes", 1, maxProcesses)
		if err != nil {
			return err
		}
		s := workload.Settings{}
		if s.Seed, err = seed.number("seed", 0, math.MaxUint64); err != nil {
			return err
		}
		var jobs []proc.Job
		for _, p := range all {
			for _, c := range p.Cases {
				for _, n := range counts {
					procs, err := strconv.Atoi(n)
					if err != nil {
						return err
					}
					jobs = append(jobs, proc.Job{
						Workload: p.Def.Name, Case: c.With(processors.Key, n), Settings: s, Deadline: stagesDeadline, Procs: procs, Stages: true,
					})
				}
			}
		}
		r, err := newReporter(stdout, out, json)
		if err != nil {
			return err
		}
		defer r.close()
		self, err := os.Executable()
		if err != nil {
			return &exitError{code: exitFailed, text: err.Error()}
		}
		command := proc.Command{Path: self, Args: []string{execCase}}
		session := rand.Text()
		for round := range int(rounds) {
			for i, job := range jobs {
				if cmd.Context().Err() != nil {
					break
				}
				done := progress(stderr, round*len(jobs)+i, len(jobs)*int(rounds), job)
				rec := command.Run(cmd.Context(), job)
				done()
				if err := refused(rec); err != nil {
					return err
				}
				rec.Process = record.Process{Session: session, Index: round}
				if err := r.keep(rec); err != nil {
					return &exitError{code: exitFailed, text: err.Error()}
				}
				if err := report.Stages(stdout, rec); err != nil {
					return &exitError{code: exitFailed, text: err.Error()}
				}
			}
		}
		return verdict(cmd.Context(), r.recs, len(jobs)*int(rounds))
	}
	return cmd
}

// cpusAxis is the number of processors that a case may use.
func cpusAxis() workload.Axis {
	a := workload.WorkersAxis()
	a.Name, a.Key, a.Flag, a.Usage = "processors", "cpus", "cpus", "numbers of processors"
	return a
}

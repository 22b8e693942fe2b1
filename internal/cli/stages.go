package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/report"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// stagesDeadline is how long one case may take.
const stagesDeadline = 2 * time.Hour

// stagesCommand goes through the stages of circuits, once a process.
func stagesCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stages workload ...",
		Short: "Go through the stages of circuits: build, reference string, keys, witness, prove, verify; time, memory and sizes of each",
		Args:  cobra.ArbitraryArgs,
	}
	f := newStagesFlags(cmd.Flags(), defs)
	cmd.Long = "Go through the stages of circuits, each case once in a process of its own: time, greatest\n" +
		"memory, allocation and sizes of each stage. Axes that are not named take one small value.\n" +
		"Workloads: " + f.ids + "."
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		jobs, rounds, err := f.plan(args)
		if err != nil {
			return err
		}
		r, err := newReporter(stdout, &option{}, f.json)
		if err != nil {
			return err
		}
		defer r.close()
		self, err := os.Executable()
		if err != nil {
			return &exitError{code: exitFailed, text: err.Error()}
		}
		command := measure.Program{Path: self, Args: []string{execCase}}
		session := rand.Text()
		for round := range rounds {
			for i, job := range jobs {
				if cmd.Context().Err() != nil {
					break
				}
				done := progress(stderr, round*len(jobs)+i, len(jobs)*rounds, job)
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
		return verdict(cmd.Context(), r.recs, len(jobs)*rounds)
	}
	return cmd
}

// stagesFlags are the flags of stages as they were typed.
type stagesFlags struct {
	staged                      []workload.Def // without the axis of stages, through which all cases go
	ids                         string         // of staged
	axes                        map[string]*option
	cpus, processes, seed, json *option
}

// newStagesFlags defines the flags of stages.
func newStagesFlags(flags *pflag.FlagSet, defs []workload.Def) *stagesFlags {
	f := &stagesFlags{}
	var ids []string
	for _, d := range defs {
		if d.Stages != nil {
			d.Axes = slices.DeleteFunc(slices.Clone(d.Axes), func(a workload.Axis) bool { return a.Key == workload.StageKey })
			f.staged, ids = append(f.staged, d), append(ids, d.ID())
		}
	}
	f.ids = strings.Join(ids, ", ")
	f.axes = defineAxes(flags, f.staged, "")
	processors := cpusAxis()
	f.cpus = defineOption(flags, processors.Flag, kindList, measure.NumCPU, processors.Accepted, processors.Usage+": "+processors.Accepted)
	f.processes = defineOption(flags, "processes", kindNumber, "1", fmt.Sprintf("1 to %d", maxProcesses), "processes of each case, one after the other in turn")
	f.seed = defineOption(flags, "seed", kindNumber, fmt.Sprint(measure.DefaultSeed), "0 to 2^64-1", "seed of assignments and of the reference string")
	f.json = defineOption(flags, "json", kindFile, "", "the path of a file, which is written anew", "write the records as JSON lines to this file, which is written anew")
	return f
}

// plan returns the cases of the named workloads, and how many processes each has.
func (f *stagesFlags) plan(args []string) (jobs []measure.Job, rounds int, err error) {
	if len(args) == 0 {
		return nil, 0, &usage.ValueError{Field: "workload", Value: "", Accepted: f.ids}
	}
	all, err := smallPlans(f.staged, args, typedAxes(f.axes))
	if err != nil {
		return nil, 0, err
	}
	counts, err := parseProcessors(f.cpus.text)
	if err != nil {
		return nil, 0, err
	}
	processes, err := f.processes.number("processes", 1, maxProcesses)
	if err != nil {
		return nil, 0, err
	}
	s := measure.Settings{}
	if s.Seed, err = f.seed.number("seed", 0, math.MaxUint64); err != nil {
		return nil, 0, err
	}
	for _, p := range all {
		for _, c := range p.Cases {
			for _, n := range counts {
				jobs = append(jobs, measure.Job{
					Workload: p.Def.Name, Case: c.With(cpusAxis().Key, strconv.Itoa(n)), Settings: s, Deadline: stagesDeadline, Procs: n, Stages: true,
				})
			}
		}
	}
	return jobs, int(processes), nil
}

// cpusAxis is the number of processors that a case may use.
func cpusAxis() workload.Axis {
	a := measure.WorkersAxis()
	a.Name, a.Key, a.Flag, a.Usage = "processors", "cpus", "cpus", "numbers of processors"
	numbers := a.Parse
	a.Parse = func(list string) ([]string, error) {
		values, err := numbers(list)
		if wrong, ok := errors.AsType[*usage.ValueError](err); ok {
			wrong.Field = a.Flag
		}
		return values, err
	}
	return a
}

// parseProcessors reads a list of numbers of processors.
func parseProcessors(list string) (counts []int, err error) {
	values, err := cpusAxis().Parse(list)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		n, err := strconv.Atoi(v)
		if err != nil {
			return nil, err
		}
		counts = append(counts, n)
	}
	return counts, nil
}

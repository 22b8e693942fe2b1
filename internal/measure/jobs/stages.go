package jobs

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// stagesDeadline is how long one case may take.
const stagesDeadline = 2 * time.Hour

// StagesFlags are the flags of the stages command, as the user typed them.
type StagesFlags struct {
	staged                      []workload.Def // without the axis of stages, since every case runs all stages
	IDs                         string         // of staged
	axes                        map[string]*argument.Option
	settings                    measure.Typed
	cpus, processes, seed, JSON *argument.Option
	predict                     *argument.Option
}

// NewStagesFlags adds the flags of the stages command to a flag set. A command line can name a
// workload in defs only if the workload has stages.
func NewStagesFlags(flags *pflag.FlagSet, defs []workload.Def) *StagesFlags {
	f := &StagesFlags{settings: make(measure.Typed)}
	for _, d := range defs {
		if d.Stages != nil {
			d.Axes = slices.DeleteFunc(slices.Clone(d.Axes), func(a workload.Axis) bool { return a.Key == record.StageKey })
			f.staged = append(f.staged, d)
		}
	}
	f.IDs = workload.IDs(f.staged)
	f.axes = DefineAxes(flags, f.staged)
	processors := ProcessorsAxis()
	f.cpus = argument.Define(flags, processors.Flag, argument.KindList, measure.NumCPU, processors.Accepted, processors.Usage+": "+processors.Accepted)
	f.predict = definePredict(func(name, kind, text, accepted, help string) *argument.Option {
		return argument.Define(flags, name, kind, text, accepted, help)
	})
	f.processes = argument.Define(flags, "processes", argument.KindNumber, "1", fmt.Sprintf("1 to %d", MaxProcesses), "run each case in this many processes, interleaved with those of other cases")
	f.seed = argument.Define(flags, "seed", argument.KindNumber, fmt.Sprint(measure.DefaultSeed), "0 to 2^64-1", "seed of assignments and of the reference string")
	f.settings.Define(func(o *argument.Option, name, help string) { flags.Var(o, name, help) }, "srs", "srs-hash")
	f.JSON = argument.Define(flags, "json", argument.KindFile, "", "the path of a file, which is overwritten", "write records as JSON lines to this file (overwritten)")
	return f
}

// Plan makes a plan from the parsed flags and from args, the command's arguments, which are names
// of workloads.
func (f *StagesFlags) Plan(args []string) (*Plan, error) {
	if len(args) == 0 {
		return nil, &argument.ValueError{Field: "workload", Value: "", Accepted: f.IDs}
	}
	all, err := SmallPlans(f.staged, args, TypedAxes(f.axes))
	if err != nil {
		return nil, err
	}
	if err := checkSRS(f.settings, all); err != nil {
		return nil, err
	}
	if f.predict.Given {
		if err := refusePredict(map[string]*argument.Option{"cpus": f.cpus, "processes": f.processes}); err != nil {
			return nil, err
		}
	}
	counts, err := ParseProcessors(f.cpus.Text)
	if err != nil {
		return nil, err
	}
	processes, err := f.processes.Number("processes", 1, MaxProcesses)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Processes: int(processes)}
	s := measure.Settings{SRS: f.settings["srs"].Text, SRSHash: f.settings["srs-hash"].Text}
	if s.Seed, err = f.seed.Number("seed", 0, math.MaxUint64); err != nil {
		return nil, err
	}
	for _, p := range all {
		for _, c := range p.Cases {
			for _, n := range counts {
				staged := c
				if o := f.axes[record.ExecutorKey]; n > 1 && o != nil && !o.Given {
					staged = onAll(p.Def, c)
				}
				plan.Jobs = append(plan.Jobs, measure.Job{
					Workload: p.Def.Name, Spec: p.Def.Spec, Case: staged.With(ProcessorsAxis().Key, strconv.Itoa(n)), Settings: s, Deadline: stagesDeadline, Procs: n, Stages: true,
				})
			}
		}
	}
	if f.predict.Given {
		if plan.Jobs, err = predictions(plan.Jobs, f.predict); err != nil {
			return nil, err
		}
		plan.Predicted = true
	}
	return plan, nil
}

// onAll returns the case c with the executor that uses all processors, if the workload has it.
func onAll(def workload.Def, c workload.Case) workload.Case {
	if a, ok := def.Axis(record.ExecutorKey); ok && slices.Contains(a.Names, record.Pool) {
		return c.With(record.ExecutorKey, record.Pool)
	}
	return c
}

// checkSRS returns an error if the file of --srs cannot be opened or no case would read it, or if
// --srs-hash is not a hash or has no file. The cases check the file's content, because they know
// which size they need.
func checkSRS(typed measure.Typed, plans []workload.Plan) error {
	o, hash := typed["srs"], typed["srs-hash"]
	switch {
	case hash.Given && (!o.Given || !measure.IsHash(hash.Text)):
		return hash.Refuse("srs-hash", hash.Text)
	case !o.Given:
		return nil
	}
	used := false
	for _, p := range plans {
		for _, c := range p.Cases {
			used = used || p.Def.SRS != nil && p.Def.SRS(c)
		}
	}
	if !used {
		return &argument.ValueError{Field: "srs", Value: o.Text, Accepted: "together with cases that have a KZG reference string: circuits with --system plonk, msm"}
	}
	file, err := os.Open(o.Text)
	if err != nil {
		return fmt.Errorf("srs: %w; accepted: %s", err, o.Accepted)
	}
	return file.Close()
}

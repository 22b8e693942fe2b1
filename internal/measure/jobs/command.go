package jobs

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// The names of the commands whose jobs a Planner makes.
const (
	CommandRun    = "run"
	CommandStages = "stages"
)

// Planner adds the flags of a command to a flag set. The parameter command is CommandRun or
// CommandStages. Planner returns a function that may be called after the flags are parsed. That
// function makes the plan, with the jobs, for the workloads with the given names.
func Planner(command string, flags *pflag.FlagSet, defs []workload.Def) func(names []string) (*Plan, error) {
	if command == CommandStages {
		return NewStagesFlags(flags, defs).Plan
	}
	return NewRunFlags(flags, defs, nil).Plan
}

// Command returns a command line, in the syntax of a POSIX shell, that measures the record's case
// once more with the record's settings and seed. The parameter program is the command's first word,
// the name of a program that has the workloads defs. Command returns an empty string if defs does
// not contain the record's workload with all of the record's axes, or if the record's settings
// cannot be read. In these cases any command would measure something else.
func Command(program string, defs []workload.Def, r *record.Record) string {
	s, err := settings(r)
	if err != nil || s.Workers == 0 && !r.Staged() { // a load without settings
		return ""
	}
	def, err := definition(defs, r)
	if err != nil {
		return ""
	}
	leak := slices.ContainsFunc(r.Counters, func(c record.Counter) bool { return c.Name == record.CountLeakFixed })
	command, flags := CommandRun, s.Flags()
	switch {
	case r.Staged():
		command, flags = CommandStages, keepOnly(flags, "srs", "srs-hash", "seed")
	case leak:
		command, flags = "leak", keepOnly(flags, "duration", "count", "seed")
	}
	words := []string{program}
	if def.File != "" {
		words = append(words, "exec", argument.Quote(def.File))
	}
	words = append(words, command)
	if !strings.EqualFold(def.ID(), workload.MixKey) { // the axis of a mix names its workloads
		words = append(words, def.ID())
	}
	add := func(flag, value string) { words = append(words, "--"+flag, argument.Quote(value)) }
	for _, x := range r.Axes {
		axis, ok := def.Axis(x.Key)
		switch {
		case slices.Contains(measure.Coordinates(), x.Key) || x.Key == ProcessorsAxis().Key: // settings
		case x.Key == workload.MixKey:
			add(workload.MixKey, strings.ReplaceAll(x.Value, ":", "="))
		case ok:
			add(axis.Long(), x.Value)
		default:
			return ""
		}
	}
	if _, ok := r.Axes.Get(ProcessorsAxis().Key); !leak && (ok || r.Processors() != r.Env.Cores) {
		add(ProcessorsAxis().Flag, strconv.Itoa(r.Processors()))
	}
	for _, f := range flags {
		add(f.Name, f.Value)
	}
	return strings.Join(words, " ")
}

// definition returns the record's workload. It may be a mix.
func definition(defs []workload.Def, r *record.Record) (workload.Def, error) {
	def, err := workload.Find(defs, r.Workload)
	mix, mixed := r.Axes.Get(workload.MixKey)
	if err == nil || !mixed {
		return def, err
	}
	if def, err = workload.Mix(defs, strings.ReplaceAll(mix, ":", "=")); err == nil && def.Name != r.Workload {
		err = &argument.ValueError{Field: "workload", Value: r.Workload, Accepted: def.Name}
	}
	return def, err
}

// keepOnly returns the flags with the given names.
func keepOnly(flags []measure.Flag, names ...string) []measure.Flag {
	return slices.DeleteFunc(flags, func(f measure.Flag) bool { return !slices.Contains(names, f.Name) })
}

// settings reads how the record was measured. A record of stages has only its seed.
func settings(r *record.Record) (s measure.Settings, err error) {
	if len(r.Settings) > 0 {
		err = json.Unmarshal(r.Settings, &s)
	}
	s.Seed = r.Seed
	return s, err
}

// Words describes a record in words for readers. Each element of the result is a label and its
// value. The labels are the properties of what was measured, the seed, and the settings.
func Words(r *record.Record) [][2]string {
	all := append(r.Properties.Words(), [2]string{"Seed", strconv.FormatUint(r.Seed, 10)})
	s, err := settings(r)
	switch {
	case err != nil:
		return append(all, [2]string{"Settings", "cannot be read: " + err.Error()})
	case r.Staged() && s.SRS == "":
		return all
	case r.Staged():
		return append(all, [2]string{"Reference string", s.SRS})
	}
	return append(all, s.Words()...)
}

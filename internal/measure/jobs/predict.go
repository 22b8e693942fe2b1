package jobs

import (
	"maps"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
)

// predictFlag is the flag that asks for predicted times.
const predictFlag = "predict-cpus"

// definePredict defines the flag of predicted times with the function define.
func definePredict(define func(name, kind, text, accepted, help string) *argument.Option) *argument.Option {
	return define(predictFlag, argument.KindList, "", ProcessorsAxis().Accepted, "compute times for these numbers of processors from tasks recorded on one")
}

// refusePredict returns an error if one of the flags was given, none of which goes with predicted times.
func refusePredict(flags map[string]*argument.Option) error {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if o := flags[name]; o.Given {
			return &argument.ValueError{Field: name, Value: o.Text, Accepted: "not with --" + predictFlag + ", which records one operation at a time"}
		}
	}
	return nil
}

// predictions returns the jobs that predict what the given jobs measure: one for each case, whatever its
// executor, and number of processors that the flag lists.
func predictions(all []measure.Job, flag *argument.Option) (jobs []measure.Job, err error) {
	counts, err := ParseProcessors(flag.Text)
	if err != nil {
		return nil, flag.Refuse(predictFlag, flag.Text)
	}
	seen := make(map[string]bool)
	for _, job := range all {
		base := job.Case.Without(record.CPUsKey).With(record.ExecutorKey, record.Predicted)
		if name := job.Workload + "/" + base.String(); seen[name] {
			continue
		} else {
			seen[name] = true
		}
		for _, n := range counts {
			one := job
			one.Case, one.Predict, one.Procs = base.With(record.CPUsKey, strconv.Itoa(n)), n, 0
			jobs = append(jobs, one)
		}
	}
	return jobs, nil
}

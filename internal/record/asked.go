package record

import (
	"encoding/json"
	"strconv"
)

// The axes of a case that was given a number of processors, of workers.
const (
	cpusKey    = "cpus"
	workersKey = "workers"
)

// Processors is the number of processors that the case could use.
func (r *Record) Processors() int {
	if text, ok := r.Axes.Get(cpusKey); ok {
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
	}
	return r.Env.GOMAXPROCS
}

// Coordinates returns what tells the case from others beside its number of processors: its
// other axes, and the side of a comparison.
func (r *Record) Coordinates() Axes {
	axes := r.Axes.Without(cpusKey)
	if r.Process.Side != "" {
		axes = append(axes, Axis{"side", r.Process.Side})
	}
	return axes
}

// Staged tells a record of stages, which has no settings with workers, from one of a load.
func (r *Record) Staged() bool {
	var s struct {
		Workers int `json:"workers"`
	}
	if len(r.Settings) > 0 && json.Unmarshal(r.Settings, &s) != nil {
		return false
	}
	_, loaded := r.Metric(Throughput)
	return s.Workers == 0 && !loaded
}

package bench

import (
	"errors"
	"fmt"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Recorder records the stages of one case: how long each took and how much memory it needed.
type Recorder struct {
	stages *stage.Recorder
	staged workload.Staged
	wrong  error
}

// Start begins a stage. The returned function ends the stage and records the sizes that are passed
// to it. The name of a size must occur only once in a case. A stage that is never ended is not
// recorded. Stages may nest. The times of stages with the same name are added up.
func (r *Recorder) Start(name string) (end func(sizes ...Metric)) {
	if err := record.CheckStage(name); err != nil {
		r.wrong = errors.Join(r.wrong, err)
		return func(...Metric) {}
	}
	running := r.stages.Start(name)
	return func(sizes ...Metric) {
		figures, err := reported(r.staged.Metrics, sizes)
		if err != nil {
			r.wrong = errors.Join(r.wrong, fmt.Errorf("stage %s: %w", name, err))
		}
		running.End(figures...)
		r.staged.Metrics = append(r.staged.Metrics, figures...)
	}
}

// Note records a remark that readers of the figures need. The parameter text is the remark, and
// the parameter name is a short name for it.
func (r *Recorder) Note(name, text string) {
	r.staged.Findings = append(r.staged.Findings, record.Finding{Name: name, Text: text})
}

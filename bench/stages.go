package bench

import (
	"errors"
	"fmt"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Recorder keeps the stages of one case: how long each took, and the memory that it needed.
type Recorder struct {
	stages *stage.Recorder
	staged workload.Staged
	wrong  error
}

// Start begins a stage. The function that it returns ends it, with figures of what it made, each
// of a name that no other figure of the case has; a stage that is never ended is none. Stages may
// nest, and the times of those of one name are added up.
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

// Note adds something that a reader of the figures must know, under a short name.
func (r *Recorder) Note(name, text string) {
	r.staged.Findings = append(r.staged.Findings, record.Finding{Name: name, Text: text})
}

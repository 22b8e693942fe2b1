package measure

import (
	"context"
	"encoding/json"

	"github.com/zkbench/zkbench/internal/env"
	"github.com/zkbench/zkbench/internal/meter"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/stage"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Stages goes once through the stages of a case, with the settings' seed, and
// returns its record: a metric for the time of each stage, and the stages with their
// memory and sizes. What goes wrong is in the record, with the stages that had ended by
// then.
func Stages(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
	rec := record.New()
	rec.Workload, rec.Case, rec.Axes = def.Name, c.String(), c.Axes()
	rec.Env, rec.Seed = env.Read(), s.Seed
	if s.SRS != "" { // the other settings are none of its stages
		rec.Settings, _ = json.Marshal(Settings{SRS: s.SRS})
	}
	if def.Stages == nil {
		conclude(ctx, rec, &usage.ValueError{Field: "workload", Value: def.ID(), Accepted: "one that has stages"})
		return rec
	}
	stages := stage.New()
	staged, err := def.Stages(workload.WithSRS(meter.Phase(ctx, "stages"), s.SRS), c, s.Seed, stages)
	rec.Stages = stages.Stages()
	for _, one := range rec.Stages {
		rec.Metrics = append(rec.Metrics, record.StageTime(one.Name).Metric(one.Time.Seconds()))
	}
	rec.Metrics = append(rec.Metrics, staged.Metrics...)
	rec.Findings = append(rec.Findings, staged.Findings...)
	conclude(ctx, rec, err)
	return rec
}

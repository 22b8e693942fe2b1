package measure

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// idleShare is the share of a case's processors below which its operations are said to leave processors idle.
const idleShare = 0.6

// leastStaged is the least time of all stages whose use of processors says something.
const leastStaged = 10 * time.Millisecond

// noteIdle adds the finding record.IdleProcessors to the record of the case c if the user chose the number of
// processors of the case and the operations used fewer: if one operation at a time runs on one processor, or if less
// than a share of the processors' time was used. In an open loop the rate decides how many are used, so there is no
// such finding.
func noteIdle(rec *record.Record, c workload.Case) {
	if c.Get(record.CPUsKey) == "" || c.Get(record.RateKey) != "" || rec.Status == record.Failed {
		return
	}
	given, err := c.Int(record.CPUsKey)
	used, ok := rec.Metric(record.Processors)
	serial := c.Get(record.ExecutorKey) == record.Serial && (c.Get(record.WorkersKey) == "" || c.Get(record.WorkersKey) == "1")
	if err != nil || !ok || given < 2 || !serial && used.Value >= idleShare*float64(given) || tooShort(rec) {
		return
	}
	text := fmt.Sprintf("%.1f of %d processors were used", used.Value, given)
	if serial {
		text += ": the executor serial runs an operation on one processor, the executor pool on all"
	}
	rec.Findings = append(rec.Findings, record.Finding{Name: record.IdleProcessors, Text: text})
}

// tooShort reports whether the record is one of stages that took less than leastStaged together.
func tooShort(rec *record.Record) bool {
	var all time.Duration
	for _, s := range rec.Stages {
		if !strings.Contains(s.Name, "/") { // others are parts of these
			all += s.Time
		}
	}
	return len(rec.Histograms) == 0 && len(rec.Stages) > 0 && all < leastStaged
}

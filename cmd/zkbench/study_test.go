package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/study"
)

// TestStudyEnds: whatever ends a study, or a case of it, what was measured is among
// the records and on the page.
func TestStudyEnds(t *testing.T) {
	for name, test := range map[string]struct {
		status record.Status // of the third case
		stop   bool          // after it
		code   int
		notes  []string
		rest   bool // the other cases are measured
	}{
		"failed":      {record.Failed, false, exitFailed, []string{"(panurus, round 1) failed: on purpose"}, true},
		"partial":     {record.Partial, false, exitPartial, []string{"(panurus, round 1) partial: on purpose"}, true},
		"interrupted": {record.Partial, true, exitPartial, []string{"(panurus, round 1) partial: on purpose", "3 processes"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			n := 0
			run := func(_ context.Context, job study.Job) *record.Record {
				rec := job.Settings.New(job.Workload, job.Case)
				rec.Metrics = []record.Metric{{Name: record.LatencyMean, Unit: "ns", Value: 1e6, Kind: record.Timed}}
				if n++; n == 3 {
					rec.Status, rec.Error = test.status, "on purpose"
					if test.stop {
						stop()
					}
				}
				return rec
			}
			dir := t.TempDir()
			var stdout, stderr strings.Builder
			err := runStudy(ctx, &stdout, &stderr, dir, study.Options{Parts: study.Parts(), Rounds: 1, Workers: 1, Quick: true}, fakeDefs(), run)
			if exit, ok := errors.AsType[*exitError](err); !ok || exit.code != test.code {
				t.Errorf("%v, want exit code %d", err, test.code)
			}
			file, err := os.Open(filepath.Join(dir, recordsFile))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			recs, err := record.ReadAll(file)
			if err != nil || len(recs) != n || (n > 3) != test.rest {
				t.Errorf("%d records of %d cases, %v", len(recs), n, err)
			}
			page, err := os.ReadFile(filepath.Join(dir, studyPage))
			if err != nil {
				t.Fatal(err)
			}
			for _, note := range test.notes {
				if !strings.Contains(string(page), note) {
					t.Errorf("no %q on the page:\n%s", note, page)
				}
			}
		})
	}
}

package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// suites writes a folder for each of n days. Each has a session of three processes of a case whose
// throughput falls by a tenth on the day of the step. A suite that is killed on the last day leaves
// a line that is cut off.
func suites(t *testing.T, days, step int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	for day := range days {
		begun := time.Date(2026, 1, 1, 6, 0, 0, 0, time.UTC).AddDate(0, 0, day)
		folder := filepath.Join(dir, begun.Format("benchmark_logs_2006-01-02_15-04-05"))
		must.Do(t, os.Mkdir(folder, 0o777))
		var b strings.Builder
		for i := range 3 {
			rate := 1000 * (1 + 0.02*r.NormFloat64())
			if day >= step {
				rate *= 0.9
			}
			rec := record.New()
			rec.Time, rec.Workload, rec.Process = begun, "Sender", record.Process{Session: folder, Index: i}
			rec.Env.Commit = fmt.Sprintf("%07d", day)
			rec.Metrics = []record.Metric{record.Throughput.Metric(rate)}
			must.Do(t, record.Write(&b, rec))
		}
		if day == days-1 {
			b.WriteString(`{"schema":1,"id":"cut`)
		}
		must.Do(t, os.WriteFile(filepath.Join(folder, "records.jsonl"), []byte(b.String()), 0o666))
	}
	return dir
}

// TestHistoryStep: a fall by a tenth in noise of 2 % is found on its day, and the
// records of a suite that was killed are used.
func TestHistoryStep(t *testing.T) {
	dir := suites(t, 24, 15)
	out, messages, code := command(t, "history", dir, "--steps")
	if code != ExitOK {
		t.Fatalf("exit code %d: %s", code, messages)
	}
	for _, want := range []string{
		"throughput: 1 line, 24 points, 2026-01-01 to 2026-01-24\n1 of 1 have a step; the largest: Sender 2026-01-16, -",
		"worse, p=0.0006", ", since 0000015 (0000014..0000015)\n", "1 line tested at level 0.01: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	golden.Equal(t, "steps", 1, strings.Count(out, "\n2026-01-16 06:00  0000015  "))
	golden.Equal(t, "lines", 5, strings.Count(out, "\n"))
	if strings.Count(messages, "\n") != 1 || !strings.Contains(messages, "line 4, the last one, is cut off; read: 3 records before it\n") {
		t.Errorf("messages: %s", messages)
	}
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/workload/selfcheck"
)

// simulated runs no process: the mean latency follows the planted work to the
// power of feels, with 0.8 % of noise.
func simulated(seed uint64, feels float64) func(context.Context, measure.Job) *record.Record {
	rng := rand.New(rand.NewPCG(seed, 0))
	return func(_ context.Context, job measure.Job) *record.Record {
		work, err := job.Case.Int(selfcheck.AxisKey)
		if err != nil {
			panic(err)
		}
		latency := 2e5 * math.Pow(float64(work)/plainWork, feels) * math.Exp(0.008*rng.NormFloat64())
		rec := record.New()
		rec.Workload, rec.Case = job.Workload, job.Case.String()+"/workers="+strconv.Itoa(job.Settings.Workers)
		rec.Metrics = []record.Metric{
			record.LatencyMean.Metric(latency),
			record.Throughput.Metric(1e9 / latency),
		}
		return rec
	}
}

// TestCheckSelf: the bounds hold for processes that do what they are told, and
// are missed by processes on which planting has no effect, or which favour one
// side.
func TestCheckSelf(t *testing.T) {
	favoured := 0
	for _, test := range []struct {
		name string
		run  func(context.Context, measure.Job) *record.Record
		want []string // of the error; none: no error
	}{
		{"processes=honest", simulated(1, 1), nil},
		{"processes=blind", simulated(1, 0), []string{"planted 3 %: ", "planted 6 %: 0 of 10", "at least 9 needed"}},
		{"processes=favoured", func(ctx context.Context, job measure.Job) *record.Record {
			rec := simulated(uint64(favoured), 1)(ctx, job)
			if favoured++; favoured%3 == 2 { // the second of each block is the new side
				rec.Metrics[0].Value *= 1.1
			}
			return rec
		}, []string{"A/A: 40 of 40 with a false verdict, at most 3 needed"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, messages strings.Builder
			err := checkSelf(t.Context(), &out, &messages, selfCheckTrials(), test.run)
			if (err != nil) != (len(test.want) > 0) {
				t.Fatalf("error %v\n%s", err, &out)
			}
			golden.Contains(t, fmt.Sprint(err), test.want...)
			if err != nil {
				golden.Equal(t, "exit code", exitFailed, codeOf(err))
			}
			golden.Equal(t, "lines of progress", 60, strings.Count(messages.String(), "\n"))
			golden.Contains(t, out.String(), "A/A ", "planted 3 % ", "planted 6 % ", "between processes of one program: standard deviation 0.")
		})
	}
}

func TestCheckSelfEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	run := simulated(1, 1)
	n := 0
	stopping := func(ctx context.Context, job measure.Job) *record.Record {
		if n++; n == 100 {
			cancel()
		}
		return run(ctx, job)
	}
	var out, messages strings.Builder
	err := checkSelf(ctx, &out, &messages, selfCheckTrials(), stopping)
	golden.Equal(t, "error", "interrupted in session 2 of 40 of A/A", fmt.Sprint(err))
	golden.Equal(t, "exit code", exitPartial, codeOf(err))
	failing := func(ctx context.Context, job measure.Job) *record.Record {
		rec := run(ctx, job)
		rec.Status, rec.Error = record.Failed, "broken"
		return rec
	}
	err = checkSelf(t.Context(), &out, &messages, selfCheckTrials(), failing)
	golden.Contains(t, fmt.Sprint(err), "broken")
	golden.Equal(t, "exit code", exitFailed, codeOf(err))
}

// TestSelfCheckChild: the command's own child has the workload, with its check,
// and the listed ones do not.
func TestSelfCheckChild(t *testing.T) {
	for _, work := range []int{plainWork, 1030} {
		job := selfCheckJob(work)
		job.Settings.Duration, job.Settings.Count, job.Settings.Warmup.Time = 0, 20, 0
		input := must.Get(json.Marshal(job))(t)
		cmd := exec.CommandContext(t.Context(), "zkbench", selfCheck, execCase)
		cmd.Stdin = bytes.NewReader(input)
		out := must.Get(cmd.Output())(t)
		recs := must.Get(record.ReadAll(bytes.NewReader(out)))(t)
		if len(recs) != 1 || recs[0].Status != record.OK || recs[0].Count(record.CountChecked) == 0 {
			t.Errorf("work=%d: %s", work, out)
		}
		listed := exec.CommandContext(t.Context(), "zkbench", execCase)
		listed.Stdin = bytes.NewReader(input)
		must.Fail(t, listed.Run(), must.ErrAny, "the workload among the listed ones")
	}
}

package cli

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strconv"
	"testing"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/selfcheck"
)

// TestSelfCheckChild: the command's own child has the workload, with its check,
// and the listed ones do not.
func TestSelfCheckChild(t *testing.T) {
	for _, work := range []int{1000, 1030} {
		c := workload.NewCase(record.Axis{Key: selfcheck.AxisKey, Value: strconv.Itoa(work)})
		job := compare.NewJob(selfcheck.Def().Name, c, 1, 0)
		job.Settings.Duration, job.Settings.Count, job.Settings.Warmup.Time = 0, 20, 0
		input := must.Get(json.Marshal(job))(t)
		cmd := exec.CommandContext(t.Context(), "zkbench", selfCheck, ExecCase)
		cmd.Stdin = bytes.NewReader(input)
		out := must.Get(cmd.Output())(t)
		recs := must.Get(record.ReadAll(bytes.NewReader(out)))(t)
		if len(recs) != 1 || recs[0].Status != record.OK || recs[0].Count(record.CountChecked) == 0 {
			t.Errorf("work=%d: %s", work, out)
		}
		listed := exec.CommandContext(t.Context(), "zkbench", ExecCase)
		listed.Stdin = bytes.NewReader(input)
		must.Fail(t, listed.Run(), must.ErrAny, "the workload among the listed ones")
	}
}

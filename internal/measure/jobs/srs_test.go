package jobs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

func noStages(context.Context, workload.Case, uint64, *stage.Recorder) (workload.Staged, error) {
	return workload.Staged{}, nil
}

// TestSRS: --srs of run and of stages reaches the jobs, and is refused where no case has a
// reference string or the file is not there.
func TestSRS(t *testing.T) {
	system := workload.NameAxis(workload.Axis{Name: "proof system", Key: "system", Flag: "system"}, []string{"plonk", "groth16"}, []string{"plonk"})
	all := []workload.Def{
		{Name: "Gates", Axes: []workload.Axis{system}, Stages: noStages, SRS: func(c workload.Case) bool { return c.Get("system") == "plonk" }},
		{Name: "Other", Axes: []workload.Axis{system}, Stages: noStages},
	}
	file := filepath.Join(t.TempDir(), "powers.ptau")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	hash := strings.Repeat("0f", 64)
	for _, test := range []struct{ args, says string }{
		{"gates --srs " + file, ""},
		{"gates --srs " + file + " --srs-hash " + hash, ""},
		{"gates --srs-hash " + hash, "is not accepted; accepted: the 128 hexadecimal digits of the file's BLAKE2b-512, together with --srs"},
		{"gates --srs " + file + " --srs-hash " + hash[1:], "is not accepted; accepted: the 128 hexadecimal digits"},
		{"gates --srs none", "srs: open none: "},
		{"gates --system groth16 --srs " + file, "is not accepted; accepted: together with cases that have a KZG reference string"},
		{"other --srs " + file, "is not accepted; accepted: together with cases that have a KZG reference string"},
	} {
		for _, name := range []string{jobs.CommandRun, jobs.CommandStages} {
			flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
			plan := jobs.Planner(name, flags, all)
			must.Do(t, flags.Parse(strings.Fields(test.args)))
			planned, err := plan(flags.Args())
			switch {
			case test.says != "":
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s %s: error %v, want ...%s", name, test.args, err, test.says)
				}
			case err != nil || len(planned.Jobs) != 1 || planned.Jobs[0].Settings.SRS != file ||
				(planned.Jobs[0].Settings.SRSHash == hash) != strings.Contains(test.args, "hash"):
				t.Errorf("%s %s: %+v, %v", name, test.args, planned, err)
			}
		}
	}
}

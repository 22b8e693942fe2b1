package measure_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestSettingsNameTheCase: workers, and in an open loop rate and arrivals, end its name.
func TestSettingsNameTheCase(t *testing.T) {
	c := workload.NewCase(record.Axis{Key: "bits", Value: "8"})
	s := measure.DefaultSettings(3, 0)
	golden.Equal(t, "case", "bits=8/workers=3", s.Named(c).String())
	s.Arrivals = &runner.Arrivals{Shape: runner.Ramp, Rates: []float64{50, 200.5}}
	golden.Equal(t, "case", "bits=8/workers=3/rate=50..200.5/arrivals=ramp", s.Named(c).String())
}

// TestSettingsJSON: settings are written as they always were, so that the programs of other
// versions read the jobs that they are given.
func TestSettingsJSON(t *testing.T) {
	s := measure.DefaultSettings(2, 10*time.Second)
	s.Arrivals, s.Queue, s.Count, s.Warmup.Stationary = &runner.Arrivals{Shape: runner.Poisson, Rates: []float64{50}}, 9, 7, true
	s.Grace, s.Check, s.Arena = time.Second, runner.Check{Policy: runner.CheckSample, N: 16}, 1<<20
	s.Profiles, s.ProfileDir = []string{"cpu"}, "profiles"
	const want = `{"workers":2,"arrivals":{"shape":"poisson","rates":[50]},"queue":9,"duration":10000000000,"count":7,` +
		`"warmup":1000000000,"warmup_ops":2,"warmup_stationary":true,"grace":1000000000,"samples":8,` +
		`"check":{"policy":"sample","n":16},"arena":1048576,"seed":1,"profiles":["cpu"],"profile_dir":"profiles"}`
	golden.Equal(t, "settings as JSON", want, string(must.Get(json.Marshal(s))(t)))
	var back measure.Settings
	if err := json.Unmarshal([]byte(want), &back); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%+v (%v)", back, err)
	}
}

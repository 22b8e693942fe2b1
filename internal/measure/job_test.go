package measure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// The test binary is its own child: with this argument first it does what the
// argument says instead of running tests.
const childArg = "proc-test-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == childArg {
		os.Exit(child(os.Args[2]))
	}
	os.Exit(m.Run())
}

func child(what string) int {
	switch what {
	case "chatty": // floods standard output, which others of its children have too
		for range 1 << 12 {
			fmt.Println(strings.Repeat("a log that is no record ", 1<<9))
		}
		other := exec.Command(os.Args[0], childArg, "hang")
		other.Stdout = os.Stdout
		if other.Start() != nil {
			return 1
		}
		defer func() { _ = other.Process.Kill() }()
		fallthrough
	case "serve":
		if err := measure.Serve(context.Background(), os.Stdin, os.Stdout, find, func() { os.Exit(3) }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	case "killed": // as the system does where memory runs out
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {}
	case "old": // a program that knows of no other descriptor
		var before map[string]any
		if json.NewDecoder(os.Stdin).Decode(&before) != nil {
			return 1
		}
		delete(before, "record")
		delete(before, "tethered") // its input ends here
		job, _ := json.Marshal(before)
		if measure.Serve(context.Background(), bytes.NewReader(job), os.Stdout, find, nil) != nil {
			return 2
		}
	case "orphan":
		return orphan()
	case "crash":
		fmt.Fprintln(os.Stderr, "crashed on purpose\nstack")
		return 7
	case "silent":
	case "garbage":
		fmt.Println("garbage")
	case "twice":
		for range 2 {
			if err := record.Write(os.Stdout, record.New()); err != nil {
				return 1
			}
		}
	case "hang":
		time.Sleep(time.Hour) // an interrupt ends it
	}
	return 0
}

func find(job measure.Job) (workload.Def, error) { return workload.Find(defs(), job.Workload) }

func defs() []workload.Def {
	return []workload.Def{{
		Name: "Sleep", Axes: []workload.Axis{workload.BitsAxis()},
		New: func(context.Context, workload.Case, uint64) (workload.Instance, error) { return sleep{}, nil },
	}}
}

// sleep takes as many seconds as its input says, or until it is cancelled.
type sleep struct{}

func (sleep) Input(_ context.Context, seq uint64) (any, error) { return seq, nil }

func (sleep) Run(ctx context.Context, input any) ([]byte, error) {
	if input.(uint64) >= 1<<30 { // before the window
		return nil, nil
	}
	select {
	case <-time.After(time.Duration(input.(uint64)) * time.Second):
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (sleep) Check(context.Context, any, []byte) error         { return nil }
func (sleep) Metrics(context.Context) ([]record.Metric, error) { return nil, nil }
func (sleep) Close() error                                     { return nil }

func job() measure.Job {
	return measure.Job{
		Workload: "Sleep",
		Case:     workload.NewCase(record.Axis{Key: "bits", Value: "8"}),
		Settings: measure.Settings{Config: runner.Config{Workers: 1, Duration: 20 * time.Millisecond, Samples: 1, Seed: 5}},
		Deadline: time.Minute,
	}
}

func command(t *testing.T, what string) measure.Program {
	t.Helper()
	self := must.Get(os.Executable())(t)
	return measure.Program{Path: self, Args: []string{childArg, what}}
}

func TestRun(t *testing.T) {
	long := job()
	long.Settings.Samples = 0 // the second operation takes a second, the third two
	long.Settings.Duration = time.Hour
	long.Deadline = 2 * time.Second
	missing := job()
	missing.Workload = "Nap"
	hang := job()
	hang.Deadline = time.Millisecond
	for _, test := range []struct {
		name   string
		job    measure.Job
		child  string
		status record.Status
		want   string // in the record's error
		done   bool   // something was measured
	}{
		{"child=serve", job(), "serve", record.OK, "", true},
		{"child=chatty", job(), "chatty", record.OK, "", true},
		{"child=old", job(), "old", record.OK, "", true},
		{"child=late", long, "serve", record.Partial, "stopped at its deadline of 2s", true},
		{"child=no workload", missing, "serve", record.Failed, `workload: "Nap" is not accepted; accepted: sleep`, false},
		{"child=crash", job(), "crash", record.Failed, "exit status 7: crashed on purpose", false},
		{"child=killed", job(), "killed", record.Failed, "signal: killed: no message; the system may have killed it because memory ran out", false},
		{"child=silent", job(), "silent", record.Failed, "wrote 0 records", false},
		{"child=garbage", job(), "garbage", record.Failed, "not a record", false},
		{"child=twice", job(), "twice", record.Failed, "wrote 2 records", false},
		{"child=hang", hang, "hang", record.Partial, "killed at its deadline of 1ms", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rec := command(t, test.child).Run(t.Context(), test.job)
			if rec.Status != test.status || !strings.Contains(rec.Error, test.want) {
				t.Errorf("%s: %s; want %s: ...%s", rec.Status, rec.Error, test.status, test.want)
			}
			golden.Equal(t, "something is done", test.done, rec.Count(record.CountDone) > 0)
			if rec.Workload != test.job.Workload || rec.Case != "bits=8/workers=1" || rec.Seed != 5 || rec.Env.Go == "" {
				t.Errorf("the record is of %s/%s, seed %d, env %+v", rec.Workload, rec.Case, rec.Seed, rec.Env)
			}
		})
	}
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	golden.Equal(t, "status", record.Partial, command(t, "serve").Run(ctx, job()).Status)
}

func TestRunWithoutProgram(t *testing.T) {
	rec := measure.Program{Path: "no such program"}.Run(t.Context(), job())
	if rec.Status != record.Failed || !strings.Contains(rec.Error, "no such program") {
		t.Errorf("%s: %s", rec.Status, rec.Error)
	}
}

func TestServeRefuses(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     error
	}{
		{"job=empty", "", zkbench.ErrMalformed},
		{"job=text", "sender", zkbench.ErrMalformed},
		{"job=case", `{"workload":"Sleep","case":[1]}`, zkbench.ErrMalformed},
		{"job=unknown", `{"workload":"Nap","deadline":1}`, zkbench.ErrParams},
		{"job=no deadline", `{"workload":"Sleep"}`, zkbench.ErrParams},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			must.Fail(t, measure.Serve(t.Context(), strings.NewReader(test.in), &out, find, nil), test.want, "job")
			if out.Len() > 0 {
				t.Errorf("output %s", &out)
			}
		})
	}
}

// TestChildEndsWithItsParent: a tethered job ends when standard input does.
func TestChildEndsWithItsParent(t *testing.T) {
	long := job()
	long.Settings.Samples, long.Settings.Duration, long.Tethered = 0, time.Hour, true
	text := must.Get(json.Marshal(long))(t)
	in, parent := io.Pipe()
	go func() {
		_, _ = parent.Write(text)
		_ = parent.Close()
	}()
	var out bytes.Buffer
	must.Do(t, measure.Serve(t.Context(), in, &out, find, func() {}))
	recs, err := record.ReadAll(&out)
	if err != nil || len(recs) != 1 || recs[0].Status != record.Partial {
		t.Errorf("records %v, %v; want one that is partial", recs, err)
	}
}

// TestProcs: the child has as many processors as the job says, and says so.
func TestProcs(t *testing.T) {
	for _, n := range []int{0, 1} {
		job := job()
		job.Procs = n
		want := n
		if n == 0 {
			want = runtime.GOMAXPROCS(0)
		}
		if rec := command(t, "serve").Run(t.Context(), job); rec.Status != record.OK || rec.Env.GOMAXPROCS != want {
			t.Errorf("procs %d: GOMAXPROCS %d, want %d: %s %s", n, rec.Env.GOMAXPROCS, want, rec.Status, rec.Error)
		}
	}
}

func TestCaption(t *testing.T) {
	job := job()
	for workers, want := range map[int]string{1: "Sleep, 1 worker, bits=8", 16: "Sleep, 16 workers, bits=8"} {
		job.Settings.Workers = workers
		golden.Equal(t, fmt.Sprintf("workers=%d", workers), want, job.Caption())
	}
}

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
	const want = `{"workers":2,"arrivals":{"shape":"poisson","rates":[50]},"starts":"auto","queue":9,"duration":10000000000,"count":7,"least":1,` +
		`"warmup":1000000000,"warmup_ops":2,"warmup_stationary":true,"grace":1000000000,"samples":8,` +
		`"check":{"policy":"sample","n":16},"arena":1048576,"seed":1,"profiles":["cpu"],"profile_dir":"profiles"}`
	golden.Equal(t, "settings as JSON", want, string(must.Get(json.Marshal(s))(t)))
	var back measure.Settings
	if err := json.Unmarshal([]byte(want), &back); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%+v (%v)", back, err)
	}
	// What a version that knew no least asks for ends with its window.
	back = measure.Settings{}
	must.Do(t, json.Unmarshal([]byte(strings.Replace(want, `"least":1,`, "", 1)), &back))
	golden.Equal(t, "least of before", 0, back.Least)
}

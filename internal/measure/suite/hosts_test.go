package suite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// onHosts returns n cases for each host.
func onHosts(n int, hosts ...string) (all []suite.Case) {
	for _, host := range hosts {
		for _, c := range cases(n) {
			c.Host = host
			all = append(all, c)
		}
	}
	return all
}

// TestHosts: hosts run side by side, each its own cases in their order, one at a time. One
// that is lost leaves the others to their end, and what is missing is measured when the suite
// goes on.
func TestHosts(t *testing.T) {
	all := suite.Interleave(onHosts(2, "a", "b"), 2)
	j := must.Get(suite.Create(t.TempDir(), suite.Header{Plan: all}))(t)
	defer j.Close()
	gone := errors.New("connection refused")
	var mu sync.Mutex
	var ended []string
	at := make(map[string]int) // cases that run
	both := make(chan struct{}, 1)
	run := suite.Run{
		Attempts: 2,
		Cases:    all, Journal: j, Begins: func(int, *suite.Case) {},
		Measure: func(_ context.Context, c *suite.Case) (*record.Record, error) {
			mu.Lock()
			at[c.Host]++
			alone, first := at[c.Host] == 1, c.Key() == all[0].Key()
			mu.Unlock()
			if !alone {
				t.Errorf("%s beside another of its host", c.Key())
			}
			defer func() { mu.Lock(); at[c.Host]--; mu.Unlock() }()
			switch {
			case first:
				<-both // b runs meanwhile
			case c.Host == "b" && c.Repetition == 0:
				select {
				case both <- struct{}{}:
				default:
				}
			case c.Host == "b":
				return nil, gone
			}
			return measured(c.Job), nil
		},
		Ended: func(_ int, c *suite.Case, _ *record.Record, _ bool) error {
			ended = append(ended, c.Key())
			return nil
		},
	}
	err := run.All(t.Context())
	must.Fail(t, err, suite.ErrInterrupted, "a host is lost")
	golden.Equal(t, "error", "host b: 2 of 4 processes missing: connection refused", err.Error())
	keysOf := func(host string) (some []string) {
		for i := range all {
			if all[i].Host == host {
				some = append(some, all[i].Key())
			}
		}
		return some
	}
	on := func(host string) func(string) bool {
		return func(key string) bool { return !strings.Contains(key, " on "+host+" ") }
	}
	golden.Equal(t, "cases of a", keysOf("a"), slices.DeleteFunc(slices.Clone(ended), on("a")))
	golden.Equal(t, "cases of b", keysOf("b")[:2], slices.DeleteFunc(slices.Clone(ended), on("b")))

	ended, run.Earlier = nil, must.Get(j.Records())(t)
	run.Measure = func(_ context.Context, c *suite.Case) (*record.Record, error) { return measured(c.Job), nil }
	must.Do(t, run.All(t.Context()))
	golden.Equal(t, "cases when it goes on, those of before first", slices.Concat(keysOf("a")[:2], keysOf("b")[:2], keysOf("a")[2:], keysOf("b")[2:]), ended)
	golden.Equal(t, "records", len(all), len(must.Get(j.Records())(t)))
}

// TestHostsStop: a case that cannot be kept ends the others, and so does the end of ctx.
func TestHostsStop(t *testing.T) {
	all := onHosts(1, "a", "b")
	full := errors.New("disk full")
	for name, want := range map[string]error{"not kept": full, "interrupted": context.Canceled} {
		j := must.Get(suite.Create(t.TempDir(), suite.Header{Plan: all}))(t)
		ctx, cancel := context.WithCancel(t.Context())
		run := suite.Run{
			Attempts: 2,
			Cases:    all, Journal: j, Begins: func(int, *suite.Case) {},
			Measure: func(ctx context.Context, c *suite.Case) (*record.Record, error) {
				if c.Host == "a" {
					<-ctx.Done()
					return nil, context.Cause(ctx)
				}
				if want != full {
					cancel()
				}
				return measured(c.Job), nil
			},
			Ended: func(int, *suite.Case, *record.Record, bool) error {
				if want == full {
					return full
				}
				return nil
			},
		}
		must.Fail(t, run.All(ctx), want, "%s", name)
		cancel()
		golden.Equal(t, name+": records", 1, len(must.Get(j.Records())(t)))
		must.Do(t, j.Close())
	}
}

// TestPlanOnHosts: each machine runs all cases for which it has the processors, and none that
// needs a file of ours.
func TestPlanOnHosts(t *testing.T) {
	defs := []workload.Def{{Name: "Some", Axes: []workload.Axis{workload.BitsAxis()}, SRS: func(workload.Case) bool { return true }}}
	o := suite.Options{On: []suite.Machine{{Host: "a", Processors: 2}, {Host: "b", Processors: 4}}, HostWait: time.Minute}
	read := func(more string) *suite.File {
		return must.Get(suite.Read("x", strings.NewReader("name: x\nrepetitions: 2\ncases:\n  - run: some\n    bits: 8\n    duration: 1s\n    cpus: [2, 4]\n"+more)))(t)
	}
	p := must.Get(suite.NewPlan(defs, read(""), "x", 64, o))(t)
	want := []string{
		"run Some/bits=8/cpus=2/workers=1 on a cpus=2 #1", "run Some/bits=8/cpus=2/workers=1 on b cpus=2 #1", "run Some/bits=8/cpus=4/workers=1 on b cpus=4 #1",
		"run Some/bits=8/cpus=2/workers=1 on a cpus=2 #2", "run Some/bits=8/cpus=2/workers=1 on b cpus=2 #2", "run Some/bits=8/cpus=4/workers=1 on b cpus=4 #2",
	}
	golden.Equal(t, "cases", want, keys(p.Header.Plan))
	golden.Equal(t, "notes", []string{"4 processors: left out, a has 2"}, p.Notes)
	golden.Equal(t, "time, that of b alone", 4*p.Header.Plan[0].Expected, suite.NewEstimate(p.Header.Plan).Remaining())
	golden.Equal(t, "wait", time.Minute, p.Header.HostWait)
	_, err := suite.NewPlan(defs, read("    srs: hosts_test.go\n"), "x", 2, o)
	golden.Equal(t, "a file of ours", `x:8: srs: "hosts_test.go" is not accepted; accepted: none with --on, since other machines do not have the file`, fmt.Sprint(err))
}

// TestBegunOn: a suite knows what its hosts were when it was begun, whether they have measured
// anything or not, and goes on with no other program.
func TestBegunOn(t *testing.T) {
	dir := t.TempDir()
	p := &suite.Plan{Header: suite.Header{Plan: onHosts(1, "a", "b"), Hosts: map[string]record.Env{"a": {CPU: "one"}, "b": {CPU: "two"}}}}
	must.Do(t, must.Get(suite.Begin(dir, p))(t).Close())
	s := must.Get(suite.Resume(dir, ""))(t)
	names, known, _ := s.Hosts()
	must.Do(t, s.Close())
	golden.Equal(t, "hosts", []string{"a", "b"}, names)
	golden.Equal(t, "what they were", p.Header.Hosts, known)

	dir = t.TempDir()
	must.Do(t, must.Get(suite.Create(dir, suite.Header{Plan: onHosts(1, "a"), Program: "another"}))(t).Close())
	must.FailGet(suite.Resume(dir, ""))(t, zkbench.ErrEnv, "a suite of another program")
}

// TestLogNames: cases whose names differ in what no file name has each keep their log.
func TestLogNames(t *testing.T) {
	dir := t.TempDir()
	f := must.Get(suite.OpenFolder(dir, nil, nil))(t)
	for _, c := range onHosts(1, "a:1", "a_1", "A_1") {
		must.Do(t, f.Add(&c, c.Settings.New(c.Workload, c.Case), true))
	}
	must.Do(t, f.Close())
	golden.Equal(t, "logs", 3, len(must.Get(filepath.Glob(filepath.Join(dir, "logs", "*")))(t)))
}

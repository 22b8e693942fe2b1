// Package compare tells by how much a new version differs from an old one. Its
// input are records, or the output of go test -bench; its result is a table of
// effects with intervals, each against the noise that the machine showed, and a
// gate that a build can stand on.
//
// The unit of replication is the process (package stat): one record is one
// value of each metric, and so is one result line of a benchmark. Exact figures
// (sizes, constraints, allocations of serial cases) are compared as they are.
// What the package does not promise: that a case which it calls unchanged is
// unchanged; it says how large a difference it could not rule out.
package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Kind is what the figures of a set were read from.
type Kind string

const (
	Records   Kind = "records"
	Benchmark Kind = "benchmark output"
)

// Set is what is known of one side of a comparison.
type Set struct {
	Name string // in messages and tables, for example the file
	Kind Kind

	envs    []record.Env     // those that differ from each other
	unfit   []string         // processes that failed or were stopped, and why
	failed  bool             // one of them failed
	samples []*sample        // in order of appearance
	recs    []*record.Record // of which the samples are
	index   map[key]*sample
}

// key names a row.
type key struct {
	pkg    string // import path of a benchmark
	name   string // workload/case
	metric string
}

// sample holds the values of one metric of one case, one per process.
type sample struct {
	key
	unit   string
	exact  bool
	better record.Direction
	few    bool         // a percentile that in some process rests on few operations
	whose  record.Whose // whose memory or time it is, as far as that is known
	points []point
}

type point struct {
	value   float64
	process record.Process
	time    time.Time
}

func newSet(name string, kind Kind) *Set {
	return &Set{Name: name, Kind: kind, index: make(map[key]*sample)}
}

// add puts one process's value in its sample.
func (s *Set) add(k key, unit string, exact bool, better record.Direction, p point) {
	in := s.index[k]
	if in == nil {
		in = &sample{key: k, unit: unit, exact: exact, better: better}
		s.index[k] = in
		s.samples = append(s.samples, in)
	}
	in.exact = in.exact || exact
	in.points = append(in.points, p)
}

// like returns what the set has of a sample's figure; nil: nothing, or that of another process.
func (s *Set) like(in *sample) *sample {
	found := s.index[in.key]
	if found != nil && in.whose != "" && found.whose != "" && in.whose != found.whose {
		return nil
	}
	return found
}

func (s *Set) addEnv(e record.Env) {
	same := func(o record.Env) bool {
		return len(env.Differences(o, e)) == 0 && len(env.BuildDifferences(o, e)) == 0
	}
	if !slices.ContainsFunc(s.envs, same) {
		s.envs = append(s.envs, e)
	}
}

func (s *Set) addUnfit(failed bool, text string) {
	s.unfit = append(s.unfit, text)
	s.failed = s.failed || failed
}

// FromRecords returns the set of a file's, or a session's, records. Metrics that
// are compared are the timed ones that timedMetrics names and all exact ones. A
// record that is not ok contributes its name only, and nothing where the process was
// run again in its place.
func FromRecords(name string, recs []*record.Record) (*Set, error) {
	s := newSet(name, Records)
	type place struct {
		name, host string
		process    record.Process
	}
	seen := make(map[place]bool)
	for _, rec := range recs {
		full := rec.Name()
		at := place{full, rec.Env.Host, rec.Process}
		if rec.Status != record.OK {
			ranAgain := func(other *record.Record) bool {
				return other.Status == record.OK && at == (place{other.Name(), other.Env.Host, other.Process})
			}
			if rec.Process.Session != "" && slices.ContainsFunc(recs, ranAgain) {
				continue
			}
			s.addUnfit(rec.Status == record.Failed, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", full, rec.Status, rec.Error), ": "))
			continue
		}
		if rec.Process.Session != "" && seen[at] {
			return nil, fmt.Errorf("%w: %s: process %s[%d] of %s stands twice in its session; accepted: once",
				zkbench.ErrMalformed, name, rec.Process.Side, rec.Process.Index, full)
		}
		seen[at] = true
		s.recs = append(s.recs, rec)
		s.addEnv(rec.Env)
		if err := s.addOutput(rec); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		twice := make(map[string]bool)
		for _, m := range rec.Metrics {
			if twice[m.Name()] {
				return nil, fmt.Errorf("%w: %s: metric %s of %s stands twice in record %s; accepted: once",
					zkbench.ErrMalformed, name, m.Name(), full, rec.ID)
			}
			twice[m.Name()] = true
			exact := m.Kind == record.Exact
			if !exact && !slices.ContainsFunc(timedMetrics(rec), func(q record.Quantity) bool { return q.Name() == m.Name() }) {
				continue
			}
			k := key{name: full, metric: m.Name()}
			s.add(k, m.Unit(), exact, m.Better(), point{m.Value, rec.Process, rec.Time})
			s.index[k].few = s.index[k].few || rec.Few(m.Quantity)
			s.index[k].whose = cmp.Or(s.index[k].whose, m.Whose)
		}
	}
	s.dropPartial()
	return s, nil
}

// dropPartial takes away percentiles that some processes of a case have too few operations for:
// the others are the faster ones.
func (s *Set) dropPartial() {
	most := make(map[string]int)
	for _, in := range s.samples {
		most[in.name] = max(most[in.name], len(in.points))
	}
	s.samples = slices.DeleteFunc(s.samples, func(in *sample) bool {
		partial := in.few && len(in.points) < most[in.name]
		if partial {
			delete(s.index, in.key)
		}
		return partial
	})
}

// timedMetrics are the timed metrics of a record that a table shows. Percentiles
// far out rest on few operations of each process, so P99 is the last. The memory of a
// command is all its own.
func timedMetrics(rec *record.Record) []record.Quantity {
	if _, command := rec.Metric(record.RunTime); command {
		return []record.Quantity{record.RunTime, record.CPUTime, record.PeakRSS}
	}
	return []record.Quantity{
		record.LatencyMin, record.LatencyMean, record.LatencyP50, record.LatencyP99,
		record.ResponseP99, record.Throughput, record.CPUTime,
	}
}

// sides returns the sides that the processes of the set name, in order of
// appearance; the empty one is of processes without a session.
func (s *Set) sides() []string {
	var sides []string
	for _, in := range s.samples {
		for _, p := range in.points {
			if !slices.Contains(sides, p.process.Side) {
				sides = append(sides, p.process.Side)
			}
		}
	}
	return sides
}

// hosts are those that the processes of the set ran on, in order of appearance.
func (s *Set) hosts() []string {
	var hosts []string
	for _, e := range s.envs {
		if !slices.Contains(hosts, e.Host) {
			hosts = append(hosts, e.Host)
		}
	}
	return hosts
}

// count is the number of processes behind the largest sample.
func (s *Set) count() string {
	most := 0
	for _, in := range s.samples {
		most = max(most, len(in.points))
	}
	return format.Plural(most, "process")
}

// Package compare measures by how much a new version differs from an old one. Its input is records
// or the output of `go test -bench`. Its result is a table of changes with confidence intervals.
// Each change is compared with the noise that the machine showed. A Gate sets a limit on changes
// for the worse, and can make a build fail.
//
// The unit of replication is the process (package stat): each record gives one value of each
// metric, and so does each result line of a benchmark. Exact figures (sizes, constraints,
// allocations of serial cases) are compared directly.
//
// If a comparison shows no difference for a case, that does not mean that the case is unchanged.
// The package says how large a difference it could not rule out.
package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Kind says from which kind of input the figures of a Set were read.
type Kind string

const (
	Records   Kind = "records"
	Benchmark Kind = "benchmark output"
	Hyperfine Kind = "hyperfine's runs"
)

// Set holds the figures of one side of a comparison.
type Set struct {
	Name string // name in messages and tables, for example the file's
	Kind Kind

	envs    []record.Env     // the different environments of its processes
	unfit   []string         // processes that failed or were stopped, and why
	failed  bool             // one of unfit failed
	unread  int              // lines that could not be read
	samples []*sample        // in order of appearance
	recs    []*record.Record // the records that the samples come from
	index   map[key]*sample

	firstUnread string // the first of the unread lines, and why
}

// key identifies a row.
type key struct {
	pkg    string // import path of a benchmark; empty for records
	name   string // workload/case
	metric string
}

// sample holds the values of one metric of one case, one per process.
type sample struct {
	key
	unit   string
	exact  bool
	better record.Direction
	few    bool         // a percentile that rests on few operations in some process
	whose  record.Whose // whose memory or time it is; empty if not known
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

// add adds one process' value to its sample.
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

// like returns the set's sample with the same key. It returns nil if there is none, or if its
// figure belongs to another process (see record.Whose).
func (s *Set) like(in *sample) *sample {
	found := s.index[in.key]
	if found != nil && in.whose != "" && found.whose != "" && in.whose != found.whose {
		return nil
	}
	return found
}

// Case returns the only case of the set that a user means by the text typed: the case's name, also with its package in
// parentheses, or the name or id of its workload. It returns an *argument.ValueError for the given field if no case or
// several cases match.
func (s *Set) Case(field, typed string) (CaseName, error) {
	var all, found []CaseName
	for _, in := range s.samples {
		workload, _, _ := strings.Cut(in.name, "/")
		c := in.caseName()
		if slices.Contains(all, c) {
			continue
		}
		all = append(all, c)
		if c.String() == typed {
			return c, nil
		}
		if in.name == typed || strings.EqualFold(typed, workload) || strings.EqualFold(typed, record.WorkloadID(workload)) {
			found = append(found, c)
		}
	}
	if exact := slices.DeleteFunc(slices.Clone(found), func(c CaseName) bool { return c.Name != typed }); len(exact) > 0 {
		found = exact
	}
	if len(found) == 1 {
		return found[0], nil
	}
	names := func(cases []CaseName) (list []string) {
		for _, c := range cases {
			list = append(list, c.String())
		}
		return list
	}
	wrong := &argument.ValueError{Field: field, Value: typed}
	if len(found) == 0 {
		found, wrong.Near = all, argument.Near(typed, names(all))
	}
	wrong.Accepted = "one case of " + s.Name + ": " + strings.Join(names(found), ", ")
	return CaseName{}, wrong
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

// FromRecords returns a set with the figures of recs, which are the records of a file or a
// session. The set has all exact metrics of the records, but only those timed metrics that
// comparisons use. If a record has a status other than "ok", its figures are left out, and Compare
// reports its process as one that failed or was stopped. Such a record is ignored if the process
// was run again and succeeded.
func FromRecords(name string, recs []*record.Record) (*Set, error) {
	s := newSet(name, Records)
	type place struct {
		name, host string
		process    record.Process
	}
	seen := make(map[place]bool)
	for _, rec := range recs {
		full := rec.Name()
		at := place{full, rec.Env.Host, unplanned(rec.Process)}
		if rec.Status != record.OK {
			ranAgain := func(other *record.Record) bool {
				return other.Status == record.OK && at == (place{other.Name(), other.Env.Host, unplanned(other.Process)})
			}
			if rec.Process.Session != "" && slices.ContainsFunc(recs, ranAgain) {
				continue
			}
			s.addUnfit(rec.Status == record.Failed, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", full, rec.Status, rec.Error), ": "))
			continue
		}
		if rec.Process.Session != "" && seen[at] {
			return nil, fmt.Errorf("%w: %s: process %s[%d] of %s occurs twice in its session; accepted: once",
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
				return nil, fmt.Errorf("%w: %s: metric %s of %s occurs twice in record %s; accepted: once",
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

// dropPartial removes percentiles for which some processes of a case have too few operations. The
// other processes are the faster ones, so they do not represent the case.
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

// timedMetrics returns the timed metrics of a record that a table shows. P99 is the highest
// percentile, because higher ones rest on very few operations of each process. A command also has
// its peak memory, which is all its own.
func timedMetrics(rec *record.Record) []record.Quantity {
	if _, command := rec.Metric(record.RunTime); command {
		return []record.Quantity{record.RunTime, record.CPUTime, record.PeakRSS}
	}
	return []record.Quantity{
		record.LatencyMin, record.LatencyMean, record.LatencyP50, record.LatencyP99,
		record.ResponseP99, record.Throughput, record.CPUTime,
	}
}

// sides returns the sides of the set's processes, in order of appearance. Processes without a
// session have side "".
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

// hosts returns the hosts of the set's processes, in order of appearance.
func (s *Set) hosts() []string {
	var hosts []string
	for _, e := range s.envs {
		if !slices.Contains(hosts, e.Host) {
			hosts = append(hosts, e.Host)
		}
	}
	return hosts
}

// count returns the number of processes or runs in the largest sample, in words.
func (s *Set) count() string {
	most := 0
	for _, in := range s.samples {
		most = max(most, len(in.points))
	}
	if s.Kind == Records && !slices.ContainsFunc(s.samples, func(in *sample) bool { return in.metric == record.RunTime.Name() }) {
		return format.Plural(most, "process")
	}
	return format.Plural(most, "run") // of a benchmark or a command
}

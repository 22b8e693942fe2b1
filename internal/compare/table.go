package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Confidence is that of every interval.
const Confidence = 0.99

// Sides are what is compared. Again holds other processes of the old program
// from the same session, the A/A pair; nil where there are none.
type Sides struct{ Old, New, Again *Set }

// Split deals the records of a session out to its sides.
func Split(name string, recs []*record.Record) (Sides, error) {
	of := make(map[stat.Side][]*record.Record)
	for _, rec := range recs {
		side := stat.Side(rec.Process.Side)
		if side != stat.Old && side != stat.New && side != stat.Again {
			return Sides{}, fmt.Errorf("%w: %s: a record of side %q; accepted in one file alone: the sides %s, %s and %s of a session",
				zkbench.ErrMalformed, name, side, stat.Old, stat.New, stat.Again)
		}
		of[side] = append(of[side], rec)
	}
	var s Sides
	for side, set := range map[stat.Side]**Set{stat.Old: &s.Old, stat.New: &s.New, stat.Again: &s.Again} {
		if side == stat.Again && len(of[side]) == 0 {
			continue
		}
		var err error
		if *set, err = FromRecords(name+" ("+string(side)+")", of[side]); err != nil {
			return Sides{}, err
		}
	}
	return s, nil
}

// Table is the result of a comparison.
type Table struct {
	Old, New string   // names of the sides, with their processes
	Changed  []string // versions that differ: what is compared
	Unlike   []string // environments that differ, and were let pass
	Partial  string   // why there is less than was planned; empty where there is not
	Unfit    []string // processes that failed or were stopped, and why: of no row
	Gate     *Gate    // what was held against the rows, if anything
	Rows     []Row
	Only     []Only

	Disturbed string // how many processes did not have the machine to themselves; empty: none
}

// Row is one metric of one case.
type Row struct {
	Package, Case, Metric, Unit string
	Whose                       record.Whose // whose memory or time it is; empty: of no process, or not known

	Exact  bool
	held   bool // against the gate, whatever its metric: a figure that is called exact, and was not
	Better record.Direction
	Few    bool // a percentile that rests on few operations of a process
	Paired bool
	stat.Effect
	Floor   float64 // relative; 0 for exact figures
	Verdict Verdict
	Why     string // why the verdict is unknown
	Tripped bool   // beyond the gate
	Blind   bool   // held against the gate, and could not have shown a change as large
	// Accepted is why an exact figure may be worse; empty where none is, or may be.
	Accepted string
	most     float64 // of an exact figure the greatest of the new side
}

// Only is a case, or a metric of a case that both sides have, that one side
// lacks.
type Only struct {
	Side    stat.Side `json:"side"`
	Package string    `json:"package,omitempty"`
	Case    string    `json:"case"`
	Metric  string    `json:"metric,omitempty"` // empty where the whole case is lacking
	// Whose memory or time the metric is, where it is of a process.
	Whose record.Whose `json:"whose,omitempty"`
	exact bool         // of the metric
}

// UnfitError says that processes failed or stopped. It is a zkbench.ErrEnv.
type UnfitError struct {
	Failed bool // one of the new side failed: what a gate is there to stop
	Cases  []string
}

func (e *UnfitError) Error() string {
	return fmt.Sprintf("what cannot be compared: %s; accepted: records with status %s", strings.Join(e.Cases, "; "), record.OK)
}

func (e *UnfitError) Unwrap() error { return zkbench.ErrEnv }

// Compare compares the sides row by row, in the order of the old side. Where processes
// failed or stopped, the error is an *UnfitError, and the table, unless it is nil, holds
// what the others show. Sets of unlike kinds are a zkbench.ErrMalformed, unlike
// environments, unless they are allowed, and sets with nothing in common a zkbench.ErrEnv.
func Compare(s Sides, allowEnv bool) (*Table, error) {
	t, err := s.table(allowEnv)
	unfit := s.unfit()
	if unfit == nil {
		return t, err
	}
	if t != nil {
		t.Unfit = unfit.Cases
	}
	return t, unfit
}

// table compares what is fit to be.
func (s Sides) table(allowEnv bool) (*Table, error) {
	if s.Old.Kind != s.New.Kind {
		return nil, fmt.Errorf("%w: %s holds %s, %s %s; accepted: two files of one kind",
			zkbench.ErrMalformed, s.Old.Name, s.Old.Kind, s.New.Name, s.New.Kind)
	}
	if err := s.mixed(); err != nil {
		return nil, err
	}
	t := &Table{
		Old: s.Old.Name + ", " + s.Old.count(),
		New: s.New.Name + ", " + s.New.count(),
	}
	t.Changed, t.Unlike = s.environments()
	if len(t.Unlike) > 0 && !allowEnv {
		return nil, fmt.Errorf("%w: %s and %s were measured in unlike environments: %s; accepted: like ones, or --allow-env",
			zkbench.ErrEnv, s.Old.Name, s.New.Name, strings.Join(t.Unlike, "; "))
	}
	var recs []*record.Record
	for _, set := range s.all() {
		recs = append(recs, set.recs...)
	}
	t.Disturbed = record.Disturbance(recs)
	for _, old := range s.Old.samples {
		recent := s.New.like(old)
		if recent == nil {
			continue
		}
		if old.unit != recent.unit {
			return nil, fmt.Errorf("%w: %s of %s is in %s in %s, in %s in %s; accepted: one unit",
				zkbench.ErrMalformed, old.metric, old.name, old.unit, s.Old.Name, recent.unit, s.New.Name)
		}
		var again *sample
		if s.Again != nil {
			again = s.Again.like(old)
		}
		t.Rows = append(t.Rows, judge(old, recent, again))
	}
	t.Only = append(lacking(stat.Old, s.Old, s.New), lacking(stat.New, s.New, s.Old)...)
	if allNew := len(s.Old.samples)+len(s.Old.unfit) == 0 && len(s.New.samples) > 0; len(t.Rows) == 0 && !allNew {
		return nil, fmt.Errorf("%w: %s and %s have no case in common, %s against %s; accepted: the same cases on both sides",
			zkbench.ErrEnv, s.Old.Name, s.New.Name, s.Old.example(), s.New.example())
	}
	return t, nil
}

func (s Sides) all() []*Set {
	if s.Again == nil {
		return []*Set{s.Old, s.New}
	}
	return []*Set{s.Old, s.New, s.Again}
}

// unfit are the processes of all sides that cannot be compared; nil where there are none.
func (s Sides) unfit() *UnfitError {
	e := &UnfitError{Failed: s.New.failed}
	for _, set := range s.all() {
		for _, text := range set.unfit {
			e.Cases = append(e.Cases, set.Name+": "+text)
		}
	}
	if len(e.Cases) == 0 {
		return nil
	}
	return e
}

// mixed refuses a set whose processes are of several sides or hosts: their figures are of
// different programs or machines.
func (s Sides) mixed() error {
	for _, set := range s.all() {
		if sides := set.sides(); len(sides) > 1 {
			return fmt.Errorf("%w: %s holds processes of several sides (%s); accepted: one side a file, or the session's file alone",
				zkbench.ErrMalformed, set.Name, strings.Join(sides, ", "))
		}
		if hosts := set.hosts(); len(hosts) > 1 {
			return fmt.Errorf("%w: %s holds processes of several hosts (%s); accepted: one host a file",
				zkbench.ErrMalformed, set.Name, strings.Join(hosts, ", "))
		}
	}
	return nil
}

// environments returns how the versions of the sides differ, and how the
// environments of all processes do. A difference is said once.
func (s Sides) environments() (changed, unlike []string) {
	appendNew := func(to []string, items []string) []string {
		for _, item := range items {
			if !slices.Contains(to, item) {
				to = append(to, item)
			}
		}
		return to
	}
	if len(s.Old.envs) == 0 {
		return nil, nil
	}
	first := s.Old.envs[0]
	for _, set := range s.all() {
		for _, e := range set.envs {
			unlike = appendNew(unlike, env.Differences(first, e))
		}
	}
	for _, e := range s.New.envs {
		changed = appendNew(changed, env.BuildDifferences(first, e))
	}
	return changed, unlike
}

// example is a case of the set, for a message.
func (s *Set) example() string {
	if len(s.samples) == 0 {
		return "none"
	}
	return s.samples[0].name
}

// lacking lists what of one set the other has not.
func lacking(side stat.Side, of, other *Set) []Only {
	type nameOf struct{ pkg, name string }
	has := make(map[nameOf]bool)
	for _, in := range other.samples {
		has[nameOf{in.pkg, in.name}] = true
	}
	var only []Only
	for _, in := range of.samples {
		if other.like(in) != nil {
			continue
		}
		o := Only{Side: side, Package: in.pkg, Case: in.name}
		if has[nameOf{in.pkg, in.name}] {
			o.Metric, o.exact, o.Whose = in.metric, in.exact, in.whose
		}
		if !slices.Contains(only, o) {
			only = append(only, o)
		}
	}
	return only
}

// few is the reason for an unknown verdict.
func few(err error) string {
	if e, ok := errors.AsType[*stat.FewError](err); ok {
		return fmt.Sprintf("%d %s, %d needed", e.N, e.What, e.Need)
	}
	if e, ok := errors.AsType[*stat.SampleError](err); ok {
		return fmt.Sprintf("%s has a figure of %v, which has no ratio", e.Side, e.Value)
	}
	return err.Error()
}

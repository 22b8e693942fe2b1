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

// Confidence is the confidence level of every interval.
const Confidence = 0.99

// Sides are the sets to compare. The set Again holds the figures of further processes of the old
// program from the same session. The difference between the sets Old and Again shows the noise of
// the machine (an A/A comparison). Again is nil if there are no such processes.
//
// If Pair is not nil, it names the case of the old side and the case of the new side that are
// compared, and all other cases are left out.
type Sides struct {
	Old, New, Again *Set
	Pair            *Pair
}

// Pair has the names of two cases that are compared although they are different.
type Pair struct {
	Old, New CaseName
	// Others says that all other cases are compared too, those of one name with each other.
	Others bool
}

func (p Pair) String() string { return p.Old.String() + " against " + p.New.String() }

// CaseName is the name of a case, with the package of a benchmark.
type CaseName struct{ Package, Name string }

func (c CaseName) String() string { return heading(c.Package, c.Name) }

func (in *sample) caseName() CaseName { return CaseName{in.pkg, in.name} }

// Split splits the records of a session by their sides (Process.Side). It returns
// zkbench.ErrMalformed if a record has none of the sides of a session. It can also return the
// errors of FromRecords.
func Split(name string, recs []*record.Record) (Sides, error) {
	bySide := make(map[stat.Side][]*record.Record)
	for _, rec := range recs {
		side := stat.Side(rec.Process.Side)
		if side != stat.Old && side != stat.New && side != stat.Again {
			return Sides{}, fmt.Errorf("%w: %s: a record of side %q; accepted in one file alone: the sides %s, %s and %s of a session",
				zkbench.ErrMalformed, name, side, stat.Old, stat.New, stat.Again)
		}
		bySide[side] = append(bySide[side], rec)
	}
	var s Sides
	for side, set := range map[stat.Side]**Set{stat.Old: &s.Old, stat.New: &s.New, stat.Again: &s.Again} {
		if side == stat.Again && len(bySide[side]) == 0 {
			continue
		}
		var err error
		if *set, err = FromRecords(name+" ("+string(side)+")", bySide[side]); err != nil {
			return Sides{}, err
		}
	}
	return s, nil
}

// Table is the result of a comparison.
type Table struct {
	Old, New string   // names of the sides, with their numbers of processes
	Changed  []string // differences between the versions that are compared
	Unlike   []string // differences between environments that the caller allowed
	Partial  string   // why there is less than planned; empty: all was measured
	Unfit    []string // processes that failed or were stopped, and why; they are in no row
	Unread   []string // lines of files that could not be read, and why
	Gate     *Gate    // the gate that judged the rows; nil: none
	Pair     *Pair    // the two different cases that are compared; nil: cases of one name
	Rows     []Row
	Only     []Only
	lost     bool // the new side lacks what the gate judges

	Disturbed string // says how many processes shared the machine with other work; empty: none
}

// Row is one metric of one case.
type Row struct {
	Package, Case, Metric, Unit string
	Whose                       record.Whose // whose memory or time it is; empty: none's, or not known

	Exact  bool
	gated  bool // whatever its metric: the figure should have been exact, but was not
	Better record.Direction
	Few    bool // a percentile that rests on few operations of a process
	Paired bool
	Plan   record.Plan // of the row's session, to which the interval is fitted (stat.LookConfidence); zero: none
	stat.Effect
	Floor   float64 // relative; 0 for exact figures
	Verdict Verdict
	Why     string // why the verdict is unknown
	Tripped bool   // fails the gate
	Blind   bool   // gated, but neither decided nor able to show a change as large as the gate (stat.Underpowered)
	// Accepted is the reason why an exact figure that is worse passes; empty if there is none.
	Accepted string
	judged   bool    // by the gate
	most     float64 // maximum of an exact figure on the new side
}

// Only is something that only one side of a comparison has: either a whole case, or a metric of a
// case that both sides have.
type Only struct {
	Side    stat.Side `json:"side"` // the side that has it
	Package string    `json:"package,omitempty"`
	Case    string    `json:"case"`
	Metric  string    `json:"metric,omitempty"` // empty: the whole case
	// Whose says whose memory or time the metric is; empty: none's, or not known.
	Whose record.Whose `json:"whose,omitempty"`
	exact bool         // whether the metric is exact
}

// UnfitError says that processes cannot be compared because they failed or were stopped. It wraps
// zkbench.ErrEnv.
type UnfitError struct {
	Failed bool // a process of the new side failed, which a gate must not pass
	Cases  []string
}

func (e *UnfitError) Error() string {
	return fmt.Sprintf("cannot be compared: %s; accepted: records with status %s", strings.Join(e.Cases, "; "), record.OK)
}

func (e *UnfitError) Unwrap() error { return zkbench.ErrEnv }

// Compare compares the sides and returns a table, whose rows are in the order of the old side. If
// processes failed or were stopped, it returns an *UnfitError together with a table of the other
// processes, or with nil if no table can be made of them.
//
// Compare returns zkbench.ErrMalformed if the sets are of different kinds, if a set has several
// sides or hosts, or if units differ. It returns zkbench.ErrEnv if the sets have no case in common,
// or if their environments differ and allowEnv is false.
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

// table compares the processes that succeeded.
func (s Sides) table(allowEnv bool) (*Table, error) {
	if s.Old.Kind != s.New.Kind {
		return nil, fmt.Errorf("%w: %s holds %s, %s %s; accepted: two files of one kind",
			zkbench.ErrMalformed, s.Old.Name, s.Old.Kind, s.New.Name, s.New.Kind)
	}
	if err := s.checkMixed(); err != nil {
		return nil, err
	}
	t := &Table{
		Old: s.Old.Name + ", " + s.Old.count(),
		New: s.New.Name + ", " + s.New.count(),
	}
	t.Changed, t.Unlike = s.environments()
	if len(t.Unlike) > 0 && !allowEnv {
		return nil, fmt.Errorf("%w: %s and %s were measured in different environments: %s; accepted: equal ones, or --allow-env",
			zkbench.ErrEnv, s.Old.Name, s.New.Name, strings.Join(t.Unlike, "; "))
	}
	var recs []*record.Record
	for _, set := range s.sets() {
		recs = append(recs, set.recs...)
		if text := set.notRead(); text != "" && !slices.Contains(t.Unread, text) {
			t.Unread = append(t.Unread, text)
		}
	}
	t.Disturbed = record.Disturbance(recs)
	for _, old := range s.Old.samples {
		recent := s.partner(old)
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
		r := judge(old, recent, again)
		if s.Pair != nil && old.caseName() == s.Pair.Old {
			r.Package, r.Case = "", s.Pair.String()
		}
		t.Rows = append(t.Rows, r)
	}
	if t.Pair = s.Pair; t.Pair == nil {
		t.Only = append(lacking(stat.Old, s.Old, s.New), lacking(stat.New, s.New, s.Old)...)
	} else {
		t.Only = s.lackingOfPair()
	}
	if old, recent := otherUnits(s.Old, s.New); len(t.Rows) == 0 && old != nil {
		return nil, fmt.Errorf("%w: %s is in %s in %s, in %s in %s; accepted: one unit",
			zkbench.ErrMalformed, old.name, old.unit, s.Old.Name, recent.unit, s.New.Name)
	}
	if allNew := len(s.Old.samples)+len(s.Old.unfit) == 0 && len(s.New.samples) > 0; len(t.Rows) == 0 && !allNew {
		unread := ""
		if len(t.Unread) > 0 {
			unread = "; not read: " + strings.Join(t.Unread, "; ")
		}
		return nil, fmt.Errorf("%w: %s and %s have no case in common, %s against %s; accepted: the same cases on both sides, or two cases by --case and --with%s",
			zkbench.ErrEnv, s.Old.Name, s.New.Name, s.Old.example(), s.New.example(), unread)
	}
	return t, nil
}

// partner returns the sample of the new side that is compared with a sample of the old side, or nil.
func (s Sides) partner(old *sample) *sample {
	if s.Pair == nil {
		return s.New.like(old)
	}
	for _, recent := range s.New.samples {
		owner := old.whose == "" || recent.whose == "" || old.whose == recent.whose
		if old.caseName() == s.Pair.Old && recent.caseName() == s.Pair.New && old.metric == recent.metric && owner {
			return recent
		}
	}
	if s.Pair.Others && old.caseName() != s.Pair.Old {
		return s.New.like(old)
	}
	return nil
}

// lackingOfPair lists what the case of one side has and that of the other side lacks.
func (s Sides) lackingOfPair() (only []Only) {
	list := func(side stat.Side, in *sample) {
		only = append(only, Only{Side: side, Case: s.Pair.String(), Metric: in.metric, Whose: in.whose, exact: in.exact})
	}
	matched := make(map[*sample]bool)
	for _, old := range s.Old.samples {
		recent := s.partner(old)
		if matched[recent] = true; recent == nil && (s.Pair.Others || old.caseName() == s.Pair.Old) {
			list(stat.Old, old)
		}
	}
	for _, recent := range s.New.samples {
		if !matched[recent] && (s.Pair.Others || recent.caseName() == s.Pair.New) {
			list(stat.New, recent)
		}
	}
	return only
}

func (s Sides) sets() []*Set {
	if s.Again == nil {
		return []*Set{s.Old, s.New}
	}
	return []*Set{s.Old, s.New, s.Again}
}

// unfit returns an error that names the processes of all sides that cannot be compared, or nil.
func (s Sides) unfit() *UnfitError {
	e := &UnfitError{Failed: s.New.failed}
	for _, set := range s.sets() {
		for _, text := range set.unfit {
			e.Cases = append(e.Cases, set.Name+": "+text)
		}
	}
	if len(e.Cases) == 0 {
		return nil
	}
	return e
}

// checkMixed returns an error if a set has processes of several sides or hosts: their figures belong to
// different programs or machines.
func (s Sides) checkMixed() error {
	for _, set := range s.sets() {
		if sides := set.sides(); len(sides) > 1 {
			return fmt.Errorf("%w: %s holds processes of several sides (%s); accepted: one side in each file, or the session's file alone",
				zkbench.ErrMalformed, set.Name, strings.Join(sides, ", "))
		}
		if hosts := set.hosts(); len(hosts) > 1 {
			return fmt.Errorf("%w: %s holds processes of several hosts (%s); accepted: one host in each file",
				zkbench.ErrMalformed, set.Name, strings.Join(hosts, ", "))
		}
	}
	return nil
}

// environments returns the differences between the versions of the sides and between the
// environments of all processes. Each difference is listed once.
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
	for _, set := range s.sets() {
		for _, e := range set.envs {
			unlike = appendNew(unlike, env.Differences(first, e))
		}
	}
	for _, e := range s.New.envs {
		changed = appendNew(changed, env.BuildDifferences(first, e))
	}
	return changed, unlike
}

// otherUnits returns figures of one case that differ in their unit alone, one of each side. It returns nil if there are
// none.
func otherUnits(old, recent *Set) (a, b *sample) {
	for _, a := range old.samples {
		for _, b := range recent.samples {
			_, _, isTime := record.TimeUnit(a.unit)
			_, _, both := record.TimeUnit(b.unit)
			if a.pkg == b.pkg && a.name == b.name && isTime == both && a.unit != b.unit {
				return a, b
			}
		}
	}
	return nil, nil
}

// example returns the name of a case in the set, for a message.
func (s *Set) example() string {
	if len(s.samples) == 0 {
		return "none"
	}
	return s.samples[0].caseName().String()
}

// lacking lists what set has and other lacks.
func lacking(side stat.Side, set, other *Set) []Only {
	type caseName struct{ pkg, name string }
	has := make(map[caseName]bool)
	for _, in := range other.samples {
		has[caseName{in.pkg, in.name}] = true
	}
	var only []Only
	for _, in := range set.samples {
		if other.like(in) != nil {
			continue
		}
		o := Only{Side: side, Package: in.pkg, Case: in.name}
		if has[caseName{in.pkg, in.name}] {
			o.Metric, o.exact, o.Whose = in.metric, in.exact, in.whose
		}
		if !slices.Contains(only, o) {
			only = append(only, o)
		}
	}
	return only
}

// few returns the reason for an unknown verdict.
func few(err error) string {
	if e, ok := errors.AsType[*stat.FewError](err); ok {
		what := e.What // pairs of processes, or values
		if e.N == 1 {
			what = strings.Replace(what, "s ", " ", 1)
		}
		return fmt.Sprintf("%d %s, %d needed", e.N, what, e.Need)
	}
	if e, ok := errors.AsType[*stat.SampleError](err); ok {
		return fmt.Sprintf("%s has a figure of %v, so there is no ratio", e.Side, e.Value)
	}
	return err.Error()
}

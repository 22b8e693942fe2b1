package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Judging says how long a session goes on before a gate.
type Judging struct {
	Blocks int // minimum number of blocks
	Gate   Gate
	Budget time.Duration     // no block begins after this time, except for the first Blocks
	Log    func(text string) // receives what is planned, as a line without its end

	pair *Pair // of two programs
}

const (
	planPairs  = 8    // minimum number of pairs that a plan is made from
	firstPairs = 14   // minimum number of pairs at the first of several looks, whose ranks have the confidence of all but those of the longest plans
	mostBlocks = 2000 // of a plan
)

// judged is a session before a gate.
type judged struct {
	Session
	Judging
	recs  []*record.Record
	err   error // of Session.Measure
	looks []int // those that are left
	given []Row // rows that are too noisy for any number of blocks in the budget
}

// Judge measures blocks until the gate is decided: every row that it judges is either beyond the
// gate or better than the gate, with its whole interval (stat.Decided). After three quarters of the
// first blocks it plans the number of blocks (stat.NewPlan) and when the session is judged; later
// records have the plan. The session ends undecided after the planned blocks or with the budget.
// Rows that are too noisy for the budget do not prolong it. The errors are those of Measure.
func (s *Session) Judge(ctx context.Context, j Judging) ([]*record.Record, error) {
	end := time.Now().Add(j.Budget)
	all := &judged{Session: *s, Judging: j}
	all.begin(ctx, end, 0)
	for !all.done() && time.Now().Before(end) {
		all.goOn(ctx, end)
	}
	*s = all.Session
	return all.recs, all.err
}

// done reports whether the session needs no more blocks.
func (s *judged) done() bool { return s.err != nil || len(s.looks) == 0 }

func (s *judged) blocks() int { return len(s.recs) / processes }

// grow measures up to the given number of blocks. Beyond the first Blocks, it stops at the end of time.
func (s *judged) grow(ctx context.Context, to int, end time.Time) {
	for s.err == nil && s.blocks() < to {
		more := to - s.blocks()
		switch {
		case s.blocks() < s.Blocks:
			more = min(more, s.Blocks-s.blocks())
		case !time.Now().Before(end):
			return
		default:
			more = min(more, 2-s.blocks()%2) // an even number has all sides in the same mean place
		}
		var recs []*record.Record
		recs, s.err = s.Measure(ctx, more)
		s.recs = append(s.recs, recs...)
	}
}

// begin measures the first blocks, and plans the rest. After this session, the first blocks of others
// follow before the end.
func (s *judged) begin(ctx context.Context, end time.Time, others int) {
	now := time.Now()
	if s.Gate.Limit == 0 || !now.Before(end) {
		s.grow(ctx, s.Blocks, end)
		return
	}
	early := max(planPairs, s.Blocks*3/4/2*2)
	first := max(early, s.Blocks)
	if s.grow(ctx, early, end); s.err != nil {
		return
	}
	timed := s.timed(s.recs)
	each := time.Since(now) / time.Duration(max(s.blocks(), 1))
	left := (time.Until(end) - each*time.Duration(first-s.blocks()+others*first)) / max(each, 1)
	most := first + int(max(0, min(left, mostBlocks-time.Duration(first))))/2*2
	var effects []stat.Effect
	for _, r := range timed {
		effects = append(effects, r.Effect)
	}
	plan, hopeless := stat.NewPlan(effects, first, most, s.Gate.Limit, Confidence)
	if plan != (record.Plan{}) { // some records have it before the first look
		plan, hopeless = stat.NewPlan(effects, max(firstPairs, s.Blocks+s.Blocks%2), most, s.Gate.Limit, Confidence)
	}
	s.plan = plan
	if s.looks = stat.Looks(plan); s.looks == nil {
		s.looks = []int{first}
	} else {
		aim := "for a change of " + percent(stat.Aim*s.Gate.Limit)
		if plan.Most == most {
			aim = "as much as fits"
		}
		s.Log(fmt.Sprintf("planned %s: at most %s", aim, planText(plan)))
	}
	for _, i := range hopeless {
		s.given = append(s.given, timed[i])
	}
	if len(s.given) > 0 {
		s.Log(fmt.Sprintf("too noisy to show even a figure that doubled, in %d pairs: %s", most, rowNames(s.given)))
	}
	s.goOn(ctx, now) // to the end of the first Blocks
}

// goOn measures until the gate is decided, the plan is done, or the time ends, whichever is first.
func (s *judged) goOn(ctx context.Context, end time.Time) {
	for !s.done() {
		if s.grow(ctx, max(s.looks[0], s.Blocks), end); s.blocks() < s.looks[0] || s.err != nil {
			return
		}
		s.looks = s.looks[1:]
		undecided := slices.DeleteFunc(s.timed(s.recs), func(r Row) bool {
			return stat.Decided(r.Effect, r.Floor, s.Gate.Limit, r.Better) || slices.ContainsFunc(s.given, r.like)
		})
		if len(undecided) == 0 {
			s.looks = nil
		}
	}
}

// timed returns the rows that the gate judges by their intervals, or none if the records cannot be
// compared.
func (j Judging) timed(recs []*record.Record) []Row {
	sides, err := Split("session", recs)
	if err != nil || sides.Old == nil || sides.New == nil {
		return nil
	}
	sides.Pair = j.pair
	table, err := Compare(sides, true)
	if err != nil {
		return nil
	}
	gate := j.Gate
	gate.Metrics = slices.DeleteFunc(slices.Clone(gate.Metrics), func(m string) bool { // those of other cases
		return !slices.ContainsFunc(table.Rows, func(r Row) bool { return r.Metric == m })
	})
	outcome, err := gate.Apply(table)
	if err != nil {
		return nil
	}
	return outcome.Timed
}

// like reports whether both rows have the same figure.
func (r Row) like(other Row) bool {
	return r.Package == other.Package && r.Case == other.Case && r.Metric == other.Metric && r.Whose == other.Whose
}

// planText says when a session with the plan is judged.
func planText(p record.Plan) string {
	var looks []string
	for _, at := range stat.Looks(p) {
		looks = append(looks, fmt.Sprint(at))
	}
	last := len(looks) - 1
	return fmt.Sprintf("%d pairs, judged after %s and %s", p.Most, strings.Join(looks[:last], ", "), looks[last])
}

package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/result/format"
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
	mostBlocks = 2000 // of a plan
)

// Judge measures blocks until the gate is decided: every row that it judges is either beyond the
// gate or better than the gate, with its whole interval (stat.Decided). After three quarters of the
// first blocks it plans the number of blocks (stat.NewPlan) and when the session is judged; later
// records have the plan. Rows that are too noisy for the budget do not prolong the session. The errors are those of Measure.
func (s *Session) Judge(ctx context.Context, j Judging) ([]*record.Record, error) {
	begin := time.Now()
	var recs []*record.Record
	over := func() bool { return time.Since(begin) > j.Budget }
	// grow measures up to the given number of blocks. Beyond the first Blocks, it ends with the budget.
	grow := func(to int) error {
		for have := len(recs) / processes; have < to; have = len(recs) / processes {
			more := to - have
			switch {
			case have < j.Blocks:
				more = min(more, j.Blocks-have)
			case over():
				return nil
			default:
				more = min(more, 2-have%2) // an even number has all sides in the same mean place
			}
			measured, err := s.Measure(ctx, more)
			recs = append(recs, measured...)
			if err != nil {
				return err
			}
		}
		return nil
	}
	if j.Gate.Limit == 0 || j.Budget <= 0 {
		err := grow(j.Blocks)
		return recs, err
	}
	early := max(planPairs, j.Blocks*3/4/2*2)
	first := max(early, j.Blocks)
	if err := grow(early); err != nil {
		return recs, err
	}
	timed := j.timed(recs)
	each := time.Since(begin) / time.Duration(max(len(recs)/processes, 1))
	left := (j.Budget - time.Since(begin) - each*time.Duration(first-len(recs)/processes)) / max(each, 1)
	most := first + int(max(0, min(left, mostBlocks-time.Duration(first))))/2*2
	var effects []stat.Effect
	for _, r := range timed {
		effects = append(effects, r.Effect)
	}
	plan, hopeless := stat.NewPlan(effects, first, most, j.Gate.Limit, Confidence)
	s.plan = plan
	looks := stat.Looks(plan)
	if looks == nil {
		looks = []int{first}
	} else {
		j.Log(fmt.Sprintf("planned for a change of %s: at most %s", percent(stat.Aim*j.Gate.Limit), planText(plan)))
	}
	var given []Row
	for _, i := range hopeless {
		given = append(given, timed[i])
	}
	if len(given) > 0 {
		j.Log(fmt.Sprintf("too noisy for %s in the %s of the budget: %s", j.Gate.Percent(), format.TightTime(float64(j.Budget)), rowNames(given)))
	}
	for _, at := range looks {
		if err := grow(at); err != nil {
			return recs, err
		}
		undecided := slices.DeleteFunc(j.timed(recs), func(r Row) bool {
			return stat.Decided(r.Effect, r.Floor, j.Gate.Limit, r.Better) || slices.ContainsFunc(given, r.like)
		})
		if len(undecided) == 0 || over() {
			break
		}
	}
	return recs, nil
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

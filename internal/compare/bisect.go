package compare

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Bisection looks for the commit between two revisions that made a metric worse, by the
// judgement of a gate: each step compares a commit with the good revision.
type Bisection struct {
	Good, Bad string // as ParseRange returns them
	Main      Main   // of the program that has the workload
	Job       measure.Job
	Metric    string  // of the table, or the name of a statistic of the latency
	Limit     float64 // relative: a change for the worse beyond it is looked for
	Blocks    int     // of each step's session, at least
	Budget    time.Duration
	Args      []string  // with which a built program runs a job
	Log       io.Writer // gets the lines of progress of each step
}

// Step is what one comparison with the good revision showed.
type Step struct {
	Commit  Commit
	Row     Row    // of the metric; of a commit that cannot be measured it is empty
	Skipped string // why it cannot be measured; empty: it can
}

// String is the step in a line.
func (s Step) String() string {
	if s.Skipped != "" {
		return fmt.Sprintf("? %s: %s", s.Commit, s.Skipped)
	}
	mark := "+"
	switch {
	case s.Row.Tripped:
		mark = "-"
	case s.Row.Blind || s.Row.Verdict == Unknown:
		mark = "?"
	}
	return fmt.Sprintf("%s %s: %s (%s)", mark, s.Commit, s.Row.Name(), s.Row.interval())
}

// Found is where a bisection ended.
type Found struct {
	First  []Commit // the first commit that is worse is among these: one, unless some could not be judged
	Unseen string   // why there is more than one
	Change float64  // of the bad revision, relative
}

// Find bisects and hands every step on. The error is a *argument.ValueError where the range has
// no commits or the metric no row, a zkbench.ErrEnv where the bad revision is not shown to be
// worse, and what stands in the way of its comparison.
func (b *Bisection) Find(ctx context.Context, each func(Step)) (*Found, error) {
	repo, err := OpenRepository(ctx)
	if err != nil {
		return nil, err
	}
	commits, err := repo.Commits(ctx, b.Good, b.Bad)
	if err != nil {
		return nil, err
	}
	last := len(commits) - 1
	whole, err := b.step(ctx, commits[last], b.Limit)
	if err != nil {
		return nil, err
	}
	each(whole)
	switch {
	case whole.Row.Blind || whole.Row.Verdict == Unknown:
		return &Found{First: commits, Unseen: fmt.Sprintf("the whole change could not be judged: %s", whole.Row.verdict(&Gate{Limit: b.Limit}))}, nil
	case !whole.Row.Tripped:
		return nil, fmt.Errorf("%w: %s is not shown to be worse than %s beyond %s: %s", zkbench.ErrEnv, b.Bad, b.Good, Gate{Limit: b.Limit}.Percent(), whole.Row.Name())
	}
	// Half of the whole change tells those that have it from those that have not.
	limit := max(b.Limit, math.Abs(whole.Row.Change)/2)
	found := &Found{Change: whole.Row.Change}
	good, bad := -1, last // the last that is good, the first that is worse
	skipped := make(map[int]bool)
	for bad-good > 1 {
		at, ok := next(good, bad, skipped)
		if !ok {
			break
		}
		step, err := b.step(ctx, commits[at], limit)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			step = Step{Commit: commits[at], Skipped: err.Error()}
		}
		each(step)
		switch row := &step.Row; {
		case step.Skipped != "":
			skipped[at] = true
			found.Unseen = fmt.Sprintf("%s cannot be measured: %s", commits[at], step.Skipped)
		case row.Blind || row.Verdict == Unknown:
			skipped[at] = true
			found.Unseen = fmt.Sprintf("%s could not be judged: %s", commits[at], row.verdict(&Gate{Limit: limit}))
		case row.Tripped:
			bad = at
		default:
			good = at
		}
	}
	found.First = commits[good+1 : bad+1]
	if len(found.First) == 1 {
		found.Unseen = ""
	}
	return found, nil
}

// next is the commit to be tried between the last good one and the first bad one, as near to
// their middle as those that were skipped allow.
func next(good, bad int, skipped map[int]bool) (int, bool) {
	middle := (good + bad) / 2
	for d := range bad - good {
		for _, at := range []int{middle - d, middle + d} {
			if at > good && at < bad && !skipped[at] {
				return at, true
			}
		}
	}
	return 0, false
}

// step compares one commit with the good revision.
func (b *Bisection) step(ctx context.Context, commit Commit, limit float64) (Step, error) {
	gate := Gate{Limit: limit, Only: b.metric()}
	r := Revisions{
		From: b.Good, To: commit.Hash, Blocks: b.Blocks, Gate: &gate, Budget: b.Budget, Log: b.Log,
		Subject: &Workloads{Main: b.Main, Args: b.Args, Jobs: []measure.Job{b.Job}, Count: Executed(b.metric())},
	}
	if commit.Hash == "" { // the working tree
		r.To = Work
	}
	step := Step{Commit: commit}
	err := r.Measure(ctx, func(sides Sides, partial string) error {
		if partial != "" {
			return fmt.Errorf("%w: %s", zkbench.ErrEnv, partial)
		}
		table, err := Compare(sides, false)
		if err != nil {
			return err
		}
		if _, err := gate.Apply(table); err != nil {
			return err
		}
		i := slices.IndexFunc(table.Rows, func(r Row) bool { return r.Metric == gate.Only })
		step.Row = table.Rows[i] // Apply has refused a metric without a row
		return nil
	})
	return step, err
}

// metric is the name in the table.
func (b *Bisection) metric() string {
	if latency := record.HistLatency + "-" + b.Metric; slices.ContainsFunc(record.Quantities(), func(q record.Quantity) bool { return q.Name() == latency }) {
		return latency
	}
	return b.Metric
}

// Commit is a commit of the range, and its subject; of the working tree the hash is empty.
type Commit struct{ Hash, Subject string }

// String is the commit in a line.
func (c Commit) String() string {
	if c.Hash == "" {
		return Work
	}
	return format.Commit(c.Hash) + " " + c.Subject
}

// Commits are those after from up to to, the oldest first, of merges the first parents'. The
// error is a *argument.ValueError where there are none, or from is no ancestor of to.
func (r Repository) Commits(ctx context.Context, from, to string) ([]Commit, error) {
	tip := to
	if to == Work {
		tip = "HEAD"
	}
	refuse := &argument.ValueError{Field: "range", Value: from + ".." + to, Accepted: "GOOD..BAD, where GOOD is an ancestor of BAD"}
	if from == Work {
		return nil, refuse
	}
	for _, name := range []string{from, tip} {
		if _, err := r.Resolve(ctx, name); err != nil {
			return nil, err
		}
	}
	if _, err := r.git(ctx, "merge-base", "--is-ancestor", from, tip); err != nil {
		return nil, refuse
	}
	out, err := r.git(ctx, "log", "--first-parent", "--reverse", "--format=%H %s", "--end-of-options", from+".."+tip)
	if err != nil {
		return nil, fmt.Errorf("%w: git log: %w", zkbench.ErrEnv, err)
	}
	var commits []Commit
	for line := range strings.Lines(out) {
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		commits = append(commits, Commit{hash, subject})
	}
	if to == Work {
		commits = append(commits, Commit{})
	}
	if len(commits) == 0 {
		return nil, refuse
	}
	return commits, nil
}

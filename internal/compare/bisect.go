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

// Bisection looks for the commit between two revisions that made a metric worse. Each step compares
// a commit with the revision Good, and a Gate with the limit Limit decides whether the commit is
// worse.
type Bisection struct {
	Good, Bad string // as ParseRange returns them
	Main      Main   // the program that has the workload
	Job       measure.Job
	Metric    string  // a metric of the table, or a statistic of the latency such as p50
	Limit     float64 // relative; the bad revision must be worse by more than this
	Blocks    int     // minimum number of blocks of each step's session
	Budget    time.Duration
	Args      []string  // arguments with which a built program runs a job
	Log       io.Writer // receives the lines of progress of each step
}

// Step is the result of comparing one commit with the good revision.
type Step struct {
	Commit  Commit
	Row     Row    // the metric's row; empty if the commit cannot be measured
	Skipped string // why the commit cannot be measured; empty if it can
}

// String returns the step as a line of text. The line begins with "-" if the commit is worse, with
// "+" if it is not, and with "?" if that is not known.
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

// Found is the result of a bisection.
type Found struct {
	First  []Commit // contains the first commit that is worse; only that one, unless some could not be judged
	Unseen string   // why First has more than one
	Change float64  // relative change of the bad revision
}

// Find runs the bisection and passes every step to the function each. It returns an
// *argument.ValueError if the range has no commits or if the comparison has no row for the metric.
// It returns zkbench.ErrEnv if the comparison does not show that the revision Bad is worse. Any
// other error says why the revision Bad could not be compared.
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
	// Half of the whole change separates commits with the change from those without.
	limit := max(b.Limit, math.Abs(whole.Row.Change)/2)
	found := &Found{Change: whole.Row.Change}
	good, bad := -1, last // the last good commit, the first that is worse
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

// next returns the commit to try between the last good and the first bad one: the one closest to
// the middle that was not skipped.
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
		From: b.Good, To: commit.Hash, Measuring: Measuring{Blocks: b.Blocks, Gate: &gate, Budget: b.Budget, Log: b.Log},
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

// metric returns the metric's name in the table.
func (b *Bisection) metric() string {
	if latency := record.HistLatency + "-" + b.Metric; slices.ContainsFunc(record.Quantities(), func(q record.Quantity) bool { return q.Name() == latency }) {
		return latency
	}
	return b.Metric
}

// Commit is a commit of the bisected range: its hash and the subject of its message. For the
// working tree, the hash is empty.
type Commit struct{ Hash, Subject string }

// String returns the commit's short hash and its subject, or WORK for the working tree.
func (c Commit) String() string {
	if c.Hash == "" {
		return Work
	}
	return format.Commit(c.Hash) + " " + c.Subject
}

// Commits returns the commits of a range, oldest first. The range begins after the first given
// revision and ends with the second one. At a merge, Commits follows only the first parent. It
// returns an *argument.ValueError if the range has no commits, or if its beginning is not an
// ancestor of its end.
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

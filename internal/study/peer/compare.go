package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/format"
)

// Skip is a program that took no part, and why.
type Skip struct {
	Program string
	Err     error
}

// String is one line that says what is to be done where the program is not there.
func (s Skip) String() string {
	if path, ok := notThere(s.Err); ok {
		return fmt.Sprintf("%s: not built: run make peers (no %s)", s.Program, path)
	}
	return fmt.Sprintf("%s: skipped: %v", s.Program, s.Err)
}

// Failure is a case that a program could not finish. It is not tried again in
// later rounds.
type Failure struct {
	Program, Case string
	Round         int
	Err           error
}

// Compare measures every selected case of every program, once a round and each
// time in a new process. A case's ratios divide by the first of ours that has it.
//
// Within a round the programs of one case run one after another, so that a
// ratio's two sides are seconds apart. From round to round the order of the
// cases, and of the programs within each, rotates by one, so that no program
// always runs on the machine in the state that one certain other left it in.
//
// A program that cannot be started or listed is skipped and named in the
// result; a failing case is dropped and named. Bad options, or a selection
// that leaves no case, are an ErrParams; that no program at all can be
// started is an ErrEnv. When ctx ends, Compare returns its cause together with the
// result of what was measured so far.
func Compare(ctx context.Context, programs []Program, opts Options) (*Result, error) {
	opts, err := opts.check()
	if err != nil {
		return nil, err
	}
	res := new(Result)
	work, families, err := listWork(ctx, programs, opts, res)
	if err != nil {
		return res, err
	}
	switch {
	case len(res.Skipped) > 0 && len(res.Skipped) == len(programs):
		return res, fmt.Errorf("%w: no program could be started: %s: %w", zkbench.ErrEnv, res.Skipped[0].Program, res.Skipped[0].Err)
	case len(work) == 0:
		return res, fmt.Errorf("%w: cases: none matches %q; accepted: a regular expression that matches one of %s",
			zkbench.ErrParams, opts.Cases, strings.Join(families, ", "))
	}
	for _, s := range res.Skipped {
		fmt.Fprintln(opts.Progress, s)
	}
	dropped := map[job]bool{}
	for round := range opts.Rounds {
		order := schedule(work, round)
		for i, j := range order {
			if dropped[j] {
				continue
			}
			s, err := programs[j.program].run(ctx, opts.Timeout, j.name)
			if ctx.Err() != nil {
				res.summarize(work, programs)
				return res, context.Cause(ctx)
			}
			prefix := fmt.Sprintf("round %d/%d, %d/%d: %s %s",
				round+1, opts.Rounds, i+1, len(order), programs[j.program].Name, j.name)
			if err != nil {
				dropped[j] = true
				res.Failed = append(res.Failed, Failure{programs[j.program].Name, j.name, round, err})
				fmt.Fprintf(opts.Progress, "%s: %v\n", prefix, err)
				continue
			}
			s.Round = round
			res.Samples = append(res.Samples, s)
			fmt.Fprintf(opts.Progress, "%s: %s\n", prefix, format.PlainTime(s.NsPerOp))
		}
	}
	res.summarize(work, programs)
	return res, nil
}

// caseWork is a case and the indices of the programs that have it.
type caseWork struct {
	name     string
	programs []int
}

// job is one process of a round.
type job struct {
	name    string
	program int
}

// listWork asks every program for its cases. Cases come in the order in which
// they are first met. families are the names of all cases, selected or not, up
// to their parameters.
func listWork(ctx context.Context, programs []Program, opts Options, res *Result) (work []caseWork, families []string, err error) {
	for i, p := range programs {
		names, err := p.list(ctx, opts.Timeout)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			res.Skipped = append(res.Skipped, Skip{p.Name, err})
			continue
		}
		for _, name := range names {
			family, _, ok := strings.Cut(name, "/")
			if ok {
				family += "/..."
			}
			if !slices.Contains(families, family) {
				families = append(families, family)
			}
			if opts.Cases != nil && !opts.Cases.MatchString(name) {
				continue
			}
			at := slices.IndexFunc(work, func(w caseWork) bool { return w.name == name })
			if at < 0 {
				at = len(work)
				work = append(work, caseWork{name: name})
			}
			work[at].programs = append(work[at].programs, i)
		}
	}
	return work, families, nil
}

// schedule is the order of one round's processes.
func schedule(work []caseWork, round int) []job {
	var order []job
	for i := range work {
		w := work[(i+round)%len(work)]
		for k := range w.programs {
			order = append(order, job{w.name, w.programs[(k+round)%len(w.programs)]})
		}
	}
	return order
}

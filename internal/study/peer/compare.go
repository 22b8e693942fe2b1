package peer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/format"
)

// Skip names a program that a comparison skipped, and the reason.
type Skip struct {
	Program string
	Target  string // Program.Target
	Err     error
}

// String returns one line with the program's name and the reason. If the program does not exist, the line says how to
// build it.
func (s Skip) String() string {
	if path, ok := missingProgram(s.Err); ok {
		return fmt.Sprintf("%s: not built: run make %s (no %s)", s.Program, cmp.Or(s.Target, "peers"), path)
	}
	return fmt.Sprintf("%s: skipped: %v", s.Program, s.Err)
}

// Failure says that a case failed in a program, and in which round. Later rounds do not run the case in that program.
type Failure struct {
	Program, Case string
	Round         int
	Err           error
}

// Compare measures every selected case of every program once in each round, each time in a new process. For each case,
// it divides the time of each program by the time of the case's base, which is the first of this project's programs
// that has the case. The quotient is the program's ratio.
//
// Within a round the programs of one case run one after another, so only seconds lie between the two measurements of a
// ratio. From round to round, the order of the cases rotates by one, and so does the order of the programs within a
// case. Therefore no program runs after the same other program in all rounds.
//
// A program is skipped if it cannot be started or cannot list its cases. A case that fails is not run again. The result
// names the skipped programs and the failed cases. Compare returns zkbench.ErrParams if an option is wrong or if no
// case is selected, and zkbench.ErrEnv if no program can be started. If ctx ends, Compare returns the cause together
// with the result of what was measured until then.
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

// job is a process of a round.
type job struct {
	name    string
	program int
}

// listWork asks every program for its cases, and returns the selected ones in the order in which they first appear.
// families are the names of all cases, selected or not, without their parameters.
func listWork(ctx context.Context, programs []Program, opts Options, res *Result) (work []caseWork, families []string, err error) {
	for i, p := range programs {
		names, err := p.list(ctx, opts.Timeout)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			res.Skipped = append(res.Skipped, Skip{p.Name, p.Target, err})
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

// schedule returns the processes of a round in their order.
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

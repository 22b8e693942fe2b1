package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

// Command measures a command in a checkout of each of the two revisions of a comparison. The
// command may run a program in any language. Each process of a Session runs the command once. The
// figures of a process are its time, its processor time and its peak memory. If the command prints
// results in the Go benchmark format, those results are figures, too.
type Command struct {
	Build string // run once in each tree; empty: nothing to build
	Run   string
	Shell bool          // run both with sh; otherwise argument.Words splits them into words
	Limit time.Duration // of one run, which fails if it takes longer; 0: none
}

// Tree is a placeholder in the texts of commands. It stands for the directory in which the revision
// is checked out.
const Tree = "{dir}"

// argv returns the arguments that run a command in a tree.
func (c *Command) argv(field, command, tree string) ([]string, error) {
	if c.Shell {
		return []string{"sh", "-c", strings.ReplaceAll(command, Tree, argument.Quote(tree))}, nil
	}
	words, err := argument.Words(field, command)
	if refused, ok := errors.AsType[*argument.ValueError](err); ok {
		refused.Accepted += ", or --shell"
	}
	if err != nil {
		return nil, err
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], Tree, tree)
	}
	return words, nil
}

// Check returns an error if the text of Build or Run is not a command. It can be called before
// anything is built.
func (c *Command) Check() error {
	for field, command := range map[string]string{"build": c.Build, "run": c.Run} {
		words, err := c.argv(field, command, Tree)
		if err != nil {
			return err
		}
		if len(words) == 0 && field == "run" || len(words) > 0 && words[0] == "" || c.Shell && field == "run" && strings.TrimSpace(command) == "" {
			return &argument.ValueError{Field: field, Value: command, Accepted: "a program and its arguments"}
		}
	}
	return nil
}

func (c *Command) measure(ctx context.Context, m *measurement) error {
	revs := []Revision{m.revs[0], m.revs[1], m.revs[0]} // the old revision a second time, at another path
	return m.repo.withTrees(ctx, revs, func(trees []string) error {
		runs := make(map[stat.Side]process)
		var first error // of a warm-up run
		for i, side := range sides {
			dir, err := m.repo.hereIn(revs[i], trees[i])
			if err != nil {
				return err
			}
			if c.Build != "" {
				if err := c.build(ctx, m, revs[i], trees[i], dir); err != nil {
					return err
				}
			}
			argv, err := c.argv("run", c.Run, trees[i])
			if err != nil {
				return err
			}
			e := env.Read()
			e.Commit, e.Go, e.Modules = revs[i].Commit, "", nil // the program may be in any language
			runs[side] = process{name: c.Run, env: e, argv: argv, dir: dir, limit: c.Limit, read: readCommand}
			// The first run has cold caches, unlike all later ones, so it is not measured.
			switch _, _, err := runIn(ctx, dir, argv, c.Limit); {
			case errors.As(err, new(*argument.ValueError)):
				return fmt.Errorf("%s: %w", revs[i], err)
			case err != nil && ctx.Err() == nil && first == nil:
				first = &FailedError{Err: fmt.Errorf("%w: the first run of %s, which is not measured, failed: %w", zkbench.ErrEnv, revs[i], err)}
			}
		}
		defer func() { m.failed = cmp.Or(m.failed, first) }()
		m.sessions(ctx, []measured{{c.Run, func(ctx context.Context, side stat.Side) *record.Record { return runs[side].run(ctx) }}})
		return nil
	})
}

func (c *Command) build(ctx context.Context, m *measurement, v Revision, tree, dir string) error {
	argv, err := c.argv("build", c.Build, tree)
	if err != nil {
		return err
	}
	fmt.Fprintf(m.Log, "building %s: %s\n", v, c.Build)
	if _, _, err := runIn(ctx, dir, argv, 0); err != nil {
		return notBuilt(v, dir, err)
	}
	return nil
}

// readCommand writes the time, processor time and memory of one run into its record, and the
// results that it printed, if any.
func readCommand(rec *record.Record, out []byte, use subprocess.Use) (err error) {
	rec.Metrics = []record.Metric{record.RunTime.Metric(float64(use.Wall)), record.CPUTime.Metric(float64(use.CPU()))}
	if use.PeakRSS > 0 {
		rec.Metrics = append(rec.Metrics, record.PeakRSS.Metric(float64(use.PeakRSS)))
	}
	rec.SetWhose(record.OfCommand)
	rec.Output, err = benchmarkOutput(out, false)
	return err
}

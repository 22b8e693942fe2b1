package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Programs measures two commands side by side, in the current directory. Each process of the session
// runs one of them. The figures are those of Command.
type Programs struct {
	Measuring
	Old, New string        // the commands
	Shell    bool          // run both with sh; otherwise argument.Words splits them into words
	Limit    time.Duration // of one run, which fails if it takes longer; 0: none
}

// Check returns an error if one of the texts is not a command.
func (p *Programs) Check() error {
	if err := (&Command{Run: p.Old, Shell: p.Shell}).Check(); err != nil {
		return err
	}
	err := (&Command{Run: p.New, Shell: p.Shell}).Check()
	if wrong, ok := errors.AsType[*argument.ValueError](err); ok {
		wrong.Field = "with"
	}
	return err
}

// Measure measures the programs and passes the results to the function show. Its errors are those of
// Revisions.Measure.
func (p *Programs) Measure(ctx context.Context, show func(sides Sides, partial string) error) error {
	m := &measurement{Measuring: &p.Measuring, pair: &Pair{Old: CaseName{Name: p.Old}, New: CaseName{Name: p.New}, Others: true}}
	return m.measure(ctx, [2]string{p.Old, p.New}, show, func() error {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		runs := make(map[stat.Side]process)
		var first error // of a warm-up run
		for _, side := range sides {
			command := p.Old
			if side == stat.New {
				command = p.New
			}
			argv, err := (&Command{Shell: p.Shell}).argv("run", command, dir)
			if err != nil {
				return err
			}
			e := env.Read()
			e.Commit, e.Go, e.Modules = "", "", nil // the program may be in any language
			runs[side] = process{name: command, env: e, argv: argv, dir: dir, limit: p.Limit, read: readCommand}
			if side == stat.Again {
				continue
			}
			// The first run has cold caches, unlike all later ones, so it is not measured.
			switch _, _, err := runIn(ctx, dir, argv, p.Limit); {
			case errors.As(err, new(*argument.ValueError)):
				return fmt.Errorf("%s: %w", command, err)
			case err != nil && ctx.Err() == nil && first == nil:
				first = &FailedError{Err: fmt.Errorf("%w: the first run of %s, which is not measured, failed: %w", zkbench.ErrEnv, command, err)}
			}
		}
		m.sessions(ctx, []measured{{m.pair.String(), func(ctx context.Context, side stat.Side) *record.Record { return runs[side].run(ctx) }}})
		if m.failed == nil {
			m.failed = first
		}
		return nil
	})
}

package stark

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// Fixed columns are committed to like others, but only once. Everyone who makes the system does so. The cap
// is therefore in the system's digest and in no proof, and nothing is proved about the columns. A proof
// contains their values at y and, for each query, a leaf. They are opened there because otherwise the
// verifier would have to compute these values in time that grows with the columns' length.

// fixed holds the fixed columns of a system, or an image. All proofs read it, and none may reuse its memory.
type fixed[E field.Element[E]] struct {
	values   [][][]E // for each table, on H; nil for a table without, like its extended columns
	extended []*extended[E]
	tree     *tree.Tree[E]
	salts    [][][]E
	top      []tree.Digest
}

// noFixed returns the fixed columns of tables of which none has any.
func noFixed[E field.Element[E]](s *statement) *fixed[E] {
	return &fixed[E]{values: make([][][]E, len(s.tables)), extended: make([]*extended[E], len(s.tables))}
}

// fix commits to the fixed columns, if there are any, and returns the cap.
func (y *system[E, X]) fix(ctx context.Context, ex executor.Executor, s *statement) ([]tree.Digest, error) {
	contents := make([][][]uint64, len(s.tables))
	for t, table := range s.tables {
		contents[t] = table.Fixed
	}
	of, err := y.commitFixed(ctx, ex, s, ofFixed, s.least(nil), contents)
	if err != nil {
		return nil, err
	}
	y.fixed = *of
	return of.top, nil
}

// commitFixed commits to the contents of fixed columns or of an image, for each table, in a layout for tables of
// the given heights.
func (y *system[E, X]) commitFixed(ctx context.Context, ex executor.Executor, s *statement, phase int, rows []int, contents [][][]uint64) (*fixed[E], error) {
	of := noFixed[E](s)
	if !slices.ContainsFunc(contents, func(columns [][]uint64) bool { return len(columns) > 0 }) {
		return of, nil
	}
	l, err := y.layout(s, rows)
	if err != nil {
		return nil, err
	}
	p := &prover[E, X]{ctx: ctx, ex: ex, field: y.field, hash: y.hash, layout: l, digests: &memory[tree.Digest]{kept: &y.digests}, proof: &proof[E, X]{}}
	if p.points, err = newPoints[E, X](p.ctx, p.ex, y.field, l, &y.transforms, newMemory(&y.kept, l)); err != nil {
		return nil, err
	}
	for t, from := range contents {
		if len(from) == 0 {
			continue
		}
		columns, err := p.points.memory.columns(p.ctx, p.ex, len(from), 1<<l.rows[t])
		if err != nil {
			return nil, err
		}
		of.values[t] = make([][]E, len(from))
		err = p.ex.Do(p.ctx, len(from), func(_ context.Context, i int) error {
			for row, v := range from[i] {
				if v >= y.field.Order() {
					return fmt.Errorf("%w: table %q, %s column %d, row %d: not below the field's order", zkbench.ErrParams, s.tables[t].Name, phaseNames[phase], i, row)
				}
				columns[i][row] = y.field.New(v)
			}
			of.values[t][i] = slices.Clone(columns[i])
			return nil
		})
		if err != nil {
			return nil, err
		}
		if of.extended[t], err = p.points.extend(p.ctx, p.ex, l.phases[phase][t], columns, true, l.held()); err != nil {
			return nil, err
		}
	}
	p.extended[phase] = of.extended
	if err := p.grow(phase); err != nil {
		return nil, err
	}
	of.tree, of.salts, of.top = p.trees[phase], p.salts[phase], p.proof.caps[phase]
	return of, nil
}

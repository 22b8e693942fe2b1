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

// fixed holds a system's fixed columns. All proofs read it, and none may reuse its memory.
type fixed[E field.Element[E]] struct {
	values   [][][]E // for each table, on H
	extended []*extended[E]
	tree     *tree.Tree[E]
	salts    [][][]E
	top      []tree.Digest
}

// fix commits to the fixed columns, if there are any, and returns the cap.
func (y *system[E, X]) fix(ctx context.Context, ex executor.Executor, s *statement) ([]tree.Digest, error) {
	y.fixed = fixed[E]{values: make([][][]E, len(s.tables)), extended: make([]*extended[E], len(s.tables))}
	if !s.anyFixed() {
		return nil, nil
	}
	// The commitment does not depend on the heights of other tables. The least ones make no word longer.
	rows := make([]int, len(s.tables))
	for t, fixed := range s.fixed {
		rows[t] = max(1, fixed)
	}
	l, err := y.layout(s, rows)
	if err != nil {
		return nil, err
	}
	p := &prover[E, X]{ctx: ctx, ex: ex, field: y.field, hash: y.hash, layout: l, digests: &memory[tree.Digest]{kept: &y.digests}, proof: &proof[E, X]{}}
	if p.points, err = newPoints[E, X](p.ctx, p.ex, y.field, l, &y.transforms, newMemory(&y.kept, l)); err != nil {
		return nil, err
	}
	for t, table := range s.tables {
		if s.fixed[t] == 0 {
			continue
		}
		columns, err := p.points.memory.columns(p.ctx, p.ex, len(table.Fixed), 1<<l.rows[t])
		if err != nil {
			return nil, err
		}
		y.fixed.values[t] = make([][]E, len(table.Fixed))
		err = p.ex.Do(p.ctx, len(table.Fixed), func(_ context.Context, i int) error {
			for row, v := range table.Fixed[i] {
				if v >= y.field.Order() {
					return fmt.Errorf("%w: table %q, fixed column %d, row %d: not below the field's order", zkbench.ErrParams, table.Name, i, row)
				}
				columns[i][row] = y.field.New(v)
			}
			y.fixed.values[t][i] = slices.Clone(columns[i])
			return nil
		})
		if err != nil {
			return nil, err
		}
		x, err := p.points.extend(p.ctx, p.ex, l.phases[ofFixed][t], columns, true, l.held())
		if err != nil {
			return nil, err
		}
		y.fixed.extended[t] = x
	}
	p.extended[ofFixed] = y.fixed.extended
	if err := p.grow(ofFixed); err != nil {
		return nil, err
	}
	y.fixed.tree, y.fixed.salts, y.fixed.top = p.trees[ofFixed], p.salts[ofFixed], p.proof.caps[ofFixed]
	return y.fixed.top, nil
}

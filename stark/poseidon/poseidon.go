// Package poseidon proves paths in the Merkle trees of package merkle, with Poseidon digests over Goldilocks.
// It uses package stark. The statement is "I know a path from a row with this digest to this root, in a tree
// of this shape". The siblings and the row's index are hidden or exposed (stark.Visibility). If they are
// hidden, the parameters need zero knowledge. The proof has one table. Each of its rows holds one permutation,
// with two columns for each S-box. The function State adds the same constraints to other tables.
package poseidon

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// The columns of the table of paths, before those of the permutation. A path has a row for each sibling, from
// the leaf up, and one more, which hashes the top into the root.
const (
	number = iota // number of the path
	depth         // number of the path's rows so far, including this one
	times         // how often the path answers; the prover chooses it
	starts        // 1 in a path's first row
	ends          // 1 in its last row, which makes the root
	right         // 1 if the digest from below is the right child
	left0         // the two children, or the top and the tree's shape: four elements each
	right0 = left0 + poseidon.DigestLen
	boxes0 = right0 + poseidon.DigestLen
)

// Width returns the number of columns in the table with which a System proves paths.
func Width() int { return boxes0 + Cubed.Columns() }

// The names of buses.
const (
	busLeaf = "leaf" // number of a path, its leaf
	busRoot = "root" // number of a path, its length, the tree's shape, its root
)

func paths() *air.Table {
	return &air.Table{Name: "paths", Columns: Width(), State: func(b *air.Builder) {
		here, next := b.Here, b.Next
		one := air.Constant(1)
		for _, flag := range []struct {
			name   string
			column int
		}{{"ends", ends}, {"right", right}} { // and starts, which follows ends
			b.Zero(air.Everywhere, flag.name+" is a bit", here(flag.column).Bool())
		}
		b.Zero(air.First, "number begins", here(number))
		b.Zero(air.Transition, "number counts", next(number).Sub(here(number)).Sub(here(ends)))
		b.Zero(air.First, "a path starts", here(starts).Sub(one))
		b.Zero(air.Transition, "a path starts behind another", next(starts).Sub(here(ends)))
		b.Zero(air.First, "depth begins", here(depth).Sub(one))
		b.Zero(air.Transition, "depth counts", next(depth).Sub(one).Sub(one.Sub(next(starts)).Mul(here(depth))))
		b.Zero(air.Everywhere, "the top is no right child", here(ends).Mul(here(right)))

		var in [poseidon.Width]air.Expr
		for i := range poseidon.Rate {
			in[i] = here(left0 + i)
		}
		rootState := merkle.Shape{}.RootState(poseidon.Digest{})
		for i, e := range rootState[poseidon.Rate:] {
			in[poseidon.Rate+i] = here(ends).Mul(air.Element(uint64(e)))
		}
		out := State(b, in, Cubed, boxes0)
		// below is the digest that comes from below, in this row or the next.
		below := func(cell func(int) air.Expr, i int) air.Expr {
			l, r := cell(left0+i), cell(right0+i)
			return l.Add(cell(right).Mul(r.Sub(l)))
		}
		leaf, root := []air.Expr{here(number)}, []air.Expr{here(number), here(depth)}
		for i := range poseidon.DigestLen {
			b.Zero(air.Transition, fmt.Sprintf("goes up, element %d", i), one.Sub(here(ends)).Mul(below(next, i).Sub(out[i])))
			leaf = append(leaf, below(here, i))
			root = append(root, here(right0+i))
		}
		b.Answer(busLeaf, here(times).Mul(here(starts)), leaf...)
		b.Answer(busRoot, here(times).Mul(here(ends)), append(root, out[:poseidon.DigestLen]...)...)
	}}
}

// Path is a path from a row to the root of a merkle.Tree.
type Path struct {
	Shape    merkle.Shape      // the number of rows must be a power of two
	Leaf     poseidon.Digest   // the row's poseidon.LinearHash
	Index    int               // the row's index
	Siblings []poseidon.Digest // from the leaf up
}

// isRight reports whether the digest on a level is a right child.
func (p *Path) isRight(level int) bool { return p.Index>>level&1 == 1 }

// steps returns the pairs of digests that are compressed from the leaf up, and the top.
func (p *Path) steps() (pairs [][2]poseidon.Digest, top poseidon.Digest) {
	top = p.Leaf
	for i, sibling := range p.Siblings {
		pair := [2]poseidon.Digest{top, sibling}
		if p.isRight(i) {
			pair = [2]poseidon.Digest{sibling, top}
		}
		pairs = append(pairs, pair)
		top = poseidon.Compress(pair[0], pair[1])
	}
	return pairs, top
}

// Root returns the root to which the path leads.
func (p *Path) Root() poseidon.Digest {
	_, top := p.steps()
	return p.Shape.Root(top)
}

// check refuses a path that does not fit the tree's shape.
func (p *Path) check() error {
	if err := checkShape(p.Shape); err != nil {
		return err
	}
	if p.Index < 0 || p.Index >= p.Shape.Rows {
		return fmt.Errorf("%w: index: %d, accepted are 0 to %d", zkbench.ErrParams, p.Index, p.Shape.Rows-1)
	}
	if want := p.Shape.Levels() - 1; len(p.Siblings) != want {
		return fmt.Errorf("%w: %d siblings, accepted are %d", zkbench.ErrParams, len(p.Siblings), want)
	}
	return nil
}

// checkShape refuses a shape whose paths do not all have one length. A shorter path could present an inner
// node as a row.
func checkShape(s merkle.Shape) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Rows&(s.Rows-1) != 0 {
		return fmt.Errorf("%w: a tree of %d rows, accepted are powers of two", zkbench.ErrParams, s.Rows)
	}
	return nil
}

// Claim states that a tree with the given root and shape has a row with the digest Leaf.
type Claim struct {
	Root  poseidon.Digest // the root of a merkle.Tree
	Shape merkle.Shape
	Leaf  poseidon.Digest // the row's poseidon.LinearHash
}

// Claims returns a Claim for each path, with the root to which the path leads.
func Claims(paths []Path) (claims []Claim) {
	for _, p := range paths {
		claims = append(claims, Claim{p.Root(), p.Shape, p.Leaf})
	}
	return claims
}

// System proves paths in Merkle trees, and verifies such proofs.
type System struct {
	*stark.System
	params stark.Params
}

// New returns a system with these parameters, over Goldilocks, with trees of Poseidon. The second argument
// says who can read the siblings and indices of paths. It must be stark.Hidden or stark.Exposed; stark.Hidden
// needs zero knowledge. Siblings and indices are never part of a statement, so New returns zkbench.ErrParams
// for stark.Public.
func New(params stark.Params, siblings stark.Visibility) (*System, error) {
	if err := siblings.Check(params, stark.Hidden, stark.Exposed); err != nil {
		return nil, fmt.Errorf("siblings: %w", err)
	}
	s, err := stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: params}, paths())
	if err != nil {
		return nil, err
	}
	return &System{s, params}, nil
}

// Prove proves that each of the given paths leads from its leaf to its root. The proof is bound to the
// bytes of the parameter bindTo. There must be at least one path. Prove returns zkbench.ErrParams if a
// path does not fit its tree's shape.
func (s *System) Prove(ctx context.Context, ex executor.Executor, paths []Path, bindTo []byte, options stark.Options) ([]byte, error) {
	for i := range paths {
		if err := paths[i].check(); err != nil {
			return nil, fmt.Errorf("path %d: %w", i, err)
		}
	}
	statement, err := s.Statement(Claims(paths), bindTo)
	if err != nil {
		return nil, err
	}
	return s.System.Prove(ctx, ex, []stark.Trace{s.Trace(paths)}, statement, options)
}

// Verify checks a proof of the claims. The claims must be in the order of the paths. The proof must be bound
// to the bytes in bindTo.
func (s *System) Verify(proof []byte, claims []Claim, bindTo []byte) error {
	statement, err := s.Statement(claims, bindTo)
	if err != nil {
		return err
	}
	return s.System.Verify(proof, statement)
}

// Statement returns the statement of a proof of these claims, with the parameter bindTo as the context.
// The statement's messages ask for the leaf and the root of each path, on the buses of the system's
// table. The height of the table follows from the shapes of the trees. Statement returns
// zkbench.ErrParams if there are no claims, or if a tree's number of rows is not a power of two.
func (s *System) Statement(claims []Claim, bindTo []byte) (statement stark.Statement, err error) {
	statement.Context = bindTo
	if len(claims) == 0 {
		return statement, fmt.Errorf("%w: no path", zkbench.ErrParams)
	}
	ask := func(bus string, tuple ...uint64) {
		statement.Messages = append(statement.Messages, stark.Message{Bus: bus, Times: -1, Tuple: tuple})
	}
	rows := 0
	for i, c := range claims {
		if err := checkShape(c.Shape); err != nil {
			return statement, fmt.Errorf("path %d: %w", i, err)
		}
		length := c.Shape.Levels() // siblings, and the root
		rows += length
		shape := c.Shape.RootState(poseidon.Digest{})
		ask(busLeaf, numbers([]uint64{uint64(i)}, c.Leaf[:])...)
		ask(busRoot, numbers(numbers([]uint64{uint64(i), uint64(length)}, shape[poseidon.DigestLen:poseidon.Rate]), c.Root[:])...)
	}
	statement.Forms = []stark.Form{{s.height(rows)}}
	return statement, nil
}

// numbers appends elements to a tuple.
func numbers(tuple []uint64, elements []element) []uint64 {
	for _, e := range elements {
		tuple = append(tuple, uint64(e))
	}
	return tuple
}

// height returns the height of a table with the given number of rows of paths.
func (s *System) height(rows int) int { return s.params.Height(max(64, rows)) }

// Trace returns the trace of the given paths. The rows that remain are filled with dummy paths of one row
// each, for which the table does not answer on its buses.
func (s *System) Trace(paths []Path) stark.Trace {
	rows := 0
	for _, p := range paths {
		rows += len(p.Siblings) + 1
	}
	return stark.Trace{Rows: s.height(rows), Fill: func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		height := cells.Rows()
		states := make([]poseidon.State, height)
		row := 0
		// add adds a row of a path that has the given number of rows before it.
		add := func(path, before int, end bool, state poseidon.State) {
			cells.Set(row, number, uint64(path))
			cells.Set(row, depth, uint64(before+1))
			if before == 0 {
				cells.Set(row, starts, 1)
			}
			if end {
				cells.Set(row, ends, 1)
			}
			states[row] = state
			row++
		}
		for n, p := range paths {
			pairs, top := p.steps()
			for i, pair := range pairs {
				if p.isRight(i) {
					cells.Set(row, right, 1)
				}
				cells.Set(row, times, 1)
				var state poseidon.State
				copy(state[:], pair[0][:])
				copy(state[poseidon.DigestLen:], pair[1][:])
				add(n, i, false, state)
			}
			cells.Set(row, times, 1)
			add(n, len(pairs), true, p.Shape.RootState(top))
		}
		for n := len(paths); row < height; n++ {
			add(n, 0, true, merkle.Shape{}.RootState(poseidon.Digest{}))
		}
		return ex.Do(ctx, height, func(_ context.Context, row int) error {
			for i, e := range states[row][:poseidon.Rate] {
				cells.Set(row, left0+i, uint64(e))
			}
			Fill(cells, row, Cubed, boxes0, states[row])
			return nil
		})
	}}
}

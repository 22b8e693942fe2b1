// Package poseidon proves paths in Merkle trees of Poseidon digests over Goldilocks, by package
// stark: "I know a way of so many siblings from this leaf to that root". Siblings and the leaf's
// place are secret, if the set is one of zero knowledge. A row is one
// permutation, of two columns an S-box, which other tables may state too (State).
package poseidon

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// Boxes is how the S-boxes of a permutation stand in columns: how many each has.
type Boxes int

// The ways.
const (
	Plain Boxes = 1 // x⁷, of degree 7
	Cubed Boxes = 2 // x³, and x³ x³ x: of degree 3
)

// Columns is the number of State's columns.
func (b Boxes) Columns() int {
	return int(b) * (poseidon.FullRounds*poseidon.Width + poseidon.PartialRounds)
}

// full tells whether all elements of a round's state have S-boxes, and not the first alone.
func full(round int) bool {
	return round < poseidon.FullRounds/2 || round >= poseidon.FullRounds/2+poseidon.PartialRounds
}

// State states that a row holds a permutation of in, expressions of degree 1, in boxes' columns from first on, and
// returns the state after it, of degree 1 too.
func State(b *air.Builder, in [poseidon.Width]air.Expr, boxes Boxes, first int) [poseidon.Width]air.Expr {
	state := in
	box := func(r, i int, x air.Expr) (seventh air.Expr) {
		cube := x.Mul(x).Mul(x)
		if boxes == Cubed {
			b.Zero(air.Everywhere, fmt.Sprintf("round %d, x³ of element %d", r, i), b.Here(first).Sub(cube))
			cube = b.Here(first)
			first++
		}
		seventh = b.Here(first)
		b.Zero(air.Everywhere, fmt.Sprintf("round %d, x⁷ of element %d", r, i), seventh.Sub(cube.Mul(cube).Mul(x)))
		first++
		return seventh
	}
	for r, row := range roundConstants {
		if !full(r) {
			partial := r - poseidon.FullRounds/2
			seventh := box(r, 0, state[0].Add(air.Element(uint64(sparse.before[partial]))))
			state[0] = seventh.Mul(air.Element(uint64(sparse.corner)))
			for i, e := range sparse.rows[partial] {
				state[0] = state[0].Add(state[i+1].Mul(air.Element(uint64(e))))
			}
			for i, e := range sparse.columns[partial] {
				state[i+1] = state[i+1].Add(seventh.Mul(air.Element(uint64(e))))
			}
			if partial == poseidon.PartialRounds-1 {
				z := state
				state[0] = state[0].Add(air.Element(uint64(sparse.first)))
				for i, row := range sparse.last {
					state[i+1] = air.Element(uint64(sparse.others[i]))
					for j, e := range row {
						state[i+1] = state[i+1].Add(z[j+1].Mul(air.Element(uint64(e))))
					}
				}
			}
			continue
		}
		for i, c := range row {
			state[i] = box(r, i, state[i].Add(air.Element(uint64(c))))
		}
		var mixed [poseidon.Width]air.Expr
		for i, row := range mix {
			for j, c := range row {
				mixed[i] = mixed[i].Add(state[j].Times(int64(c)))
			}
		}
		state = mixed
	}
	return state
}

// Fill sets State's columns of a row, and returns the state after the permutation.
func Fill(cells *stark.Cells, row int, boxes Boxes, first int, state poseidon.State) poseidon.State {
	box := func(x element) element {
		cube := x.Mul(x).Mul(x)
		if boxes == Cubed {
			cells.Set(row, first, uint64(cube))
			first++
		}
		seventh := cube.Mul(cube).Mul(x)
		cells.Set(row, first, uint64(seventh))
		first++
		return seventh
	}
	for r, constants := range roundConstants {
		if full(r) {
			for i, c := range constants {
				state[i] = box(state[i].Add(c))
			}
			state = mixed(&state)
			continue
		}
		partial := r - poseidon.FullRounds/2
		others := (*vector)(state[1:])
		seventh := box(state[0].Add(sparse.before[partial]))
		state[0] = sparse.corner.Mul(seventh).Add(sparse.rows[partial].dot(*others))
		for i, e := range sparse.columns[partial] {
			others[i] = others[i].Add(e.Mul(seventh))
		}
		if partial == poseidon.PartialRounds-1 {
			state[0] = state[0].Add(sparse.first)
			*others = sparse.last.times(*others)
			for i, e := range sparse.others {
				others[i] = others[i].Add(e)
			}
		}
	}
	return state
}

var roundConstants, mix = poseidon.RoundConstants(), poseidon.Mix()

// mixed is the linear layer: numbers of it are small, so that a sum of products is reduced once.
func mixed(state *poseidon.State) (out poseidon.State) {
	for i, row := range mix {
		var low, high uint64
		for j, c := range row {
			low += uint64(uint32(state[j])) * c
			high += uint64(state[j]) >> 32 * c
		}
		// The sum is low and 2^32 high, each below 2^45.
		out[i] = element(low).Add(goldilocks.Reduce(high).Mul(1 << 32))
	}
	return out
}

// The columns of the table of paths, before those of the permutation.
const (
	number = iota // of the path
	depth         // of siblings so far, this row's included
	isReal        // 1 if the row is of a path
	starts        // 1 in a path's first row
	ends          // 1 in its last
	right         // 1 if what comes from below is the right child
	left0         // the children: four elements each
	right0 = left0 + poseidon.DigestLen
	boxes0 = right0 + poseidon.DigestLen
)

// Width is the number of columns of the table of paths.
var Width = boxes0 + Cubed.Columns()

// The names of buses.
const (
	busLeaf = "leaf" // number of a path, its leaf
	busRoot = "root" // number of a path, its length, its root
)

func paths() *air.Table {
	return &air.Table{Name: "paths", Columns: Width, State: func(b *air.Builder) {
		here, next := b.Here, b.Next
		one := air.Constant(1)
		for _, flag := range []struct {
			name   string
			column int
		}{{"real", isReal}, {"starts", starts}, {"ends", ends}, {"right", right}} {
			b.Zero(air.Everywhere, flag.name+" is a bit", here(flag.column).Bool())
		}
		b.Zero(air.First, "number begins", here(number))
		b.Zero(air.Transition, "number counts", next(number).Sub(here(number)).Sub(here(ends)))
		b.Zero(air.First, "a path starts", here(starts).Sub(one))
		b.Zero(air.Transition, "a path starts behind another", next(starts).Sub(here(ends)))
		b.Zero(air.First, "depth begins", here(depth).Sub(one))
		b.Zero(air.Transition, "depth counts", next(depth).Sub(one).Sub(one.Sub(next(starts)).Mul(here(depth))))
		b.Zero(air.Transition, "paths stand before other rows", next(isReal).Mul(one.Sub(here(isReal))))

		var in [poseidon.Width]air.Expr
		for i := range 2 * poseidon.DigestLen {
			in[i] = here(left0 + i)
		}
		out := State(b, in, Cubed, boxes0)
		// What comes from below, of this row and the next.
		below := func(cell func(int) air.Expr, i int) air.Expr {
			l, r := cell(left0+i), cell(right0+i)
			return l.Add(cell(right).Mul(r.Sub(l)))
		}
		leaf, root := []air.Expr{here(number)}, []air.Expr{here(number), here(depth)}
		for i := range poseidon.DigestLen {
			b.Zero(air.Transition, fmt.Sprintf("goes up, element %d", i), one.Sub(here(ends)).Mul(below(next, i).Sub(out[i])))
			leaf = append(leaf, below(here, i))
			root = append(root, out[i])
		}
		b.Send(busLeaf, here(isReal).Mul(here(starts)), leaf...)
		b.Send(busRoot, here(isReal).Mul(here(ends)), root...)
	}}
}

// Path is a way from a leaf to a root: its siblings from below, and the leaf's place.
type Path struct {
	Leaf     poseidon.Digest
	Siblings []poseidon.Digest
	Index    uint64 // bit i says that the i-th digest on the way is a right child
}

// Root is where the path leads.
func (p *Path) Root() poseidon.Digest {
	d := p.Leaf
	for i, s := range p.Siblings {
		if p.Index>>i&1 == 1 {
			d = poseidon.Compress(s, d)
		} else {
			d = poseidon.Compress(d, s)
		}
	}
	return d
}

// Claim is what is said of a path.
type Claim struct {
	Leaf, Root poseidon.Digest
	Depth      int // siblings
}

// Claims are what is true of paths.
func Claims(paths []Path) (claims []Claim) {
	for _, p := range paths {
		claims = append(claims, Claim{p.Leaf, p.Root(), len(p.Siblings)})
	}
	return claims
}

// System proves and verifies paths.
type System struct {
	*stark.System
	set stark.Set
}

// New returns a system of a set, over Goldilocks, with trees of Poseidon.
func New(set stark.Set) (*System, error) {
	s, err := stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: set}, paths())
	if err != nil {
		return nil, err
	}
	return &System{s, set}, nil
}

// mostDepth is that of a path whose index has 64 bits.
const mostDepth = 64

// Prove proves the claims that are true of paths, one at least, of one sibling at least.
func (s *System) Prove(ctx context.Context, ex executor.Executor, paths []Path, about []byte, options stark.Options) ([]byte, error) {
	statement, err := s.Statement(Claims(paths), about)
	if err != nil {
		return nil, err
	}
	return s.System.Prove(ctx, ex, []stark.Trace{s.Trace(paths)}, statement, options)
}

// Verify checks a proof of claims, in their order.
func (s *System) Verify(proof []byte, claims []Claim, about []byte) error {
	statement, err := s.Statement(claims, about)
	if err != nil {
		return err
	}
	return s.System.Verify(proof, statement)
}

// Statement is what a proof of claims is about: it receives what the paths send.
func (s *System) Statement(claims []Claim, about []byte) (statement stark.Statement, err error) {
	statement.Context = about
	if len(claims) == 0 {
		return statement, fmt.Errorf("%w: no path", zkbench.ErrParams)
	}
	receive := func(bus string, d poseidon.Digest, tuple ...uint64) {
		for _, e := range d {
			tuple = append(tuple, uint64(e))
		}
		statement.Messages = append(statement.Messages, stark.Message{Bus: bus, Times: -1, Tuple: tuple})
	}
	for i, c := range claims {
		if c.Depth < 1 || c.Depth > mostDepth {
			return statement, fmt.Errorf("%w: path %d of %d siblings, accepted are 1 to %d", zkbench.ErrParams, i, c.Depth, mostDepth)
		}
		receive(busLeaf, c.Leaf, uint64(i))
		receive(busRoot, c.Root, uint64(i), uint64(c.Depth))
	}
	return statement, nil
}

// Trace is the paths', and behind them paths of one row that are not real.
func (s *System) Trace(paths []Path) stark.Trace {
	rows := 0
	for _, p := range paths {
		rows += len(p.Siblings)
	}
	return stark.Trace{Rows: s.set.Height(max(64, rows)), Fill: func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		height := cells.Rows()
		states := make([]poseidon.State, height)
		row := 0
		for n, p := range paths {
			below := p.Leaf
			for i, s := range p.Siblings {
				pair := [2]poseidon.Digest{below, s}
				if p.Index>>i&1 == 1 {
					pair = [2]poseidon.Digest{s, below}
					cells.Set(row, right, 1)
				}
				cells.Set(row, number, uint64(n))
				cells.Set(row, depth, uint64(i+1))
				cells.Set(row, isReal, 1)
				if i == 0 {
					cells.Set(row, starts, 1)
				}
				if i == len(p.Siblings)-1 {
					cells.Set(row, ends, 1)
				}
				copy(states[row][:], pair[0][:])
				copy(states[row][poseidon.DigestLen:], pair[1][:])
				below = poseidon.Compress(pair[0], pair[1])
				row++
			}
		}
		for n := len(paths); row < height; row++ {
			cells.Set(row, number, uint64(n))
			cells.Set(row, depth, 1)
			cells.Set(row, starts, 1)
			cells.Set(row, ends, 1)
			n++
		}
		return ex.Do(ctx, height, func(_ context.Context, row int) error {
			for i, e := range states[row][:2*poseidon.DigestLen] {
				cells.Set(row, left0+i, uint64(e))
			}
			Fill(cells, row, Cubed, boxes0, states[row])
			return nil
		})
	}}
}

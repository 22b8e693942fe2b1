package poseidon

import (
	"context"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/starktest"
)

// row is the free content of a row of paths.
type row struct {
	number, depth, times, starts, ends, right uint64
	children                                  [2]poseidon.Digest
	tweak                                     func(cells *stark.Cells, row int) // of the S-boxes, once they are filled
}

// lay returns a trace of rows, with what State computes from them.
func lay(height int, rows []row) stark.Trace {
	return stark.Trace{Rows: height, Fill: func(_ context.Context, _ executor.Executor, cells *stark.Cells) error {
		for i, r := range rows {
			for column, v := range []uint64{r.number, r.depth, r.times, r.starts, r.ends, r.right} {
				cells.Set(i, column, v)
			}
			state := r.state()
			for j, e := range state[:poseidon.Rate] {
				cells.Set(i, left0+j, uint64(e))
			}
			Fill(cells, i, Cubed, boxes0, state)
			if r.tweak != nil {
				r.tweak(cells, i)
			}
		}
		return nil
	}}
}

// state returns the state that a row permutes.
func (r *row) state() (state poseidon.State) {
	copy(state[:], r.children[0][:])
	copy(state[poseidon.DigestLen:], r.children[1][:])
	rootState := merkle.Shape{}.RootState(poseidon.Digest{})
	for i, e := range rootState[poseidon.Rate:] {
		state[poseidon.Rate+i] = e.Mul(element(r.ends))
	}
	return state
}

// out returns the digest that a row gives.
func (r *row) out() poseidon.Digest {
	state := r.state()
	state.Permute()
	return poseidon.Digest(state[:poseidon.DigestLen])
}

// rowsOf returns the rows of paths, and more rows until they fill a table.
func rowsOf(height int, paths []Path) (rows []row) {
	for n, p := range paths {
		pairs, top := p.steps()
		for i, pair := range pairs {
			r := row{number: uint64(n), depth: uint64(i + 1), times: 1, children: pair}
			if p.isRight(i) {
				r.right = 1
			}
			rows = append(rows, r)
		}
		state := p.Shape.RootState(top)
		rows = append(rows, row{
			number: uint64(n), depth: uint64(len(pairs) + 1), times: 1, ends: 1,
			children: [2]poseidon.Digest{top, poseidon.Digest(state[poseidon.DigestLen:poseidon.Rate])},
		})
		rows[len(rows)-len(pairs)-1].starts = 1
	}
	for n := len(paths); len(rows) < height; n++ {
		rows = append(rows, row{number: uint64(n), depth: 1, starts: 1, ends: 1})
	}
	return rows
}

// TestConstraints: each kind of constraint of paths is held by a witness that breaks it alone.
func TestConstraints(t *testing.T) {
	t.Parallel()
	s := must.Get(New(stark.Compare100(stark.Goldilocks), stark.Exposed))(t)
	path := func(seed uint64, levels int) Path {
		p := Path{Shape: merkle.Shape{Rows: 1 << levels, Width: 8}, Leaf: poseidon.Digest{element(seed), 1, 2, 3}, Index: 5 & (1<<levels - 1)}
		for i := range levels {
			p.Siblings = append(p.Siblings, poseidon.Digest{element(seed), 9, element(i), 7})
		}
		return p
	}
	planted := make(map[string]func() starktest.Planted)
	// forged changes the rows of two paths, of 3 siblings and 1, and what is said of them: of each path a leaf and a root.
	forged := func(forge func(rows []row, about *stark.Statement)) starktest.Planted {
		paths := []Path{path(1, 3), path(2, 1)}
		about := must.Get(s.Statement(Claims(paths), nil))(t)
		height := about.Forms[0][0]
		rows := rowsOf(height, paths)
		forge(rows, &about)
		return starktest.Planted{System: s.System, Traces: []stark.Trace{lay(height, rows)}, About: about}
	}
	plant := func(kind string, forge func(rows []row, about *stark.Statement)) {
		planted["paths: "+kind] = func() starktest.Planted { return forged(forge) }
	}
	leaf := func(about *stark.Statement, path int, d poseidon.Digest) {
		about.Messages[2*path].Tuple = numbers([]uint64{uint64(path)}, d[:])
	}
	root := func(about *stark.Statement, path int, d poseidon.Digest) {
		tuple := about.Messages[2*path+1].Tuple
		copy(tuple[len(tuple)-poseidon.DigestLen:], numbers(nil, d[:]))
	}

	plant("ends is a bit", func(rows []row, about *stark.Statement) { // the root is made with another tag
		rows[3].ends = 2
		rows[3].times = uint64(element(2).Inverse())
		root(about, 0, rows[3].out())
		// The row behind is one of the next path but one, and goes on from the root.
		rows[4] = row{number: 2, starts: 2, ends: 1, children: [2]poseidon.Digest{rows[3].out()}}
		depth := element(1).Sub(element(rows[3].depth)) // 1 + (1 - 2) depth
		rows[4].depth = uint64(depth)
		for i := 5; i < len(rows); i++ {
			rows[i] = row{number: uint64(i - 2), depth: 1, starts: 1, ends: 1}
		}
		about.Messages = about.Messages[:2]
	})
	plant("right is a bit", func(rows []row, about *stark.Statement) { // a leaf on the line through both children
		rows[0].right = 2
		var d poseidon.Digest
		for i := range d {
			l, r := rows[0].children[0][i], rows[0].children[1][i]
			d[i] = r.Add(r).Sub(l)
		}
		leaf(about, 0, d)
	})
	plant("number begins", func(rows []row, about *stark.Statement) {
		for i := range rows {
			rows[i].number += 7
		}
		for _, m := range about.Messages {
			m.Tuple[0] += 7
		}
	})
	plant("number counts", func(rows []row, about *stark.Statement) { // the first path leads to the second's root
		for i, n := range []uint64{0, 0, 0, 1, 1, 0} {
			rows[i].number = n
		}
		first, second := about.Messages[1].Tuple, about.Messages[3].Tuple
		first[0], second[0] = 1, 0
	})
	plant("a path starts", func(rows []row, about *stark.Statement) { // from no leaf
		rows[0].starts = 0
		about.Messages = about.Messages[1:]
	})
	plant("a path starts behind another", func(rows []row, about *stark.Statement) { // in its midst, from an inner node
		rows[0].times = 0
		rows[1].starts = 1
		for i := range 3 {
			rows[1+i].depth = uint64(1 + i)
		}
		leaf(about, 0, rows[0].out())
		about.Messages[1].Tuple[1] = 3
	})
	plant("depth begins", func(rows []row, about *stark.Statement) {
		for i := range 4 {
			rows[i].depth += 5
		}
		about.Messages[1].Tuple[1] += 5
	})
	plant("depth counts", func(rows []row, about *stark.Statement) {
		rows[3].depth = 2
		about.Messages[1].Tuple[1] = 2
	})
	plant("the top is no right child", func(rows []row, about *stark.Statement) { // which then is the shape
		top := rows[3].children[0]
		rows[3].right, rows[3].children = 1, [2]poseidon.Digest{{1, 2, 3, 4}, top}
		copy(about.Messages[1].Tuple[2:], numbers(nil, top[:]))
		root(about, 0, rows[3].out())
	})
	// A box of the last round is followed by the linear layer alone.
	const first = boxes0 + int(Cubed)*(poseidon.FullRounds*poseidon.Width+poseidon.PartialRounds-poseidon.Width)
	boxed := func(kind string, change func(cube, x element) (newCube, newSeventh element)) {
		plant(kind, func(rows []row, about *stark.Statement) {
			state := rows[3].state()
			x, seventh := lastBox(state)
			cube := x.Mul(x).Mul(x)
			newCube, newSeventh := change(cube, x)
			rows[3].tweak = func(cells *stark.Cells, row int) {
				cells.Set(row, first, uint64(newCube))
				cells.Set(row, first+1, uint64(newSeventh))
			}
			out := rows[3].out()
			for i := range out {
				out[i] = out[i].Add(element(mix[i][0]).Mul(newSeventh.Sub(seventh)))
			}
			root(about, 0, out)
		})
	}
	boxed("round #, x³ of element #", func(cube, x element) (element, element) {
		cube = cube.Add(1)
		return cube, cube.Mul(cube).Mul(x)
	})
	boxed("round #, x⁷ of element #", func(cube, x element) (element, element) { return cube, cube.Mul(cube).Mul(x).Add(1) })
	plant(`answers "leaf"`, func(_ []row, about *stark.Statement) {
		about.Messages = []stark.Message{about.Messages[1], about.Messages[3]}
	})
	plant(`answers "root"`, func(_ []row, about *stark.Statement) {
		about.Messages = []stark.Message{about.Messages[0], about.Messages[2]}
	})
	goesUp := func(name string) starktest.Planted { // to a root to which the leaf does not lead
		var i int
		if _, err := fmt.Sscanf(name, "goes up, element %d", &i); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return forged(func(rows []row, about *stark.Statement) {
			below := &rows[1].children[rows[1].right][i]
			*below = below.Add(1)
			for r := 2; r < 4; r++ {
				rows[r].children[rows[r].right] = rows[r-1].out()
			}
			root(about, 0, rows[3].out())
		})
	}
	starktest.Constraints(t, "stark/poseidon", []*air.Table{paths()}, starktest.Forgeries{
		Planted: planted, Each: map[string]func(name string) starktest.Planted{"paths: goes up, element #": goesUp},
		Many: map[string]int{"paths: round #, x³ of element #": sboxes, "paths: round #, x⁷ of element #": sboxes},
	})
}

// sboxes is the number of S-boxes of a permutation.
const sboxes = poseidon.FullRounds*poseidon.Width + poseidon.PartialRounds

// lastBox returns the input and output of the first element's S-box in the last round.
func lastBox(state poseidon.State) (x, seventh element) {
	for r, constants := range roundConstants {
		for i := range state {
			state[i] = state[i].Add(constants[i])
			if i == 0 {
				x = state[0]
			}
			if full(r) || i == 0 {
				cube := state[i].Mul(state[i]).Mul(state[i])
				state[i] = cube.Mul(cube).Mul(state[i])
			}
		}
		seventh = state[0]
		state = mixed(&state)
	}
	return x, seventh
}

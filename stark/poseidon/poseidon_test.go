package poseidon_test

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	native "github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/poseidon"
)

func digest(random *rand.Rand) (d native.Digest) {
	for i := range d {
		d[i] = goldilocks.Reduce(random.Uint64())
	}
	return d
}

// somePaths are of some lengths and places.
func somePaths() (paths []poseidon.Path) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 5, 20} {
		p := poseidon.Path{Leaf: digest(random), Index: random.Uint64() >> (64 - n)}
		for range n {
			p.Siblings = append(p.Siblings, digest(random))
		}
		paths = append(paths, p)
	}
	return paths
}

// TestPaths: claims that are true are proved, and others are not.
func TestPaths(t *testing.T) {
	t.Parallel()
	set, err := stark.Secure100(stark.Goldilocks, 2)
	must.Do(t, err)
	set.Grinding, set.Queries = 8, 140
	s, err := poseidon.New(set)
	must.Do(t, err)
	paths := somePaths()
	proof, err := s.Prove(t.Context(), executor.Pool(), paths, []byte("about"), stark.Options{})
	must.Do(t, err)
	must.Do(t, s.Verify(proof, poseidon.Claims(paths), []byte("about")))
	for name, change := range map[string]func(c []poseidon.Claim){
		"leaf":     func(c []poseidon.Claim) { c[0].Leaf[0]++ },
		"root":     func(c []poseidon.Claim) { c[1].Root[3]++ },
		"depth":    func(c []poseidon.Claim) { c[2].Depth-- },
		"order":    func(c []poseidon.Claim) { c[0], c[1] = c[1], c[0] },
		"crossing": func(c []poseidon.Claim) { c[0].Root, c[1].Root = c[1].Root, c[0].Root },
	} {
		claims := poseidon.Claims(paths)
		change(claims)
		must.Fail(t, s.Verify(proof, claims, []byte("about")), zkbench.ErrProof, "another %s", name)
	}
	must.Fail(t, s.Verify(proof, poseidon.Claims(paths), []byte("other")), zkbench.ErrProof, "another context")
	must.Fail(t, s.Verify(proof, poseidon.Claims(paths[:2]), []byte("about")), zkbench.ErrProof, "a path less")
	for name, claims := range map[string][]poseidon.Claim{"none": nil, "no siblings": {{}}, "too many": {{Depth: 65}}} {
		must.Fail(t, s.Verify(proof, claims, nil), zkbench.ErrParams, "%s", name)
	}
	must.Get(s.Statement([]poseidon.Claim{{Depth: 64}}, nil))(t)
	_, err = s.Prove(t.Context(), executor.Serial(), nil, nil, stark.Options{})
	must.Fail(t, err, zkbench.ErrParams, "proof of nothing")
	set.Degree = 4
	_, err = poseidon.New(set)
	must.Fail(t, err, zkbench.ErrParams, "a degree that there is not")
}

// refusing is an executor that does nothing but to refuse.
type refusing struct{ executor.Executor }

func (refusing) Do(context.Context, int, func(ctx context.Context, i int) error) error {
	return context.Canceled
}

// TestTrace: a trace is as high as its rows need, and fails where its executor does.
func TestTrace(t *testing.T) {
	t.Parallel()
	s := must.Get(poseidon.New(stark.Compare100(stark.Goldilocks)))(t)
	for siblings, want := range map[int]int{1: 64, 32: 64, 33: 128, 64: 128, 65: 256} {
		path := poseidon.Path{Siblings: make([]native.Digest, siblings)}
		golden.Equal(t, "rows", want, s.Trace([]poseidon.Path{path, path}).Rows)
	}
	about := must.Get(s.Statement(poseidon.Claims(somePaths()), nil))(t)
	trace := s.Trace(somePaths())
	fill := trace.Fill
	trace.Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		return fill(ctx, refusing{ex}, cells)
	}
	err := s.System.Check(t.Context(), executor.Serial(), []stark.Trace{trace}, about)
	must.Fail(t, err, context.Canceled, "a trace that is not filled")
}

// TestState: the columns of a permutation hold it for one state, and no cell of theirs can change.
func TestState(t *testing.T) {
	t.Parallel()
	const width = native.Width
	for blowup, boxes := range map[int]poseidon.Boxes{2: poseidon.Cubed, 3: poseidon.Plain} {
		table := &air.Table{Name: "permutation", Columns: 2*width + boxes.Columns(), State: func(b *air.Builder) {
			var in [width]air.Expr
			for i := range in {
				in[i] = b.Here(i)
			}
			for i, e := range poseidon.State(b, in, boxes, 2*width) {
				b.Zero(air.Everywhere, "out", e.Sub(b.Here(width+i)))
			}
		}}
		set, err := stark.Secure100(stark.Goldilocks, blowup)
		must.Do(t, err)
		s, err := stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: set}, table)
		must.Do(t, err)
		random := rand.New(rand.NewPCG(3, 4))
		states := make([]native.State, 4)
		for i := range states {
			for j := range states[i] {
				states[i][j] = goldilocks.Reduce(random.Uint64())
			}
		}
		check := func(change func(c *stark.Cells)) error {
			return s.Check(t.Context(), executor.Serial(), []stark.Trace{{Rows: 4, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
				for row, state := range states {
					out := poseidon.Fill(c, row, boxes, 2*width, state)
					state.Permute()
					if out != state {
						t.Errorf("Fill's permutation is another")
					}
					for i := range width {
						c.Set(row, i, uint64(states[row][i]))
						c.Set(row, width+i, uint64(out[i]))
					}
				}
				change(c)
				return nil
			}}}, stark.Statement{})
		}
		must.Do(t, check(func(*stark.Cells) {}))
		for column := range table.Columns {
			err := check(func(c *stark.Cells) { c.Set(2, column, 77) })
			must.Fail(t, err, zkbench.ErrWitness, "%d columns a box, column %d", boxes, column)
		}
	}
}

// TestDigest: the table states what it stated when it was last read with care.
func TestDigest(t *testing.T) {
	t.Parallel()
	s := must.Get(poseidon.New(stark.Compare100(stark.Goldilocks)))(t)
	d := s.Digest()
	golden.Equal(t, "digest", "1b8130da27aea1187815f26848d06bda", hex.EncodeToString(d[:16]))
}

// TestCells: a cell of paths that is changed is named by Check. Of rows of no path it may be
// free what a permutation is of.
func TestCells(t *testing.T) {
	t.Parallel()
	set := stark.Compare100(stark.Goldilocks)
	s := must.Get(poseidon.New(set))(t)
	paths := somePaths()
	about := must.Get(s.Statement(poseidon.Claims(paths), nil))(t)
	must.Do(t, s.System.Check(t.Context(), executor.Serial(), []stark.Trace{s.Trace(paths)}, about))
	for column := 0; column < poseidon.Width; {
		for _, row := range []int{0, 1, 3, 5, 25} { // of each path's first and last rows, and between
			trace := s.Trace(paths)
			fill := trace.Fill
			trace.Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
				if err := fill(ctx, ex, cells); err != nil {
					return err
				}
				old := stark.Columns[uint64](cells)[column][row]
				cells.Set(row, column, (old+1)%goldilocks.Modulus)
				return nil
			}
			err := s.System.Check(t.Context(), executor.Serial(), []stark.Trace{trace}, about)
			must.Fail(t, err, zkbench.ErrWitness, "row %d, column %d", row, column)
		}
		if column++; column >= poseidon.Width-poseidon.Cubed.Columns() { // S-boxes are like each other
			column += testsize.Pick(60, 20, 0)
		}
	}
}

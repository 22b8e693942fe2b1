package poseidon_test

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	native "github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
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

// somePaths returns paths in trees of some heights, from indices of all kinds.
func somePaths() (paths []poseidon.Path) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 5, 20, 0} {
		p := poseidon.Path{Shape: merkle.Shape{Rows: 1 << n, Width: 8}, Leaf: digest(random), Index: random.IntN(1 << n)}
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
	params, err := stark.Secure100(stark.Goldilocks, 2)
	must.Do(t, err)
	params.Grinding, params.Queries = 8, 140
	s, err := poseidon.New(params, stark.Exposed)
	must.Do(t, err)
	paths := somePaths()
	proof, err := s.Prove(t.Context(), executor.Pool(), paths, []byte("about"), stark.Options{})
	must.Do(t, err)
	must.Do(t, s.Verify(proof, poseidon.Claims(paths), []byte("about")))
	for name, change := range map[string]func(c []poseidon.Claim){
		"leaf":     func(c []poseidon.Claim) { c[0].Leaf[0]++ },
		"root":     func(c []poseidon.Claim) { c[1].Root[3]++ },
		"height":   func(c []poseidon.Claim) { c[2].Shape.Rows /= 2 },
		"width":    func(c []poseidon.Claim) { c[3].Shape.Width++ },
		"order":    func(c []poseidon.Claim) { c[0], c[1] = c[1], c[0] },
		"crossing": func(c []poseidon.Claim) { c[0].Root, c[1].Root = c[1].Root, c[0].Root },
	} {
		claims := poseidon.Claims(paths)
		change(claims)
		must.Fail(t, s.Verify(proof, claims, []byte("about")), zkbench.ErrProof, "another %s", name)
	}
	must.Fail(t, s.Verify(proof, poseidon.Claims(paths), []byte("other")), zkbench.ErrProof, "another context")
	must.Fail(t, s.Verify(proof, poseidon.Claims(paths[:2]), []byte("about")), zkbench.ErrProof, "a path less")
	for name, claims := range map[string][]poseidon.Claim{
		"none": nil, "no rows": {{Shape: merkle.Shape{Width: 1}}}, "no width": {{Shape: merkle.Shape{Rows: 1}}}, "too many rows": {{Shape: merkle.Shape{Rows: 2 * merkle.MaxRows, Width: 1}}},
		"3 rows": {{Shape: merkle.Shape{Rows: 3, Width: 1}}},
	} {
		must.Fail(t, s.Verify(proof, claims, nil), zkbench.ErrParams, "%s", name)
	}
	must.Get(s.Statement([]poseidon.Claim{{Shape: merkle.Shape{Rows: merkle.MaxRows, Width: merkle.MaxWidth}}}, nil))(t)
	for name, change := range map[string]func(p *poseidon.Path){
		"3 rows": func(p *poseidon.Path) { p.Shape.Rows = 3 }, "a place below": func(p *poseidon.Path) { p.Index = -1 },
		"a place above": func(p *poseidon.Path) { p.Index = 32 }, "a sibling less": func(p *poseidon.Path) { p.Siblings = p.Siblings[1:] },
	} {
		paths := somePaths()
		change(&paths[1])
		must.FailGet(s.Prove(t.Context(), executor.Serial(), paths, nil, stark.Options{}))(t, zkbench.ErrParams, "%s", name)
	}
	_, err = s.Prove(t.Context(), executor.Serial(), nil, nil, stark.Options{})
	must.Fail(t, err, zkbench.ErrParams, "proof of nothing")
	params.Degree = 4
	_, err = poseidon.New(params, stark.Exposed)
	must.Fail(t, err, zkbench.ErrParams, "a degree that there is not")
}

// TestVisibility: what parameters do not hide is not called hidden, and siblings are in no statement.
func TestVisibility(t *testing.T) {
	t.Parallel()
	params := stark.Compare100(stark.Goldilocks)
	for _, v := range []stark.Visibility{0, stark.Public, stark.Hidden} {
		must.FailGet(poseidon.New(params, v))(t, zkbench.ErrParams, "%v", v)
	}
	params.ZeroKnowledge = true
	must.Get(poseidon.New(params, stark.Hidden))(t)
}

// TestInnerNode: of a tree whose rows are as long as two digests the two below an inner node are no row, neither of
// the tree with the rows that it has nor of one with half of them.
func TestInnerNode(t *testing.T) {
	t.Parallel()
	s := must.Get(poseidon.New(stark.Compare100(stark.Goldilocks), stark.Exposed))(t)
	for _, rows := range []int{4, 5} {
		shape := merkle.Shape{Rows: rows, Width: 2 * native.DigestLen}
		all := make([]goldilocks.Element, shape.Rows*shape.Width)
		for i := range all {
			all[i] = goldilocks.Element(i + 1)
		}
		tree := must.Get(merkle.Build(t.Context(), executor.Serial(), shape, all))(t)
		digests := make([]native.Digest, 4)
		for i := range digests {
			digests[i] = native.LinearHash(must.Get(tree.Row(i))(t))
		}
		// The row of digests 0 and 1, whose digest is the inner node's, one level up.
		row := native.LinearHash(slices.Concat(digests[0][:], digests[1][:]))
		golden.Equal(t, "the digest of a row that is none", native.Compress(digests[0], digests[1]), row)
		path := poseidon.Path{Shape: shape, Leaf: row, Siblings: []native.Digest{native.Compress(digests[2], digests[3])}}
		top := tree.Top()
		if rows == 5 {
			path.Siblings = append(path.Siblings, native.LinearHash(must.Get(tree.Row(4))(t)))
		}
		golden.Equal(t, "where its way leads", shape.Root(top), path.Root())
		claim := poseidon.Claims([]poseidon.Path{path})
		about, err := s.Statement(claim, nil)
		if err == nil {
			err = s.System.Check(t.Context(), executor.Serial(), []stark.Trace{s.Trace([]poseidon.Path{path})}, about)
		}
		must.Fail(t, err, map[int]error{4: zkbench.ErrWitness, 5: zkbench.ErrParams}[rows], "a row more of a tree of %d", rows)
	}
}

// refusing is an executor that only returns errors.
type refusing struct{ executor.Executor }

func (refusing) Do(context.Context, int, func(ctx context.Context, i int) error) error {
	return context.Canceled
}

// TestTrace: a trace is as high as its rows need, and fails where its executor does.
func TestTrace(t *testing.T) {
	t.Parallel()
	s := must.Get(poseidon.New(stark.Compare100(stark.Goldilocks), stark.Exposed))(t)
	for siblings, want := range map[int]int{0: 64, 31: 64, 32: 128, 63: 128, 64: 256} {
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
		params, err := stark.Secure100(stark.Goldilocks, blowup)
		must.Do(t, err)
		s, err := stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: params}, table)
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
			}}}, stark.Statement{Forms: []stark.Form{{4}}})
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
	s := must.Get(poseidon.New(stark.Compare100(stark.Goldilocks), stark.Exposed))(t)
	d := s.Digest()
	golden.Equal(t, "digest", "6a7b7f03d3450837b4dd6da2ff306807", hex.EncodeToString(d[:16]))
}

// TestCells: a cell of paths that is changed is named by Check. Of rows of no path it may be
// free what a permutation is of.
func TestCells(t *testing.T) {
	t.Parallel()
	params := stark.Compare100(stark.Goldilocks)
	s := must.Get(poseidon.New(params, stark.Exposed))(t)
	paths := somePaths()
	about := must.Get(s.Statement(poseidon.Claims(paths), nil))(t)
	must.Do(t, s.System.Check(t.Context(), executor.Serial(), []stark.Trace{s.Trace(paths)}, about))
	for column := 0; column < poseidon.Width(); {
		for _, row := range []int{0, 1, 2, 4, 7, 28, 29} { // of each path's first and last rows, and between
			if column == poseidon.Times && row == 4 { // which says how often a leaf and a root are answers
				continue
			}
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
		if column++; column >= poseidon.Width()-poseidon.Cubed.Columns() { // S-boxes are like each other
			column += testsize.Pick(60, 20, 0)
		}
	}
}

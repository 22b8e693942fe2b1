package recursion_test

import (
	"context"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/recursion"
)

// TestImages: one system proves that proofs of several images verify, also of such as were not known when it was made,
// and its proof is one of these images in their order.
func TestImages(t *testing.T) {
	t.Parallel()
	s := must.Get(stark.New(poseidon(), &air.Table{Name: "runs", Columns: 1, Image: 1, State: func(b *air.Builder) {
		b.Zero(air.Everywhere, "adds", b.Next(0).Sub(b.Here(0)).Sub(b.Fixed(0)))
	}}, &air.Table{Name: "other", Columns: 1, State: func(b *air.Builder) { b.Zero(air.First, "begins", b.Here(0)) }}))(t)
	image := func(steps ...uint64) *stark.Image {
		return must.Get(s.Image(t.Context(), executor.Serial(), [][]uint64{steps}))(t)
	}
	const minus1 = 0xffffffff00000000
	statement := func(image *stark.Image) stark.Statement {
		return stark.Statement{Forms: []stark.Form{{4, 32}}, Image: image}
	}
	prove := func(steps ...uint64) recursion.Proof {
		about := statement(image(steps...))
		proof := must.Get(s.Prove(t.Context(), executor.Serial(), []stark.Trace{
			{Rows: 4, Fill: func(_ context.Context, _ executor.Executor, c *stark.Cells) error {
				sum := uint64(5)
				for row, step := range steps {
					c.Set(row, 0, sum)
					if sum++; step == minus1 {
						sum -= 2
					}
				}
				return nil
			}},
			{Rows: 32, Fill: func(context.Context, executor.Executor, *stark.Cells) error { return nil }},
		}, about, stark.Options{}))(t)
		about.Image = must.Get(s.DecodeImage(about.Image.Bytes()))(t) // the verifier has the commitment
		return recursion.Proof{Bytes: proof, Statement: about}
	}
	like := recursion.NewChild(s, statement(image(1, minus1, 1, minus1)))
	pair := must.Get(recursion.New(poseidon(), like, like))(t)
	one, two := prove(1, 1, minus1, minus1), prove(minus1, minus1, 1, 1)
	proof := must.Get(pair.Prove(t.Context(), executor.Serial(), []recursion.Proof{one, two}, nil, stark.Options{}))(t)
	must.Do(t, pair.Verify(proof, []stark.Statement{one.Statement, two.Statement}, nil))
	for name, statements := range map[string][]stark.Statement{
		"images exchanged":   {two.Statement, one.Statement},
		"an image twice":     {one.Statement, one.Statement},
		"the child's images": {statement(image(1, minus1, 1, minus1)), two.Statement},
	} {
		must.Fail(t, pair.Verify(proof, statements, nil), zkbench.ErrProof, "%s", name)
	}
	must.Fail(t, pair.Verify(proof, []stark.Statement{statement(nil), two.Statement}, nil), zkbench.ErrParams, "no image")
	one.Statement.Image = image(1, 1, minus1, 1)
	_, err := pair.Prove(t.Context(), executor.Serial(), []recursion.Proof{one, two}, nil, stark.Options{})
	must.Fail(t, err, zkbench.ErrProof, "a proof of another image")
}

package recursion_test

import (
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/recursion"
)

// TestFormIsOwn: the form of a child is what it was when the system was made: who changes the statement that he gave as
// its form, or the list of children, changes nothing of what a proof says.
func TestFormIsOwn(t *testing.T) {
	t.Parallel()
	s := powers(t)
	two := power(t, s, 2, height)
	children := []recursion.Child{leafOf(s, two.Statement)} // as in the package's example
	one := must.Get(recursion.New(poseidon(), children...))(t)
	proof := must.Get(one.Prove(t.Context(), executor.Serial(), []recursion.Proof{two}, nil, stark.Options{}))(t)
	must.Do(t, one.Verify(proof, []stark.Statement{two.Statement}, nil))
	said := two.Statement
	said.Messages[0].Times = -2 // in the memory that Like has
	must.Fail(t, s.Verify(two.Bytes, said), zkbench.ErrProof, "the child's verifier: other times")
	must.Fail(t, one.Verify(proof, []stark.Statement{said}, nil), must.ErrAny, "other times")
	said.Messages[0].Times = -1

	// A list of children that is used again.
	other := must.Get(stark.New(poseidon(), &air.Table{Name: "other", Columns: 2, State: func(b *air.Builder) {
		b.Zero(air.Everywhere, "public", b.Here(0).Sub(b.Public(0)))
		b.Answer("other", b.Here(1), b.Here(0))
	}}))(t)
	like := stark.Statement{Forms: two.Statement.Forms, Publics: two.Statement.Publics, Messages: slices.Clone(two.Statement.Messages)}
	like.Messages[0].Bus = "other"
	children[0] = leafOf(other, like)
	must.Fail(t, one.Verify(proof, []stark.Statement{like}, nil), must.ErrAny, "what is said of another system")
}

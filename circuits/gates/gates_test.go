package gates_test

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/gates"
	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func circuit(t *testing.T, n int) *gates.Circuit {
	t.Helper()
	return must.Get(gates.New(n))(t)
}

func TestGates(t *testing.T) {
	x, y := fr.NewElement(3), fr.NewElement(5)
	for _, n := range []int{4, 5, 1024, 1 << 16} {
		system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], circuit(t, n))
		golden.Equal(t, "gates", n, system.GetNbConstraints()+system.GetNbPublicVariables())
		a := circuit(t, n).Assign(x, y)
		must.Do(t, circuittest.Solves(t, system, a, nil))
		a.X = 4
		must.Fail(t, circuittest.Solves(t, system, a, nil), must.ErrAny, "another x")
	}
	// ((3·5)·5)·5 + 5 = 380 in six gates.
	golden.Equal(t, "the last value", fr.NewElement(380), circuit(t, 6).Assign(x, y).Last.(fr.Element))
	must.FailGet(gates.New(3))(t, zkbench.ErrParams, "three gates")
	must.Fail(t, new(gates.Circuit).Define(nil), zkbench.ErrParams, "no gates in a circuit")
}

func TestProves(t *testing.T) {
	c := circuit(t, 64)
	a := c.Assign(fr.NewElement(3), fr.NewElement(5))
	circuittest.Public(t, a, c.AssignPublic(a.Last.(fr.Element)))
	circuittest.Prove(t, c, a, c.Assign(fr.NewElement(4), fr.NewElement(5)), nil)
	circuittest.NothingFree(t, c, a, nil, 1)
}

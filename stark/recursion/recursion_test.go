package recursion_test

import (
	"context"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/recursion"
)

// small returns parameters that promise nothing, for tests.
func small(degree int) stark.Params {
	return stark.Params{Name: "test", Bits: stark.Unproven, Degree: degree, LogBlowup: 2, Queries: 3, Grinding: 2, Stack: 2, LogFold: 2, LogFinal: 2, LogCap: 1}
}

// poseidon returns a configuration whose proofs can be children.
func poseidon() stark.Config {
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: small(2)}
}

const height = 8

// powers returns a system that has 1, x, x², ... for the statement's x and sends the last power.
func powers(t *testing.T) *stark.System { t.Helper(); return powersOf(t, poseidon(), 1) }

// powersOf is like powers, but begins with another first number.
func powersOf(t *testing.T, c stark.Config, first int64) *stark.System {
	t.Helper()
	return must.Get(stark.New(c, &air.Table{Name: "powers", Columns: 2, State: func(b *air.Builder) {
		b.Zero(air.First, "begins", b.Here(0).Plus(-first))
		b.Zero(air.Transition, "next", b.Next(0).Sub(b.Here(0).Mul(b.Public(0))))
		b.Zero(air.Transition, "sends in the last row", b.Here(1))
		b.Answer("power", b.Here(1), b.Here(0))
	}}))(t)
}

// power proves the last of height powers of x.
func power(t *testing.T, s *stark.System, x uint64, height int) recursion.Proof {
	t.Helper()
	return powerFrom(t, s, 1, x, height)
}

func powerFrom(t *testing.T, s *stark.System, first, x uint64, height int) recursion.Proof {
	t.Helper()
	all := make([]uint64, height)
	all[0] = first
	for i := 1; i < height; i++ {
		all[i] = all[i-1] * x
	}
	about := stark.Statement{Forms: []stark.Form{{height}}, Publics: []uint64{x}, Messages: []stark.Message{{Bus: "power", Times: -1, Tuple: all[height-1:]}}}
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), []stark.Trace{{Rows: height, Fill: func(_ context.Context, _ executor.Executor, cells *stark.Cells) error {
		for i, v := range all {
			cells.Set(i, 0, v)
		}
		cells.Set(height-1, 1, 1)
		return nil
	}}}, about, stark.Options{}))(t)
	return recursion.Proof{Bytes: proof, Statement: about}
}

// TestTree: two proofs to one, that and another to one again, and that to the last one, of another hash.
func TestTree(t *testing.T) {
	t.Parallel()
	for _, degree := range degrees {
		checkTree(t, int(degree))
	}
}

func checkTree(t *testing.T, degree int) {
	config := poseidon()
	config.Params = small(degree)
	s := powersOf(t, config, 1)
	ex := executor.Pool()
	two, three, four := power(t, s, 2, height), power(t, s, 3, height), power(t, s, 4, height)
	leaf := recursion.NewChild(s, two.Statement)
	prove := func(s *recursion.System, proofs ...recursion.Proof) recursion.Proof {
		t.Helper()
		var statements []stark.Statement
		for _, p := range proofs {
			statements = append(statements, p.Statement)
		}
		proof := must.Get(s.Prove(t.Context(), ex, proofs, nil, stark.Options{}))(t)
		must.Do(t, s.Verify(proof, statements, nil))
		return recursion.Proof{Bytes: proof, Statement: must.Get(s.Statement(statements, nil))(t)}
	}
	pair := must.Get(recursion.New(config, leaf, leaf))(t)
	mixed := must.Get(recursion.New(config, pair.Child(), leaf))(t)
	last := must.Get(recursion.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: small(3)}, mixed.Child()))(t)
	prove(last, prove(mixed, prove(pair, two, three), four))
}

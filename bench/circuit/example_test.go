package circuit_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/test"

	"github.com/zkbench/zkbench/bench"
	"github.com/zkbench/zkbench/bench/circuit"
)

// cube is the circuit of a number's cube.
type cube struct {
	Root frontend.Variable
	Cube frontend.Variable `gnark:",public"`
}

func (c *cube) Define(api frontend.API) error {
	api.AssertIsEqual(c.Cube, api.Mul(c.Root, c.Root, c.Root))
	return nil
}

// A program that measures a circuit calls bench.Main(workload()). The assignments must satisfy the circuit, and differ in
// their public inputs.
func Example() {
	build := func(bench.Case) (frontend.Circuit, error) { return new(cube), nil }
	assign := func(_ bench.Case, random *rand.ChaCha8) (frontend.Circuit, error) {
		root := random.Uint64() % (1 << 20)
		return &cube{Root: root, Cube: root * root * root}, nil
	}
	workload := func() bench.Def { return circuit.Circuit("Cube", nil, build, assign) }
	_ = workload // what main has

	random := rand.NewChaCha8([32]byte{1})
	seen := make(map[any]bool)
	for range 3 {
		c, err := assign(bench.Case{}, random)
		if err != nil {
			panic(err)
		}
		fmt.Println(test.IsSolved(new(cube), c, ecc.BN254.ScalarField()))
		seen[c.(*cube).Cube] = true
	}
	fmt.Println(len(seen), "statements")
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// 3 statements
}

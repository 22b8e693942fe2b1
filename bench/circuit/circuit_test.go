package circuit_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zkbench/zkbench/bench"
	"github.com/zkbench/zkbench/bench/circuit"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"powers": func() { bench.Main(powers(), refusing(), unsatisfied()) },
		"nil":    func() { bench.Main(circuit.Circuit("Nil", nil, nil, nil)) },
		"bad": func() {
			bench.Main(circuit.Circuit("Bad", []bench.Axis{bench.Ints("system", "numbers", 0, 1, 0)}, someCircuit, someAssignment))
		},
		"reserved": func() {
			bench.Main(circuit.Circuit("Bad", []bench.Axis{bench.Ints("workers", "numbers", 0, 1, 0)}, someCircuit, someAssignment))
		},
	})
}

// power is the circuit y = x^(2^n).
type power struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
	n int
}

func (p *power) Define(api frontend.API) error {
	x := p.X
	for range p.n {
		x = api.Mul(x, x)
	}
	api.AssertIsEqual(x, p.Y)
	return nil
}

var squarings = bench.Ints("squarings", "numbers of squarings", 1, 1<<20, 16, 64)

func someCircuit(c bench.Case) (frontend.Circuit, error) {
	return &power{n: squarings.Value(c)}, nil
}

func someAssignment(c bench.Case, random *rand.ChaCha8) (frontend.Circuit, error) {
	var wide [48]byte
	_, _ = random.Read(wide[:])
	var x, y fr.Element
	x.SetBigInt(new(big.Int).SetBytes(wide[:]))
	y.Set(&x)
	for range squarings.Value(c) {
		y.Square(&y)
	}
	return &power{X: x, Y: y}, nil
}

func powers() bench.Def {
	return circuit.Circuit("Powers", []bench.Axis{squarings}, someCircuit, someAssignment)
}

func refusing() bench.Def {
	return circuit.Circuit("Refusing", []bench.Axis{squarings}, func(bench.Case) (frontend.Circuit, error) {
		return nil, errors.New("no circuit today")
	}, someAssignment)
}

// unsatisfied returns a circuit whose assignment does not satisfy it.
func unsatisfied() bench.Def {
	return circuit.Circuit("Unsatisfied", []bench.Axis{squarings}, someCircuit, func(bench.Case, *rand.ChaCha8) (frontend.Circuit, error) {
		return &power{X: 2, Y: 3}, nil
	})
}

// TestScript runs the commands of a program that measures a circuit.
func TestScript(t *testing.T) {
	testsize.Full(t)
	clitest.Scripts(t, "testdata")
}

func BenchmarkPowers(b *testing.B) { bench.Benchmark(b, powers()) }

func TestParallelBenchmarkPowers(t *testing.T) { bench.TestParallel(t, powers()) }

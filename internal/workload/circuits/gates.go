package circuits

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/gates"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/srs"
)

// Gates returns the workload with a circuit of arithmetic gates.
func Gates() workload.Def {
	const most = srs.MaxSize
	return define("Gates", "a proof of a circuit", "a proof of a circuit of arithmetic gates; every fourth gate is an addition, the others are multiplications", stageVerify,
		[]workload.Axis{workload.IntAxis(workload.Axis{Name: "gates", Usage: "numbers of gates", Smoke: "1024"}, gates.MinGates, most, 1<<10, 1<<12, 1<<14, 1<<16)},
		onGnark(0).withOurs(systemPlonk).withOurs(systemTurbo).withOurs(systemUltra),
		func(c workload.Case, seed uint64) (task, error) {
			n, err := c.Int("gates")
			if err != nil {
				return task{}, err
			}
			circuit, err := gates.New(n)
			if err != nil {
				return task{}, err
			}
			draw := func(seq uint64) (x, y fr.Element) {
				r := corpus(seed, seq)
				return element(r), element(r)
			}
			system := c.Get("system")
			t := task{estimate: estimate{constraints: n, memory: memoryOf(system), largest: func(fits func(int) bool) string {
				return fmt.Sprintf("%d gates", largestSize(most, fits))
			}}}
			if implOf(c) == implGnark {
				t.prover = &gnarkProver{system: system, seed: seed, circuit: circuitOf(func() (*gates.Circuit, error) { return gates.New(n) }), assign: func(seq uint64) (frontend.Circuit, error) {
					return circuit.Assign(draw(seq)), nil
				}}
				return t, nil
			}
			t.estimate.constraints, t.estimate.memory = n+plonkish.BlindedRows, ourMemory(len(arithmetizations[system]().Columns))
			t.prover = &ourProver{seed: seed, circuit: func(seq uint64) (*plonkish.Circuit, error) {
				x, y := draw(seq)
				return gateRows(arithmetizations[system](), x, y, n, circuit.Assign(x, y).Last.(fr.Element))
			}}
			return t, nil
		})
}

// gateRows returns the circuit of package gates, with a row for each gate and one for the public value.
func gateRows(arith plonkish.Arithmetization, x, y fr.Element, n int, last fr.Element) (*plonkish.Circuit, error) {
	a := newArithmetic(arith)
	public, v, factor := a.Public(last), a.Var(x), a.Var(y)
	for i := range n - 2 {
		v = a.gate(gates.IsAddition(i), v, factor)
	}
	a.Equal(v, public)
	return a.Build()
}

// arithmetic builds rows for products and sums of two values in one of our systems.
type arithmetic struct {
	*plonkish.Builder
	product, sum plonkish.Kind
	resultFirst  bool
}

func newArithmetic(arith plonkish.Arithmetization) *arithmetic {
	a := &arithmetic{Builder: plonkish.NewBuilder(arith)}
	one, zero := fr.One(), fr.Element{}
	var minus fr.Element
	minus.Neg(&one)
	if gate := arith.Gates[0]; gate.Name == plonkish.Arithmetic5().Name { // its product is of columns 1 and 2
		a.resultFirst = true
		a.product, a.sum = a.Kind(gate, one, minus), a.Kind(gate, zero, minus, one, one)
	} else {
		a.product, a.sum = a.Kind(gate, one, zero, zero, minus), a.Kind(gate, zero, one, one, minus)
	}
	return a
}

func (a *arithmetic) gate(addition bool, x, y plonkish.Var) plonkish.Var {
	e, f := a.Value(x), a.Value(y)
	kind := a.product
	if addition {
		kind = a.sum
		e.Add(&e, &f)
	} else {
		e.Mul(&e, &f)
	}
	z := a.Var(e)
	cells := []plonkish.Var{x, y, z}
	if a.resultFirst {
		cells = []plonkish.Var{z, x, y}
	}
	a.Row(kind, cells)
	return z
}

package circuits

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/pedersen"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/plonkish"
	rows "github.com/zkbench/zkbench/plonkish/pedersen"
)

// The forms of Pedersen hashes in our systems.
const (
	formLadder = "ladder" // two bits of a scalar per row; in plonk one product or sum per row
	formWindow = "window" // one window of a scalar per row, by a lookup
)

// Pedersen returns the workload that proves a chain of Pedersen hashes.
func Pedersen() workload.Def {
	forms := make([]string, 0, 3)
	for _, f := range pedersen.Forms() {
		forms = append(forms, string(f))
	}
	const most = 1 << 17
	of := onGnark(len(forms), forms...).withOurs(systemPlonk, formLadder).withOurs(systemTurbo, formLadder).withOurs(systemUltra, formWindow)
	return define("Pedersen", "a proof of Pedersen hashes", "a proof of a chain of two-to-one Pedersen hashes", stageVerify,
		[]workload.Axis{of.form(), workload.IntAxis(workload.Axis{Name: "hashes", Usage: "numbers of hashes", Smoke: "1"}, 1, most, 8, 32, 125)},
		of,
		func(c workload.Case, seed uint64) (task, error) {
			n, err := c.Int("hashes")
			if err != nil {
				return task{}, err
			}
			draw := func(seq uint64) (first fr.Element, others []fr.Element) {
				r := corpus(seed, seq)
				first, others = element(r), make([]fr.Element, n)
				for i := range others {
					others[i] = element(r)
				}
				return first, others
			}
			system := c.Get("system")
			// estimated returns the estimate. constraints returns the number of constraints of a number of hashes.
			estimated := func(m memoryModel, constraints func(n int) int) estimate {
				return estimate{constraints(n), m, func(fits func(int) bool) string {
					return fmt.Sprintf("%d hashes", largestSize(most, func(n int) bool { return fits(constraints(n)) }))
				}}
			}
			if implOf(c) == implOurs {
				p := &ourProver{seed: seed, circuit: func(seq uint64) (*plonkish.Circuit, error) {
					first, others := draw(seq)
					return hashRows(system, first, others)
				}}
				return task{p, estimated(ourMemory(len(arithmetizations[system]().Columns)), func(n int) int { return PedersenConstraints(system, n) })}, nil
			}
			form := pedersen.Form(c.Get("form"))
			circuit, err := pedersen.New(form, n)
			if err != nil {
				return task{}, err
			}
			p := &gnarkProver{system: system, seed: seed, circuit: circuitOf(func() (*pedersen.Circuit, error) { return pedersen.New(form, n) }), hints: pedersen.Hints(), assign: func(seq uint64) (frontend.Circuit, error) {
				first, others := draw(seq)
				return circuit.Assign(first, others...)
			}}
			return task{p, estimated(memoryOf(system), func(n int) int { return pedersen.Constraints(form, n) })}, nil
		})
}

// hashRows returns the circuit of a chain in one of our systems. The last value is public.
func hashRows(system string, first fr.Element, others []fr.Element) (*plonkish.Circuit, error) {
	b := plonkish.NewBuilder(arithmetizations[system]())
	var hash func(x, y plonkish.Var) plonkish.Var
	switch system {
	case systemPlonk:
		hash = rows.NewPlain(b).Hash
	case systemTurbo:
		hash = rows.NewLadder(b).Hash
	default:
		h, err := rows.NewWindow(b, rows.BestWidth(len(others)))
		if err != nil {
			return nil, err
		}
		hash = h.Hash
	}
	v := b.Var(first)
	for i := range others {
		v = hash(v, b.Var(others[i]))
	}
	b.Equal(v, b.Public(b.Value(v)))
	return b.Build()
}

// PedersenConstraints returns the number of rows that a chain of Pedersen hashes needs in one of this module's own
// proof systems. The number includes the rows that every circuit has. If the lookup tables have more rows than the
// chain, the rows of the tables count instead of those of the chain.
func PedersenConstraints(system string, hashes int) int {
	const few = 8
	switch system {
	case systemPlonk:
		return rows.PlainRows*hashes + few
	case systemTurbo:
		return rows.LadderRows*hashes + few
	}
	used, tables := rows.WindowRows(rows.BestWidth(hashes), hashes)
	return max(used, tables) + few
}

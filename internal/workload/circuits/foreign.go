package circuits

import (
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// Foreign is a gnark circuit from outside this module. Its size is known only after it is built. It is
// proved with gnark's proof systems.
type Foreign struct {
	Name, Doc string
	Axes      []workload.Axis
	Circuit   func(c workload.Case) (frontend.Circuit, error)
	// Assign returns the circuit's assignment for the given sequence number.
	Assign func(c workload.Case, seed, seq uint64) (frontend.Circuit, error)
}

// Def returns the workload that builds and proves the circuit.
func (f Foreign) Def() workload.Def {
	return define(f.Name, "", f.Doc, stageProve, f.Axes, onGnark(0), func(c workload.Case, seed uint64) (task, error) {
		if _, err := f.Circuit(c); err != nil {
			return task{}, err
		}
		return task{prover: &foreignProver{gnarkProver{
			system: c.Get("system"), seed: seed, circuit: func() (frontend.Circuit, error) { return f.Circuit(c) },
			assign: func(seq uint64) (frontend.Circuit, error) { return f.Assign(c, seed, seq) },
		}}}, nil
	})
}

// foreignProver checks the size of its circuit after building it, because it is not known before.
type foreignProver struct{ gnarkProver }

func (p *foreignProver) build() error {
	if err := p.gnarkProver.build(); err != nil {
		return err
	}
	return estimate{constraints: p.rows(), memory: memoryOf(p.system)}.fits(p.needsReference())
}

// gnarkProperties returns the properties of one of gnark's systems over BN254.
func gnarkProperties(system string) record.Properties {
	p := record.Properties{ZeroKnowledge: record.Yes, Setup: record.SetupUniversal, Audited: "gnark: in parts, see its repository"}
	if system == systemGroth16 {
		p.Setup = record.SetupCircuit
	}
	return p
}

package circuits

import (
	"context"
	"errors"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/pairing"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/internal/workload"
)

// The names of findings about circuits that are not proved: only their constraints are counted.
const (
	FindingCounted  = "counted only" // the circuit was built to count them
	FindingComposed = "composed"     // they were added up from the circuit's parts
)

// Pairing returns the workload that proves statements about pairings: a key exchange, its parts, and a check of a
// product of pairings.
func Pairing() workload.Def {
	var relations, forms []string
	for _, r := range pairing.Relations() {
		relations = append(relations, string(r))
	}
	for _, f := range pairing.Forms() {
		forms = append(forms, string(f))
	}
	def := define("Pairing", "a proof about pairings", "a proof about pairings on BN254: a tripartite key exchange, one pairing, one party's multiplications by its secret, or a check that the product of two pairings is one", stageWitness,
		[]workload.Axis{
			workload.NameAxis(workload.Axis{Name: "relation", Usage: "relations to prove"}, relations, []string{string(pairing.Check)}),
			workload.NameAxis(workload.Axis{Name: "form", Usage: "forms of the circuit's arithmetic"}, forms, []string{string(pairing.Std)}),
		}, onGnark(0), pairingTask)
	stages := def.Stages
	def.Stages = func(ctx context.Context, c workload.Case, seed uint64, r *stage.Recorder) (workload.Staged, error) {
		out, err := stages(ctx, c, seed, r)
		if limit := (*zkbench.LimitError)(nil); errors.As(err, &limit) {
			return countConstraints(c, limit, r)
		}
		return out, err
	}
	return def
}

func pairingTask(c workload.Case, seed uint64) (task, error) {
	p, constraints, err := pairingProver(c, seed)
	if err != nil {
		return task{}, err
	}
	return task{p, estimate{constraints: constraints, memory: memoryOf(p.system)}}, nil
}

func pairingProver(c workload.Case, seed uint64) (p *gnarkProver, constraints int, err error) {
	relation, form, system := pairing.Relation(c.Get("relation")), pairing.Form(c.Get("form")), c.Get("system")
	circuit, err := pairing.New(relation, form)
	if err != nil {
		return nil, 0, err
	}
	p = &gnarkProver{system: system, seed: seed, circuit: circuitOf(func() (pairing.Circuit, error) { return pairing.New(relation, form) }), hints: pairing.Hints(), assign: func(seq uint64) (frontend.Circuit, error) {
		r := corpus(seed, seq)
		s, err := pairing.NewStatement([pairing.Parties]fr.Element{element(r), element(r), element(r)})
		if err != nil {
			return nil, err
		}
		return circuit.Assign(s), nil
	}}
	return p, pairing.Constraints(relation, form, system == systemPlonk), nil
}

// The maximum memory of building a circuit, in bytes per constraint, as measured on large circuits.
const (
	plonkBuildBytes   = 300
	groth16BuildBytes = 800
)

// countConstraints counts the constraints of a circuit that is too large to prove, by building it. If the circuit is
// too large even to build, it adds up those of its parts. It builds a part if it can, and otherwise takes the known
// number.
func countConstraints(c workload.Case, limit *zkbench.LimitError, r *stage.Recorder) (out workload.Staged, err error) {
	count := func(relation pairing.Relation) (int, error) {
		p, constraints, err := pairingProver(c.With("relation", string(relation)), 0)
		if err != nil {
			return 0, err
		}
		each := int64(plonkBuildBytes)
		if c.Get("system") == systemGroth16 {
			each = groth16BuildBytes
		}
		need := baseBytes + int64(constraints)*each
		if have := memory.Available(); have != 0 && uint64(need) > have {
			return 0, &zkbench.LimitError{What: "bytes of memory", Estimate: need, Max: int64(have)}
		}
		running := r.Start(stageBuild)
		if err := p.build(); err != nil {
			return 0, err
		}
		n := p.constraints.GetNbConstraints()
		running.End(record.Constraints.Metric(float64(n)))
		return n, nil
	}
	relation := pairing.Relation(c.Get("relation"))
	n, err := count(relation)
	note := record.Finding{Name: FindingCounted, Text: fmt.Sprintf("not proved: %v", limit)}
	if too := (*zkbench.LimitError)(nil); errors.As(err, &too) && relation == pairing.Tripartite {
		note = record.Finding{Name: FindingComposed, Text: fmt.Sprintf("%d times the constraints of one pairing and of one party's multiplications: the whole is too large to build (%v)", pairing.Parties, too)}
		n = 0
		for _, part := range []pairing.Relation{pairing.Pairing, pairing.Scalars} {
			of, err := count(part)
			if errors.As(err, &too) {
				of = pairing.Constraints(part, pairing.Form(c.Get("form")), c.Get("system") == systemPlonk)
				note.Text += fmt.Sprintf("; %s is too large to build as well: its number is the one that tests check", part)
			} else if err != nil {
				return out, err
			}
			n += pairing.Parties * of
		}
	} else if err != nil {
		return out, err
	}
	return workload.Staged{Metrics: []record.Metric{record.Constraints.Metric(float64(n))}, Findings: []record.Finding{note}}, nil
}

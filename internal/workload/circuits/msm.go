package circuits

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// MSM is the operation that provers spend most of their time in.
func MSM() workload.Def {
	return workload.Def{
		Name: "MSM", Doc: "gnark-crypto's multi-scalar multiplication on BN254, of random scalars and the points of a reference string",
		SRS:  func(workload.Case) bool { return true },
		Axes: []workload.Axis{workload.IntAxis(workload.Axis{Name: "points", Usage: "numbers of points", Smoke: "1024"}, 1<<4, 1<<22, 1<<10, 1<<12, 1<<14, 1<<16)},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			n, err := c.Int("points")
			if err != nil {
				return nil, err
			}
			size := int(ecc.NextPowerOfTwo(uint64(n)))
			p := &prover{system: systemPlonk, seed: seed}
			if err := p.reference(ctx, size, nil); err != nil {
				return nil, err
			}
			return &msm{p.srs.Canonical.Pk.G1[:n], seed, p.notes}, nil
		},
	}
}

type msm struct {
	points []bn254.G1Affine
	seed   uint64
	notes  []record.Finding
}

func (m *msm) Input(_ context.Context, seq uint64) (any, error) {
	r := corpus(m.seed, seq)
	scalars := make([]fr.Element, len(m.points))
	for i := range scalars {
		scalars[i] = element(r)
	}
	return scalars, nil
}

func (m *msm) Run(_ context.Context, input any) ([]byte, error) {
	var sum bn254.G1Affine
	if _, err := sum.MultiExp(m.points, input.([]fr.Element), ecc.MultiExpConfig{}); err != nil {
		return nil, err
	}
	b := sum.Bytes()
	return b[:], nil
}

// Check sums by another algorithm, package group's.
func (m *msm) Check(ctx context.Context, input any, output []byte) error {
	sum, err := group.BN254().MSM(ctx, executor.Pool(), m.points, input.([]fr.Element))
	if err != nil {
		return err
	}
	if want := sum.Bytes(); string(output) != string(want[:]) {
		return fmt.Errorf("a sum of %d points is wrong", len(m.points))
	}
	return nil
}

func (m *msm) Metrics(context.Context) ([]record.Metric, error) { return nil, nil }

// Findings implements workload.Noted.
func (m *msm) Findings() []record.Finding { return m.notes }

func (m *msm) Close() error { return nil }

package circuits

import (
	"context"
	"fmt"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/srs"
)

// MSM returns the workload that computes a multi-scalar multiplication, the operation that provers spend most of their
// time in.
func MSM() workload.Def {
	return workload.Def{
		Name: "MSM", Noun: "a multi-scalar multiplication", Doc: "a multi-scalar multiplication on BN254 with random scalars and the points of a reference string",
		SRS: func(workload.Case) bool { return true },
		Axes: []workload.Axis{
			workload.IntAxis(workload.Axis{Name: "points", Usage: "numbers of points", Smoke: "1024"}, 1<<4, srs.MaxSize, 1<<10, 1<<12, 1<<14, 1<<16),
			workload.NameAxis(workload.Axis{Name: "scalars", Usage: "lengths of scalars in bits"}, scalarLengths, scalarLengths[:1]),
			workload.NameAxis(workload.Axis{Name: "implementation", Key: "impl", Flag: "impl", Usage: "implementations: package group, the same with stored points, or gnark-crypto's MultiExp"}, sums, sums),
		},
		Memory: func(c workload.Case) (workload.Memory, error) {
			n, err := c.Int("points")
			size := ecc.NextPowerOfTwo(uint64(n))
			m := workload.Memory{Base: size * stringBytes, Input: uint64(n) * fr.Bytes, Operation: uint64(n) * sumBytes}
			if c.Get("impl") == implStored {
				m.Base += uint64(n) * storedBytes
			}
			return m, err
		},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			n, err := c.Int("points")
			if err != nil {
				return nil, err
			}
			size := int(ecc.NextPowerOfTwo(uint64(n)))
			var p referenceString
			if _, err := p.get(ctx, size, seed, false); err != nil {
				return nil, err
			}
			m := &msm{points: p.srs.Canonical.Pk.G1[:n], scalars: c.Get("scalars"), impl: c.Get("impl"), seed: seed, notes: p.notes}
			if m.impl == implStored {
				m.stored, err = group.Store(ctx, workload.Pool(ctx), group.BN254(), m.points, group.StoreOptions{})
			}
			return m, err
		},
	}
}

// The maximum memory per point, in bytes, as measured.
const (
	stringBytes = 640 // for a reference string, for making it, and for its file while it is copied
	storedBytes = 320 // for the stored multiples
	sumBytes    = 384 // for a sum
)

// The values of the axis impl.
const (
	implOurs   = "zkbench"
	implStored = "stored"
	implGnark  = "gnark"
)

var (
	impls         = []string{implOurs, implGnark}
	sums          = []string{implOurs, implStored, implGnark}
	scalarLengths = []string{"full", "16", "1"}
)

type msm struct {
	points        []bn254.G1Affine
	stored        group.Stored[fr.Element, bn254.G1Affine] // only if impl is implStored
	scalars, impl string
	seed          uint64
	notes         []record.Finding
}

func (m *msm) Input(_ context.Context, seq uint64) (any, error) {
	r := corpus(m.seed, seq)
	scalars := make([]fr.Element, len(m.points))
	for i := range scalars {
		scalars[i] = element(r)
		if length, err := strconv.Atoi(m.scalars); err == nil {
			limbs := scalars[i].Bits()
			scalars[i].SetUint64(limbs[0] & (1<<length - 1))
		}
	}
	return scalars, nil
}

func (m *msm) Run(ctx context.Context, input any) ([]byte, error) {
	return m.sum(ctx, m.impl, input.([]fr.Element))
}

// sum computes the sum with the given implementation, on all processors.
func (m *msm) sum(ctx context.Context, impl string, scalars []fr.Element) ([]byte, error) {
	var sum bn254.G1Affine
	var err error
	switch impl {
	case implGnark:
		_, err = sum.MultiExp(m.points, scalars, ecc.MultiExpConfig{})
	case implStored:
		sum, err = m.stored.MSM(ctx, workload.Pool(ctx), scalars)
	default:
		sum, err = group.BN254().MSM(ctx, workload.Pool(ctx), m.points, scalars)
	}
	b := sum.Bytes()
	return b[:], err
}

// Check computes the sum with another implementation.
func (m *msm) Check(ctx context.Context, input any, output []byte) error {
	other := implGnark
	if m.impl == implGnark {
		other = implOurs
	}
	want, err := m.sum(ctx, other, input.([]fr.Element))
	if err != nil {
		return err
	}
	if string(output) != string(want) {
		return fmt.Errorf("a sum of %d points is wrong", len(m.points))
	}
	return nil
}

func (m *msm) Metrics(context.Context) ([]record.Metric, error) { return nil, nil }

// Findings implements workload.Noted.
func (m *msm) Findings() []record.Finding { return m.notes }

func (m *msm) Close() error {
	if m.stored == nil {
		return nil
	}
	return m.stored.Close()
}

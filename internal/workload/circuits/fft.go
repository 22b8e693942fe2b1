package circuits

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/poly"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// FFT returns the workload that transforms elements of BN254's scalar field. Provers spend most of their time in
// this operation and in multi-scalar multiplications (MSM).
func FFT() workload.Def {
	return workload.Def{
		Name: "FFT", Noun: "a transform", Doc: "a transform over BN254's scalar field from natural to bit-reversed order; input and output have gnark-crypto's representation",
		Axes: []workload.Axis{
			workload.IntAxis(workload.Axis{Name: "log", Usage: "base-2 logarithms of the number of elements", Smoke: "10"}, 1, 24, 14, 16, 18),
			workload.NameAxis(workload.Axis{Name: "implementation", Key: "impl", Flag: "impl", Usage: "implementations: package poly, or gnark-crypto's FFT, which is parallel except with the serial executor"}, impls, impls),
			workload.ExecutorAxis(executor.Names()),
		},
		Memory: func(c workload.Case) (workload.Memory, error) {
			log, err := c.Int("log")
			all := uint64(fr.Bytes) << max(log, 0) // elements have two representations, domains have tables of several lengths
			return workload.Memory{Base: 12 * all, Input: 2 * all, Operation: 12 * all}, err
		},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			log, err := c.Int("log")
			if err != nil {
				return nil, err
			}
			ex, err := workload.Executor(ctx, c.Get("exec"))
			if err != nil {
				return nil, err
			}
			form := poly.Fastest()
			ours, err := form.NewDomain(1 << log)
			if err != nil {
				return nil, err
			}
			return &transform{1 << log, seed, c.Get("impl"), ex, form, ours, fft.NewDomain(1 << log)}, nil
		},
	}
}

type transform struct {
	n      int
	seed   uint64
	impl   string
	ex     executor.Executor
	form   *poly.Form
	ours   *poly.Domain
	gnarks *fft.Domain
}

func (t *transform) Input(_ context.Context, seq uint64) (any, error) {
	r := corpus(t.seed, seq)
	e := make([]fr.Element, t.n)
	for i := range e {
		e[i] = element(r)
	}
	return e, nil
}

func (t *transform) Run(ctx context.Context, input any) ([]byte, error) {
	return t.transformWith(ctx, t.impl, input.([]fr.Element))
}

// transformWith transforms coefficients with the given implementation, and returns the values as bytes.
func (t *transform) transformWith(ctx context.Context, impl string, coefficients []fr.Element) ([]byte, error) {
	values := make([]fr.Element, t.n)
	if impl == implGnark {
		copy(values, coefficients)
		var options []fft.Option
		if t.ex.Width() == 1 {
			options = append(options, fft.WithNbTasks(1))
		}
		t.gnarks.FFT(values, fft.DIF, options...)
	} else {
		v, one := t.form.New(t.n), fr.One()
		if err := v.SetOn(ctx, t.ex, coefficients); err != nil {
			return nil, err
		}
		if err := t.ours.NTT(ctx, t.ex, v, poly.Natural, &one); err != nil {
			return nil, err
		}
		if err := v.GetOn(ctx, t.ex, values); err != nil {
			return nil, err
		}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*fr.Bytes), nil
}

// Check transforms with the other implementation.
func (t *transform) Check(ctx context.Context, input any, output []byte) error {
	other := implOurs
	if t.impl == implOurs {
		other = implGnark
	}
	want, err := t.transformWith(ctx, other, input.([]fr.Element))
	if err == nil && !slices.Equal(want, output) {
		err = fmt.Errorf("a transform of %d elements is wrong", t.n)
	}
	return err
}

func (t *transform) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.Elements.Metric(float64(t.n))}, nil
}

func (t *transform) Close() error { return nil }

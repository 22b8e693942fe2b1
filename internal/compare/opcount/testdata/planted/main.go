// Planted runs jobs of two workloads whose work is known.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/selfcheck"
)

func main() {
	find := func(job measure.Job) (workload.Def, error) {
		return workload.Find([]workload.Def{selfcheck.Def(), sum, products}, job.Workload)
	}
	if err := measure.Serve(context.Background(), os.Stdin, os.Stdout, find, func() { os.Exit(1) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// sum computes a multi-scalar multiplication of n points.
var sum = workload.Def{Name: "Sum", New: func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
	n, err := c.Int("points")
	if err != nil {
		return nil, err
	}
	g := group.BN254()
	i := &multiplication{g: g, points: make([]bn254.G1Affine, n)}
	for k := range i.points {
		if i.points[k], err = g.HashToPoint("planted", []byte(fmt.Sprint(k))); err != nil {
			return nil, err
		}
	}
	i.seed = seed
	return i, nil
}}

type multiplication struct {
	plain
	g      group.Group[fr.Element, bn254.G1Affine]
	points []bn254.G1Affine
	seed   uint64
}

func (m *multiplication) Input(_ context.Context, seq uint64) (any, error) {
	scalars := make([]fr.Element, len(m.points))
	for i := range scalars {
		if _, err := scalars[i].SetRandom(); err != nil {
			return nil, err
		}
	}
	return scalars, nil
}

func (m *multiplication) Run(ctx context.Context, input any) ([]byte, error) {
	p, err := m.g.MSM(ctx, executor.Serial(), m.points, input.([]fr.Element))
	if err != nil {
		return nil, err
	}
	return m.g.AppendPoints(nil, p), nil
}

// products is a workload of multiplications in the Goldilocks field.
var products = workload.Def{Name: "Products", New: func(_ context.Context, c workload.Case, _ uint64) (workload.Instance, error) {
	n, err := c.Int("products")
	return &chain{n: n}, err
}}

type chain struct {
	plain
	n int
}

func (c *chain) Input(_ context.Context, seq uint64) (any, error) {
	return goldilocks.Reduce(seq + 3), nil
}

func (c *chain) Run(_ context.Context, input any) ([]byte, error) {
	e := input.(goldilocks.Element)
	for range c.n {
		e = e.Mul(e)
	}
	b := e.Bytes()
	return b[:], nil
}

// plain is what both workloads have in common.
type plain struct{}

func (plain) Check(context.Context, any, []byte) error         { return nil }
func (plain) Metrics(context.Context) ([]record.Metric, error) { return nil, nil }
func (plain) Close() error                                     { return nil }

package token

import (
	"context"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/workload"
)

// YardstickName is the name of the workload that Yardstick returns.
const YardstickName = "ScalarMul"

// Yardstick returns the reference operation as a workload: one GLV scalar multiplication on G1 (peer.GLVCases).
func Yardstick() workload.Def {
	return workload.Def{
		Name: YardstickName, Doc: "one GLV scalar multiplication on G1 of gnark-crypto",
		Axes: []workload.Axis{workload.CurveAxis(curves(), curves())},
		New: func(_ context.Context, c workload.Case, _ uint64) (workload.Instance, error) {
			at := slices.IndexFunc(peer.GLVCases(), func(g peer.Case) bool { return g.Name == peer.GLVCaseName(c.Get("curve")) })
			if at < 0 {
				return nil, &argument.ValueError{Field: "curve", Value: c.Get("curve"), Accepted: strings.Join(curves(), ", ")}
			}
			return &yardstick{peer.GLVCases()[at]}, nil
		},
	}
}

// yardstick runs the reference operation. Its input is the operation itself, which has state, so only one worker may use
// an input.
type yardstick struct{ glv peer.Case }

func (y *yardstick) Input(context.Context, uint64) (any, error) {
	op, _, err := y.glv.Setup()
	return op, err
}

func (y *yardstick) Run(_ context.Context, input any) ([]byte, error) {
	return nil, input.(func() error)()
}

// Check returns nil: Setup has checked every scalar.
func (y *yardstick) Check(context.Context, any, []byte) error { return nil }

func (y *yardstick) Metrics(context.Context) ([]record.Metric, error) { return nil, nil }

func (y *yardstick) Close() error { return nil }

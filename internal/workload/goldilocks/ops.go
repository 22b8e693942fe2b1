package goldilocks

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/hwcounter"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/sve"
)

// GoldilocksOps returns the workload that applies one of the functions of package sve to
// vectors. A unit is one element or one state of 12 elements. With the default number of
// units, the vectors fit into the first-level cache.
func GoldilocksOps() workload.Def {
	names := functionNames()
	function := workload.NameAxis(workload.Axis{Name: "function", Usage: "functions of the SVE study"}, names, names)
	units := workload.IntAxis(workload.Axis{Name: "units", Usage: "numbers of elements, or of 12-element states", Smoke: "128"}, 1, 1<<16, 128)
	axes := []workload.Axis{units, function, kernelAxis()}
	return workload.Def{
		Name: "GoldilocksOps", Noun: "applying a function to vectors 1,024 times", Doc: "apply a function over the Goldilocks field to vectors, 1024 times; the time is for all 1024", Axes: axes,
		Memory: func(c workload.Case) (workload.Memory, error) {
			n, err := units.Int(c)
			all := uint64(n) * poseidon.Width * elementBytes // the most elements per unit that a function reads or writes
			return workload.Memory{Input: 2 * all, Operation: 2 * all}, err
		},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			i := new(ops)
			if err := readInts(c, axes, &i.units); err != nil {
				return nil, err
			}
			if _, err := function.Parse(c.Get("function")); err != nil {
				return nil, err
			}
			var err error
			if i.setting, err = settingOf(ctx, c, seed); err != nil {
				return nil, err
			}
			var ok bool
			if i.function, ok = functionNamed(i.kernel, c.Get("function")); !ok {
				return nil, &argument.ValueError{Field: "function", Value: c.Get("function"), Accepted: "one that kernel " + i.kernel.String() + " has"}
			}
			i.portable, _ = functionNamed(goldilocks.Portable(), cmp.Or(i.function.Base, i.function.Name))
			return i, nil
		},
	}
}

// functionNames returns the names of the functions that this machine's kernels have, with
// the study's ten first.
func functionNames() (names []string) {
	for _, k := range goldilocks.Kernels() {
		for _, f := range sve.Functions(k) {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

func functionNamed(k goldilocks.Kernel, name string) (sve.Function, bool) {
	all := sve.Functions(k)
	i := slices.IndexFunc(all, func(f sve.Function) bool { return f.Name == name })
	if i < 0 {
		return sve.Function{}, false
	}
	return all[i], true
}

type ops struct {
	setting
	function sve.Function
	portable sve.Function // of the portable kernel, with the same results; Check calls it
	units    int
	buffers  scratch[goldilocks.Element]
}

// rounds is the number of times that an operation calls the function, because one call takes
// only nanoseconds.
const rounds = 1024

// operands holds the operands of a function.
type operands struct{ a, b []goldilocks.Element }

func (i *ops) Input(_ context.Context, seq uint64) (any, error) {
	f := i.function
	shared := i.units
	if f.Shared {
		shared = 1
	}
	r := workload.Random(i.seed, seq)
	draw := func(n int, bytes bool) []goldilocks.Element {
		all := make([]goldilocks.Element, n)
		for j := range all {
			switch v := r.Uint64(); {
			case bytes:
				all[j] = goldilocks.Element(v & 0xff)
			case f.Words:
				all[j] = goldilocks.Element(v)
			default:
				all[j] = goldilocks.Reduce(v)
			}
		}
		return all
	}
	return operands{draw(i.units*f.A, false), draw(shared*f.B, f.Bytes)}, nil
}

// Run returns a fold of the last call's results.
func (i *ops) Run(_ context.Context, input any) ([]byte, error) {
	in := input.(operands)
	dst := i.buffers.take(i.units * i.function.Dst)
	defer i.buffers.put(dst)
	for range rounds {
		i.function.Run(*dst, in.a, in.b)
	}
	return fold(*dst), nil
}

// Check compares the results with those of the portable kernel.
func (i *ops) Check(_ context.Context, input any, output []byte) error {
	in := input.(operands)
	dst := make([]goldilocks.Element, i.units*i.function.Dst)
	i.portable.Run(dst, in.a, in.b)
	if !slices.Equal(fold(dst), output) {
		return fmt.Errorf("%s of %d units is wrong", i.function.Name, i.units)
	}
	return nil
}

func (i *ops) Metrics(ctx context.Context) ([]record.Metric, error) {
	counters, err := hwcounter.Counters(ctx, i)
	return append([]record.Metric{record.Units.Metric(float64(rounds * i.units))}, counters...), err
}

package goldilocks

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// sizeAxis is the length of a transform.
func sizeAxis(def ...int) workload.Axis {
	a := workload.IntAxis(workload.Axis{Name: "length", Key: "n", Usage: "lengths of transforms, powers of two", Smoke: "1024"}, 1, 1<<26, def...)
	a.Parse = powersOfTwo(a)
	return a
}

// powersOfTwo is an axis' Parse that takes powers of two only.
func powersOfTwo(a workload.Axis) func(string) ([]string, error) {
	return func(list string) ([]string, error) {
		values, err := a.Parse(list)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			var n int
			if _, err := fmt.Sscan(v, &n); err != nil || n&(n-1) != 0 {
				return nil, &argument.ValueError{Field: a.Long(), Value: v, Accepted: "powers of two from 1 to 67108864"}
			}
		}
		return values, nil
	}
}

// bounded reads the whole numbers of a case, each as its axis accepts them.
func bounded(c workload.Case, axes []workload.Axis, to ...*int) (err error) {
	for i, p := range to {
		if *p, err = axes[i].Int(c); err != nil {
			return err
		}
	}
	return nil
}

// fold is 32 bytes that each element changes, by its value and place, in half a cycle for
// each.
func fold(elements []goldilocks.Element) []byte {
	var sums [4]uint64
	for len(elements) >= 4 {
		for j := range sums {
			sums[j] = bits.RotateLeft64(sums[j], 1) ^ uint64(elements[j])
		}
		elements = elements[4:]
	}
	for j, e := range elements {
		sums[j] = bits.RotateLeft64(sums[j], 1) ^ uint64(e)
	}
	b := make([]byte, 0, 8*len(sums))
	for _, v := range sums {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// transforms are what the workload NTT does, by the name on its axis.
var transforms = map[string]struct {
	inverse bool
	from    goldilocks.Order
	shift   goldilocks.Element
}{
	"natural":  {false, goldilocks.Natural, 1},
	"reversed": {false, goldilocks.BitReversed, 1},
	"inverse":  {true, goldilocks.BitReversed, 1},
	"coset":    {false, goldilocks.Natural, goldilocks.Generator},
}

// NTT is a transform.
func NTT() workload.Def {
	which := workload.NameAxis(workload.Axis{Name: "transform", Usage: "transforms: natural and reversed, to the other order, the inverse from reversed order, and that to the coset of 7"}, []string{"natural", "reversed", "inverse", "coset"}, []string{"natural", "inverse"})
	axes := []workload.Axis{sizeAxis(1<<12, 1<<16, 1<<20), which, kernelAxis()}
	return workload.Def{
		Name: "NTT", Doc: "eight transforms over the Goldilocks field, of a copy of the input and then of what the last gave, and a fold of the last", Axes: axes,
		Memory: func(c workload.Case) (workload.Memory, error) {
			var n int
			err := bounded(c, axes, &n)
			return workload.Memory{Base: uint64(n) * domainBytes, Input: uint64(n) * elementBytes, Operation: 2 * uint64(n) * elementBytes}, err
		},
		New: func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			i := &ntt{name: c.Get(which.Key)}
			var n int
			if err := bounded(c, axes, &n); err != nil {
				return nil, err
			}
			if _, err := which.Parse(i.name); err != nil {
				return nil, err
			}
			var err error
			if i.setting, err = settingOf(c, seed); err != nil {
				return nil, err
			}
			i.domain, err = goldilocks.NewDomain(n)
			return i, err
		},
	}
}

type ntt struct {
	setting
	domain  *goldilocks.Domain
	name    string // of the transform
	buffers scratch[goldilocks.Element]
}

// chained is how many transforms, or extensions of each column, are one operation, so that
// the copy of the input and the fold of the output count for little.
const chained = 8

func (i *ntt) Input(_ context.Context, seq uint64) (any, error) {
	return corpus(i.seed, seq, i.domain.Size()), nil
}

func (i *ntt) transform(k goldilocks.Kernel, input any) ([]byte, error) {
	values := i.buffers.copyOf(input.([]goldilocks.Element))
	defer i.buffers.put(values)
	t := transforms[i.name]
	for range chained {
		var err error
		if t.inverse {
			err = i.domain.InverseNTT(*values, t.from, t.shift, k)
		} else {
			err = i.domain.NTT(*values, t.from, t.shift, k)
		}
		if err != nil {
			return nil, err
		}
	}
	return fold(*values), nil
}

func (i *ntt) Run(_ context.Context, input any) ([]byte, error) { return i.transform(i.kernel, input) }

// Check transforms with the portable kernel.
func (i *ntt) Check(_ context.Context, input any, output []byte) error {
	want, err := i.transform(goldilocks.Portable(), input)
	if err == nil && !slices.Equal(want, output) {
		err = fmt.Errorf("the transform %s of length %d on %v is wrong", i.name, i.domain.Size(), i.kernel)
	}
	return err
}

func (i *ntt) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.Elements.Metric(float64(chained * i.domain.Size()))}, nil
}

// LDE is the extension of columns.
func LDE() workload.Def {
	axes := []workload.Axis{
		sizeAxis(1<<12, 1<<16),
		workload.IntAxis(workload.Axis{Name: "columns", Usage: "numbers of columns", Smoke: "8"}, 1, 1<<12, 8),
		workload.IntAxis(workload.Axis{Name: "blow-up", Key: "blowup", Flag: "blowup", Usage: "factors by which columns grow, powers of two", Smoke: "2"}, 2, 64, 2),
		kernelAxis(), workload.ExecutorAxis(executor.Names()),
	}
	axes[2].Parse = powersOfTwo(axes[2])
	return workload.Def{
		Name: "LDE", Doc: "eight low-degree extensions of columns over the Goldilocks field, to the coset of 7, bit-reversed order to bit-reversed order, each of a copy of the columns and then of the first values that the last gave, and a fold of the last", Axes: axes,
		Memory: func(c workload.Case) (workload.Memory, error) {
			var n, columns, blowup int
			err := bounded(c, axes, &n, &columns, &blowup)
			all := uint64(n) * uint64(columns) * elementBytes
			return workload.Memory{Base: uint64(n) * domainBytes, Input: all, Operation: 2 * all * uint64(blowup)}, err
		},
		New: func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			i := new(lde)
			var n int
			if err := bounded(c, axes, &n, &i.columns, &i.how.Blowup); err != nil {
				return nil, err
			}
			i.how.Shift, i.how.In, i.how.Out = goldilocks.Generator, goldilocks.BitReversed, goldilocks.BitReversed
			var err error
			if i.setting, err = settingOf(c, seed); err != nil {
				return nil, err
			}
			i.domain, err = goldilocks.NewDomain(n)
			return i, err
		},
	}
}

type lde struct {
	setting
	domain  *goldilocks.Domain
	columns int
	how     goldilocks.LDE
	buffers scratch[goldilocks.Element]
}

func (i *lde) Input(_ context.Context, seq uint64) (any, error) {
	return corpus(i.seed, seq, i.columns*i.domain.Size()), nil
}

func (i *lde) extend(ctx context.Context, ex executor.Executor, k goldilocks.Kernel, input any) ([]byte, error) {
	values, n := input.([]goldilocks.Element), i.domain.Size()
	buffer := i.buffers.take(len(values) * i.how.Blowup)
	defer i.buffers.put(buffer)
	all := *buffer
	columns := make([][]goldilocks.Element, i.columns)
	for c := range columns {
		columns[c] = all[c*n*i.how.Blowup:][:n*i.how.Blowup]
		copy(columns[c], values[c*n:][:n])
	}
	for range chained {
		if err := i.domain.Extend(ctx, ex, columns, i.how, k); err != nil {
			return nil, err
		}
	}
	return fold(all), nil
}

func (i *lde) Run(ctx context.Context, input any) ([]byte, error) {
	return i.extend(ctx, i.executor, i.kernel, input)
}

// Check extends with the portable kernel.
func (i *lde) Check(ctx context.Context, input any, output []byte) error {
	want, err := i.extend(ctx, executor.Pool(), goldilocks.Portable(), input)
	if err == nil && !slices.Equal(want, output) {
		err = fmt.Errorf("extensions of length %d on %v are wrong", i.domain.Size(), i.kernel)
	}
	return err
}

func (i *lde) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.Elements.Metric(float64(chained * i.columns * i.domain.Size() * i.how.Blowup))}, nil
}

// PolyEval is many polynomials at one point.
func PolyEval() workload.Def {
	axes := []workload.Axis{
		sizeAxis(1<<12, 1<<16),
		workload.IntAxis(workload.Axis{Name: "polynomials", Key: "columns", Flag: "columns", Usage: "numbers of polynomials", Smoke: "8"}, 1, 1<<12, 8),
		kernelAxis(), workload.ExecutorAxis(executor.Names()),
	}
	return workload.Def{
		Name: "PolyEval", Doc: "polynomials over the Goldilocks field at a point of its quadratic extension, from their coefficients", Axes: axes,
		Memory: func(c workload.Case) (workload.Memory, error) {
			var n, columns int
			err := bounded(c, axes, &n, &columns)
			return workload.Memory{Input: uint64(n) * uint64(columns) * elementBytes, Operation: 4 * uint64(n) * elementBytes}, err
		},
		New: func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			i := new(polyEval)
			if err := bounded(c, axes, &i.n, &i.columns); err != nil {
				return nil, err
			}
			var err error
			i.setting, err = settingOf(c, seed)
			return i, err
		},
	}
}

type polyEval struct {
	setting
	n, columns int
}

// polysAt are polynomials and a point.
type polysAt struct {
	polys [][]goldilocks.Element
	point ext.Quadratic
}

func (i *polyEval) Input(_ context.Context, seq uint64) (any, error) {
	all := corpus(i.seed, seq, i.n*i.columns+2)
	in := polysAt{point: ext.Quadratic{all[0], all[1]}}
	for poly := range slices.Chunk(all[2:], i.n) {
		in.polys = append(in.polys, poly)
	}
	return in, nil
}

func (i *polyEval) Run(ctx context.Context, input any) ([]byte, error) {
	in := input.(polysAt)
	values, err := goldilocks.EvalAll(ctx, i.executor, in.polys, in.point, i.kernel)
	if err != nil {
		return nil, err
	}
	return encodeValues(values), nil
}

func encodeValues(values []ext.Quadratic) []byte {
	b := make([]byte, 0, 16*len(values))
	for _, v := range values {
		b = appendElements(b, v[:])
	}
	return b
}

// Check is Horner's rule.
func (i *polyEval) Check(_ context.Context, input any, output []byte) error {
	in := input.(polysAt)
	var values []ext.Quadratic
	for _, poly := range in.polys {
		var v ext.Quadratic
		for _, c := range slices.Backward(poly) {
			v = v.Mul(in.point).Add(ext.Quadratic{c})
		}
		values = append(values, v)
	}
	if !slices.Equal(encodeValues(values), output) {
		return fmt.Errorf("%d polynomials of %d coefficients on %v: wrong values", i.columns, i.n, i.kernel)
	}
	return nil
}

func (i *polyEval) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.Coefficients.Metric(float64(i.n * i.columns))}, nil
}

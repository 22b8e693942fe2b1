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

// sizeAxis returns the axis of the length of transforms. def holds the default lengths.
func sizeAxis(def ...int) workload.Axis {
	a := workload.IntAxis(workload.Axis{Name: "length", Key: "n", Usage: "lengths of transforms, powers of two", Smoke: "1024"}, 1, 1<<26, def...)
	a.Parse = powersOfTwo(a)
	return a
}

// powersOfTwo returns a Parse for the axis a that accepts only powers of two.
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

// readInts sets each pointer in to to the case's number on the axis with the same index. It returns an error if an axis
// does not accept its number.
func readInts(c workload.Case, axes []workload.Axis, to ...*int) (err error) {
	for i, p := range to {
		if *p, err = axes[i].Int(c); err != nil {
			return err
		}
	}
	return nil
}

// fold returns 32 bytes that depend on the value and the position of each element. It takes
// about half a cycle per element.
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

// transforms holds the transforms of the workload NTT by their names on its axis.
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

// NTT returns the workload that performs eight consecutive number-theoretic transforms.
func NTT() workload.Def {
	which := workload.NameAxis(workload.Axis{Name: "transform", Usage: "transforms (natural, reversed: forward, from this order to the other; inverse: from bit-reversed order; coset: to the coset of 7, from natural order)"}, []string{"natural", "reversed", "inverse", "coset"}, []string{"natural", "inverse"})
	axes := []workload.Axis{sizeAxis(1<<12, 1<<16, 1<<20), which, kernelAxis()}
	return workload.Def{
		Name: "NTT", Noun: "a row of eight transforms", Doc: "eight consecutive number-theoretic transforms over the Goldilocks field; the first transforms a copy of the input, each other the previous result; the last result is folded to 32 bytes", Axes: axes,
		Memory: func(c workload.Case) (workload.Memory, error) {
			var n int
			err := readInts(c, axes, &n)
			return workload.Memory{Base: uint64(n) * domainBytes, Input: uint64(n) * elementBytes, Operation: 2 * uint64(n) * elementBytes}, err
		},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			i := &ntt{name: c.Get(which.Key)}
			var n int
			if err := readInts(c, axes, &n); err != nil {
				return nil, err
			}
			if _, err := which.Parse(i.name); err != nil {
				return nil, err
			}
			var err error
			if i.setting, err = settingOf(ctx, c, seed); err != nil {
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

// chained is the number of transforms, or of extensions of each column, in one operation. It
// makes the cost of copying the input and folding the output small.
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

// Check repeats the transforms with the portable kernel.
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

// LDE returns the workload that performs eight consecutive low-degree extensions of columns.
func LDE() workload.Def {
	axes := []workload.Axis{
		sizeAxis(1<<12, 1<<16),
		workload.IntAxis(workload.Axis{Name: "columns", Usage: "numbers of columns", Smoke: "8"}, 1, 1<<12, 8),
		workload.IntAxis(workload.Axis{Name: "blow-up", Key: "blowup", Flag: "blowup", Usage: "factors by which columns grow, powers of two", Smoke: "2"}, 2, 64, 2),
		kernelAxis(), workload.ExecutorAxis(executor.Names()),
	}
	axes[2].Parse = powersOfTwo(axes[2])
	return workload.Def{
		Name: "LDE", Noun: "a row of eight low-degree extensions", Doc: "eight consecutive low-degree extensions of columns over the Goldilocks field to the coset of 7, all in bit-reversed order; the first extends a copy of the columns, each other the first values of the previous result; the last result is folded to 32 bytes", Axes: axes,
		Memory: func(c workload.Case) (workload.Memory, error) {
			var n, columns, blowup int
			err := readInts(c, axes, &n, &columns, &blowup)
			all := uint64(n) * uint64(columns) * elementBytes
			return workload.Memory{Base: uint64(n) * domainBytes, Input: all, Operation: 2 * all * uint64(blowup)}, err
		},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			i := new(lde)
			var n int
			if err := readInts(c, axes, &n, &i.columns, &i.how.Blowup); err != nil {
				return nil, err
			}
			i.how.Shift, i.how.In, i.how.Out = goldilocks.Generator, goldilocks.BitReversed, goldilocks.BitReversed
			var err error
			if i.setting, err = settingOf(ctx, c, seed); err != nil {
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

// Check repeats the extensions with the portable kernel.
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

// PolyEval returns the workload that evaluates many polynomials at one point.
func PolyEval() workload.Def {
	axes := []workload.Axis{
		sizeAxis(1<<12, 1<<16),
		workload.IntAxis(workload.Axis{Name: "polynomials", Key: "columns", Flag: "columns", Usage: "numbers of polynomials", Smoke: "8"}, 1, 1<<12, 8),
		kernelAxis(), workload.ExecutorAxis(executor.Names()),
	}
	return workload.Def{
		Name: "PolyEval", Noun: "evaluating polynomials at a point", Doc: "evaluate polynomials over the Goldilocks field, given by their coefficients, at one point of its quadratic extension", Axes: axes,
		Memory: func(c workload.Case) (workload.Memory, error) {
			var n, columns int
			err := readInts(c, axes, &n, &columns)
			return workload.Memory{Input: uint64(n) * uint64(columns) * elementBytes, Operation: 4 * uint64(n) * elementBytes}, err
		},
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			i := new(polyEval)
			if err := readInts(c, axes, &i.n, &i.columns); err != nil {
				return nil, err
			}
			var err error
			i.setting, err = settingOf(ctx, c, seed)
			return i, err
		},
	}
}

type polyEval struct {
	setting
	n, columns int
}

// polysAt holds polynomials and the point to evaluate them at.
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

// Check evaluates the polynomials by Horner's rule.
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

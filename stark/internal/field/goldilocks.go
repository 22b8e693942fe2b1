package field

import (
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/arith/step"
)

// The extensions of Goldilocks.
var (
	Goldilocks2 Field[goldilocks.Element, ext.Quadratic] = goldi[ext.Quadratic]{}
	Goldilocks3 Field[goldilocks.Element, ext.Cubic]     = goldi[ext.Cubic]{}
)

type goldi[X Extension[goldilocks.Element, X]] struct{}

func (goldi[X]) Name() string                       { return "goldilocks" }
func (goldi[X]) Order() uint64                      { return goldilocks.Modulus }
func (goldi[X]) TwoAdicity() int                    { return goldilocks.TwoAdicity }
func (goldi[X]) Bytes() int                         { return 8 }
func (goldi[X]) Generator() goldilocks.Element      { return goldilocks.Generator }
func (goldi[X]) New(v uint64) goldilocks.Element    { return goldilocks.Reduce(v) }
func (goldi[X]) Uint64(e goldilocks.Element) uint64 { return uint64(e) }
func (goldi[X]) Word(e goldilocks.Element) uint64   { return uint64(e) }
func (goldi[X]) OfWord(w uint64) goldilocks.Element { return goldilocks.Element(w) }

func (goldi[X]) FromWords(cells []goldilocks.Element) {
	for i, e := range cells {
		if !e.Canonical() {
			cells[i] = goldilocks.Reduce(uint64(e))
		}
	}
}

func (goldi[X]) Add(dst, a, b []goldilocks.Element) { goldilocks.Add(dst, a, b) }

func (goldi[X]) Sub(dst, a, b []goldilocks.Element) { goldilocks.Sub(dst, a, b) }

func (goldi[X]) Mul(dst, a, b []goldilocks.Element) { goldilocks.Mul(dst, a, b) }

func (goldi[X]) Steps(registers [][]goldilocks.Element, steps []step.Step, rows int) {
	from := 0
	if whole := rows &^ 7; hasSteps && whole > 0 && len(steps) > 0 {
		from = whole
		stepsAVX512(&registers[0], &steps[0], whole, len(steps))
	}
	if from < rows {
		goldiOperations.run(registers, steps, from)
	}
}

var goldiOperations = operations[goldilocks.Element]{
	step.Add: fastest(goldilocks.Add), step.Sub: fastest(goldilocks.Sub), step.Mul: fastest(goldilocks.Mul),
	step.Xor: fastest(goldilocks.Xor), step.AndNot: fastest(goldilocks.AndNot),
}

// fastest returns an operation by the fastest kernel that the processor has.
func fastest(of func(dst, a, b []goldilocks.Element, on ...goldilocks.Kernel)) func(dst, x, y []goldilocks.Element) {
	return func(dst, x, y []goldilocks.Element) { of(dst, x, y) }
}

func (goldi[X]) Pack(dst []goldilocks.Element, a [][]goldilocks.Element) { goldilocks.Pack(dst, a) }
func (goldi[X]) Inverse(dst, a []goldilocks.Element)                     { goldilocks.BatchInverse(dst, a) }

func (goldi[X]) Sums(dst, a []goldilocks.Element, sum goldilocks.Element) goldilocks.Element {
	for i, e := range a {
		dst[i], sum = sum, sum.Add(e)
	}
	return sum
}

func (goldi[X]) Dots(dst, a []goldilocks.Element, b Vector[goldilocks.Element]) {
	for k := range dst {
		dst[k] = goldilocks.Dot(a, b[k])
	}
}

func (goldi[X]) MulScalar(dst, a []goldilocks.Element, c goldilocks.Element) {
	goldilocks.MulScalar(dst, a, c)
}

func (goldi[X]) MulAdd(dst, a []goldilocks.Element, c goldilocks.Element, _ []goldilocks.Element) {
	goldilocks.MulAddScalar(dst, a, c)
}

func (goldi[X]) AddProducts(dst Vector[goldilocks.Element], a [][]goldilocks.Element, x []X, _ []goldilocks.Element) {
	goldilocks.AddProducts(dst, a, Flat[goldilocks.Element](x))
}

func (goldi[X]) Layers() int { return goldilocks.MaxLayers }

func (goldi[X]) Butterflies(dst, src, w [][]goldilocks.Element) { goldilocks.Butterflies(dst, src, w) }

func (goldi[X]) Root(log int) goldilocks.Element {
	root, err := goldilocks.RootOfUnity(log)
	if err != nil {
		panic(err) // cannot happen: callers stay within TwoAdicity
	}
	return root
}

func (goldi[X]) Transform(log int) (Transform[goldilocks.Element], error) {
	d, err := goldilocks.NewDomain(1 << log)
	return goldiTransform{d}, err
}

type goldiTransform struct{ domain *goldilocks.Domain }

func (t goldiTransform) Interpolate(values []goldilocks.Element) {
	if err := t.domain.InverseNTT(values, goldilocks.Natural, 1); err != nil {
		panic(err) // the caller passed another length
	}
}

func (t goldiTransform) Evaluate(coefficients []goldilocks.Element) {
	if err := t.domain.NTT(coefficients, goldilocks.BitReversed, 1); err != nil {
		panic(err) // the caller passed another length
	}
}

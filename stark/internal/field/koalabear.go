package field

import (
	"fmt"
	"sync"

	gnark "github.com/consensys/gnark-crypto/field/koalabear"
	"github.com/consensys/gnark-crypto/field/koalabear/fft"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/arith/step"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// The extensions of KoalaBear.
var (
	KoalaBear4 Field[koalabear.Element, koalabear.Quartic] = koala[koalabear.Quartic]{}
	KoalaBear6 Field[koalabear.Element, koalabear.Sextic]  = koala[koalabear.Sextic]{}
)

type koala[X Extension[koalabear.Element, X]] struct{}

func (koala[X]) Name() string                      { return "koalabear" }
func (koala[X]) Order() uint64                     { return koalabear.Modulus }
func (koala[X]) TwoAdicity() int                   { return koalabear.TwoAdicity }
func (koala[X]) Bytes() int                        { return 4 }
func (koala[X]) Generator() koalabear.Element      { return koalabear.New(koalabear.Generator) }
func (koala[X]) New(v uint64) koalabear.Element    { return koalabear.New(v) }
func (koala[X]) Uint64(e koalabear.Element) uint64 { return e.Uint64() }
func (koala[X]) Word(e koalabear.Element) uint64   { return uint64(e[0]) }

func (koala[X]) OfWord(w uint64) koalabear.Element {
	if w >= koalabear.Modulus {
		return koalabear.Element{koalabear.Modulus}
	}
	return koalabear.Element{uint32(w)}
}

func (koala[X]) FromWords(cells []koalabear.Element) {
	// In memory, the product of the words x and 2^64 mod p is x 2^32, the Montgomery form of x.
	koalabear.MulScalar(cells, cells, koalabear.New(1<<32))
}

func (koala[X]) Add(dst, a, b []koalabear.Element) { koalabear.Apply(step.Add, dst, a, b) }
func (koala[X]) Sub(dst, a, b []koalabear.Element) { koalabear.Apply(step.Sub, dst, a, b) }
func (koala[X]) Mul(dst, a, b []koalabear.Element) { koalabear.Apply(step.Mul, dst, a, b) }

func (koala[X]) Steps(registers [][]koalabear.Element, steps []step.Step, rows int) {
	if from := koalabear.Steps(registers, steps, rows); from < rows {
		koalaOperations.run(registers, steps, from)
	}
}

var koalaOperations = operations[koalabear.Element]{
	step.Add: applied(step.Add), step.Sub: applied(step.Sub), step.Mul: applied(step.Mul),
	step.Xor: func(dst, x, y []koalabear.Element) {
		for i, a := range x {
			b := y[i]
			dst[i] = a.Add(b).Sub(a.Add(a).Mul(b))
		}
	},
	step.AndNot: func(dst, x, y []koalabear.Element) {
		for i, a := range x {
			dst[i] = a.Sub(a.Mul(y[i]))
		}
	},
}

// applied returns an operation that koalabear.Apply computes.
func applied(op step.Op) func(dst, x, y []koalabear.Element) {
	return func(dst, x, y []koalabear.Element) { koalabear.Apply(op, dst, x, y) }
}

func (koala[X]) Pack(dst []koalabear.Element, a [][]koalabear.Element) {
	for i := koalabear.Pack(dst, a); i < len(dst); i++ {
		var sum koalabear.Element
		for j := len(a) - 1; j >= 0; j-- {
			sum = sum.Add(sum).Add(a[j][i])
		}
		dst[i] = sum
	}
}

func (koala[X]) MulScalar(dst, a []koalabear.Element, c koalabear.Element) {
	koalabear.MulScalar(dst, a, c)
}

func (k koala[X]) MulAdd(dst, a []koalabear.Element, c koalabear.Element, scratch []koalabear.Element) {
	k.MulScalar(scratch[:len(a)], a, c)
	k.Add(dst, dst, scratch[:len(a)])
}

func (k koala[X]) AddProducts(dst Vector[koalabear.Element], a [][]koalabear.Element, x []X, scratch []koalabear.Element) {
	done := koalabear.AddProducts(dst, a, Flat[koalabear.Element](x))
	addProducts[koalabear.Element, X](k, dst, a, x, scratch, done)
}

func (koala[X]) Inverse(dst, a []koalabear.Element) {
	koalabear.Inverse(dst, a)
}

func (koala[X]) Sums(dst, a []koalabear.Element, sum koalabear.Element) koalabear.Element {
	return koalabear.Sums(dst, a, sum)
}

func (koala[X]) Dots(dst, a []koalabear.Element, b Vector[koalabear.Element]) {
	clear(dst)
	rest := koalabear.Dots(dst, a, b)
	if rest == len(a) {
		return
	}
	v := koalabear.Vector(a[rest:])
	for k := range dst {
		dst[k] = dst[k].Add(koalabear.Element(v.InnerProduct(koalabear.Vector(b[k][rest:]))))
	}
}

// koalaRoots holds gnark-crypto's roots of unity, indexed by the logarithm of their order.
var koalaRoots = sync.OnceValue(func() (roots [koalabear.TwoAdicity + 1]koalabear.Element) {
	root, err := gnark.Generator(1 << koalabear.TwoAdicity)
	if err != nil {
		panic(err) // cannot happen: 2^TwoAdicity is the field's largest order
	}
	for log := koalabear.TwoAdicity; log >= 0; log-- {
		roots[log] = koalabear.Element(root)
		root.Square(&root)
	}
	return roots
})

func (koala[X]) Layers() int { return koalabear.MaxLayers }

func (k koala[X]) Butterflies(dst, src, w [][]koalabear.Element) {
	butterflies[koalabear.Element, X](k, dst, src, w, koalabear.Butterflies(dst, src, w))
}

func (koala[X]) Root(log int) koalabear.Element { return koalaRoots()[log] }

func (koala[X]) Transform(log int) (Transform[koalabear.Element], error) {
	if log > koalabear.TwoAdicity {
		return nil, fmt.Errorf("%w: transform of 2^%d elements of KoalaBear, accepted are up to 2^%d", zkbench.ErrParams, log, koalabear.TwoAdicity)
	}
	if t := koalabear.NewTransform(log, koalaRoots()[log]); t != nil {
		return t, nil
	}
	return koalaTransform{fft.NewDomain(1 << log)}, nil
}

type koalaTransform struct{ domain *fft.Domain }

func (t koalaTransform) Interpolate(values []koalabear.Element) {
	t.domain.FFTInverse(koalabear.Vector(values), fft.DIF, fft.WithNbTasks(1))
}

func (t koalaTransform) Evaluate(coefficients []koalabear.Element) {
	t.domain.FFT(koalabear.Vector(coefficients), fft.DIT, fft.WithNbTasks(1))
}

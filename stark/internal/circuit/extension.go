package circuit

import (
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
)

// E is an element of the field.
type E = goldilocks.Element

// MostDegree is the largest degree of an extension.
const MostDegree = len(X{})

// X is an element of an extension, given by its coordinates. If the extension has degree d, the coordinates
// at index d and above are 0.
type X [3]E

// Add returns the sum x + y.
func (x X) Add(y X) X { return X(ext.Cubic(x).Add(ext.Cubic(y))) }

// MulBase returns x times an element c of the field.
func (x X) MulBase(c E) X { return X(ext.Cubic(x).MulBase(c)) }

// InField reports whether x is an element of the field.
func (x X) InField() bool { return x == X{x[0]} }

// Degree is the degree of an extension: 2 or 3.
type Degree int

func quadratic(x X) ext.Quadratic { return ext.Quadratic{x[0], x[1]} }

// Mul returns the product x y in the extension of degree d.
func (d Degree) Mul(x, y X) X {
	if d == 2 {
		z := quadratic(x).Mul(quadratic(y))
		return X{z[0], z[1]}
	}
	return X(ext.Cubic(x).Mul(ext.Cubic(y)))
}

// Inverse returns 1/x in the extension of degree d, or 0 if x is 0.
func (d Degree) Inverse(x X) X {
	if d == 2 {
		z := quadratic(x).Inverse()
		return X{z[0], z[1]}
	}
	return X(ext.Cubic(x).Inverse())
}

package pairing

import (
	"math/big"

	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/math/emulated"
)

// Field is arithmetic modulo p, the modulus of BN254's base field, within a circuit.
// Operations do not change their operands.
type Field[E any] interface {
	// Constant returns the element v, 0 <= v < p.
	Constant(v *big.Int) E
	Add(a, b E) E
	Sub(a, b E) E
	Neg(a E) E
	Mul(a, b E) E
	// Scale returns c·a for a small c >= 0.
	Scale(a E, c int64) E
	// Div returns a/b. Nothing is assigned for b = 0, unless a = 0 too: then the result
	// is any that the prover likes.
	Div(a, b E) E
	// Select returns a where bit is 1, b where it is 0.
	Select(bit frontend.Variable, a, b E) E
	// AssertEqual asserts that a and b are equal modulo p.
	AssertEqual(a, b E)
}

type emulatedElement = *emulated.Element[emulated.BN254Fp]

// emulatedField is gnark's own field.
type emulatedField struct {
	*emulated.Field[emulated.BN254Fp]
}

func newEmulatedField(api frontend.API) (emulatedField, error) {
	f, err := emulated.NewField[emulated.BN254Fp](api)
	return emulatedField{f}, err
}

func (f emulatedField) Constant(v *big.Int) emulatedElement { return f.NewElement(v) }

func (f emulatedField) Scale(a emulatedElement, c int64) emulatedElement {
	return f.MulConst(a, big.NewInt(c))
}

func (f emulatedField) AssertEqual(a, b emulatedElement) { f.AssertIsEqual(a, b) }

package pairing

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/math/emulated"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/internal/bigint"
	"github.com/zkbench/zkbench/circuits/internal/gate"
)

// Relation is what a circuit proves about a Statement.
type Relation string

// The relations that circuits of this package prove.
const (
	// Tripartite proves that the three parties of a key exchange compute the same key K. Party i, for i = 0,
	// 1, 2, has a secret s_i; indices are modulo 3. The circuit proves knowledge of secrets s_i such that P_i
	// = [s_i]P and K = e([s_i]P_(i+1), Q_(i+2)) for every i. Here e is the pairing, P is the generator of G1,
	// and P_i, Q_i and K are public values. Each party multiplies a point of G1, and not of G2, by its
	// secret, because multiplication is cheaper in G1. Each P_i determines s_i. The value of K determines
	// Q_0, Q_1 and Q_2 only up to one common factor. So Statement.Check also checks that Q_i is [s_i]Q, where
	// Q is the generator of G2.
	Tripartite Relation = "tripartite"
	// Pairing proves that the field Pair of a Statement is the pairing e(P_0, Q_1).
	Pairing Relation = "pairing"
	// Scalars proves knowledge of a secret s_0 such that P_0 = [s_0]P and Shifted = [s_0]P_1. Here P is the
	// generator of G1, and Shifted is a field of Statement. This is the part of one party in an exchange,
	// without the pairing.
	Scalars Relation = "scalars"
	// Check proves that e(-[d]P_0, Q)·e(P_0, [d]Q) = 1 for a constant d and the generator Q of G2. A verifier
	// with a constant key checks such equations without computing the value of a pairing. Only the form Std
	// has this relation. Its circuit uses gnark's gadget with a residue witness and precomputed lines.
	Check Relation = "check"
)

// Form is the arithmetic that a circuit uses.
type Form string

// The forms of arithmetic.
const (
	Emulated Form = "emulated"  // gnark's emulated field under a plain tower of extensions
	Limbs    Form = "limbs"     // this module's limbs, schoolbook products, ranges bit by bit, under the same tower
	LimbsMul Form = "limbs-mul" // the limbs of Limbs with a dedicated gadget for products
	Std      Form = "std"       // gnark's emulated field with its gadgets for the curve and the pairing
)

// Relations returns all relations.
func Relations() []Relation { return []Relation{Tripartite, Pairing, Scalars, Check} }

// Forms returns all forms. The relation Check exists only in the form Std.
func Forms() []Form { return []Form{Emulated, Limbs, LimbsMul, Std} }

// Circuit is a circuit for one relation in one form of arithmetic. New makes one. Other packages cannot
// implement Circuit.
type Circuit interface {
	frontend.Circuit
	isCircuit()
	// Relation returns the circuit's relation.
	Relation() Relation
	// Assign returns the assignment for a statement. A verifier has no secrets and leaves them zero. It makes
	// only the public witness from the assignment, as Statement.Verify does.
	Assign(s *Statement) frontend.Circuit
}

// New returns the circuit that proves the relation r with the arithmetic of the form f. It returns
// zkbench.ErrParams if there is no such circuit.
func New(r Relation, f Form) (Circuit, error) {
	switch f {
	case Emulated:
		return newPlain[emulatedInput, emulatedElement](r, emulatedArithmetic{})
	case Limbs:
		return newPlain[limbsInput, *bigint.Int](r, limbsArithmetic{bigint.Schoolbook})
	case LimbsMul:
		return newPlain[limbsInput, *bigint.Int](r, limbsArithmetic{bigint.CRT})
	case Std:
		return newStd(r)
	}
	return nil, fmt.Errorf("%w: form %q of a pairing's circuit", zkbench.ErrParams, f)
}

// Hints returns the hints that solvers of these circuits need.
func Hints() []solver.Hint { return bigint.Hints() }

// arithmetic makes a baseField with elements E, which are read from values of type L.
type arithmetic[L, E any] interface {
	field(api frontend.API) (baseField[E], error)
	read(f baseField[E], in *L) E
	// err returns the first error that occurred while the circuit was written.
	err(f baseField[E]) error
	value(v *fp.Element) L
}

type (
	emulatedArithmetic struct{}
	emulatedInput      = emulated.Element[emulated.BN254Fp]

	limbsArithmetic struct{ method bigint.Method }
	limbsInput      = [bigint.Limbs]frontend.Variable
)

func (emulatedArithmetic) field(api frontend.API) (baseField[emulatedElement], error) {
	return newEmulatedField(api)
}

func (emulatedArithmetic) read(_ baseField[emulatedElement], in *emulatedInput) emulatedElement {
	return in
}

func (emulatedArithmetic) err(baseField[emulatedElement]) error { return nil }

func (emulatedArithmetic) value(v *fp.Element) emulatedInput {
	return emulated.ValueOf[emulated.BN254Fp](*v)
}

func (a limbsArithmetic) field(api frontend.API) (baseField[*bigint.Int], error) {
	return bigint.New(api, ecc.BN254.BaseField(), a.method)
}

func (limbsArithmetic) read(f baseField[*bigint.Int], in *limbsInput) *bigint.Int {
	return f.(*bigint.Field).FromLimbs(*in)
}

func (limbsArithmetic) err(f baseField[*bigint.Int]) error { return f.(*bigint.Field).Err() }

func (limbsArithmetic) value(v *fp.Element) limbsInput { return bigint.Split(bigOf(v)) }

func bigOf(v *fp.Element) *big.Int { return v.BigInt(new(big.Int)) }

func newPlain[L, E any](r Relation, a arithmetic[L, E]) (Circuit, error) {
	switch r {
	case Tripartite:
		return &exchange[L, E]{arithmetic: a}, nil
	case Pairing:
		return &single[L, E]{arithmetic: a}, nil
	case Scalars:
		return &scalars[L, E]{arithmetic: a}, nil
	}
	return nil, fmt.Errorf("%w: relation %q on a plain tower; accepted: %s, %s, %s", zkbench.ErrParams, r, Tripartite, Pairing, Scalars)
}

// g1Input, g2Input and targetInput are points and values of pairings as inputs.
type (
	g1Input[L any]     [2]L
	g2Input[L any]     [4]L
	targetInput[L any] [12]L
)

// opened holds a circuit's tower while the circuit is written.
type opened[L, E any] struct {
	*tower[E]
	api frontend.API
	arithmetic[L, E]
}

func open[L, E any](api frontend.API, a arithmetic[L, E]) (*opened[L, E], error) {
	f, err := a.field(api)
	if err != nil {
		return nil, err
	}
	return &opened[L, E]{newTower(f), api, a}, nil
}

func (o *opened[L, E]) close() error { return o.err(o.baseField) }

// elements returns the elements that inputs are read as.
func (o *opened[L, E]) elements(in []L) (e []E) {
	for i := range in {
		e = append(e, o.read(o.baseField, &in[i]))
	}
	return e
}

func (o *opened[L, E]) g1(in *g1Input[L]) g1[E] {
	e := o.elements(in[:])
	return g1[E]{e[0], e[1]}
}

func (o *opened[L, E]) g2(in *g2Input[L]) g2[E] {
	e := o.elements(in[:])
	return g2[E]{e2[E]{e[0], e[1]}, e2[E]{e[2], e[3]}}
}

func (o *opened[L, E]) target(in *targetInput[L]) e12[E] {
	return fromCoefficients([12]E(o.elements(in[:])))
}

func (o *opened[L, E]) assertEqualG1(a, b g1[E]) {
	o.AssertEqual(a.x, b.x)
	o.AssertEqual(a.y, b.y)
}

// assertKey asserts that P = [s]G, and returns [s]R.
func (o *opened[L, E]) assertKey(secret frontend.Variable, p, r g1[E]) (g1[E], error) {
	// The bits are those of the secret or of the secret and the order, which gives the
	// same points.
	bits, err := gate.AssertBits(o.api, secret, o.api.Compiler().FieldBitLen())
	if err != nil {
		return g1[E]{}, err
	}
	key, err := o.mulBase(bits)
	if err != nil {
		return g1[E]{}, err
	}
	o.assertEqualG1(key, p)
	return o.mulG1(bits, r)
}

// size is the number of constraints of a circuit, on PLONK and as R1CS.
type size struct{ plonk, r1cs int }

// sizes returns the sizes of the circuits that can be built.
func sizes() map[Relation]map[Form]size {
	return map[Relation]map[Form]size{
		Tripartite: {Emulated: {27_960_136, 7_201_848}, LimbsMul: {15_373_368, 3_862_180}, Std: {10_293_558, 2_810_349}},
		Pairing:    {Emulated: {8_161_424, 2_107_833}, Limbs: {20_292_361, 10_064_378}, LimbsMul: {4_814_342, 1_226_737}, Std: {3_027_526, 836_825}},
		Scalars:    {Emulated: {1_487_208, 402_458}, Limbs: {3_113_886, 1_555_582}, LimbsMul: {759_924, 197_786}, Std: {676_648, 178_109}},
		Check:      {Std: {1_785_309, 503_447}},
	}
}

// Composed reports whether the number that Constraints returns is a sum over the circuit's parts, and was
// not counted on the whole circuit. It returns true only for Tripartite with Limbs: building that circuit
// takes more memory than most machines have.
func Composed(r Relation, f Form) bool { return r == Tripartite && f == Limbs }

// Constraints returns the size of a circuit: the number of gates on PLONK if the parameter plonk is true, and
// the number of R1CS constraints otherwise. It returns 0 if there is no such circuit.
func Constraints(r Relation, f Form, plonk bool) int {
	if Composed(r, f) {
		return Parties * (Constraints(Pairing, f, plonk) + Constraints(Scalars, f, plonk))
	}
	s := sizes()[r][f]
	if plonk {
		return s.plonk
	}
	return s.r1cs
}

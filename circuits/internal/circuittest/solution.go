package circuittest

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/constraint/solver"
	frontendcs "github.com/consensys/gnark/frontend/cs"
)

// Solution holds a value for each wire of a circuit. Solve solves a circuit once, and a change of one value
// is then propagated only to the values that depend on it. gnark itself checks only the values that it has
// computed, so it cannot check changed values.
//
// A gate of Plonk and a constraint of Groth16 have one form: l·r + m = 0, where l, r and m are weighted sums
// of wires. The constraints of lookups and range checks also have this form. They contain a challenge, which
// a proof system derives from a commitment to what is looked up. Solve instead draws the challenge at
// random, once. The challenge need not be drawn again, because the change of a value does not depend on it.
// The proof system checks that the challenge follows from the commitment. It also checks the gates that
// belong to the commitment.
type Solution struct {
	q         *big.Int
	values    []fr.Element // of wires; the last is 1, for constants
	steps     []step
	source    []int   // the step that gives a wire, or input
	users     [][]int // the steps that a wire goes into, in order
	committed []bool  // wires that were committed to, and commitments
	hints     []solver.HintID
}

// Sources of wires that no step gives.
const (
	input   = -1 // an input, or the constant
	unknown = -2 // not given yet
)

// term is a wire with a coefficient.
type term struct {
	wire  uint32
	coeff fr.Element
}

// step is a hint, or a constraint that gives a wire or asserts something.
type step struct {
	hint   solver.Hint // nil: a constraint
	id     solver.HintID
	inputs [][]term // of a hint

	l, r, rest []term // of a constraint

	outputs []uint32 // none: an assertion
}

// Solve computes the values of all wires of a constraint system over BN254 from its inputs. The error names
// the hint that fails or the constraint that does not hold.
func Solve(system constraint.ConstraintSystem, inputs witness.Witness, hints []solver.Hint) (*Solution, error) {
	compiled := system.(*cs.R1CS) // which is SparseR1CS, too
	config, err := solver.NewConfig(solver.WithHints(hints...))
	if err != nil {
		return nil, err
	}
	internal, secret, public := compiled.GetNbVariables()
	n := internal + secret + public
	s := &Solution{q: compiled.Field(), values: make([]fr.Element, n+1), source: make([]int, n+1), users: make([][]int, n+1), committed: make([]bool, n+1)}
	for _, h := range hints {
		s.hints = append(s.hints, solver.GetHintID(h))
	}
	s.values[n].SetOne()
	given := s.values[:secret+public]
	if compiled.Type == constraint.SystemR1CS { // whose first public wire is 1
		given[0].SetOne()
		s.committed[0] = true // to all verifiers
		given = given[1:]
	}
	if copy(given, inputs.Vector().(fr.Vector)); len(inputs.Vector().(fr.Vector)) != len(given) {
		return nil, fmt.Errorf("%d inputs, want %d", len(inputs.Vector().(fr.Vector)), len(given))
	}
	for w := range s.source {
		s.source[w] = unknown
		if w < secret+public || w == n {
			s.source[w] = input
		}
	}
	if err := s.read(compiled, config.HintFunctions); err != nil {
		return nil, err
	}
	for i := range s.steps {
		if err := s.run(i, func(wire uint32, v fr.Element) { s.values[wire] = v }); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// commitment is the hint that draws the value of a commitment.
var commitment = solver.GetHintID(frontendcs.Bsb22CommitmentComputePlaceholder)

// read takes the steps from a system's instructions, which are in an order in which they can be solved.
func (s *Solution) read(system *cs.R1CS, hints map[solver.HintID]solver.Hint) error {
	terms := func(list constraint.LinearExpression) (out []term) {
		for _, t := range list {
			if t.IsConstant() {
				t.VID = uint32(len(s.values) - 1)
			}
			if c := system.Coefficients[t.CID]; !c.IsZero() {
				out = append(out, term{t.VID, c})
			}
		}
		return out
	}
	for _, packed := range system.Instructions {
		instruction := packed.Unpack(&system.System)
		var next step
		switch b := system.Blueprints[packed.BlueprintID].(type) {
		case constraint.BlueprintHint:
			var h constraint.HintMapping
			b.DecompressHint(&h, instruction)
			next.hint, next.id = hints[h.HintID], h.HintID
			for _, in := range h.Inputs {
				if h.HintID != commitment {
					next.inputs = append(next.inputs, terms(in))
				}
			}
			for w := h.OutputRange.Start; w < h.OutputRange.End; w++ {
				next.outputs = append(next.outputs, w)
			}
		case *constraint.BlueprintBatchInverse[constraint.U64]:
			next.hint = inverses
			for data := instruction.Calldata[2:]; len(data) > 0; {
				var in constraint.LinearExpression
				n := int(data[0])
				for i := range n {
					in = append(in, constraint.Term{CID: data[1+2*i], VID: data[2+2*i]})
				}
				next.outputs = append(next.outputs, instruction.WireOffset+uint32(len(next.inputs)))
				next.inputs = append(next.inputs, terms(in))
				data = data[1+2*n:]
			}
		case constraint.BlueprintR1C:
			var c constraint.R1C
			b.DecompressR1C(&c, instruction)
			next.l, next.r, next.rest = terms(c.L), terms(c.R), terms(c.O)
			for i := range next.rest {
				next.rest[i].coeff.Neg(&next.rest[i].coeff)
			}
		case constraint.BlueprintSparseR1C:
			var c constraint.SparseR1C
			b.DecompressSparseR1C(&c, instruction)
			if c.Commitment != constraint.NOT {
				s.committed[c.XA] = true
				continue
			}
			if next.l = terms(constraint.LinearExpression{{CID: c.QM, VID: c.XA}}); len(next.l) > 0 {
				next.r = terms(constraint.LinearExpression{{CID: constraint.CoeffIdOne, VID: c.XB}})
			}
			constant := constraint.Term{CID: c.QC}
			constant.MarkConstant()
			next.rest = terms(constraint.LinearExpression{{CID: c.QL, VID: c.XA}, {CID: c.QR, VID: c.XB}, {CID: c.QO, VID: c.XC}, constant})
		default:
			return fmt.Errorf("instructions of type %T are not known", b)
		}
		s.add(next)
	}
	if commitments, ok := system.CommitmentInfo.(constraint.Groth16Commitments); ok {
		for _, c := range commitments {
			s.committed[c.CommitmentIndex] = true
			for _, w := range c.PrivateCommitted {
				s.committed[w] = true
			}
		}
	}
	return nil
}

// add appends a step. A constraint gives the wire that nothing before it has given.
func (s *Solution) add(next step) {
	for _, list := range append(next.inputs, next.l, next.r, next.rest) {
		for _, t := range list {
			if s.source[t.wire] == unknown && len(next.outputs) == 0 {
				next.outputs = []uint32{t.wire}
			}
			if u := s.users[t.wire]; (len(u) == 0 || u[len(u)-1] != len(s.steps)) && !slices.Contains(next.outputs, t.wire) {
				s.users[t.wire] = append(u, len(s.steps))
			}
		}
	}
	for _, w := range next.outputs {
		s.source[w] = len(s.steps)
	}
	s.steps = append(s.steps, next)
}

// inverses computes the hint of a batch of inverses; the inverse of 0 is 0.
func inverses(q *big.Int, inputs, outputs []*big.Int) error {
	for i, in := range inputs {
		if outputs[i].ModInverse(in, q) == nil {
			outputs[i].SetUint64(0)
		}
	}
	return nil
}

func (s *Solution) sum(terms []term) (sum fr.Element) {
	var v fr.Element
	for i := range terms {
		sum.Add(&sum, v.Mul(&terms[i].coeff, &s.values[terms[i].wire]))
	}
	return sum
}

// run gives the outputs of a step. If the step is a constraint that asserts, run returns an error if it does
// not hold.
func (s *Solution) run(i int, give func(wire uint32, v fr.Element)) error {
	c := &s.steps[i]
	if c.hint != nil {
		in, out := make([]*big.Int, len(c.inputs)), make([]*big.Int, len(c.outputs))
		for k := range in {
			v := s.sum(c.inputs[k])
			in[k] = v.BigInt(new(big.Int))
		}
		for k := range out {
			out[k] = new(big.Int)
		}
		if err := c.hint(s.q, in, out); err != nil {
			return fmt.Errorf("hint %s: %w", solver.GetHintName(c.hint), err)
		}
		for k, w := range c.outputs {
			var v fr.Element
			give(w, *v.SetBigInt(out[k]))
		}
		return nil
	}
	l, r, v := s.sum(c.l), s.sum(c.r), s.sum(c.rest)
	v.Add(&v, l.Mul(&l, &r))
	if v.IsZero() {
		return nil // any output that there is may stay
	}
	if len(c.outputs) == 0 {
		return fmt.Errorf("step %d does not hold", i)
	}
	// The constraint is linear in its output.
	w := c.outputs[0]
	var slope fr.Element
	for _, t := range s.gradient(c) {
		if t.wire == w {
			slope = t.coeff
		}
	}
	switch slope.Neg(&slope); {
	case slope.IsZero():
		return fmt.Errorf("step %d divides by zero", i)
	case !slope.IsOne(): // a division is expensive
		v.Div(&v, &slope)
	}
	give(w, *v.Add(&s.values[w], &v))
	return nil
}

// gradient returns the derivatives of a constraint by its wires, sorted by wire and without zeros.
func (s *Solution) gradient(c *step) []term {
	l, r := s.sum(c.l), s.sum(c.r)
	row := slices.Clone(c.rest)
	for _, part := range []struct {
		terms  []term
		factor *fr.Element
	}{{c.l, &r}, {c.r, &l}} {
		for _, t := range part.terms {
			t.coeff.Mul(&t.coeff, part.factor)
			row = append(row, t)
		}
	}
	return collect(row)
}

// OtherOutputs changes outputs of the circuit's hints, one at a time, by 1 and by -1. It propagates the
// change to all that depends on the output, and returns the outputs for which the changed values still
// satisfy the circuit. If the parameter stride is n, it tries every n-th output. The second result is the
// number of outputs that it tried.
//
// If the inputs of another hint change, that hint gives its honest result for the new inputs. So
// OtherOutputs does not find assignments in which a prover changes several outputs at once.
func (s *Solution) OtherOutputs(stride int) (others []string, tried int) {
	n := 0
	for i := range s.steps {
		if s.steps[i].hint == nil || !slices.Contains(s.hints, s.steps[i].id) {
			continue
		}
		for _, w := range s.steps[i].outputs {
			if n++; n%stride != 0 {
				continue
			}
			tried++
			for _, by := range []int64{1, -1} {
				var v fr.Element
				v.SetInt64(by).Add(&v, &s.values[w])
				if s.solvedWith(i, w, v) {
					others = append(others, fmt.Sprintf("%s, changed by %d,", s.name(w), by))
				}
			}
		}
	}
	return others, tried
}

// solvedWith reports whether the circuit is solved with another value of a wire that a
// hint, step i, gave.
func (s *Solution) solvedWith(i int, wire uint32, v fr.Element) bool {
	before := make(map[uint32]fr.Element)
	pending, last := make(map[int]bool), i
	give := func(w uint32, v fr.Element) {
		if s.values[w].Equal(&v) {
			return
		}
		if _, twice := before[w]; !twice {
			before[w] = s.values[w]
		}
		s.values[w] = v
		for _, u := range s.users[w] {
			pending[u] = true
			last = max(last, u)
		}
	}
	defer func() {
		for w, v := range before {
			s.values[w] = v
		}
	}()
	give(wire, v)
	for i++; i <= last; i++ {
		if pending[i] && s.run(i, give) != nil {
			return false
		}
	}
	return true
}

// name describes a wire.
func (s *Solution) name(wire uint32) string {
	i := s.source[wire]
	switch {
	case i == input:
		return fmt.Sprintf("input %d", wire)
	case s.steps[i].hint != nil:
		return fmt.Sprintf("output %d of hint %s in step %d", slices.Index(s.steps[i].outputs, wire), solver.GetHintName(s.steps[i].hint), i)
	}
	return fmt.Sprintf("wire %d of step %d", wire, i)
}

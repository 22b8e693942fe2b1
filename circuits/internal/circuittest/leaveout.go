package circuittest

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/rangecheck"
)

// Statement is a statement in the source of this module's gadgets that constrains something: an assertion, a
// range check, or a gate whose result is read. If a statement is executed several times for one circuit, all
// executions count as one Statement, unless they are reached through different functions.
type Statement struct {
	Name string // the functions that lead to it, and its kind
	site site
}

// site is the place of a statement in the source.
type site struct {
	path string // functions and kind
	line int
}

// Mode selects what a builder does at a statement.
type Mode int

// The modes that change what a builder does at a statement.
const (
	_ Mode = iota
	// LeftOut leaves the statement out if it is an assertion. If the statement is a gate, the output of the
	// hint Free replaces the gate's result.
	LeftOut
	// Watched leaves an assertion out and passes its first operand to the hint Watch.
	Watched
	// zeroed replaces a gate's result by zero.
	zeroed
)

// Free computes the hint that replaces a gate that is left out. The hint's input is the gate's result, and
// its output is the same value.
func Free(_ *big.Int, inputs, outputs []*big.Int) error {
	outputs[0].Set(inputs[0])
	return nil
}

// Watch computes the hint that replaces a Watched assertion. The hint's input is the assertion's first
// operand, and its output is zero.
func Watch(_ *big.Int, _, outputs []*big.Int) error {
	outputs[0].SetUint64(0)
	return nil
}

// Option is a solver option of gnark.
type Option = solver.Option

// Change returns a solver option. With this option, a solver runs the hint h and then calls the function
// change, which can change the hint's outputs.
func Change(h solver.Hint, change func(inputs, outputs []*big.Int)) Option {
	return solver.OverrideHint(solver.GetHintID(h), func(q *big.Int, inputs, outputs []*big.Int) error {
		if err := h(q, inputs, outputs); err != nil {
			return err
		}
		change(inputs, outputs)
		for _, v := range outputs {
			v.Mod(v, q)
		}
		return nil
	})
}

// Switched returns a builder that treats the given statements according to their modes.
func Switched(b frontend.NewBuilder, modes map[Statement]Mode) frontend.NewBuilder {
	return NewSwitches(modes).builder(b)
}

// Statements returns the statements of a circuit. These are all assertions, all range checks, and each gate
// for which the assignment still satisfies the circuit if the gate's result is replaced by zero. Other gates
// are left out, because tests with known answers check them.
func Statements(t testing.TB, b frontend.NewBuilder, circuit, assignment frontend.Circuit, hints []solver.Hint) []Statement {
	t.Helper()
	s := NewSwitches(nil)
	Compile(t, s.builder(b), circuit)
	hints = append(slices.Clone(hints), Watch)
	for at, gate := range s.seen {
		if gate && Solves(t, Compile(t, Switched(b, map[Statement]Mode{{site: at}: zeroed}), circuit), assignment, hints) != nil {
			delete(s.seen, at)
		}
	}
	return s.Statements()
}

// Switches holds the modes of statements. It also records every statement for which the method Mode was
// called.
type Switches struct {
	modes map[site]Mode
	sites map[[depth]uintptr]site // by callers; no site: not ours
	seen  map[site]bool           // by whether they are gates
}

// NewSwitches returns Switches with the given modes.
func NewSwitches(modes map[Statement]Mode) *Switches {
	s := &Switches{modes: make(map[site]Mode), sites: make(map[[depth]uintptr]site), seen: make(map[site]bool)}
	for statement, mode := range modes {
		s.modes[statement.site] = mode
	}
	return s
}

// Statements returns the statements for which the method Mode was called. If several statements have the
// same name, numbers in the order of the source are added to the names.
func (s *Switches) Statements() []Statement {
	all := slices.SortedFunc(maps.Keys(s.seen), func(a, b site) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line)) })
	var out []Statement
	for i, at := range all {
		n := 1 // the number of the statement among those of its function and kind
		for i-n >= 0 && all[i-n].path == at.path {
			n++
		}
		name := at.path
		if n > 1 {
			name = fmt.Sprintf("%s %d", name, n)
		}
		out = append(out, Statement{name, at})
	}
	return out
}

// depth is the number of callers that are examined.
const depth = 24

// Mode returns the mode of the statement that is being executed, and records the statement. It recognizes
// the statement by the callers on the stack. So a builder's method that a gadget calls must call Mode
// directly.
func (s *Switches) Mode(kind string, gate bool) Mode {
	var callers [depth]uintptr
	runtime.Callers(3, callers[:])
	where, known := s.sites[callers]
	if !known {
		where = siteOf(callers[:], kind)
		s.sites[callers] = where
	}
	if where.path == "" {
		return 0
	}
	s.seen[where] = gate
	return s.modes[where]
}

const module = "github.com/zkbench/zkbench/circuits/"

// siteOf names a call of one of the builder's methods by its callers, if the innermost is in one of our
// gadgets. Functions within other functions, by which a gadget calls back, are named only if they are
// innermost.
func siteOf(callers []uintptr, kind string) site {
	var path []string
	line := 0
	frames := runtime.CallersFrames(callers)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		ours := strings.HasPrefix(f.Function, module) && !strings.HasSuffix(f.File, "_test.go") && filepath.Base(filepath.Dir(f.File)) != "circuittest"
		innermost := len(path) == 0
		if innermost && !ours {
			return site{}
		}
		if innermost {
			line = f.Line
		}
		name, callback := functionName(f.Function)
		if ours && (innermost || !callback && name != "Define") {
			path = append(path, name)
		}
	}
	slices.Reverse(path)
	return site{strings.Join(append(path, kind), "/"), line}
}

// functionName returns a function's name without its package and receiver, and whether it is one
// within another.
func functionName(full string) (name string, callback bool) {
	full = full[strings.LastIndex(full, "/")+1:]
	parts := strings.Split(strings.ReplaceAll(full, "[...]", ""), ".")[1:]
	if strings.HasPrefix(parts[0], "(") {
		parts = parts[1:]
	}
	return parts[0], len(parts) > 1
}

func (s *Switches) builder(b frontend.NewBuilder) frontend.NewBuilder {
	return func(field *big.Int, config frontend.CompileConfig) (frontend.Builder[constraint.U64], error) {
		inner, err := b(field, config)
		if err != nil {
			return nil, err
		}
		w := &builder{inner, s, rangecheck.New(inner)}
		if plonk, ok := inner.(frontend.PlonkAPI); ok {
			return &plonkBuilder{w, plonk}, nil
		}
		return w, nil
	}
}

// builder is a gnark builder with switches.
type builder struct {
	frontend.Builder[constraint.U64]
	s      *Switches
	ranges frontend.Rangechecker
}

// plonkBuilder is a builder of Plonk's gates.
type plonkBuilder struct {
	*builder
	plonk frontend.PlonkAPI
}

// assert makes an assertion, leaves it out or watches it, as the mode says.
func (b *builder) assert(mode Mode, operand frontend.Variable, do func()) {
	switch mode {
	case LeftOut:
	case Watched:
		b.hint(Watch, operand)
	default:
		do()
	}
}

// result returns a gate's result, or what the mode says in its place. Constants are not results of gates.
func (b *builder) result(mode Mode, v frontend.Variable) frontend.Variable {
	if _, constant := b.ConstantValue(v); constant {
		return v
	}
	switch mode {
	case zeroed:
		return b.hint(Watch, v)
	case LeftOut:
		return b.hint(Free, v)
	}
	return v
}

func (b *builder) hint(h solver.Hint, v frontend.Variable) frontend.Variable {
	out, err := b.NewHint(h, 1, v)
	if err != nil {
		panic(err) // which Compile returns
	}
	return out[0]
}

func (b *builder) AssertIsEqual(x, y frontend.Variable) {
	b.assert(b.s.Mode("equal", false), x, func() { b.Builder.AssertIsEqual(x, y) })
}

func (b *builder) AssertIsDifferent(x, y frontend.Variable) {
	b.assert(b.s.Mode("different", false), x, func() { b.Builder.AssertIsDifferent(x, y) })
}

func (b *builder) AssertIsBoolean(x frontend.Variable) {
	b.assert(b.s.Mode("boolean", false), x, func() { b.Builder.AssertIsBoolean(x) })
}

func (b *builder) AssertIsCrumb(x frontend.Variable) {
	b.assert(b.s.Mode("crumb", false), x, func() { b.Builder.AssertIsCrumb(x) })
}

func (b *builder) AssertIsLessOrEqual(x, bound frontend.Variable) {
	b.assert(b.s.Mode("bound", false), x, func() { b.Builder.AssertIsLessOrEqual(x, bound) })
}

// Check implements frontend.Rangechecker, so that ranges are recorded where gadgets ask for them.
func (b *builder) Check(x frontend.Variable, bits int) {
	b.assert(b.s.Mode("range", false), x, func() { b.ranges.Check(x, bits) })
}

func (b *plonkBuilder) AddPlonkConstraint(x, y, z frontend.Variable, qL, qR, qO, qM, qC int) {
	b.assert(b.s.Mode("equal", false), x, func() { b.plonk.AddPlonkConstraint(x, y, z, qL, qR, qO, qM, qC) })
}

func (b *plonkBuilder) EvaluatePlonkExpression(x, y frontend.Variable, qL, qR, qM, qC int) frontend.Variable {
	return b.result(b.s.Mode("gate", true), b.plonk.EvaluatePlonkExpression(x, y, qL, qR, qM, qC))
}

func (b *builder) Mul(x, y frontend.Variable, more ...frontend.Variable) frontend.Variable {
	return b.result(b.s.Mode("product", true), b.Builder.Mul(x, y, more...))
}

func (b *builder) MulAcc(sum, x, y frontend.Variable) frontend.Variable {
	return b.result(b.s.Mode("product", true), b.Builder.MulAcc(sum, x, y))
}

func (b *builder) Div(x, y frontend.Variable) frontend.Variable {
	return b.result(b.s.Mode("quotient", true), b.Builder.Div(x, y))
}

func (b *builder) DivUnchecked(x, y frontend.Variable) frontend.Variable {
	return b.result(b.s.Mode("quotient", true), b.Builder.DivUnchecked(x, y))
}

func (b *builder) Inverse(x frontend.Variable) frontend.Variable {
	return b.result(b.s.Mode("quotient", true), b.Builder.Inverse(x))
}

func (b *builder) Select(bit, x, y frontend.Variable) frontend.Variable {
	return b.result(b.s.Mode("choice", true), b.Builder.Select(bit, x, y))
}

func (b *builder) Lookup2(low, high, x0, x1, x2, x3 frontend.Variable) frontend.Variable {
	return b.result(b.s.Mode("choice", true), b.Builder.Lookup2(low, high, x0, x1, x2, x3))
}

func (b *builder) IsZero(x frontend.Variable) frontend.Variable {
	return b.result(b.s.Mode("comparison", true), b.Builder.IsZero(x))
}

func (b *builder) Cmp(x, y frontend.Variable) frontend.Variable {
	return b.result(b.s.Mode("comparison", true), b.Builder.Cmp(x, y))
}

// Commit implements frontend.Committer.
func (b *builder) Commit(v ...frontend.Variable) (frontend.Variable, error) {
	mode := b.s.Mode("challenge", true)
	out, err := b.Builder.(frontend.Committer).Commit(v...)
	if err != nil {
		return nil, err
	}
	return b.result(mode, out), nil
}

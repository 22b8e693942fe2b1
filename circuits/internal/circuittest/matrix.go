package circuittest

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/internal/testing/forgery"
)

// Forgery describes a prover who breaks one statement of a circuit. The prover assigns false inputs or
// changes outputs of hints, and is honest otherwise.
type Forgery struct {
	Assignment frontend.Circuit
	Options    []Option
	// Redundant says what implies the statement if the statement cannot be broken alone.
	Redundant string
}

// Matrix is a circuit with a forgery for each of its statements.
type Matrix struct {
	Name            string // of the circuit, put before the names of its statements; may be empty
	Circuit, Honest frontend.Circuit
	Hints           []solver.Hint
	// Builders lists the names of the constraint systems; empty means all.
	Builders []string
	// Calls lists paths of calls. The statements below a path are left out together, and have the path as
	// their name.
	Calls []string
	// Forgeries maps names of statements to their forgeries.
	Forgeries map[string]Forgery
	// Output names the statement that compares the circuit's result with public inputs. If it is set, a
	// forgery of another statement is checked with the result to which it leads. WithResult puts this result
	// into the assignment.
	Output     string
	WithResult func(a frontend.Circuit, result []*big.Int) frontend.Circuit

	on map[string]map[string][]Statement // by name and builder; nil: not listed yet
}

// Constraints returns the statements of the circuit, each with its forgery. It includes statements that are
// executed for only one of the constraint systems.
func (m *Matrix) Constraints(t *testing.T) []forgery.Constraint {
	t.Helper()
	on := m.statements(t)
	for _, name := range slices.Sorted(maps.Keys(m.Forgeries)) {
		if on[name] == nil {
			t.Errorf("%s: a forgery of %q, which the circuit does not state", m.Name, name)
		}
	}
	var out []forgery.Constraint
	for _, name := range slices.Sorted(maps.Keys(on)) {
		c := forgery.Constraint{Name: name}
		if m.Name != "" {
			c.Name = m.Name + ": " + name
		}
		if f, found := m.Forgeries[name]; found {
			if c.Redundant = f.Redundant; f.Redundant == "" {
				c.Planted = func(leftOut bool) error {
					var errs []error
					for b := range on[name] {
						err := m.planted(t, b, name, &f, leftOut)
						if err == nil && !leftOut {
							return nil // accepted on one system is accepted
						}
						if err != nil {
							errs = append(errs, fmt.Errorf("%s: %w", b, err))
						}
					}
					return errors.Join(errs...)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// Open compiles the circuit for the constraint system with the name b. It leaves out the statement that the
// field m.Output names. The circuit's result is passed to the hint Watch instead of being compared with
// public inputs.
func (m *Matrix) Open(t *testing.T, b string) constraint.ConstraintSystem {
	t.Helper()
	return Compile(t, Switched(Builders()[b], m.modes(t, b, m.Output, Watched)), m.Circuit)
}

// statements lists the circuit's statements.
func (m *Matrix) statements(t *testing.T) map[string]map[string][]Statement {
	t.Helper()
	if m.on == nil {
		m.on = make(map[string]map[string][]Statement)
		for _, b := range m.builders() {
			for _, s := range Statements(t, Builders()[b], m.Circuit, m.Honest, m.Hints) {
				name := s.Name
				for _, call := range m.Calls {
					if strings.HasPrefix(name, call+"/") {
						name = call
					}
				}
				if m.on[name] == nil {
					m.on[name] = make(map[string][]Statement)
				}
				m.on[name][b] = append(m.on[name][b], s)
			}
		}
	}
	return m.on
}

// modes returns the statements of a name, with the mode for each.
func (m *Matrix) modes(t *testing.T, b, name string, mode Mode) map[Statement]Mode {
	t.Helper()
	modes := make(map[Statement]Mode)
	for _, s := range m.statements(t)[name][b] {
		modes[s] = mode
	}
	return modes
}

func (m *Matrix) builders() []string {
	if len(m.Builders) == 0 {
		return slices.Sorted(maps.Keys(Builders()))
	}
	return m.Builders
}

// planted solves a circuit, with or without a statement, as a forgery does.
func (m *Matrix) planted(t *testing.T, b, name string, f *Forgery, leftOut bool) error {
	t.Helper()
	hints := append(slices.Clone(m.Hints), Free, Watch)
	build := func(modes map[Statement]Mode) constraint.ConstraintSystem {
		return Compile(t, Switched(Builders()[b], modes), m.Circuit)
	}
	solve := func(system constraint.ConstraintSystem, a frontend.Circuit, opts ...solver.Option) error {
		opts = append([]solver.Option{solver.WithHints(hints...), solver.WithNbTasks(1)}, append(opts, f.Options...)...)
		return system.IsSolved(Witness(t, a), opts...)
	}
	assignment, without := f.Assignment, m.modes(t, b, name, LeftOut)
	if m.Output != "" && name != m.Output {
		var result []*big.Int
		watch := Change(Watch, func(in, _ []*big.Int) { result = append(result, new(big.Int).Set(in[0])) })
		open := maps.Clone(without)
		maps.Copy(open, m.modes(t, b, m.Output, Watched))
		if err := solve(build(open), assignment, watch); err != nil {
			return fmt.Errorf("before the result is known: %w", err)
		}
		assignment = m.WithResult(assignment, result)
	}
	if !leftOut {
		without = nil
	}
	return solve(build(without), assignment)
}

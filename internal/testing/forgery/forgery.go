// Package forgery tests that each constraint of a circuit, or of a table of package plonkish or stark, is needed. A
// forgery is an invalid witness that is refused with the constraint and accepted without it. These tests show more than
// a digest of the constraints would, which shows only that a constraint changed. Packages with such tests have a line
// in testdata/constraints.csv.
package forgery

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// Constraint is a constraint to test: a gate's term, a range, a message, an absorbed value or an
// assertion.
type Constraint struct {
	Name string
	// Number is how many constraints have this name, if Planted checks a witness for each of them. 0 means
	// one.
	Number int
	// Planted checks a planted witness, with all constraints or with this one left out.
	Planted func(leftOut bool) error
	// Redundant says what implies the constraint, if no witness can break it alone. Planted is then nil.
	Redundant string
}

// Check runs a subtest for each constraint of a package. It counts the constraints, those with a forgery
// and the redundant ones, and compares these numbers with the package's line in testdata/constraints.csv.
// If ZKBENCH_UPDATE is set, it writes that line.
func Check(t *testing.T, pkg string, all []Constraint) {
	t.Helper()
	constraints, forged, redundant := 0, 0, 0
	names := make(map[string]bool)
	for _, c := range all {
		if names[c.Name] {
			t.Errorf("two constraints are called %q", c.Name)
		}
		names[c.Name] = true
		number := max(1, c.Number)
		constraints += number
		switch {
		case c.Redundant != "":
			if c.Planted != nil {
				t.Errorf("constraint %q has both a forgery and a reason for having none", c.Name)
			}
			redundant += number
			continue
		case c.Planted == nil:
			t.Errorf("constraint %q has no forgery and no reason for having none", c.Name)
			continue
		}
		if t.Run(c.Name, func(t *testing.T) {
			if err := c.Planted(false); err == nil {
				t.Error("the planted witness is accepted with the constraint")
			}
			if err := c.Planted(true); err != nil {
				t.Errorf("the planted witness is refused without the constraint, so that it breaks another one too: %v", err)
			}
		}) {
			forged += number
		}
	}
	golden.Line(t, "constraints.csv", "package,constraints,forged,redundant", pkg, fmt.Sprintf("%d,%d,%d", constraints, forged, redundant))
}

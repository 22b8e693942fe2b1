// Package forgery holds each constraint of a circuit or a table by a forgery: a planted witness that
// is refused with the constraint and accepted without it. A digest of the constraints shows that they
// changed; only a forgery shows that one is needed. Packages with tests of this kind have a line in
// testdata/constraints.csv.
package forgery

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// Constraint is one constraint: a gate's term, a range, a message, an absorbed value or an assertion.
type Constraint struct {
	Name string
	// Number is how many constraints of one name there are, if Planted checks a witness of each; 0 is one.
	Number int
	// Planted checks a planted witness: as it is, or with this constraint left out.
	Planted func(leftOut bool) error
	// Redundant is what implies the constraint, if no witness can break it alone. Planted is nil then.
	Redundant string
}

// Check runs a subtest for each constraint of a package, and compares their numbers with the
// package's line in testdata/constraints.csv. Run with ZKBENCH_UPDATE=1, it writes the line.
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
				t.Errorf("constraint %q has a forgery, and a reason why there is none", c.Name)
			}
			redundant += number
			continue
		case c.Planted == nil:
			t.Errorf("constraint %q: no forgery and no reason", c.Name)
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

package planttest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

func cell(i int) inside.Step                  { return inside.Step{Op: inside.Cell, X: i} }
func apply(o inside.Op, x, y int) inside.Step { return inside.Step{Op: o, X: x, Y: y} }

// circuit is of terms on cells of one column that have these values, none wired.
func circuit(values []uint64, terms map[string]inside.Poly) *inside.Circuit {
	c := &inside.Circuit{Columns: 1}
	for i, v := range values {
		c.Unknown, c.Values = append(c.Unknown, i), append(c.Values, fr.NewElement(v))
	}
	for name, p := range terms {
		c.Constraints = append(c.Constraints, inside.Constraint{Line: name, Name: name, Zero: p, Cell: -1})
	}
	c.Check = func(values []fr.Element, constraint int, leftOut bool) error {
		for i, k := range c.Constraints {
			if e := k.Zero.Evaluate(func(cell int) fr.Element { return values[cell] }); !e.IsZero() && !(leftOut && i == constraint) {
				return errors.New(k.Name)
			}
		}
		return nil
	}
	return c
}

// TestFinds: of constraints that are needed a forgery is found, which breaks that one alone; of such that
// others imply there is none, and none is found.
func TestFinds(t *testing.T) {
	difference := inside.Poly{cell(0), cell(1), apply(inside.Sub, 0, 1)}
	square := inside.Poly{cell(1), apply(inside.Mul, 0, 0), cell(2), apply(inside.Sub, 1, 2)}
	other := inside.Poly{cell(0), apply(inside.Mul, 0, 0), cell(2), apply(inside.Sub, 1, 2)}
	bit := inside.Poly{cell(3), apply(inside.Mul, 0, 0), apply(inside.Sub, 1, 0)}
	for i, test := range []struct {
		values []uint64
		terms  map[string]inside.Poly
		want   map[string]bool
	}{
		{[]uint64{3, 3, 9, 1}, map[string]inside.Poly{"equal": difference, "square": square, "bit": bit}, map[string]bool{"equal": true, "square": true, "bit": true}},
		{[]uint64{3, 3, 9, 1}, map[string]inside.Poly{"equal": difference, "square": square, "again": square}, map[string]bool{"equal": true, "square": false, "again": false}},
		{[]uint64{3, 3, 9, 1}, map[string]inside.Poly{"equal": difference, "square": square, "implied": other}, map[string]bool{"equal": true, "square": false, "implied": false}},
		// A forgery that a test has made.
		{[]uint64{3, 4, 16, 1}, map[string]inside.Poly{"equal": difference, "square": square}, map[string]bool{"equal": true, "square": false}},
		{[]uint64{3, 4, 15, 1}, map[string]inside.Poly{"equal": difference, "square": square}, map[string]bool{"equal": false, "square": false}},
	} {
		c := circuit(test.values, test.terms)
		found := make(map[string]*planted)
		for name := range test.want {
			found[name] = nil
		}
		search(c, found)
		for name, want := range test.want {
			p := found[name]
			golden.Equal(t, fmt.Sprintf("circuit %d: %s is found", i, name), want, p != nil)
			if p != nil && (c.Check(p.values, p.constraint, false) == nil || c.Check(p.values, p.constraint, true) != nil) {
				t.Errorf("circuit %d: %s: the witness does not break it alone", i, name)
			}
		}
	}
}

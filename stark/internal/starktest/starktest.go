// Package starktest tests that each constraint and each message of a table for package stark is needed: without it, a forged
// trace is accepted. The tests of a table call Constraints.
package starktest

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/forgery"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/omit"
)

// Planted is a forged witness: traces that satisfy the system except for one kind of constraint, and a statement. The statement
// is false, or the traces contradict it.
type Planted struct {
	System *stark.System
	Traces []stark.Trace
	About  stark.Statement
}

// Forgeries holds planted witnesses by kind. Each key is the name of a table and a kind, "TABLE: KIND". The kind of a
// constraint is its name, with # in place of each number. The kind of a message consists of one of the words "asks", "answers"
// and "links" and the quoted name of its bus. If several messages of a table would have the same kind, a number follows.
type Forgeries struct {
	// Planted has for each kind a function that returns a witness. The witness breaks only constraints of this kind. All
	// constraints of the kind are left out together.
	Planted map[string]func() Planted
	// Each has functions for kinds that consist of many constraints. The function gets the name of one constraint and returns a
	// witness that breaks only this one.
	Each map[string]func(name string) Planted
	// Many says how many constraints a kind has, if it has more than one and is not in Each.
	Many map[string]int
	// Redundant names what implies a kind that no witness can break alone.
	Redundant map[string]string
}

var numbers = regexp.MustCompile(`\d+`)

// Kinds returns the kinds of a table's constraints and messages, in order, and for each kind the constraints and messages that
// belong to it.
func Kinds(table *air.Table, p *air.Program) (kinds []string, parts map[string]omit.Part) {
	parts = make(map[string]omit.Part)
	add := func(kind string, more omit.Part) {
		kind = table.Name + ": " + kind
		part, ok := parts[kind]
		if !ok {
			kinds = append(kinds, kind)
		}
		part.Table = table.Name
		part.Constraints = append(part.Constraints, more.Constraints...)
		part.Messages = append(part.Messages, more.Messages...)
		parts[kind] = part
	}
	for i, c := range p.Constraints {
		add(numbers.ReplaceAllString(c.Name, "#"), omit.Part{Constraints: []int{i}})
	}
	name := func(m air.Sent) string {
		switch {
		case m.Link > 0:
			return fmt.Sprintf("links %q", m.Bus)
		case m.Asks > 0:
			return fmt.Sprintf("asks %q", m.Bus)
		}
		return fmt.Sprintf("answers %q", m.Bus)
	}
	all := make(map[string]int)
	for _, m := range p.Messages {
		all[name(m)]++
	}
	seen := make(map[string]int)
	for i, m := range p.Messages {
		kind := name(m)
		if all[kind] > 1 {
			seen[kind]++
			kind = fmt.Sprintf("%s %d", kind, seen[kind])
		}
		add(kind, omit.Part{Messages: []int{i}})
	}
	return kinds, parts
}

// Constraints tests all kinds of constraints and messages of a package's tables by forgeries: each planted
// witness must be refused, and must be accepted if the constraints or messages of its kind are left out.
func Constraints(t *testing.T, pkg string, tables []*air.Table, f Forgeries) {
	t.Helper()
	var all []forgery.Constraint
	var known []string
	for _, table := range tables {
		program := must.Get(table.Compile())(t)
		kinds, parts := Kinds(table, program)
		known = append(known, kinds...)
		for _, kind := range kinds {
			part := parts[kind]
			c := forgery.Constraint{Name: kind, Redundant: f.Redundant[kind]}
			check := func(p Planted, leftOut bool, part omit.Part) error {
				ctx := t.Context()
				if leftOut {
					ctx = omit.With(ctx, part)
				}
				return p.System.Check(ctx, executor.Serial(), p.Traces, p.About)
			}
			if plant := f.Planted[kind]; plant != nil {
				c.Planted = func(leftOut bool) error { return check(plant(), leftOut, part) }
				if n := len(part.Constraints); n > 1 && n != f.Many[kind] {
					t.Errorf("%d constraints of kind %q, want %d", n, kind, f.Many[kind])
				}
			}
			if plant := f.Each[kind]; plant != nil {
				step := max(1, len(part.Constraints)/testsize.Pick(3, 1<<20, 1<<20))
				c.Planted = func(leftOut bool) error {
					for n := 0; n < len(part.Constraints); n += step {
						i := part.Constraints[n]
						name := program.Constraints[i].Name
						err := check(plant(name), leftOut, omit.Part{Table: table.Name, Constraints: []int{i}})
						if (err == nil) != leftOut { // as it must not be
							if err == nil {
								return nil
							}
							return fmt.Errorf("%s: %w", name, err)
						}
					}
					if leftOut {
						return nil
					}
					return errors.New("each is refused")
				}
			}
			all = append(all, c)
		}
	}
	for _, kind := range slices.Concat(slices.Collect(maps.Keys(f.Planted)), slices.Collect(maps.Keys(f.Each)), slices.Collect(maps.Keys(f.Many))) {
		if !slices.Contains(known, kind) {
			t.Errorf("a forgery of %q, which no table has", kind)
		}
	}
	for kind := range f.Redundant {
		if !slices.Contains(known, kind) {
			t.Errorf("a reason for %q, which no table has", kind)
		}
	}
	forgery.Check(t, pkg, all)
}

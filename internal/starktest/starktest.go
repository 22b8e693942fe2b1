// Package starktest holds each constraint and each message of a table for package stark by a forgery. Whoever
// writes a table calls Constraints in a test.
package starktest

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/forgery"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/omit"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// Planted is a witness that satisfies its system but for one kind of constraint, and a false statement or a
// true one of which the tables say otherwise.
type Planted struct {
	System *stark.System
	Traces []stark.Trace
	About  stark.Statement
}

// Forgeries are planted witnesses by table and kind, and what implies the kinds that no witness breaks
// alone. A kind is the name of constraints, with # for its numbers: those that differ by them are left out
// together. That of messages is asks, answers or links, and the bus; of several in one table it ends with their number.
type Forgeries struct {
	Planted   map[string]func() Planted
	Redundant map[string]string
}

var numbers = regexp.MustCompile(`\d+`)

// Kinds returns the kinds of a table's constraints and messages, in order, and what each is.
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

// Constraints holds all kinds of constraints and messages of a package's tables by forgeries: each planted
// witness must be refused, and accepted if the kind is left out.
func Constraints(t *testing.T, pkg string, tables []*air.Table, f Forgeries) {
	t.Helper()
	var all []forgery.Constraint
	var known []string
	for _, table := range tables {
		kinds, parts := Kinds(table, must.Get(table.Compile())(t))
		known = append(known, kinds...)
		for _, kind := range kinds {
			c := forgery.Constraint{Name: kind, Redundant: f.Redundant[kind]}
			if plant := f.Planted[kind]; plant != nil {
				c.Planted = func(leftOut bool) error {
					ctx, p := t.Context(), plant()
					if leftOut {
						ctx = omit.With(ctx, parts[kind])
					}
					return p.System.Check(ctx, executor.Serial(), p.Traces, p.About)
				}
			}
			all = append(all, c)
		}
	}
	for kind := range f.Planted {
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

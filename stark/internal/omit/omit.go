// Package omit lets tests leave out constraints of a table. Only stark.System.Check reads the context that With returns.
// Provers and verifiers ignore it.
package omit

import (
	"context"
	"slices"
)

// Part names what is left out of a table: constraints and messages, by their numbers in its air.Program.
type Part struct {
	Table                 string
	Constraints, Messages []int
}

type key struct{}

// With returns a context with which stark.System.Check leaves out the constraints and messages that the given
// Part names.
func With(ctx context.Context, part Part) context.Context { return context.WithValue(ctx, key{}, part) }

// From returns what a check with the context ctx leaves out of a table.
func From(ctx context.Context, table string) Part {
	if part, _ := ctx.Value(key{}).(Part); part.Table == table {
		return part
	}
	return Part{}
}

// Constraint reports whether constraint i of the table is left out.
func (p Part) Constraint(i int) bool { return slices.Contains(p.Constraints, i) }

// Message reports whether message i of the table is left out.
func (p Part) Message(i int) bool { return slices.Contains(p.Messages, i) }

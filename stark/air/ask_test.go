package air_test

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/air"
)

// TestAsk: that an ask is once at most is a constraint, unless what is stated in every row implies it.
func TestAsk(t *testing.T) {
	t.Parallel()
	x := func(b *air.Builder) air.Expr { return b.Here(0) }
	y := func(b *air.Builder) air.Expr { return b.Here(1) }
	isBit := func(where air.Where, of ...func(b *air.Builder) air.Expr) func(b *air.Builder) {
		return func(b *air.Builder) {
			for _, e := range of {
				b.Zero(where, "is a bit", e(b).Bool())
			}
		}
	}
	one := air.Constant(1)
	for name, c := range map[string]struct {
		state func(b *air.Builder) // nil: nothing
		when  func(b *air.Builder) air.Expr
		added int
	}{
		"a cell":                              {nil, x, 1},
		"a bit":                               {isBit(air.Everywhere, x), x, 0},
		"a bit that is stated second":         {isBit(air.Everywhere, y, x), x, 0},
		"another is a bit":                    {isBit(air.Everywhere, y), x, 1},
		"a bit in the first row":              {isBit(air.First, x), x, 1},
		"a bit in the last row":               {isBit(air.Last, x), x, 1},
		"a bit in all rows but the last":      {isBit(air.Transition, x), x, 1},
		"the next row's, which is a bit here": {isBit(air.Everywhere, x), func(b *air.Builder) air.Expr { return b.Next(0) }, 1},
		"a product of two cells": {func(b *air.Builder) {
			b.Zero(air.Everywhere, "none is", x(b).Mul(y(b)))
		}, x, 1},
		"a bit, or another": {func(b *air.Builder) {
			b.Zero(air.Everywhere, "x (1 - y)", x(b).Mul(one.Sub(y(b))))
		}, x, 1},
		"x (2 - x)": {func(b *air.Builder) {
			b.Zero(air.Everywhere, "0 or 2", x(b).Mul(air.Constant(2).Sub(x(b))))
		}, x, 1},
		"x (1 + x)": {func(b *air.Builder) {
			b.Zero(air.Everywhere, "0 or -1", x(b).Mul(one.Add(x(b))))
		}, x, 1},
		"(1 - x) x": {func(b *air.Builder) {
			b.Zero(air.Everywhere, "is a bit", one.Sub(x(b)).Mul(x(b)))
		}, x, 0},
		"a sum that is not a product": {func(b *air.Builder) {
			b.Zero(air.Everywhere, "equal", x(b).Sub(y(b)))
		}, x, 1},
		"the product of two bits":          {isBit(air.Everywhere, x, y), func(b *air.Builder) air.Expr { return x(b).Mul(y(b)) }, 0},
		"the product of a bit and another": {isBit(air.Everywhere, x), func(b *air.Builder) air.Expr { return x(b).Mul(y(b)) }, 1},
		"the product of another and a bit": {isBit(air.Everywhere, y), func(b *air.Builder) air.Expr { return x(b).Mul(y(b)) }, 1},
		"the product of one that is stated first, and a bit": {func(b *air.Builder) {
			b.Zero(air.Everywhere, "5", x(b).Plus(-5))
			b.Zero(air.Everywhere, "is a bit", y(b).Bool())
		}, func(b *air.Builder) air.Expr { return x(b).Mul(y(b)) }, 1},
		"1 less a bit":                      {isBit(air.Everywhere, x), func(b *air.Builder) air.Expr { return one.Sub(x(b)) }, 0},
		"1 less another":                    {isBit(air.Everywhere, y), func(b *air.Builder) air.Expr { return one.Sub(x(b)) }, 1},
		"2 less a bit":                      {isBit(air.Everywhere, x), func(b *air.Builder) air.Expr { return air.Constant(2).Sub(x(b)) }, 1},
		"a bit less a bit":                  {isBit(air.Everywhere, x, y), func(b *air.Builder) air.Expr { return x(b).Sub(y(b)) }, 1},
		"the sum of two bits":               {isBit(air.Everywhere, x, y), func(b *air.Builder) air.Expr { return x(b).Add(y(b)) }, 1},
		"a product that is stated to be":    {isBit(air.Everywhere, func(b *air.Builder) air.Expr { return x(b).Mul(y(b)) }), func(b *air.Builder) air.Expr { return x(b).Mul(y(b)) }, 0},
		"a difference that is stated to be": {isBit(air.Everywhere, func(b *air.Builder) air.Expr { return x(b).Sub(y(b)) }), func(b *air.Builder) air.Expr { return x(b).Sub(y(b)) }, 0},
		"0":                                 {nil, func(*air.Builder) air.Expr { return air.Expr{} }, 0},
		"1":                                 {nil, func(*air.Builder) air.Expr { return one }, 0},
		"2":                                 {nil, func(*air.Builder) air.Expr { return air.Constant(2) }, 1},
		"-1":                                {nil, func(*air.Builder) air.Expr { return air.Constant(-1) }, 1},
		"a public value":                    {nil, func(b *air.Builder) air.Expr { return b.Public(0) }, 1},
		"a fixed column of bits":            {nil, func(b *air.Builder) air.Expr { return b.Fixed(0) }, 0},
		"a fixed column of a 2":             {nil, func(b *air.Builder) air.Expr { return b.Fixed(1) }, 1},
	} {
		table := &air.Table{Name: "t", Columns: 2, Fixed: [][]uint64{{0, 1}, {1, 2}}}
		stated := 0
		table.State = func(b *air.Builder) {
			if c.state != nil {
				c.state(b)
			}
			b.Ask("bus", c.when(b), x(b))
		}
		program := must.Get(table.Compile())(t)
		alone := &air.Table{Name: "t", Columns: 2, Fixed: table.Fixed, State: c.state}
		if c.state != nil {
			stated = len(must.Get(alone.Compile())(t).Constraints)
		}
		golden.Equal(t, name+": constraints", c.added, len(program.Constraints)-stated)
		golden.Equal(t, name+": asks a row", uint64(1), program.Messages[0].Asks)
		if c.added == 1 {
			last := program.Constraints[len(program.Constraints)-1]
			golden.Equal(t, name, [2]any{`asks "bus" once at most`, air.Everywhere}, [2]any{last.Name, last.Where})
		}
	}
}

// TestAskImage: nothing is known of an image, so that a table that asks by one of its columns states that it is a bit.
func TestAskImage(t *testing.T) {
	t.Parallel()
	table := &air.Table{Name: "t", Columns: 1, Image: 2, State: func(b *air.Builder) {
		b.Ask("bus", b.Fixed(1), b.Here(0))
	}}
	program := must.Get(table.Compile())(t)
	golden.Equal(t, "fixed columns", 2, program.Fixed)
	golden.Equal(t, "constraints", 1, len(program.Constraints))
	table.State = func(b *air.Builder) { b.Link("bus", 1, b.Here(0)) }
	_, err := table.Compile()
	must.Fail(t, err, zkbench.ErrParams, "an image that links")
	golden.Contains(t, err.Error(), `table "t": links bus "bus" by column 1 of an image`)
	table.State = func(b *air.Builder) { b.Ask("bus", b.Fixed(2), b.Here(0)) }
	_, err = table.Compile()
	must.Fail(t, err, zkbench.ErrParams, "a column too many")
	for _, image := range []int{-1, 2} {
		both := &air.Table{Name: "t", Columns: 1, Fixed: [][]uint64{{0, 1}}, Image: image, State: func(b *air.Builder) { b.Zero(air.Everywhere, "c", b.Here(0)) }}
		_, err = both.Compile()
		must.Fail(t, err, zkbench.ErrParams, "an image of %d columns beside a fixed one", image)
		golden.Contains(t, err.Error(), `table "t": image of`)
	}
}

// TestFirstError: of what a table states wrong the first is named.
func TestFirstError(t *testing.T) {
	t.Parallel()
	_, err := (&air.Table{Name: "t", Columns: 1, State: func(b *air.Builder) {
		b.Here(7)
		b.Public(-1)
	}}).Compile()
	must.Fail(t, err, zkbench.ErrParams, "two errors")
	golden.Contains(t, err.Error(), "column 7 of 1")
}

// TestWraps: what reads the next row in the last one is found wherever it stands, since in zero knowledge that row is
// random.
func TestWraps(t *testing.T) {
	t.Parallel()
	here, next := func(b *air.Builder) air.Expr { return b.Here(0) }, func(b *air.Builder) air.Expr { return b.Next(0) }
	for name, c := range map[string]struct {
		zero  func(b *air.Builder) air.Expr
		wraps bool
	}{
		"here": {here, false}, "next": {next, true},
		"a public value":  {func(b *air.Builder) air.Expr { return b.Public(0) }, false},
		"a constant":      {func(*air.Builder) air.Expr { return air.Constant(3) }, false},
		"a fixed column":  {func(b *air.Builder) air.Expr { return b.Fixed(0) }, false},
		"a sum, first":    {func(b *air.Builder) air.Expr { return next(b).Add(here(b)) }, true},
		"a sum, second":   {func(b *air.Builder) air.Expr { return here(b).Add(next(b)) }, true},
		"a sum, alone":    {func(b *air.Builder) air.Expr { return next(b).Add(b.Public(0)) }, true},
		"a sum of others": {func(b *air.Builder) air.Expr { return here(b).Add(b.Fixed(0)) }, false},
		"less":            {func(b *air.Builder) air.Expr { return next(b).Sub(here(b)) }, true},
		"taken away":      {func(b *air.Builder) air.Expr { return here(b).Sub(next(b)) }, true},
		"a product, first": {func(b *air.Builder) air.Expr {
			return next(b).Mul(b.Public(0))
		}, true},
		"a product, second":   {func(b *air.Builder) air.Expr { return here(b).Mul(next(b)) }, true},
		"a product of others": {func(b *air.Builder) air.Expr { return here(b).Mul(b.Public(0)) }, false},
	} {
		// Where it is stated, behind something that does not read the next row.
		for where, state := range map[string]func(b *air.Builder){
			"everywhere":   func(b *air.Builder) { b.Zero(air.Everywhere, "", c.zero(b)) },
			"last":         func(b *air.Builder) { b.Zero(air.Last, "", c.zero(b)) },
			"multiplicity": func(b *air.Builder) { b.Answer("bus", c.zero(b), here(b), here(b)) },
			"tuple":        func(b *air.Builder) { b.Answer("bus", here(b), here(b), c.zero(b)) },
			"first":        func(b *air.Builder) { b.Zero(air.First, "", c.zero(b)) },
			"transition":   func(b *air.Builder) { b.Zero(air.Transition, "", c.zero(b)) },
		} {
			table := &air.Table{Name: "t", Columns: 1, Fixed: [][]uint64{{0, 1}}, State: func(b *air.Builder) {
				b.Zero(air.Everywhere, "", here(b))
				b.Answer("bus", here(b), here(b), here(b))
				b.Answer("other", here(b), here(b))
				state(b)
			}}
			program := must.Get(table.Compile())(t)
			golden.Equal(t, name+", "+where, c.wraps && where != "first" && where != "transition", program.Wraps())
		}
	}
}

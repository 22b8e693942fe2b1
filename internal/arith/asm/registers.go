package asm

import (
	"fmt"
	"maps"
	"slices"
)

// A loop whose values stay in registers is a block that its values enter and leave in the same
// ones.

// place is a value in a register.
type place struct {
	value    Value
	register int
}

// Enter is a value that lies in a register, other than the pinned, when the block begins.
func (b *Block) Enter(register int) Value {
	v := Value(b.values)
	b.values++
	b.entered = append(b.entered, place{v, register})
	return v
}

// Leave has a value lie in a register, other than the pinned, when the block ends. No other value
// leaves in it.
func (b *Block) Leave(v Value, register int) {
	b.left = append(b.left, place{v, register})
}

// enter gives their registers to the values that have them before the first step, and what leaves
// a use after the last, so that it is kept.
func (a *allocation) enter() {
	for _, p := range a.entered {
		a.where[p.value], a.owner[p.register] = p.register, p.value
	}
	for _, p := range a.left {
		a.uses[p.value] = append(a.uses[p.value], len(a.code))
	}
}

// leave moves what leaves to its registers, and then loads there what lies on the stack.
func (a *allocation) leave() {
	move := a.Either("VMOVDQA64", "VMOVDQA")
	from := map[int]int{} // of a register that waits for a value, the one in which it lies
	for _, p := range a.left {
		if r, in := a.where[p.value]; in && r != p.register {
			from[p.register] = r
		}
	}
	for len(from) > 0 {
		sources := slices.Collect(maps.Values(from))
		waiting := slices.Sorted(maps.Keys(from))
		at := slices.IndexFunc(waiting, func(r int) bool { return !slices.Contains(sources, r) })
		if at >= 0 {
			r := waiting[at]
			a.line(move, a.Register(from[r])+", "+a.Register(r))
			delete(from, r)
			continue
		}
		// All that is left are cycles: a register that no value has or wants opens one.
		r, spare := waiting[0], a.unclaimed()
		a.line(move, a.Register(r)+", "+a.Register(spare))
		for to, source := range from {
			if source == r {
				from[to] = spare
			}
		}
	}
	for _, p := range a.left {
		if _, in := a.where[p.value]; !in {
			a.line(move, a.slot(p.value)+", "+a.Register(p.register))
		}
	}
}

// unclaimed is a register in which no value lies and none leaves.
func (a *allocation) unclaimed() int {
	for _, r := range a.pool {
		if a.owner[r] < 0 && !slices.ContainsFunc(a.left, func(p place) bool { return p.register == r }) {
			return r
		}
	}
	panic(fmt.Sprintf("no register is left where %d values leave", len(a.left)))
}

package asm

import (
	"fmt"
	"maps"
	"slices"
)

// For a loop whose values stay in registers, let each value enter and leave the block in the same register.

// place is a value in a register.
type place struct {
	value    Value
	register int
}

// Enter returns the value that the given register holds when the block begins. The register must not be one that
// holds a constant (see the parameter pinned of Write).
func (b *Block) Enter(register int) Value {
	v := Value(b.values)
	b.values++
	b.entered = append(b.entered, place{v, register})
	return v
}

// Leave makes the block end with v in the given register. The register must not be one that holds a constant
// (see the parameter pinned of Write). Call Leave at most once for each register.
func (b *Block) Leave(v Value, register int) {
	b.left = append(b.left, place{v, register})
}

// enter assigns their registers to the values that enter. Values that leave get a use after the last step, so that
// they are kept.
func (a *allocation) enter() {
	for _, p := range a.entered {
		a.where[p.value], a.owner[p.register] = p.register, p.value
	}
	for _, p := range a.left {
		a.uses[p.value] = append(a.uses[p.value], len(a.code))
	}
}

// leave moves the values that leave to their registers, and then loads those that are on the stack.
func (a *allocation) leave() {
	move := a.Either("VMOVDQA64", "VMOVDQA")
	from := map[int]int{} // by the register that a value must move to, the register that it is in
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
		// Only cycles are left. Moving one value to an unused register opens a cycle.
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

// unclaimed returns a register that no value is in and none leaves in.
func (a *allocation) unclaimed() int {
	for _, r := range a.pool {
		if a.owner[r] < 0 && !slices.ContainsFunc(a.left, func(p place) bool { return p.register == r }) {
			return r
		}
	}
	panic(fmt.Sprintf("no free register to order the moves of %d values", len(a.left)))
}

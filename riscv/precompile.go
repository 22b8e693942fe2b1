package riscv

import (
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/riscv/call"
)

// Precompile is work that a guest leaves to the machine. The guest calls it with an ecall, which retires one
// instruction.
type Precompile struct {
	Name   string // in counts and costs
	Number uint64 // in register a7: a number of package call, or one of your own from call.Own on

	// Do performs the call with registers a0 to a5, and returns the new value of a0. If the error is not a
	// *Fault, it becomes a Fault of kind BadCall.
	Do func(g Guest, args [6]uint64) (a0 uint64, err error)
}

// Guest gives a precompile access to the memory of the guest that called it, and lets the precompile
// report how much work the call was. The errors of its methods are *Fault.
type Guest struct{ machine *machine }

// Units sets how many units of work the call counts as, for example the blocks of a hash or the pairs of
// points and scalars of a sum. If the precompile does not call Units, the call counts as one unit. Package
// cost charges a row for each unit.
func (g Guest) Units(n uint64) { g.machine.units = n }

// Read copies bytes of the guest's memory, starting at addr, until it has filled the given slice.
func (g Guest) Read(addr uint64, to []byte) error {
	return g.fault(g.machine.mem.read(g.address(addr), to), "reads", addr, len(to))
}

// Write copies the given bytes into the guest's memory, starting at addr.
func (g Guest) Write(addr uint64, from []byte) error {
	return g.fault(g.machine.mem.write(g.address(addr), from), "writes", addr, len(from))
}

func (g Guest) address(addr uint64) uint64 { return uint64(g.machine.program.ISA.extend(addr)) }

func (g Guest) fault(kind FaultKind, does string, addr uint64, n int) error {
	if kind == 0 {
		return nil
	}
	return &Fault{Kind: kind, Detail: fmt.Sprintf("a precompile %s %d bytes at %#x", does, n, addr)}
}

// lastOwn is the largest number that a precompile may have.
const lastOwn = call.Own | 0xffff

// checkPrecompiles returns ErrParams if a precompile cannot be called.
func checkPrecompiles(all []Precompile) error {
	seen := make(map[uint64]bool)
	for _, p := range all {
		if p.Number < call.MulMod || p.Number > lastOwn || seen[p.Number] {
			return fmt.Errorf("%w: precompile %s has number %#x; accepted: %#x to %#x, each once", zkbench.ErrParams, p.Name, p.Number, call.MulMod, lastOwn)
		}
		if p.Do == nil {
			return fmt.Errorf("%w: precompile %s: Do is nil; accepted: a function", zkbench.ErrParams, p.Name)
		}
		seen[p.Number] = true
	}
	return nil
}

// precompile calls the precompile that the guest asks for. It returns false if there is none with this
// number, or if it failed.
func (m *machine) precompile(t *thread) bool {
	x := &t.x
	for i := range m.Precompiles {
		p := &m.Precompiles[i]
		if p.Number != x[a7] {
			continue
		}
		m.units = 1
		result, err := p.Do(Guest{m}, [6]uint64(x[a0:a0+6]))
		if err != nil {
			fault, ok := errors.AsType[*Fault](err)
			if !ok {
				return m.refuse(BadCall, p.Name+": "+err.Error())
			}
			return m.refuse(fault.Kind, fault.Detail)
		}
		x[a0] = uint64(m.program.ISA.extend(result))
		t.section.calls[i].calls++
		t.section.calls[i].units += m.units
		m.caller.precompiled++
		return true
	}
	return m.refuse(UnknownCall, fmt.Sprintf("%#x", x[a7]))
}

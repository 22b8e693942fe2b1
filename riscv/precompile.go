package riscv

import (
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/riscv/call"
)

// Precompile is work that a guest has done by an ecall, which retires one instruction.
type Precompile struct {
	Name   string // as counts and costs name it
	Number uint64 // in register a7: one of package call, or of one's own, from call.Own on

	// Do does it with registers a0 to a5, and returns what a0 is then. An error that is no *Fault
	// becomes one of kind BadCall.
	Do func(g Guest, args [6]uint64) (a0 uint64, err error)
}

// Guest is what a precompile has of one: its memory, and the count of its work. Errors are *Fault.
type Guest struct{ machine *machine }

// Units says how many units of work the call is, as costs count them: the blocks of a hash, the pairs of a sum.
// One of which nothing is said is one.
func (g Guest) Units(n uint64) { g.machine.units = n }

// Read copies len(to) bytes from an address.
func (g Guest) Read(addr uint64, to []byte) error {
	return g.fault(g.machine.mem.read(g.address(addr), to), "reads", addr, len(to))
}

// Write copies len(from) bytes to an address.
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

// lastOwn is the last number that a precompile may have.
const lastOwn = call.Own | 0xffff

// checkPrecompiles tells whether each can be called.
func checkPrecompiles(all []Precompile) error {
	seen := make(map[uint64]bool)
	for _, p := range all {
		if p.Number < call.MulMod || p.Number > lastOwn || seen[p.Number] {
			return fmt.Errorf("%w: precompile %s has number %#x; accepted: %#x to %#x, each once", zkbench.ErrParams, p.Name, p.Number, call.MulMod, lastOwn)
		}
		if p.Do == nil {
			return fmt.Errorf("%w: precompile %s does nothing; accepted: those with Do", zkbench.ErrParams, p.Name)
		}
		seen[p.Number] = true
	}
	return nil
}

// precompile does what it is for. false: there is none of this number, or it refused.
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

package riscv

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// profiler charges cycles to the stacks of calls that they were spent in. Calls and returns are the jumps
// that link or take register ra; what a goroutine has called stays with it, by its g in register x27.
type profiler struct {
	program *Program
	goes    bool // the guest is a program of Go
	root    callNode
	stacks  map[uint64]*callStack
	current *callStack
	charged uint64 // cycles
}

// callNode is a function as it was called by those above it.
type callNode struct {
	function int
	parent   *callNode
	children map[int]*callNode
	cycles   uint64
}

// child is a function that n calls.
func (n *callNode) child(function int) *callNode {
	c := n.children[function]
	if c == nil {
		if n.children == nil {
			n.children = make(map[int]*callNode)
		}
		c = &callNode{function: function, parent: n}
		n.children[function] = c
	}
	return c
}

// callStack is what has been called and has not returned.
type callStack struct {
	base   *callNode
	frames []callFrame
}

type callFrame struct {
	back uint64 // address that it returns to
	node *callNode
}

func (s *callStack) top() *callNode {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1].node
	}
	return s.base
}

func newProfiler(p *Program) *profiler {
	f := &profiler{program: p, stacks: make(map[uint64]*callStack)}
	for _, function := range p.functions {
		f.goes = f.goes || function.name == "runtime.mcall"
	}
	f.current = &callStack{base: f.root.child(p.functionAt(p.Entry))}
	return f
}

// owner is whose stack a hart is on.
func (f *profiler) owner(h *hart) uint64 {
	if f.goes {
		return h.x[27]
	}
	return h.x[tp]
}

// charge charges what was spent until now to the stack that it was spent in, and goes on with that of
// the hart, whose instruction at pc is executed.
func (f *profiler) charge(h *hart, pc, now uint64) {
	f.current.top().cycles += now - f.charged
	f.charged = now
	owner := f.owner(h)
	if f.current = f.stacks[owner]; f.current == nil {
		f.current = &callStack{base: f.root.child(f.program.functionAt(pc))}
		f.stacks[owner] = f.current
	}
}

// isCallOrReturn tells whether an instruction jumps and links register ra, or jumps to where that says.
func (in *instr) isCallOrReturn() bool {
	jumps := in.op == opJal || in.op == opJalr
	return jumps && in.rd == ra || in.op == opJalr && in.rd == sink && in.rs1 == ra
}

// profiledJump executes an opProfiled, which stands before h.pc, and tells the profiler.
func (m *machine) profiledJump(h *hart, in *instr) {
	link, target := h.pc, uint64(in.imm)
	if op(in.rs3) == opJalr {
		target = (h.x[in.rs1] + uint64(in.imm)) &^ 1
	}
	h.x[in.rd], h.pc = link, target
	if in.rd == ra {
		m.profiler.call(h, link, target, m.cycles)
	} else {
		m.profiler.back(h, target, m.cycles)
	}
}

// call is a jump to target that links: it will return to back.
func (f *profiler) call(h *hart, back, target, now uint64) {
	f.charge(h, back-1, now)
	to := f.program.functionAt(target)
	if f.goes && strings.TrimSuffix(f.name(to), ".abi0") == "runtime.save_g" {
		return // of the code that changes stacks, which is on none
	}
	f.align(f.program.functionAt(back - 1))
	s := f.current
	s.frames = append(s.frames, callFrame{back, s.top().child(to)})
}

// align makes a function the top of the stack, which it is not where one was left without a return: below
// it are those that a goroutine went on in after it was parked; of none of them, it is a jump in place of a
// call, or the beginning of another goroutine on what was left of one that ended.
func (f *profiler) align(function int) {
	s := f.current
	top := s.top()
	if top.function == function {
		return
	}
	for i := len(s.frames) - 1; i >= 0; i-- {
		if s.frames[i].node.function == function {
			s.frames = s.frames[:i+1]
			return
		}
	}
	switch {
	case s.base.function == function:
		s.frames = s.frames[:0]
	case len(s.frames) == 0 || f.goes && f.name(top.function) == "runtime.mcall":
		s.frames, s.base = s.frames[:0], f.root.child(function)
	default:
		s.frames[len(s.frames)-1].node = top.parent.child(function)
	}
}

// back is a return to an address.
func (f *profiler) back(h *hart, to, now uint64) {
	f.charge(h, to, now)
	s := f.current
	for i := len(s.frames) - 1; i >= 0; i-- {
		if s.frames[i].back == to {
			s.frames = s.frames[:i]
			return
		}
	}
}

func (f *profiler) name(function int) string {
	if function < 0 {
		return "(no symbol)"
	}
	return f.program.functions[function].name
}

// write writes the profile in pprof's format, compressed.
func (f *profiler) write(w io.Writer, now uint64) error {
	f.current.top().cycles += now - f.charged
	f.charged = now
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cycles", Unit: "count"}},
		PeriodType: &profile.ValueType{Type: "cycles", Unit: "count"}, Period: 1,
	}
	places := make(map[int]*profile.Location)
	place := func(function int) *profile.Location {
		at := places[function]
		if at == nil {
			of := &profile.Function{ID: uint64(len(p.Function) + 1), Name: f.name(function)}
			p.Function = append(p.Function, of)
			at = &profile.Location{ID: of.ID, Line: []profile.Line{{Function: of}}}
			if function >= 0 {
				at.Address = f.program.functions[function].start
			}
			p.Location = append(p.Location, at)
			places[function] = at
		}
		return at
	}
	var walk func(n *callNode, above []*profile.Location)
	walk = func(n *callNode, above []*profile.Location) {
		stack := append([]*profile.Location{place(n.function)}, above...)
		if n.cycles > 0 {
			p.Sample = append(p.Sample, &profile.Sample{Location: stack, Value: []int64{int64(n.cycles)}})
		}
		for _, c := range sortedChildren(n) {
			walk(c, stack)
		}
	}
	for _, c := range sortedChildren(&f.root) {
		walk(c, nil)
	}
	return p.Write(w)
}

// sortedChildren are those of a node in an order that does not change.
func sortedChildren(n *callNode) []*callNode {
	all := slices.Collect(maps.Values(n.children))
	slices.SortFunc(all, func(a, b *callNode) int { return cmp.Compare(a.function, b.function) })
	return all
}

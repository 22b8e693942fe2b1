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
	nodes   int // below root
	stacks  map[uint64]*callStack
	frames  int // on all stacks
	current *callStack
	charged uint64 // cycles
}

// Limits of a profile. What is beyond them is charged to the function that it was called from.
const (
	deepestNode = 512 // functions in a stack that is written
	mostNodes   = 1 << 16
	mostStacks  = 1 << 16
	mostFrames  = 1 << 20
)

// callNode is a function as it was called by those above it.
type callNode struct {
	function int
	depth    int // nodes above it
	parent   *callNode
	children map[int]*callNode
	cycles   uint64
}

// child is a function that n calls, or n where that would be beyond the limits.
func (f *profiler) child(n *callNode, function int) *callNode {
	c := n.children[function]
	if c == nil {
		if n != &f.root && (n.depth == deepestNode || f.nodes >= mostNodes) {
			return n
		}
		if n.children == nil {
			n.children = make(map[int]*callNode)
		}
		c = &callNode{function: function, depth: n.depth + 1, parent: n}
		n.children[function] = c
		f.nodes++
	}
	return c
}

// callStack is what has been called and has not returned.
type callStack struct {
	base   *callNode
	frames []callFrame
}

type callFrame struct {
	back     uint64 // address that it returns to
	function int
	node     *callNode
}

// top is the function that runs, and the node that it is charged to.
func (s *callStack) top() (function int, node *callNode) {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1].function, s.frames[n-1].node
	}
	return s.base.function, s.base
}

// cut leaves n frames on the stack that runs, and gives back what many others took.
func (f *profiler) cut(n int) {
	s := f.current
	f.frames -= len(s.frames) - n
	if s.frames = s.frames[:n]; n < cap(s.frames)/4 {
		s.frames = slices.Clone(s.frames)
	}
}

func newProfiler(p *Program) *profiler {
	f := &profiler{program: p, stacks: make(map[uint64]*callStack)}
	for _, function := range p.functions {
		f.goes = f.goes || function.name == "runtime.mcall"
	}
	f.current = &callStack{base: f.child(&f.root, p.functionAt(p.Entry))}
	return f
}

// owner is whose stack a hart is on.
func (f *profiler) owner(h *hart) uint64 {
	if f.goes {
		return h.x[27]
	}
	return h.x[tp]
}

// spend charges what was spent until now to the function that runs.
func (f *profiler) spend(now uint64) {
	_, node := f.current.top()
	node.cycles += now - f.charged
	f.charged = now
}

// charge charges what was spent until now to the stack that it was spent in, and goes on with that of
// the hart, whose instruction at pc is executed.
func (f *profiler) charge(h *hart, pc, now uint64) {
	f.spend(now)
	owner := f.owner(h)
	if f.stacks[owner] == nil && len(f.stacks) >= mostStacks {
		owner = 0 // which those share that are too many
	}
	if f.current = f.stacks[owner]; f.current == nil {
		f.current = &callStack{base: f.child(&f.root, f.program.functionAt(pc))}
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
	if f.frames < mostFrames {
		s := f.current
		_, from := s.top()
		s.frames = append(s.frames, callFrame{back, to, f.child(from, to)})
		f.frames++
	}
}

// align makes a function the top of the stack, which it is not where one was left without a return: below
// it are those that a goroutine went on in after it was parked; of none of them, it is a jump in place of a
// call, or the beginning of another goroutine on what was left of one that ended.
func (f *profiler) align(function int) {
	s := f.current
	top, node := s.top()
	if top == function {
		return
	}
	for i := len(s.frames) - 1; i >= 0; i-- {
		if s.frames[i].function == function {
			f.cut(i + 1)
			return
		}
	}
	switch {
	case s.base.function == function:
		f.cut(0)
	case len(s.frames) == 0 || f.goes && f.name(top) == "runtime.mcall":
		f.cut(0)
		s.base = f.child(&f.root, function)
	default:
		frame := &s.frames[len(s.frames)-1]
		frame.function, frame.node = function, f.child(node.parent, function)
	}
}

// back is a return to an address.
func (f *profiler) back(h *hart, to, now uint64) {
	f.charge(h, to, now)
	s := f.current
	for i := len(s.frames) - 1; i >= 0; i-- {
		if s.frames[i].back == to {
			f.cut(i)
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
	f.spend(now)
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

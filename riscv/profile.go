package riscv

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// profiler charges cycles to the function that spends them, on the stack of calls that it was called by. It is told
// of all that leads from one function to another. Calls and returns are the jumps that link or take register ra; what
// a goroutine has called stays with it, by its g in register x27.
type profiler struct {
	program  *Program
	names    *names
	goes     bool // the guest is a program of Go
	root     callNode
	nodes    int // below root
	stacks   map[uint64]*callStack
	frames   int // on all stacks
	current  *callStack
	owned    uint64 // whose the current stack is
	function int    // that runs
	charged  uint64 // cycles
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

	// How many frames there are of a function, and that return to an address: none are looked for that there are not.
	functions map[int]int
	backs     map[uint64]int
}

func (f *profiler) newStack(function int) *callStack {
	return &callStack{base: f.child(&f.root, function), functions: make(map[int]int), backs: make(map[uint64]int)}
}

// push puts a frame on the stack.
func (s *callStack) push(frame callFrame) {
	s.frames = append(s.frames, frame)
	s.functions[frame.function]++
	s.backs[frame.back]++
}

// lost takes one of a count, which is not kept where it is none.
func lost[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
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
	for _, frame := range s.frames[n:] {
		lost(s.functions, frame.function)
		lost(s.backs, frame.back)
	}
	if s.frames = s.frames[:n]; n < cap(s.frames)/4 {
		s.frames = slices.Clone(s.frames)
	}
}

func newProfiler(p *Program, n *names) *profiler {
	f := &profiler{program: p, names: n, stacks: make(map[uint64]*callStack), owned: none}
	for _, function := range p.functions {
		f.goes = f.goes || function.name == "runtime.mcall"
	}
	f.function = p.functionAt(p.Entry)
	f.current = f.newStack(f.function)
	return f
}

// none is no owner of a stack.
const none = ^uint64(0)

// owner is whose stack a hart is on.
func (f *profiler) owner(h *hart) uint64 {
	if f.goes {
		return h.x[27]
	}
	return h.x[tp]
}

// spend charges what was spent until now to the function that runs, which is the top of the stack, or was come to
// in another way from there.
func (f *profiler) spend(now uint64) {
	top, node := f.current.top()
	if top != f.function {
		node = f.child(node, f.function)
	}
	node.cycles += now - f.charged
	f.charged = now
}

// enter charges what was spent until now, and goes on with a function on the stack of the hart.
func (f *profiler) enter(h *hart, function int, now uint64) {
	f.spend(now)
	f.function = function
	owner := f.owner(h)
	if owner == f.owned {
		return
	}
	f.owned = owner
	if f.stacks[owner] == nil && len(f.stacks) >= mostStacks {
		owner = 0 // which those share that are too many
	}
	if f.current = f.stacks[owner]; f.current == nil {
		f.current = f.newStack(function)
		f.stacks[owner] = f.current
	}
}

// goesOn is a hart that goes on at its pc, after a call of the system or another hart.
func (f *profiler) goesOn(h *hart, now uint64) { f.enter(h, f.program.functionAt(h.pc), now) }

// isTold tells whether an instruction is a jump that the profiler is told of before: a call, a return, or one to
// where a register says. Others are told of where they lead to another function.
func (in *instr) isTold() bool { return in.op == opJalr || in.op == opJal && in.rd == ra }

// profiledJump executes an opProfiled, which stands before h.pc, and tells the profiler.
func (m *machine) profiledJump(h *hart, in *instr) {
	link, target := h.pc, uint64(in.imm)
	if op(in.rs3) == opJalr {
		target = (h.x[in.rs1] + uint64(in.imm)) &^ 1
	}
	h.x[in.rd], h.pc = link, target
	switch {
	case in.rd == ra:
		m.profiler.call(h, link, target, m.cycles)
	case in.rs1 == ra:
		m.profiler.back(h, target, m.cycles)
	default:
		m.profiler.jump(h, target, m.cycles)
	}
}

// call is a jump to target that links: it will return to back.
func (f *profiler) call(h *hart, back, target, now uint64) {
	from, to := f.function, f.program.functionAt(target)
	f.enter(h, to, now)
	if f.goes && strings.TrimSuffix(f.name(to), ".abi0") == "runtime.save_g" {
		return // of the code that changes stacks, which is on none
	}
	f.align(from)
	if f.frames < mostFrames {
		_, caller := f.current.top()
		f.current.push(callFrame{back, to, f.child(caller, to)})
		f.frames++
	}
}

// jump is one to target that does not link, or another way there: what it leads to takes the place of who jumped.
func (f *profiler) jump(h *hart, target, now uint64) {
	from, to := f.function, f.program.functionAt(target)
	f.enter(h, to, now)
	if top, _ := f.current.top(); top == from {
		f.replace(to)
	} else {
		f.align(to) // which goes on where it was left
	}
}

// replace makes a function the top of the stack in place of that which is there.
func (f *profiler) replace(function int) {
	s := f.current
	if len(s.frames) == 0 {
		s.base = f.child(&f.root, function)
		return
	}
	frame := &s.frames[len(s.frames)-1]
	lost(s.functions, frame.function)
	s.functions[function]++
	frame.function, frame.node = function, f.child(frame.node.parent, function)
}

// align makes a function the top of the stack, which it is not where one was left without a return: below
// it are those that a goroutine went on in after it was parked; of none of them, it is a jump in place of a
// call, or the beginning of another goroutine on what was left of one that ended.
func (f *profiler) align(function int) {
	s := f.current
	top, _ := s.top()
	if top == function {
		return
	}
	switch {
	case s.functions[function] > 0:
		n := len(s.frames)
		for s.frames[n-1].function != function {
			n--
		}
		f.cut(n)
	case s.base.function == function:
		f.cut(0)
	default:
		if f.goes && f.name(top) == "runtime.mcall" {
			f.cut(0)
		}
		f.replace(function)
	}
}

// back is a return to an address.
func (f *profiler) back(h *hart, to, now uint64) {
	f.enter(h, f.program.functionAt(to), now)
	s := f.current
	if s.backs[to] > 0 {
		n := len(s.frames) - 1
		for s.frames[n].back != to {
			n--
		}
		f.cut(n)
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
			name := f.name(function)
			of := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name}
			if function >= 0 {
				of.Name = f.names.of(function)
			}
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

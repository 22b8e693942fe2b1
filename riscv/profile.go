package riscv

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// profiler charges cycles to the function that spends them, on the stack of calls that led to it. It sees
// every jump from one function to another. Calls and returns are the jumps that link or use register ra. The
// calls of a goroutine stay with the goroutine, which is identified by its g in register x27.
type profiler struct {
	program  *Program
	names    *names
	goes     bool // the guest is a Go program
	root     callNode
	nodes    int // below root
	stacks   map[uint64]*callStack
	frames   int // on all stacks
	current  *callStack
	owned    uint64 // owner of the current stack
	function int    // the running function
	charged  uint64 // cycles that have been charged
}

// Limits of a profile. Calls beyond them are charged to their caller.
const (
	deepestNode = 512 // functions in one stack of the profile
	mostNodes   = 1 << 16
	mostStacks  = 1 << 16
	mostFrames  = 1 << 20
)

// callNode is a function with the chain of calls that led to it.
type callNode struct {
	function int
	depth    int // nodes above it
	parent   *callNode
	children map[int]*callNode
	cycles   uint64
}

// child returns the node for a function that n calls, or n itself if a new node would be beyond the limits.
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

// callStack holds the calls that have not returned.
type callStack struct {
	base   *callNode
	frames []callFrame

	// The number of frames of each function, and of those with each return address, so that no search is made
	// for frames that do not exist.
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

// decrement subtracts one from a count, and removes the count if it becomes 0.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

type callFrame struct {
	back     uint64 // return address
	function int
	node     *callNode
}

// top returns the running function and the node that its cycles are charged to.
func (s *callStack) top() (function int, node *callNode) {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1].function, s.frames[n-1].node
	}
	return s.base.function, s.base
}

// cut leaves n frames on the current stack, and frees memory if many frames were removed.
func (f *profiler) cut(n int) {
	s := f.current
	f.frames -= len(s.frames) - n
	for _, frame := range s.frames[n:] {
		decrement(s.functions, frame.function)
		decrement(s.backs, frame.back)
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

// none is the owner of no stack.
const none = ^uint64(0)

// owner returns the owner of the stack that a hart uses: a goroutine or a thread.
func (f *profiler) owner(h *hart) uint64 {
	if f.goes {
		return h.x[27]
	}
	return h.x[tp]
}

// spend charges the cycles since the last charge to the running function. That is the top of the stack, or a
// function that the top reached in another way than by a call.
func (f *profiler) spend(now uint64) {
	top, node := f.current.top()
	if top != f.function {
		node = f.child(node, f.function)
	}
	node.cycles += now - f.charged
	f.charged = now
}

// enter charges the cycles until now, and continues with a function on the hart's stack.
func (f *profiler) enter(h *hart, function int, now uint64) {
	f.spend(now)
	f.function = function
	owner := f.owner(h)
	if owner == f.owned {
		return
	}
	f.owned = owner
	if f.stacks[owner] == nil && len(f.stacks) >= mostStacks {
		owner = 0 // stacks beyond the limit share this one
	}
	if f.current = f.stacks[owner]; f.current == nil {
		f.current = f.newStack(function)
		f.stacks[owner] = f.current
	}
}

// resume continues with a hart at its pc, after a system call or another hart.
func (f *profiler) resume(h *hart, now uint64) { f.enter(h, f.program.functionAt(h.pc), now) }

// isProfiled reports whether an instruction is a jump that is executed as opProfiled: a call, a return, or a
// jump to an address in a register. The profiler sees other jumps only if they lead to another function.
func (in *instr) isProfiled() bool { return in.op == opJalr || in.op == opJal && in.rd == ra }

// profiledJump executes the opProfiled before h.pc and passes the jump to the profiler.
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

// call records a call of target that will return to back.
func (f *profiler) call(h *hart, back, target, now uint64) {
	from, to := f.function, f.program.functionAt(target)
	f.enter(h, to, now)
	if f.goes && strings.TrimSuffix(f.name(to), ".abi0") == "runtime.save_g" {
		return // code that switches stacks is on no stack
	}
	f.align(from)
	if f.frames < mostFrames {
		_, caller := f.current.top()
		f.current.push(callFrame{back, to, f.child(caller, to)})
		f.frames++
	}
}

// jump records a jump to target that is not a call. The target replaces the function that jumped.
func (f *profiler) jump(h *hart, target, now uint64) {
	from, to := f.function, f.program.functionAt(target)
	f.enter(h, to, now)
	if top, _ := f.current.top(); top == from {
		f.replace(to)
	} else {
		f.align(to) // it continues where it stopped
	}
}

// replace puts a function in the place of the top of the stack.
func (f *profiler) replace(function int) {
	s := f.current
	if len(s.frames) == 0 {
		s.base = f.child(&f.root, function)
		return
	}
	frame := &s.frames[len(s.frames)-1]
	decrement(s.functions, frame.function)
	s.functions[function]++
	frame.function, frame.node = function, f.child(frame.node.parent, function)
}

// align makes a function the top of the stack. Another function is on top if it was left without a return.
// The function may be further down: a goroutine that was parked continues in it. If it is not on the stack,
// the jump was a tail call, or another goroutine began on the stack of one that has ended.
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

// back records a return to an address.
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
			described := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name}
			if function >= 0 {
				described.Name = f.names.name(function)
			}
			p.Function = append(p.Function, described)
			at = &profile.Location{ID: described.ID, Line: []profile.Line{{Function: described}}}
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

// sortedChildren returns the children of a node in a fixed order.
func sortedChildren(n *callNode) []*callNode {
	all := slices.Collect(maps.Values(n.children))
	slices.SortFunc(all, func(a, b *callNode) int { return cmp.Compare(a.function, b.function) })
	return all
}

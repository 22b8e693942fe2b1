package riscv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
)

// Options says how to run a guest. With the zero value a guest has no input, and its output to Stdout and
// Stderr is discarded.
type Options struct {
	Input          []byte   // what the guest reads, with a call or from standard input
	Args           []string // arguments of a program for Linux, without its name
	Env            []string // environment of a program for Linux, as KEY=value
	Stdout, Stderr io.Writer

	Precompiles []Precompile // that the guest can call; package precompile has some

	// Profile, if not nil, receives a profile in pprof's format: the cycles of each call stack.
	Profile io.Writer

	// Trace, if not nil, is called with every instruction of the run, after it has retired. The counts are those
	// of a run without it.
	Trace func(Step)

	// Map lists addresses outside the program's segments that the program may read and write. They are zero
	// at first. A program that has no segment for its stack needs them. Segments that overlap them keep their
	// rights.
	Map []Range

	MemoryLimit uint64 // bytes; 0 means DefaultMemory
	CycleLimit  uint64 // 0 means DefaultCycles; a precompile counts as one cycle, however long it takes
	Misaligned  bool   // execute and count misaligned accesses (Zicclsm); if false, they are a Fault
}

// Range contains the addresses from Start up to, but not including, End. The machine rounds Start down and
// End up to whole pages of 4,096 bytes.
type Range struct{ Start, End uint64 }

// Defaults of Options.
const (
	DefaultMemory = 4 << 30 // bytes
	DefaultCycles = 1 << 40
)

// slice is the number of cycles that a thread runs, with its calls, before another thread that is ready gets
// its turn.
const slice = 10_000_000

// machine is a guest that is being run.
type machine struct {
	Options
	program *Program
	mem     *memory
	threads threads
	turn    uint64 // cycles that the running thread has left in its slice

	sections []*section // the first counts what is outside of all others
	section  *section   // of the running thread
	longest  int        // instructions of a block
	decoded  int        // instructions in all blocks, plus blockTakes per block
	full     bool       // no more blocks may be decoded
	seen     int        // functions for which sections have counts
	caller   *block     // that made the last call

	cycles     uint64 // retired, without those of the current call of execute
	misaligned uint64
	units      uint64 // of the current call of a precompile
	reserved   uint64 // address that the running thread's last load has reserved; noReservation: none
	time       uint64 // ns since the guest's epoch
	mmapNext   uint64 // mappings are placed below it
	heap       uint64 // its beginning; brk moves its end
	heapEnd    uint64
	drawn      uint64 // blocks of random bytes
	poll       poll
	files      files
	actions    [mostSignals + 1]action // indexed by signal
	missing    []MissingCall           // sorted by number
	profiler   *profiler               // nil: no profile
	jump       *instr                  // the last opProfiled
	names      *names
	input      int    // number of bytes of the input that were read
	inputAt    uint64 // address of the input; 0: not in memory
	output     []byte
	fault      *Fault
	code       int  // first code other than 0 with which a thread ended; 0: none
	exit       *int // exit code; nil: still running
}

// Result holds the counts and the output of a run.
type Result struct {
	Exit       int       // exit code; if it is not 0, Run returns an *ExitError with it
	Tally                // counts of the whole run
	Sections   []Section // in the order in which they were first begun
	Output     []byte    // all that the guest committed to, concatenated; nil if the guest did not end with code 0
	Misaligned uint64    // number of misaligned accesses
	Pages      int       // maximum number of pages of 4,096 bytes at one time
	Touches    uint64    // how often a page was created: at its first access, or the first after it was freed

	// Missing lists the Linux system calls that the guest made and this package does not implement, sorted by
	// number. It has at most 64 of them.
	Missing []MissingCall
}

// Run runs a program to its end. It returns an *ExitError if the guest ends with a code other than 0, a
// *Fault if the machine ends the guest, the error of ctx if ctx ends first, and zkbench.ErrParams if the
// options are not valid. The Result is never nil. If there is an error, the Result has the counts up to the
// error and no output. If the profile cannot be written to o.Profile, that error is joined to the others.
func Run(ctx context.Context, p *Program, o Options) (*Result, error) {
	if err := checkPrecompiles(o.Precompiles); err != nil {
		return &Result{}, err
	}
	m, err := newMachine(p, o)
	if err == nil {
		err = m.run(ctx)
	}
	r := m.result()
	if err == nil && r.Exit != 0 {
		err = &ExitError{Code: r.Exit, Output: r.Output}
	}
	if err != nil {
		r.Output = nil
	}
	if m.profiler != nil {
		if failed := m.profiler.write(o.Profile, m.cycles); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	return r, err
}

func newMachine(p *Program, o Options) (*machine, error) {
	o.MemoryLimit = cmp.Or(o.MemoryLimit, DefaultMemory)
	o.CycleLimit = cmp.Or(o.CycleLimit, DefaultCycles)
	for _, w := range []*io.Writer{&o.Stdout, &o.Stderr} {
		if *w == nil {
			*w = io.Discard
		}
	}
	m := &machine{Options: o, program: p, mem: newMemory(p.ISA, o.MemoryLimit), longest: longestBlock, reserved: noReservation, names: newNames(p)}
	if o.Trace != nil {
		m.longest = 1
	}
	m.newSection("", nil)
	if o.Profile != nil {
		m.profiler = newProfiler(p, m.names)
	}
	if err := m.place(); err != nil {
		return m, err
	}
	return m, m.start()
}

// place copies the program's segments into memory, and maps the addresses of Options.Map outside of them.
func (m *machine) place() error {
	pages := func(start, end uint64) (uint64, uint64) { return start &^ pageMask, (end + pageMask) &^ pageMask }
	segments := m.program.segments
	for _, s := range segments {
		start, end := pages(s.start, s.end)
		m.mem.setRights(start, end, readable|writable)
	}
	for _, s := range segments {
		if kind := m.mem.write(s.start, s.data); kind != 0 {
			return &Fault{Kind: kind, PC: m.program.Entry, Detail: fmt.Sprintf("the program's segments; accepted: %d bytes", m.MemoryLimit)}
		}
	}
	for i, s := range segments {
		start, end := m.program.mapped(i)
		m.mem.shared = m.mem.shared || start&pageMask != 0
		m.mem.setRights(start, end, s.rights)
	}
	for i, r := range m.Map {
		most := m.program.ISA.highest()
		if r.Start >= r.End || r.End > most {
			return fmt.Errorf("%w: map[%d]: addresses %#x to %#x; accepted: from a lower to a higher one, below %#x", zkbench.ErrParams, i, r.Start, r.End, most)
		}
		start, end := pages(r.Start, r.End)
		if half := uint64(1 << 31); m.program.ISA.XLEN == 32 && start < half && half < end { // registers sign-extend the upper half
			m.mem.fill(start, half, readable|writable)
			start = half
		}
		low := uint64(m.program.ISA.extend(start))
		m.mem.fill(low, low+end-start, readable|writable)
	}
	return nil
}

// run runs the threads in turn.
func (m *machine) run(ctx context.Context) error {
	var last *thread
	var why stop // why it stopped
	for m.exit == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := m.threads.next(m)
		if t == nil {
			first := m.threads.all[0]
			m.fault = &Fault{Kind: Deadlock, PC: first.pc - 4, Detail: "every thread waits, the first one in " + callName(first.x[a7])}
			return m.ended()
		}
		if m.profiler != nil && why != stopJump && why != stopStep {
			m.profiler.resume(&t.hart, m.cycles)
		}
		if t != last {
			last, m.turn = t, slice
		}
		m.section = t.section
		budget := min(m.turn, m.CycleLimit-m.cycles)
		var next traced
		if m.Trace != nil {
			budget = min(budget, 1)
			next = m.before(&t.hart)
		}
		var left uint64
		left, why = m.execute(&t.hart, budget)
		m.cycles += budget - left
		m.turn -= budget - left
		if why == stopBudget && m.turn > 0 && m.cycles < m.CycleLimit {
			why = stopStep
		}
		err := m.stopped(t, why)
		if m.Trace != nil && budget > left {
			m.Trace(next.after(m, &t.hart))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stopped does what a thread has stopped for.
func (m *machine) stopped(t *thread, why stop) error {
	switch why {
	case stopFault:
		return m.ended()
	case stopJump:
		m.profiledJump(&t.hart, m.jump)
	case stopCall:
		m.reserved = noReservation
		if !m.call(t) {
			m.fault.PC = t.pc - 4
			return m.ended()
		}
	case stopFull:
		m.settle()
	case stopBudget:
		m.reserved = noReservation
		if m.cycles == m.CycleLimit {
			m.fault = &Fault{Kind: OutOfCycles, PC: t.pc, Detail: fmt.Sprintf("accepted: %d", m.CycleLimit)}
			return m.ended()
		}
		m.time += sliceTime
		m.turn = slice
		m.threads.yield()
	}
	return nil
}

// ended completes the fault with where and when it happened, and returns it.
func (m *machine) ended() error {
	m.fault.Cycle, m.fault.Function = m.cycles, m.names.name(m.program.functionAt(m.fault.PC))
	return m.fault
}

// blockAt returns the block that starts at pc. It returns nil if there is no code, or if there are too many
// blocks.
func (m *machine) blockAt(pc uint64) *block {
	pc = uint64(m.program.ISA.extend(pc))
	s := m.section
	j := &s.jumps[pc>>1%cachedJumps]
	if j.pc == pc && j.block != nil {
		return j.block
	}
	b := s.blocks[pc]
	if b == nil {
		if m.full = m.decoded > mostDecoded; m.full {
			return nil
		}
		if b = m.build(pc); b == nil {
			return nil
		}
		s.blocks[pc] = b
		m.decoded += len(b.code) + blockTakes
	}
	j.pc, j.block = pc, b
	return b
}

// build decodes the block that starts at pc.
func (m *machine) build(pc uint64) *block {
	b := &block{start: pc, end: pc, function: m.program.functionAt(pc)}
	for len(b.code) < m.longest && (b.end == pc || m.program.functionAt(b.end) == b.function) {
		in, ok := m.program.ISA.fetch(b.end, m.parcel)
		if !ok {
			break
		}
		if m.profiler != nil && in.isProfiled() {
			in.rs3, in.op = uint8(in.op), opProfiled
		}
		b.code = append(b.code, in)
		b.end += uint64(in.size)
		if in.op.ends() {
			break
		}
	}
	if len(b.code) == 0 || !m.countFunction(m.section, b.function) {
		return nil
	}
	b.end = uint64(m.program.ISA.extend(b.end))
	return b
}

// parcel returns the 16 bits of code at pc.
func (m *machine) parcel(pc uint64) (uint16, bool) {
	if m.mem.rightsAt(pc)&executable == 0 {
		return 0, false
	}
	p := m.mem.page(pc)
	if p == nil {
		return 0, false
	}
	return uint16(p[pc&pageMask>>3] >> (pc & 6 * 8)), true
}

// part returns a new block of the first n instructions of b, which is counted separately.
func (m *machine) part(b *block, n int) *block {
	part := &block{start: b.start, end: b.start, code: b.code[:n], function: b.function}
	for _, in := range part.code {
		part.end += uint64(in.size)
	}
	m.section.parts = append(m.section.parts, part)
	return part
}

// follow returns the block at an edge of b, or nil as blockAt does. It stores the block in b, unless the
// profiler must see every jump along the edge. now is the number of cycles spent so far.
func (m *machine) follow(h *hart, b *block, edge int, now uint64) *block {
	h.pc = b.end
	if edge == 1 {
		h.pc = uint64(b.code[len(b.code)-1].imm)
	}
	next := m.blockAt(h.pc)
	if m.profiler != nil && next != nil && next.function != b.function {
		m.profiler.jump(h, h.pc, now)
		return next
	}
	b.next[edge] = next
	return next
}

package riscv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
)

// Options are how a guest runs. The zero value is a run without input whose output is thrown away.
type Options struct {
	Input          []byte   // what it reads, by a call or from standard input
	Args           []string // of a program for Linux, after its name
	Env            []string // of a program for Linux, KEY=value
	Stdout, Stderr io.Writer

	Precompiles []Precompile // that there are; package precompile has some

	// Profile gets the cycles by stacks of calls, in pprof's format; nil: they are not told apart.
	Profile io.Writer

	// Map are addresses beyond the program's segments that it may read and write, and that are zero at first: its stack,
	// if it has no segment for one. What a segment has stays the segment's.
	Map []Range

	MemoryLimit uint64 // bytes; 0: DefaultMemory
	CycleLimit  uint64 // 0: DefaultCycles; a precompile takes one, and the host what it takes
	Misaligned  bool   // accesses of words that are not aligned are executed and counted (Zicclsm), else a fault
}

// Range is addresses from Start on, below End. Both are rounded outwards to pages of 4,096 bytes.
type Range struct{ Start, End uint64 }

// Defaults of Options.
const (
	DefaultMemory = 4 << 30
	DefaultCycles = 1 << 40
)

// slice are the cycles for which a thread runs where others could, its calls between them or not.
const slice = 10_000_000

// machine is a guest that runs.
type machine struct {
	Options
	program *Program
	mem     *memory
	threads threads

	sections []*section // the first is what is in none
	section  *section   // of the thread that runs
	decoded  int        // instructions in all blocks, and what blocks take
	full     bool       // there must be no more
	seen     int        // functions that sections have counts of
	caller   *block     // that made the last call

	cycles     uint64 // retired, but for those of the current call of execute
	misaligned uint64
	units      uint64 // of the precompile that is called
	reserved   uint64 // address of the last load that reserves, by the thread that runs; noReservation: none
	time       uint64 // ns since the guest's epoch
	mmapNext   uint64 // below which mappings go
	heap       uint64 // where it begins; brk moves its end
	heapEnd    uint64
	drawn      uint64 // blocks of random bytes
	poll       poll
	files      files
	actions    [mostSignals + 1]action // by signals
	missing    []MissingCall           // by numbers
	profiler   *profiler               // nil: there is none
	jump       *instr                  // the last opProfiled
	names      *names
	input      int    // bytes of it that were read
	inputAt    uint64 // address; 0: it is not in memory
	output     []byte
	fault      *Fault
	code       int  // the first other than 0 of a thread that has ended; 0: none had one
	exit       *int // code; nil: it runs
}

// Result is what a guest did.
type Result struct {
	Exit       int       // code, as of ExitError; other than 0 with one
	Tally                // of all
	Sections   []Section // in the order in which they were begun first
	Output     []byte    // what it committed to, of a guest that ended with code 0: parts, one behind the other without borders
	Misaligned uint64    // accesses of words that were not aligned
	Pages      int       // of 4,096 bytes, the most that there were at once
	Touches    uint64    // how often a page came into being: by the first access, or one after it was given back

	// Missing are the calls of Linux that a guest has made and that there are not, by their numbers: 64 of them at most.
	Missing []MissingCall
}

// Run runs a program to its end. The error is an *ExitError for a code other than 0, a *Fault, that of ctx, or a
// zkbench.ErrParams of options; the counts until then come with it, and no output: what a guest commits to counts if it
// ends well. The error of Profile is joined to it.
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
	m := &machine{Options: o, program: p, mem: newMemory(p.ISA, o.MemoryLimit), reserved: noReservation, names: newNames(p)}
	m.newSection("", nil)
	if o.Profile != nil {
		m.profiler = newProfiler(p, m.names)
	}
	if err := m.place(); err != nil {
		return m, err
	}
	return m, m.start()
}

// place puts the program's segments into memory, and maps what Options.Map names beyond them.
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
		start, end := pages(s.start, s.end)
		if i > 0 && segments[i-1].end > start { // its first page has the end of the one before
			start, m.mem.shared = s.start, true
		}
		m.mem.setRights(start, end, s.rights)
	}
	for i, r := range m.Map {
		most := m.program.ISA.highest()
		if r.Start >= r.End || r.End > most {
			return fmt.Errorf("%w: map[%d]: addresses %#x to %#x; accepted: from a lower to a higher one, below %#x", zkbench.ErrParams, i, r.Start, r.End, most)
		}
		start, end := pages(r.Start, r.End)
		if half := uint64(1 << 31); m.program.ISA.XLEN == 32 && start < half && half < end { // where registers have a sign
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
	turn := uint64(0) // cycles that are left of its slice
	var why stop      // it stopped
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
		if m.profiler != nil && why != stopJump {
			m.profiler.goesOn(&t.hart, m.cycles)
		}
		if t != last {
			last, turn = t, slice
		}
		m.section = t.section
		budget := min(turn, m.CycleLimit-m.cycles)
		var left uint64
		left, why = m.execute(&t.hart, budget)
		m.cycles += budget - left
		turn -= budget - left
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
			turn = slice
			m.threads.yield()
		}
	}
	return nil
}

// ended is the fault, with where and when.
func (m *machine) ended() error {
	m.fault.Cycle, m.fault.Function = m.cycles, m.names.of(m.program.functionAt(m.fault.PC))
	return m.fault
}

// blockAt returns the block that starts at pc; nil: there is no code, or there are too many blocks.
func (m *machine) blockAt(pc uint64) *block {
	pc = uint64(m.program.ISA.extend(pc))
	s := m.section
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
	j := &s.jumps[pc>>1%cachedJumps]
	j.pc, j.block = pc, b
	return b
}

// build decodes a block.
func (m *machine) build(pc uint64) *block {
	b := &block{start: pc, end: pc, function: m.program.functionAt(pc)}
	for len(b.code) < longestBlock && (b.end == pc || m.program.functionAt(b.end) == b.function) {
		in, ok := m.fetch(b.end)
		if !ok {
			break
		}
		if m.profiler != nil && in.isTold() {
			in.rs3, in.op = uint8(in.op), opProfiled
		}
		b.code = append(b.code, in)
		b.end += uint64(in.size)
		if in.op.ends() {
			break
		}
	}
	if len(b.code) == 0 || !m.sees(m.section, b.function) {
		return nil
	}
	b.end = uint64(m.program.ISA.extend(b.end))
	return b
}

// fetch decodes the instruction at pc, where there is code.
func (m *machine) fetch(pc uint64) (instr, bool) {
	low, ok := m.parcel(pc)
	switch {
	case !ok || pc&1 != 0 || !m.program.ISA.Compressed && pc&3 != 0:
		return instr{}, false
	case low&3 == 3:
		high, ok := m.parcel(pc + 2)
		return m.program.ISA.decode(uint32(low)|uint32(high)<<16, pc), ok
	case m.program.ISA.Compressed:
		in := m.program.ISA.decode(m.program.ISA.expand(low), pc)
		if in.size = 2; in.op == opIllegal {
			in.imm = int64(low)
		}
		return in, true
	}
	return instr{op: opIllegal, imm: int64(low), size: 2, rd: sink}, true
}

// parcel are 16 bits of code.
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

// part returns the first n instructions of a block, as one that is counted.
func (m *machine) part(b *block, n int) *block {
	part := &block{start: b.start, end: b.start, code: b.code[:n], function: b.function}
	for _, in := range part.code {
		part.end += uint64(in.size)
	}
	m.section.parts = append(m.section.parts, part)
	return part
}

// follow returns the block at an edge of another, and remembers it there, unless the profiler is told each time; nil:
// as of blockAt. now is how many cycles were spent until then.
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

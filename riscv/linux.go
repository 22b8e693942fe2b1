package riscv

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Registers by their names in the calling convention.
const (
	ra, sp, tp     = 1, 2, 4
	a0, a1, a2, a3 = 10, 11, 12, 13
	a4, a5, a6, a7 = 14, 15, 16, 17
)

// Calls of Linux that a static program of Go makes (Linux, include/uapi/asm-generic/unistd.h).
const (
	sysEventFD      = 19
	sysEpollCreate  = 20
	sysEpollCtl     = 21
	sysEpollWait    = 22
	sysFcntl        = 25
	sysOpenat       = 56
	sysClose        = 57
	sysRead         = 63
	sysWrite        = 64
	sysPread        = 67
	sysReadlinkat   = 78
	sysExit         = 93
	sysExitGroup    = 94
	sysSetTID       = 96
	sysFutex        = 98
	sysNanosleep    = 101
	sysClockGettime = 113
	sysAffinity     = 123
	sysYield        = 124
	sysKill         = 129
	sysTkill        = 130
	sysTgkill       = 131
	sysSigaltstack  = 132
	sysSigaction    = 134
	sysSigprocmask  = 135
	sysUname        = 160
	sysPrctl        = 167
	sysGetpid       = 172
	sysGettid       = 178
	sysBrk          = 214
	sysMunmap       = 215
	sysClone        = 220
	sysMmap         = 222
	sysMprotect     = 226
	sysMadvise      = 233
	sysHwprobe      = 258
	sysPrlimit      = 261
	sysGetrandom    = 278
)

// Errors as calls return them.
const (
	noEntry   = -2
	badFile   = -9
	tryAgain  = -11
	noMemory  = -12
	badAddr   = -14
	badValue  = -22
	noCall    = -38
	timedOut  = -110
	processID = 1000
)

// Where the guest's memory is, below the 2^38 bytes that the smallest machines give a program.
const (
	stackTop  = 0x3f_ffff_f000
	stackSize = 8 << 20
	mmapTop   = 0x3f_0000_0000 // from which mappings go down
)

// start sets the first thread up as Linux does (System V ABI, "Process Initialization"): arguments,
// environment and auxiliary vector on its stack.
func (m *machine) start() error {
	t := &thread{hart: hart{pc: m.program.Entry}, section: m.sections[0]}
	m.threads.add(t)
	if m.program.ISA != rv64gc {
		return nil // which sets up its own
	}
	m.mem.setRights(stackTop-stackSize, stackTop, readable|writable)
	m.mmapNext = mmapTop
	var text bytes.Buffer // strings at the top of the stack
	place := func(s string) int {
		text.WriteString(s)
		text.WriteByte(0)
		return text.Len() - len(s) - 1
	}
	var args, env []int
	for _, s := range slices.Concat([]string{"guest"}, m.Args) {
		args = append(args, place(s))
	}
	for _, s := range slices.Concat([]string{"GODEBUG=asyncpreemptoff=1"}, m.Env) {
		env = append(env, place(s))
	}
	seed := sha256.Sum256([]byte("zkbench/v1/riscv"))
	random := place(string(seed[:16]))
	if text.Len() > stackSize/4 {
		return &Fault{Kind: BadCall, PC: t.pc, Detail: fmt.Sprintf("arguments and environment of %d bytes; accepted: %d", text.Len(), stackSize/4)}
	}
	base := uint64(stackTop-text.Len()) &^ 15
	words := []uint64{uint64(len(args))}
	for _, list := range [][]int{args, env} {
		for _, at := range list {
			words = append(words, base+uint64(at))
		}
		words = append(words, 0)
	}
	const ( // of the auxiliary vector
		atPhdr, atPhent, atPhnum, atPagesz, atEntry, atUID, atEUID, atGID, atEGID = 3, 4, 5, 6, 9, 11, 12, 13, 14
		atHwcap, atSecure, atRandom                                               = 16, 23, 25
	)
	words = append(words, atPhdr, m.program.headers, atPhent, 56, atPhnum, uint64(m.program.count), atPagesz, pageSize, atEntry, m.program.Entry,
		atUID, processID, atEUID, processID, atGID, processID, atEGID, processID, atHwcap, hwcap, atSecure, 0, atRandom, base+uint64(random), 0, 0)
	top := (base - uint64(8*len(words))) &^ 15
	raw := make([]byte, 0, 8*len(words))
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint64(raw, w)
	}
	t.x[sp] = top
	for at, part := range map[uint64][]byte{top: raw, base: text.Bytes()} {
		if kind := m.mem.write(at, part); kind != 0 {
			return &Fault{Kind: kind, PC: t.pc, Detail: "the first stack"}
		}
	}
	return nil
}

// hwcap are the extensions A, C, D, F, I and M, by their places in the alphabet.
const hwcap = 1<<0 | 1<<2 | 1<<3 | 1<<5 | 1<<8 | 1<<12

// linux does a call of Linux. false: it is none that there is here.
func (m *machine) linux(t *thread) bool {
	x := &t.x
	code := int64(0)
	switch x[a7] {
	case sysRead:
		code = m.readInput(x[a0], x[a1], x[a2])
	case sysWrite:
		code = m.writeOutput(x[a0], x[a1], x[a2])
	case sysExit:
		m.endThread(t)
		return true
	case sysExitGroup:
		m.takeCode(x[a0])
		m.exit = &m.code
		return true
	case sysSetTID:
		t.clear = x[a0]
		code = int64(t.id)
	case sysFutex:
		return m.futex(t)
	case sysNanosleep:
		ns, ok := m.timespec(x[a0])
		if !ok {
			code = badAddr
			break
		}
		t.waits, t.deadline, t.timedOut = true, m.after(ns), 0
		return true
	case sysClockGettime:
		m.time += clockStep
		now := guestEpoch + m.time
		if !m.writeWords(x[a1], now/1e9, now%1e9) {
			code = badAddr
		}
	case sysAffinity:
		if code = 8; x[a1] < 8 {
			code = badValue
		} else if !m.writeWords(x[a2], 1) {
			code = badAddr
		}
	case sysYield:
		m.threads.yield()
	case sysKill, sysTkill, sysTgkill:
		return m.signal(t)
	case sysGetpid:
		code = processID
	case sysGettid:
		code = int64(t.id)
	case sysMunmap, sysMmap, sysMprotect, sysMadvise:
		code = m.mapping(x)
	case sysBrk:
		code = 0 // which no program takes for a success
	case sysClone:
		return m.clone(t)
	case sysGetrandom:
		code = m.random(x[a0], x[a1])
	case sysOpenat, sysReadlinkat:
		code = noEntry
	case sysFcntl:
		if x[a0] > 2 {
			code = badFile
		}
	case sysClose, sysPread:
		code = badFile
	case sysEpollCreate:
		code = epollFD
	case sysEventFD:
		code = eventFD
	case sysEpollCtl:
		code = m.epollCtl(x)
	case sysEpollWait:
		m.epollWait(t)
		return true
	case sysHwprobe, sysUname, sysPrlimit:
		code = noCall
	case sysSigaltstack, sysSigaction, sysSigprocmask, sysPrctl:
	default:
		return m.refuse(UnknownCall, fmt.Sprintf("%d", x[a7]))
	}
	x[a0] = result(code)
	return true
}

// result is what a call returns, an error below 0, as a register has it.
func result(v int64) uint64 { return uint64(v) }

// The guest's time stands still while it computes, so that what waits for a time does not run beside
// what is counted: it passes when the clock is read, when all threads wait, and with each slice.
const (
	guestEpoch = 1_700_000_000_000_000_000 // ns since 1970
	clockStep  = 1_000                     // ns
	sliceTime  = 10_000_000                // ns
	timeEnd    = 1 << 63                   // ns, which none waits for
)

// after is a time that comes in ns.
func (m *machine) after(ns uint64) uint64 {
	if at := m.time + ns; at < timeEnd {
		return at
	}
	return forever
}

// readInput reads from standard input.
func (m *machine) readInput(fd, addr, n uint64) int64 {
	if fd == eventFD && n >= 8 {
		return m.takeEvent(addr)
	}
	if fd != 0 {
		return badFile
	}
	part := m.Input[m.input:][:min(n, uint64(len(m.Input)-m.input))]
	if m.mem.write(addr, part) != 0 {
		return badAddr
	}
	m.input += len(part)
	return int64(len(part))
}

const mostWritten = 1 << 20 // bytes of one call

// writeOutput writes to standard output or error.
func (m *machine) writeOutput(fd, addr, n uint64) int64 {
	w := m.Stdout
	switch fd {
	case eventFD:
		return m.signalEvent(addr)
	case 1:
	case 2:
		w = m.Stderr
	default:
		return badFile
	}
	part := make([]byte, min(n, mostWritten))
	if m.mem.read(addr, part) != 0 {
		return badAddr
	}
	_, _ = w.Write(part) // a reader that is gone is none of the guest's
	return int64(len(part))
}

func (m *machine) writeWords(addr uint64, words ...uint64) bool {
	for i, w := range words {
		if m.mem.store(addr+uint64(8*i), w, 8) != 0 {
			return false
		}
	}
	return true
}

// timespec is a time in ns.
func (m *machine) timespec(addr uint64) (ns uint64, ok bool) {
	s, kind := m.mem.load(addr, 8)
	n, kind2 := m.mem.load(addr+8, 8)
	return min(s, 1<<30)*1e9 + min(n, 1e9), kind == 0 && kind2 == 0
}

// random fills memory with bytes that are the same in every run.
func (m *machine) random(addr, n uint64) int64 {
	n = min(n, 256)
	part := make([]byte, 0, n+sha256.Size)
	for uint64(len(part)) < n {
		m.drawn++
		block := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zkbench/v1/riscv/random"), m.drawn))
		part = append(part, block[:]...)
	}
	if m.mem.write(addr, part[:n]) != 0 {
		return badAddr
	}
	return int64(n)
}

// Operations of futex, with those for one process alone.
const (
	futexWait, futexWake = 0, 1
	futexPrivate         = 128
)

func (m *machine) futex(t *thread) bool {
	x := &t.x
	switch x[a1] &^ futexPrivate {
	case futexWait:
		value, kind := m.mem.load(x[a0], 4)
		deadline := uint64(forever)
		if x[a3] != 0 && kind == 0 {
			ns, ok := m.timespec(x[a3])
			if deadline = m.after(ns); !ok {
				kind = WildAccess
			}
		}
		switch {
		case kind != 0:
			x[a0] = result(badAddr)
		case uint32(value) != uint32(x[a2]):
			x[a0] = result(tryAgain)
		default:
			t.waits, t.futex, t.deadline, t.timedOut = true, x[a0], deadline, result(timedOut)
		}
		return true
	case futexWake:
		x[a0] = m.threads.wake(x[a0], x[a2])
		return true
	}
	return m.refuse(BadCall, fmt.Sprintf("futex operation %d; accepted: wait and wake", x[a1]))
}

// Flags of clone that Go's threads have: memory, files and signals are shared.
const cloneThread = 0x00010000

func (m *machine) clone(t *thread) bool {
	const mostThreads = 1024
	x := &t.x
	if x[a0]&cloneThread == 0 {
		return m.refuse(BadCall, fmt.Sprintf("clone with flags %#x; accepted: threads of the same process", x[a0]))
	}
	if len(m.threads.all) == mostThreads {
		x[a0] = result(tryAgain)
		return true
	}
	child := &thread{hart: t.hart, section: m.sections[0]}
	m.threads.add(child)
	child.x[a0], child.x[sp] = 0, x[a1]
	if x[a0]&0x00080000 != 0 { // its thread pointer
		child.x[tp] = x[a3]
	}
	x[a0] = uint64(child.id)
	return true
}

// exitCode is the code that a guest ends with by the register that it passes: the low byte, as Linux tells it to a
// parent, but 255 if that is 0 and the register is not. Linux would report 256 as a success.
func exitCode(register uint64) int {
	if code := int(uint8(register)); code != 0 || register == 0 {
		return code
	}
	return 255
}

// takeCode takes the code of a thread that ends. The first one other than 0 stays: a thread that has failed is not made
// good by another one that ends later.
func (m *machine) takeCode(register uint64) { m.code = cmp.Or(m.code, exitCode(register)) }

// endThread ends a thread, and the guest with the last one.
func (m *machine) endThread(t *thread) {
	if t.clear != 0 && m.mem.store(t.clear, 0, 4) == 0 {
		m.threads.wake(t.clear, 1)
	}
	m.takeCode(t.x[a0])
	if m.threads.end(t); len(m.threads.all) == 0 {
		m.exit = &m.code
	}
}

// signal is the guest's to itself. One that asks a thread to give way is passed over, since threads
// take turns; no other is delivered: it ends the guest.
func (m *machine) signal(t *thread) bool {
	number := t.x[a1]
	if t.x[a7] == sysTgkill {
		number = t.x[a2]
	}
	const sigurg = 23
	if number == 0 || number == sigurg {
		t.x[a0] = 0
		return true
	}
	return m.refuse(Aborted, fmt.Sprintf("by its signal %d", number))
}

// Protections and flags of mmap.
const (
	protRead, protWrite, protExec = 1, 2, 4
	mapFixed, mapAnonymous        = 0x10, 0x20
	mapFixedNoReplace             = 0x100000
	adviceDontNeed                = 4
)

// mapping does what changes the map of memory.
func (m *machine) mapping(x *[64]uint64) int64 {
	start, end := x[a0], x[a0]+(x[a1]+pageMask)&^pageMask
	if start&pageMask != 0 || end < start || end > highest || x[a1] == 0 || x[a1] > highest {
		if x[a7] == sysMadvise && x[a1] == 0 {
			return 0
		}
		return badValue
	}
	if x[a7] != sysMmap && m.mem.hasCode(start, end) {
		return badValue // code stays as it was loaded
	}
	if x[a7] != sysMadvise && len(m.mem.regions) >= mostRegions {
		return noMemory // a call may make two of one
	}
	switch x[a7] {
	case sysMmap:
		return m.mmap(start, end-start, x[a2], x[a3])
	case sysMunmap:
		m.mem.unmap(start, end)
	case sysMprotect:
		r, ok := protection(x[a2])
		if !ok {
			return badValue
		}
		if !m.mem.mappedAll(start, end) {
			return noMemory
		}
		m.mem.setRights(start, end, r)
	case sysMadvise:
		if x[a2] == adviceDontNeed {
			m.mem.drop(start, end)
		}
	}
	return 0
}

// protection are rights; false: to execute what is written here is not given.
func protection(prot uint64) (r rights, ok bool) {
	if prot&protRead != 0 {
		r |= readable
	}
	if prot&protWrite != 0 {
		r |= writable
	}
	return r, prot&protExec == 0
}

func (m *machine) mmap(hint, size, prot, flags uint64) int64 {
	r, ok := protection(prot)
	if !ok || flags&mapAnonymous == 0 {
		return badValue
	}
	free := hint != 0 && !m.mem.mapped(hint, hint+size)
	switch {
	case flags&mapFixedNoReplace != 0 && !free:
		return -17 // it exists
	case flags&mapFixed != 0 && m.mem.hasCode(hint, hint+size):
		return badValue
	case flags&mapFixed != 0 && hint != 0:
		m.mem.unmap(hint, hint+size)
	case !free:
		if hint = m.mem.below(m.mmapNext, size); hint < mmapLowest { // else what was given back above
			hint = m.mem.below(mmapTop, size)
		}
		if hint < mmapLowest {
			return noMemory
		}
		m.mmapNext = hint
	}
	m.mem.setRights(hint, hint+size, r)
	return int64(hint)
}

const mmapLowest = 1 << 32

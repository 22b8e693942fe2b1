package riscv

import (
	"cmp"
	"fmt"
)

// Operations of futex and their flags (Linux, include/uapi/linux/futex.h).
const (
	futexWait, futexWake, futexRequeue, futexCompareRequeue, futexWaitBits, futexWakeBits = 0, 1, 3, 4, 9, 10
	futexPrivate, futexRealtime                                                           = 128, 256
	futexAny                                                                              = 1<<32 - 1 // wakes every waiting thread
)

func (m *machine) futex(t *thread) int64 {
	x := &t.x
	bits := uint32(futexAny)
	operation := x[a1] &^ (futexPrivate | futexRealtime)
	if operation == futexWaitBits || operation == futexWakeBits {
		if bits = uint32(x[a5]); bits == 0 {
			return badValue
		}
	}
	if x[a0]%4 != 0 {
		return badValue
	}
	switch operation {
	case futexWait, futexWaitBits:
		return m.futexWait(t, bits, operation == futexWaitBits)
	case futexWake, futexWakeBits:
		return int64(m.threads.wake(x[a0], x[a2], bits))
	case futexCompareRequeue, futexRequeue:
		value, kind := m.mem.load(x[a0], 4)
		switch {
		case operation == futexRequeue:
		case kind != 0:
			return badAddr
		case uint32(value) != uint32(x[a5]):
			return tryAgain
		}
		woken := m.threads.wake(x[a0], x[a2], bits)
		return int64(woken + m.threads.requeue(x[a0], x[a4], x[a3]))
	}
	return m.lacks(x[a7])
}

// futexWait makes a thread wait at an address if the word there has the value that the thread expects.
func (m *machine) futexWait(t *thread, bits uint32, absolute bool) int64 {
	x := &t.x
	wait := m.deadline
	if absolute && x[a3] != 0 {
		wait = m.moment
	}
	deadline, code := wait(x[a3])
	if code != 0 {
		return code
	}
	value, kind := m.mem.load(x[a0], 4)
	switch {
	case kind != 0:
		return badAddr
	case uint32(value) != uint32(x[a2]):
		return tryAgain
	}
	t.waits, t.futex, t.bits, t.deadline, t.timedOut = true, x[a0], bits, deadline, result(timedOut)
	return 0
}

// Flags of clone.
const (
	cloneThread      = 0x00010000 // memory, files and signals are shared
	cloneTLS         = 0x00080000
	cloneParentTID   = 0x00100000
	cloneChildClears = 0x00200000
	cloneChildTID    = 0x01000000
)

func (m *machine) clone(t *thread) int64 {
	const mostThreads = 1024
	x := &t.x
	flags := x[a0]
	if flags&cloneThread == 0 {
		return m.lacks(x[a7])
	}
	if len(m.threads.all) == mostThreads {
		return tryAgain
	}
	child := &thread{hart: t.hart, section: m.sections[0], mask: t.mask}
	m.threads.add(child)
	child.x[a0] = 0
	if x[a1] != 0 {
		child.x[sp] = x[a1]
	}
	if flags&cloneTLS != 0 {
		child.x[tp] = x[a3]
	}
	if flags&cloneChildClears != 0 {
		child.clear = x[a4]
	}
	for _, to := range [...]struct{ flag, addr uint64 }{{cloneParentTID, x[a2]}, {cloneChildTID, x[a4]}} {
		if flags&to.flag != 0 {
			_ = m.mem.store(to.addr, uint64(child.id), 4) // Linux does not report an error either
		}
	}
	return int64(child.id)
}

func (m *machine) setTID(t *thread) int64 {
	t.clear = t.x[a0]
	return int64(t.id)
}

func (m *machine) gettid(t *thread) int64 { return int64(t.id) }

func (m *machine) yield(*thread) int64 {
	m.threads.yield()
	return 0
}

// affinity returns a set with one processor.
func (m *machine) affinity(t *thread) int64 {
	const size = 8
	if t.x[a1] < size {
		return badValue
	}
	return cmp.Or(m.words(t.x[a2], 1), size)
}

func (m *machine) getcpu(t *thread) int64 {
	for _, addr := range []uint64{t.x[a0], t.x[a1]} {
		if addr != 0 && m.mem.store(addr, 0, 4) != 0 {
			return badAddr
		}
	}
	return 0
}

// exitCode returns the code with which a guest ends: the low byte of the register that it passes, as Linux
// reports it to a parent. If that byte is 0 and the register is not, the code is 255. Linux would report 256
// as a success.
func exitCode(register uint64) int {
	if code := int(uint8(register)); code != 0 || register == 0 {
		return code
	}
	return 255
}

// takeCode records the code with which a thread ends. The first code other than 0 stays: a thread that ends
// later does not undo a failure.
func (m *machine) takeCode(register uint64) { m.code = cmp.Or(m.code, exitCode(register)) }

// endThread ends a thread, and the guest with the last one.
func (m *machine) endThread(t *thread) int64 {
	if t.clear != 0 && m.mem.store(t.clear, 0, 4) == 0 {
		m.threads.wake(t.clear, 1, futexAny)
	}
	m.takeCode(t.x[a0])
	if m.threads.end(t); len(m.threads.all) == 0 {
		m.exit = &m.code
	}
	return int64(t.x[a0])
}

func (m *machine) exitGroup(t *thread) int64 {
	m.takeCode(t.x[a0])
	m.exit = &m.code
	return int64(t.x[a0])
}

// Signals.
const (
	signalKill, signalStop = 9, 19
	signalChild            = 17
	signalContinue         = 18
	signalUrgent           = 23
	signalWindow           = 28
	mostSignals            = 64
	sizeOfSignals          = 8 // size of a set, in bytes
)

// action is how a program wants to handle a signal (struct sigaction): the handler, flags, and the signals
// that are blocked meanwhile. The handler is 0 for the default and 1 to ignore the signal.
type action [3]uint64

func (m *machine) kill(t *thread) int64 {
	if to := int32(t.x[a0]); to != processID && to != -processID && to != 0 && to != -1 {
		return noProcess
	}
	return m.signal(t.x[a1])
}

func (m *machine) tkill(t *thread) int64 {
	if !m.threads.has(t.x[a0]) {
		return noProcess
	}
	return m.signal(t.x[a1])
}

func (m *machine) tgkill(t *thread) int64 {
	if t.x[a0] != processID || !m.threads.has(t.x[a1]) {
		return noProcess
	}
	return m.signal(t.x[a2])
}

// signal handles a signal that the guest sends to itself. No signal is delivered. A signal that is ignored
// has no effect. Neither has SIGURG, with which Go asks a thread to yield, because threads take turns. Any
// other signal ends the guest.
func (m *machine) signal(number uint64) int64 {
	const byDefault, ignored = 0, 1
	if number > mostSignals {
		return badValue
	}
	handler := m.actions[number][0]
	switch number {
	case 0, signalUrgent:
		return 0
	case signalChild, signalContinue, signalWindow:
		if handler == byDefault {
			return 0
		}
	}
	if handler == ignored {
		return 0
	}
	detail := "by its signal " + signalName(number)
	if handler != byDefault {
		detail += fmt.Sprintf(", which its handler at %#x does not get: no signal is delivered", handler)
	}
	m.refuse(Aborted, detail)
	return 0
}

func (m *machine) sigaction(t *thread) int64 {
	x := &t.x
	number := x[a0]
	if number == 0 || number > mostSignals || x[a3] != sizeOfSignals || x[a1] != 0 && (number == signalKill || number == signalStop) {
		return badValue
	}
	before := m.actions[number]
	if x[a1] != 0 {
		var now action
		for i := range now {
			v, kind := m.mem.load(x[a1]+uint64(8*i), 8)
			if kind != 0 {
				return badAddr
			}
			now[i] = v
		}
		m.actions[number] = now
	}
	if x[a2] == 0 {
		return 0
	}
	return m.words(x[a2], before[:]...)
}

func (m *machine) sigprocmask(t *thread) int64 {
	const block, unblock, set = 0, 1, 2
	x := &t.x
	if x[a3] != sizeOfSignals {
		return badValue
	}
	before := t.mask
	if x[a1] != 0 {
		v, kind := m.mem.load(x[a1], sizeOfSignals)
		if kind != 0 {
			return badAddr
		}
		switch x[a0] {
		case block:
			t.mask |= v
		case unblock:
			t.mask &^= v
		case set:
			t.mask = v
		default:
			return badValue
		}
		t.mask &^= 1<<(signalKill-1) | 1<<(signalStop-1)
	}
	if x[a2] == 0 {
		return 0
	}
	return m.words(x[a2], before)
}

// prctl accepts names and does not store them.
func (m *machine) prctl(t *thread) int64 {
	const setName, nameMapping = 15, 0x53564d41 // PR_SET_NAME, PR_SET_VMA
	switch t.x[a0] {
	case setName, nameMapping:
		return 0
	}
	return badValue
}

// uname writes a struct new_utsname (include/uapi/linux/utsname.h).
func (m *machine) uname(t *thread) int64 {
	const each = 65
	var raw [6 * each]byte
	for i, name := range []string{"Linux", "guest", "6.1.0", "#1", "riscv64", "(none)"} {
		copy(raw[i*each:], name)
	}
	if m.mem.write(t.x[a0], raw[:]) != 0 {
		return badAddr
	}
	return 0
}

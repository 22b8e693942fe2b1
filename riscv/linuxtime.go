package riscv

// The guest's time stands still while it computes, so that timers do not run out in code that is counted. Time passes
// when the clock is read, when all threads wait, and with each slice.
const (
	guestEpoch = 1_700_000_000_000_000_000 // ns since 1970
	clockStep  = 1_000                     // ns
	sliceTime  = 10_000_000                // ns
	timeEnd    = 1 << 63                   // ns; no thread waits for a later time
)

// after returns the time ns nanoseconds from now, or forever if that is beyond timeEnd.
func (m *machine) after(ns uint64) uint64 {
	if at := m.time + ns; at < timeEnd {
		return at
	}
	return forever
}

// timespec reads a time in ns and limits it to 2^31 s. The code is an error if it is below 0.
func (m *machine) timespec(addr uint64) (ns uint64, code int64) {
	s, kind := m.mem.load(addr, 8)
	n, kind2 := m.mem.load(addr+8, 8)
	switch {
	case kind != 0 || kind2 != 0:
		return 0, badAddr
	case int64(s) < 0 || n >= 1e9:
		return 0, badValue
	}
	return min(s, 1<<31)*1e9 + n, 0
}

// moment reads a time of a clock that began with the guest's epoch, and converts it to the guest's time. The
// code is an error if it is below 0.
func (m *machine) moment(addr uint64) (at uint64, code int64) {
	ns, code := m.timespec(addr)
	return ns - min(ns, guestEpoch), code
}

// deadline returns when a wait ends that begins now and lasts as long as the timespec at addr says. If addr
// is 0, it never ends. The code is an error if it is below 0.
func (m *machine) deadline(addr uint64) (at uint64, code int64) {
	if addr == 0 {
		return forever, 0
	}
	ns, code := m.timespec(addr)
	return m.after(ns), code
}

// isClock reports whether a clock exists, and whether it measures processor time.
func isClock(id uint64) (known, processor bool) {
	const process, thread, none, last = 2, 3, 10, 11
	return id <= last && id != none, id == process || id == thread
}

func (m *machine) clockGettime(t *thread) int64 {
	known, processor := isClock(t.x[a0])
	if !known {
		return badValue
	}
	m.time += clockStep
	now := m.time
	if !processor {
		now += guestEpoch
	}
	return m.words(t.x[a1], now/1e9, now%1e9)
}

func (m *machine) gettimeofday(t *thread) int64 {
	m.time += clockStep
	now := guestEpoch + m.time
	if t.x[a0] == 0 {
		return 0
	}
	return m.words(t.x[a0], now/1e9, now%1e9/1e3)
}

func (m *machine) clockGetres(t *thread) int64 {
	if known, _ := isClock(t.x[a0]); !known {
		return badValue
	}
	if t.x[a1] == 0 {
		return 0
	}
	return m.words(t.x[a1], 0, clockStep)
}

func (m *machine) nanosleep(t *thread) int64 {
	ns, code := m.timespec(t.x[a0])
	if code != 0 {
		return code
	}
	return m.sleep(t, m.after(ns))
}

func (m *machine) clockNanosleep(t *thread) int64 {
	const absolute = 1
	known, processor := isClock(t.x[a0])
	if !known || processor {
		return badValue
	}
	if t.x[a1]&absolute == 0 {
		ns, code := m.timespec(t.x[a2])
		if code != 0 {
			return code
		}
		return m.sleep(t, m.after(ns))
	}
	at, code := m.moment(t.x[a2])
	if code != 0 {
		return code
	}
	return m.sleep(t, at)
}

// sleep makes a thread wait until a time.
func (m *machine) sleep(t *thread, until uint64) int64 {
	t.waits, t.deadline, t.timedOut = true, until, 0
	return 0
}

// getrusage writes a struct rusage (include/uapi/linux/resource.h): the guest's time, and its peak memory in
// kB. A guest has no children, so their usage is zero.
func (m *machine) getrusage(t *thread) int64 {
	const self, children, thread, words = 0, -1, 1, 18
	var used [words]uint64
	switch int32(t.x[a0]) {
	case self, thread:
		used[0], used[1], used[4] = m.time/1e9, m.time%1e9/1e3, uint64(m.mem.peak)*pageSize>>10
	case children:
	default:
		return badValue
	}
	return m.words(t.x[a1], used[:]...)
}

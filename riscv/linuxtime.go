package riscv

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

// timespec is a time in ns, below 2^31 s.
func (m *machine) timespec(addr uint64) (ns uint64, ok bool) {
	s, kind := m.mem.load(addr, 8)
	n, kind2 := m.mem.load(addr+8, 8)
	return min(s, 1<<31)*1e9 + min(n, 1e9), kind == 0 && kind2 == 0
}

// moment is a time of a clock that began with the guest's epoch, as the guest's time.
func (m *machine) moment(addr uint64) (at uint64, ok bool) {
	ns, ok := m.timespec(addr)
	return ns - min(ns, guestEpoch), ok
}

// isClock tells which clocks there are, and whether one of them tells the time of a processor.
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
	ns, ok := m.timespec(t.x[a0])
	if !ok {
		return badAddr
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
		ns, ok := m.timespec(t.x[a2])
		if !ok {
			return badAddr
		}
		return m.sleep(t, m.after(ns))
	}
	at, ok := m.moment(t.x[a2])
	if !ok {
		return badAddr
	}
	return m.sleep(t, at)
}

// sleep makes a thread wait for a time alone.
func (m *machine) sleep(t *thread, until uint64) int64 {
	t.waits, t.deadline, t.timedOut = true, until, 0
	return 0
}

package riscv

import "math/bits"

// Go's runtime waits for timers in epoll; another thread wakes it with an eventfd. There is one of each, with these
// descriptors.
const (
	epollFD = 3
	eventFD = 4
)

// poll is the state of the epoll and the eventfd.
type poll struct {
	epoll, eventfd bool // whether the guest has created it

	count uint64 // of the eventfd
	event uint32 // events that the epoll waits for; 0: none
	data  uint64 // returned with an event
}

func (m *machine) isEpoll(fd uint64) bool { return fd == epollFD && m.poll.epoll }
func (m *machine) isEvent(fd uint64) bool { return fd == eventFD && m.poll.eventfd }

func (m *machine) epollCreate(*thread) int64 {
	m.poll.epoll = true
	return epollFD
}

func (m *machine) eventfd(*thread) int64 {
	m.poll.eventfd = true
	return eventFD
}

const (
	epollAdd    = 1
	epollIn     = 1
	sizeOfEvent = 16
)

// epollCtl registers the eventfd.
func (m *machine) epollCtl(t *thread) int64 {
	x := &t.x
	if !m.isEpoll(x[a0]) || x[a1] != epollAdd || !m.isEvent(x[a2]) {
		return badFile
	}
	events, kind := m.mem.load(x[a3], 4)
	data, kind2 := m.mem.load(x[a3]+8, 8)
	if kind != 0 || kind2 != 0 {
		return badAddr
	}
	m.poll.event, m.poll.data = uint32(events), data
	return 0
}

// epollWait waits for the eventfd, for at most the milliseconds that the call says.
func (m *machine) epollWait(t *thread) int64 {
	x := &t.x
	switch timeout := int64(int32(x[a3])); {
	case !m.isEpoll(x[a0]):
		return m.refuseOpen(t, badValue)
	case int64(x[a2]) <= 0:
		return badValue
	case m.poll.ready():
		return m.deliver(t)
	case timeout == 0:
		return 0
	default:
		t.waits, t.polls, t.timedOut, t.deadline = true, true, 0, forever
		if timeout > 0 {
			t.deadline = m.after(uint64(timeout) * 1e6)
		}
	}
	return 0
}

func (p *poll) ready() bool { return p.count > 0 && p.event&epollIn != 0 }

// deliver writes the event of the eventfd to the address in a thread's call, and returns the number of
// events.
func (m *machine) deliver(t *thread) int64 {
	addr := t.x[a1]
	if m.mem.store(addr, epollIn, 8) != 0 || m.mem.store(addr+sizeOfEvent-8, m.poll.data, 8) != 0 {
		return badAddr
	}
	return 1
}

// signalEvent adds to the eventfd and wakes the threads that wait for it.
func (m *machine) signalEvent(addr uint64) int64 {
	v, kind := m.mem.load(addr, 8)
	if kind != 0 {
		return badAddr
	}
	m.poll.count += v
	for _, t := range m.threads.all {
		if t.polls && m.poll.ready() {
			t.waits, t.polls = false, false
			t.x[a0] = result(m.deliver(t))
		}
	}
	return 8
}

// takeEvent reads the eventfd.
func (m *machine) takeEvent(addr uint64) int64 {
	if m.poll.count == 0 {
		return tryAgain
	}
	if code := m.words(addr, m.poll.count); code != 0 {
		return code
	}
	m.poll.count = 0
	return 8
}

// What can be done with a descriptor without waiting, in the encoding of poll.
const (
	pollIn, pollOut = 1, 4
	pollInvalid     = 0x20
)

// readiness returns what can be done with a descriptor without waiting.
func (m *machine) readiness(fd uint64) uint64 {
	switch {
	case m.isEvent(fd) && m.poll.count > 0:
		return pollIn | pollOut
	case m.isEvent(fd):
		return pollOut
	case m.isEpoll(fd):
		return 0
	case !m.isOpen(fd):
		return pollInvalid
	case fd == 0:
		return pollIn
	}
	return pollOut
}

// ppoll reports which descriptors can be read or written without waiting: standard input, output and error
// always can.
func (m *machine) ppoll(t *thread) int64 {
	const most = 1024
	x := &t.x
	deadline, code := m.deadline(x[a2])
	switch {
	case code != 0:
		return code
	case x[a1] > most:
		return badValue
	}
	ready := int64(0)
	for i := range x[a1] {
		at := x[a0] + 8*i // struct pollfd: 32 bits of descriptor, 16 of requested and 16 of actual events
		v, kind := m.mem.load(at, 8)
		if kind != 0 {
			return badAddr
		}
		fd, asked, is := uint64(uint32(v)), v>>32&0xffff, uint64(0)
		if int32(fd) >= 0 {
			is = m.readiness(fd) & (asked | pollInvalid)
		}
		if is != 0 {
			ready++
		}
		if m.mem.store(at+6, is, 2) != 0 {
			return badAddr
		}
	}
	if ready > 0 {
		return ready
	}
	return m.sleep(t, deadline)
}

// pselect reports the same as ppoll for three sets of descriptors, which are bits of words: those to read,
// those to write, and those to watch for exceptions, which never happen.
func (m *machine) pselect(t *thread) int64 {
	const most = 1024 // descriptors
	x := &t.x
	deadline, code := m.deadline(x[a4])
	switch {
	case code != 0:
		return code
	case int32(x[a0]) < 0:
		return badValue
	}
	n := min(uint64(uint32(x[a0])), most)
	var is [3][most / 64]uint64
	ready := 0
	for i, addr := range [...]uint64{x[a1], x[a2], x[a3]} {
		for word := range (n + 63) / 64 {
			if addr == 0 {
				break
			}
			asked, kind := m.mem.load(addr+8*word, 8)
			if kind != 0 {
				return badAddr
			}
			for bit := range min(64, n-64*word) {
				switch can := m.readiness(64*word + bit); {
				case asked>>bit&1 == 0:
				case can == pollInvalid:
					return badFile
				case can&[...]uint64{pollIn, pollOut, 0}[i] != 0:
					is[i][word] |= 1 << bit
				}
			}
			ready += bits.OnesCount64(is[i][word])
		}
	}
	for i, addr := range [...]uint64{x[a1], x[a2], x[a3]} {
		if addr != 0 && m.words(addr, is[i][:(n+63)/64]...) != 0 {
			return badAddr
		}
	}
	if ready > 0 {
		return int64(ready)
	}
	if x[a4] != 0 && m.words(x[a4], 0, 0) != 0 { // no time will be left
		return badAddr
	}
	return m.sleep(t, deadline)
}

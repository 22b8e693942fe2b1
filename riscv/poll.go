package riscv

// Go's runtime waits for timers in epoll, with an eventfd that another thread wakes it by: there is one of
// each, by these descriptors.
const (
	epollFD = 3
	eventFD = 4
)

// poll is what is known of both.
type poll struct {
	count uint64 // of the eventfd
	event uint32 // that are waited for there; 0: none
	data  uint64 // that an event of it has
}

const (
	epollAdd    = 1
	epollIn     = 1
	sizeOfEvent = 16
)

// epollCtl registers the eventfd.
func (m *machine) epollCtl(t *thread) int64 {
	x := &t.x
	if x[a0] != epollFD || x[a1] != epollAdd || x[a2] != eventFD {
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

// epollWait waits for the eventfd, as long as the call says in ms.
func (m *machine) epollWait(t *thread) int64 {
	x := &t.x
	switch timeout := int64(int32(x[a3])); {
	case x[a0] != epollFD || int64(x[a2]) <= 0:
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

// deliver gives a thread the event of the eventfd, at the address of its call, and returns the number of events.
func (m *machine) deliver(t *thread) int64 {
	addr := t.x[a1]
	if m.mem.store(addr, epollIn, 8) != 0 || m.mem.store(addr+sizeOfEvent-8, m.poll.data, 8) != 0 {
		return badAddr
	}
	return 1
}

// signalEvent adds to the eventfd, and wakes who waits for it.
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

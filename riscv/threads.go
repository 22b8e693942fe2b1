package riscv

import "slices"

// thread is a thread of the guest. Threads take turns on one processor, and which one runs depends only on
// what the guest does.
type thread struct {
	hart
	id       int
	section  *section
	waits    bool
	futex    uint64 // address that it waits at; 0: none
	bits     uint32 // set of bits that wake it there
	polls    bool   // it waits for the eventfd
	deadline uint64 // guest's time in ns at which it continues; forever: never
	timedOut uint64 // value of a0 at the deadline
	clear    uint64 // address that is set to 0, and whose waiters are woken, when it ends; 0: none
	mask     uint64 // signals that it blocks
}

const forever = ^uint64(0)

// threads is the list of all threads, in the order in which they take turns.
type threads struct {
	all     []*thread
	current int // index, or len(all)
	begun   int
}

// add adds a thread after all others.
func (s *threads) add(t *thread) {
	t.id = processID + s.begun // the first has the number of the process, as under Linux
	s.begun++
	s.all = append(s.all, t)
}

// next returns the thread to run: the current one if it can run, else the next that can. If all threads wait,
// next moves the time to the first deadline. It returns nil if no thread can ever run.
func (s *threads) next(m *machine) *thread {
	for {
		first := forever
		for i := range s.all {
			at := (s.current + i) % len(s.all)
			t := s.all[at]
			if t.waits && t.deadline <= m.time {
				t.waits, t.futex, t.polls, t.x[a0] = false, 0, false, t.timedOut
			}
			if !t.waits {
				s.current = at
				return t
			}
			first = min(first, t.deadline)
		}
		if first == forever {
			return nil
		}
		m.time = first
	}
}

// yield lets the other threads run first.
func (s *threads) yield() { s.current = (s.current + 1) % len(s.all) }

// wake wakes at most n threads that wait at an address for any of these bits, and returns their number.
func (s *threads) wake(addr, n uint64, bits uint32) (woken uint64) {
	for i := range s.all {
		t := s.all[(s.current+i)%len(s.all)]
		if woken < n && t.waits && t.futex == addr && addr != 0 && t.bits&bits != 0 {
			t.waits, t.futex, t.x[a0] = false, 0, 0
			woken++
		}
	}
	return woken
}

// requeue moves at most n threads that wait at one address to another, and returns their number.
func (s *threads) requeue(from, to, n uint64) (moved uint64) {
	for i := range s.all {
		t := s.all[(s.current+i)%len(s.all)]
		if moved < n && t.waits && t.futex == from && from != 0 {
			t.futex = to
			moved++
		}
	}
	return moved
}

// has reports whether a thread has this number.
func (s *threads) has(id uint64) bool {
	return slices.ContainsFunc(s.all, func(t *thread) bool { return uint64(t.id) == id })
}

// end removes a thread.
func (s *threads) end(t *thread) {
	i := slices.Index(s.all, t)
	s.all = slices.Delete(s.all, i, i+1)
	s.current = i
}

package riscv

import "slices"

// thread is one of the guest's. They take turns on one processor, and which runs is a function of
// what the guest does alone.
type thread struct {
	hart
	id       int
	section  *section
	waits    bool
	futex    uint64 // address that it waits at; 0: none
	bits     uint32 // by which it is woken there
	polls    bool   // it waits for the eventfd
	deadline uint64 // ns of the guest's time at which it goes on; forever: never
	timedOut uint64 // what it has in a0 then
	clear    uint64 // address that is made 0, and woken, when it ends; 0: none
	mask     uint64 // signals that it blocks
}

const forever = ^uint64(0)

// threads are those that there are, in the order in which they take turns.
type threads struct {
	all     []*thread
	current int // index, or len(all)
	begun   int
}

// add adds a thread, which runs after all others.
func (s *threads) add(t *thread) {
	t.id = processID + s.begun // the first has the number of the process, as under Linux
	s.begun++
	s.all = append(s.all, t)
}

// next returns the thread that runs: the current one where it can, else the next that can. Where
// all wait, time goes on to the first deadline. nil: none ever will.
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

// yield lets the others run first.
func (s *threads) yield() { s.current = (s.current + 1) % len(s.all) }

// wake wakes at most n threads that wait at an address by some of these bits, and returns how many.
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

// requeue makes at most n threads that wait at an address wait at another, and returns how many.
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

// has tells whether there is a thread of a number.
func (s *threads) has(id uint64) bool {
	return slices.ContainsFunc(s.all, func(t *thread) bool { return uint64(t.id) == id })
}

// end removes a thread.
func (s *threads) end(t *thread) {
	i := slices.Index(s.all, t)
	s.all = slices.Delete(s.all, i, i+1)
	s.current = i
}

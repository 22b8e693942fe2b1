package runner

import (
	"sync"
	"sync/atomic"
	"time"
)

// ticket is the right to run one operation.
type ticket struct {
	seq      uint64
	intended time.Duration // since the run's origin
}

// warmupSeq is the first sequence number of the warm-up. The window's begin at 0,
// however long the warm-up was, so that two runs measure the same inputs. No window
// has that many operations.
const warmupSeq = 1 << 40

// inWarmup reports whether the ticket belongs to the warm-up.
func (t ticket) inWarmup() bool { return t.seq >= warmupSeq }

// pacer hands out tickets. In a closed loop a ticket is due when a worker asks
// for it. In an open loop the schedule says when it is due. Due tickets wait in a
// queue, first come first served, and arrivals that find the queue full are
// dropped. A worker that finds the queue empty gets the next arrival early and
// waits for it.
//
// Between two calls of take the queue can only grow, by arrivals that the second
// call can work out from the schedule. So arrivals are admitted when the next worker
// asks, and no goroutine is needed for them.
type pacer struct {
	closed bool // closed loop
	count  uint64
	least  uint64        // closed loop: tickets that are handed out even beyond the deadline
	seq    atomic.Uint64 // closed loop: sequence number of the next ticket
	ended  atomic.Bool   // no more tickets are handed out
	// deadline is when the window ends, since the run's origin; 0: not known. Workers that
	// ask later stop by themselves, because the goroutine that ends the window may get a
	// processor only after each of them has had one.
	deadline atomic.Int64

	mu       sync.Mutex // open loop: guards the fields below
	schedule *schedule
	origin   time.Duration // start of the schedule, since the run's origin
	due      time.Duration // time of the next arrival, since the run's origin
	next     uint64        // its sequence number
	queue    []ticket      // ring
	head, n  int

	offered, dropped, never uint64 // tickets of the window
}

// start makes s, which begins at origin, the source of tickets from now on. Tickets
// that are already in the queue stay there.
func (p *pacer) start(s *schedule, origin time.Duration, seq uint64) {
	if p.closed {
		p.seq.Store(seq)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.schedule != nil {
		p.admit(origin - 1)
	}
	p.schedule, p.origin, p.next = s, origin, seq
	p.due = p.arrival()
}

// arrival returns the time of the next arrival.
func (p *pacer) arrival() time.Duration {
	if !(ticket{seq: p.next}).inWarmup() && p.count > 0 && p.next >= p.count {
		return never
	}
	if at := p.schedule.next(); at < never {
		return p.origin + at
	}
	return never
}

// admit queues or drops the arrivals up to now.
func (p *pacer) admit(now time.Duration) {
	for p.due <= now {
		t := ticket{p.next, p.due}
		full := p.n == len(p.queue)
		if !t.inWarmup() {
			p.offered++
			if full {
				p.dropped++
			}
		}
		if !full {
			p.queue[p.place(p.n)] = t
			p.n++
		}
		p.next++
		p.due = p.arrival()
	}
}

// place returns the index in the ring of the i-th queued ticket; i is at most the
// ring's length.
func (p *pacer) place(i int) int {
	if i += p.head; i >= len(p.queue) {
		i -= len(p.queue) // a division would cost as much as all else here
	}
	return i
}

// take returns the ticket that a worker runs next, which may be due in the
// future, or false if there is none left.
func (p *pacer) take(now time.Duration) (ticket, bool) {
	if p.ended.Load() {
		return ticket{}, false
	}
	if end := p.deadline.Load(); end > 0 && now >= time.Duration(end) && !(p.closed && p.seq.Load() < p.least) {
		return ticket{}, false
	}
	if p.closed {
		t := ticket{p.seq.Add(1) - 1, now}
		if !t.inWarmup() {
			if p.count > 0 && t.seq >= p.count {
				return ticket{}, false
			}
		}
		return t, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.admit(now)
	if p.n > 0 {
		t := p.queue[p.head]
		p.head = p.place(1)
		p.n--
		return t, true
	}
	if p.due == never {
		return ticket{}, false
	}
	t := ticket{p.next, p.due}
	if !t.inWarmup() {
		p.offered++
	}
	p.next++
	p.due = p.arrival()
	return t, true
}

// giveBack takes back a ticket that was not used. If it was due by end, it counts as
// never started; otherwise it is not counted as offered.
func (p *pacer) giveBack(t ticket, end time.Duration) {
	if t.inWarmup() || p.closed {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.intended > end {
		p.offered--
	} else {
		p.never++
	}
}

// end stops the pacer: it admits arrivals up to now, counts the tickets in the queue
// as never started, and hands out nothing more. It returns how long the oldest
// ticket in the queue had waited.
func (p *pacer) end(now time.Duration) (oldest time.Duration) {
	p.ended.Store(true)
	if p.closed {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.admit(now)
	for i := range p.n {
		if t := p.queue[p.place(i)]; !t.inWarmup() {
			oldest = max(oldest, now-t.intended)
			p.never++
		}
	}
	p.n, p.due = 0, never
	return oldest
}

// backlog returns the number of tickets that are due and wait for a worker.
func (p *pacer) backlog(now time.Duration) int {
	if p.closed {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.admit(now)
	return p.n
}

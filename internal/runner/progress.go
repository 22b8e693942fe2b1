package runner

import "time"

// Progress is what a window has seen so far.
type Progress struct {
	Age              time.Duration // of the window
	Done, Failed     uint64
	Offered, Dropped uint64 // open loop
	Backlog          int    // open loop: operations that are due and wait for a worker
	Latency          Spread
	Response         Spread // open loop
}

// Spread is how many values there are up to each of the bounds, and their sum.
type Spread struct {
	UpTo []uint64 // of SpreadBounds
	N    uint64
	Sum  time.Duration // within 0.1 %
}

// SpreadBounds are the bounds of a Spread: from 1.024 µs on each is the double of the one
// before, the last is 18 minutes.
func SpreadBounds() []time.Duration {
	bounds := make([]time.Duration, 31)
	for i := range bounds {
		bounds[i] = 1 << (10 + i)
	}
	return bounds
}

// spread is how the tally is spread.
func (t *tally) spread() Spread {
	var s Spread
	sum := 0.0
	i := t.low
	for _, bound := range SpreadBounds() {
		for ; i < t.high && lowest(i) < int64(bound); i++ {
			s.N += t.n[i]
			sum += float64(t.n[i]) * float64(lowest(i)+lowest(i+1)-1) / 2
		}
		s.UpTo = append(s.UpTo, s.N)
	}
	for ; i < t.high; i++ {
		s.N += t.n[i]
		sum += float64(t.n[i]) * float64(lowest(i))
	}
	s.Sum = time.Duration(sum)
	return s
}

// watch tells Config.Watch what the window has seen.
func (r *run) watch(age time.Duration, backlog int) {
	if r.cfg.Watch == nil {
		return
	}
	p := Progress{Age: age, Done: r.series.done, Failed: r.series.failed, Backlog: backlog, Latency: r.series.latency.spread()}
	if r.cfg.Arrivals != nil {
		r.pacer.mu.Lock()
		p.Offered, p.Dropped = r.pacer.offered, r.pacer.dropped
		r.pacer.mu.Unlock()
		p.Response = r.series.response.spread()
	}
	r.cfg.Watch(p)
}

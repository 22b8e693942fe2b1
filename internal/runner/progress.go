package runner

import "time"

// Progress reports what has happened in a window so far. Config.Watch receives it.
type Progress struct {
	Age              time.Duration // of the window
	Done, Failed     uint64
	Offered, Dropped uint64 // open loop
	Backlog          int    // open loop: operations that are due and wait for a worker
	Latency          Spread
	Response         Spread // open loop
}

// Spread is a cumulative histogram of durations.
type Spread struct {
	UpTo []uint64      // number of values below each of SpreadBounds
	N    uint64        // number of values
	Sum  time.Duration // of the values, within 0.1 %
}

// SpreadBounds returns the bounds of a Spread. The first is 1.024 µs, each is twice the one
// before, and the last is 18 minutes.
func SpreadBounds() []time.Duration {
	bounds := make([]time.Duration, 31)
	for i := range bounds {
		bounds[i] = 1 << (10 + i)
	}
	return bounds
}

// spread returns the tally as a Spread.
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

// watch calls Config.Watch with the window's progress.
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

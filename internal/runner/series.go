package runner

import (
	"math"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/resources"
)

// series holds the window's figures for each interval. The goroutine that observes the
// window fills it.
type series struct {
	interval time.Duration
	shards   []*shard
	open     bool

	latency, response, wait   tally // of the whole run
	partLatency, partResponse tally // of one part; reused, so that a part allocates little
	parts                     []part
	done, failed              uint64 // in all parts

	last        time.Duration    // end of the last part, since the window opened
	usage, used resources.Sample // since the window opened: at the last sample, and at the end of the last part
}

// part holds the figures of one interval.
type part struct {
	length            time.Duration
	done, failed      uint64
	p50, p99          float64 // ns, service
	response99        float64 // ns
	backlog           int
	gcShare           float64 // of the processor time available
	heapLive, rss     uint64
	latency, response []cell
}

// Bounds of the intervals. An interval is a second, so that the series of different runs
// align. A short window has fewParts intervals, and no window has more than maxParts.
const (
	maxParts  = 3600
	shortRun  = 2 * time.Second
	fewParts  = 10
	minLength = time.Millisecond
)

func newSeries(cfg *Config, shards []*shard) *series {
	interval := time.Second
	switch d := cfg.Duration; {
	case d == 0:
	case d < shortRun:
		interval = max(d/fewParts, minLength)
	case d > maxParts*time.Second:
		interval = (d/maxParts + time.Second - 1).Truncate(time.Second)
	}
	return &series{interval: interval, shards: shards, open: cfg.Arrivals != nil}
}

// add ends a part. age returns how long the window has been open, at most its whole
// length. It is called after the tallies are taken, which may be some time after the
// part should have ended if the load keeps all processors busy.
func (s *series) add(age func() time.Duration, backlog int) {
	p := part{backlog: backlog, heapLive: s.usage.HeapLive, rss: s.usage.RSS}
	latency, response := &s.partLatency, &s.partResponse
	latency.clear()
	response.clear()
	p.done, p.failed = s.drain(latency, response)
	s.done, s.failed = s.done+p.done, s.failed+p.failed
	at := age()
	p.length = at - s.last
	if p.length <= 0 {
		return
	}
	// If the observer has missed several intervals, their values cannot be separated:
	// each gets their common rate and percentiles.
	missed := int(math.Round(float64(p.length)/float64(s.interval))) - 1
	s.last = at
	if cpu := s.usage.CPU - s.used.CPU; cpu > 0 {
		p.gcShare = min(max((s.usage.GCCPU-s.used.GCCPU)/cpu, 0), 1)
	}
	s.used = s.usage
	quantiles := latency.percentiles(50, 99)
	p.p50, p.p99 = quantiles[0], quantiles[1]
	p.latency = latency.cells()
	if s.open {
		p.response99 = response.percentiles(99)[0]
		p.response = response.cells()
	}
	s.parts = append(s.parts, p)
	p.latency, p.response = nil, nil
	for range missed {
		s.parts = append(s.parts, p)
	}
}

// carries reports whether the intervals have enough operations for percentile p, so that it is
// not just their maximum. It ignores empty intervals and the last one, which may be short.
func (s *series) carries(p float64) bool {
	for i := range s.parts[:max(len(s.parts)-1, min(len(s.parts), 1))] {
		if n := s.parts[i].done; n > 0 && !record.Carries(p, int64(n)) {
			return false
		}
	}
	return true
}

// drain takes what the shards have tallied since the last call and adds it to the totals
// of the run. It also adds service and response times to latency and response.
func (s *series) drain(latency, response *tally) (done, failed uint64) {
	for _, shard := range s.shards {
		t := shard.swap()
		done, failed = done+t.done, failed+t.failed
		t.done, t.failed = 0, 0
		s.latency.merge(&t.latency)
		latency.merge(&t.latency)
		t.latency.clear()
		if s.open {
			s.response.merge(t.response)
			response.merge(t.response)
			t.response.clear()
			s.wait.merge(t.wait)
			t.wait.clear()
		}
	}
	return done, failed
}

package runner

import (
	"math"
	"sync"
	"time"
)

// maxShards bounds the memory of the recorders. Beyond it workers share one, and
// its lock; no more of them run at a time than there are processors.
const maxShards = 32

// shard is where some workers write what they saw. Its lock is all but never
// contended, so that taking it costs nanoseconds. It is there for the one who
// takes the tallies away each interval, and so that an operation which outlasts
// the run finds the shard closed and writes nothing.
type shard struct {
	mu     sync.Mutex
	closed bool

	started, done, failed, late uint64
	warmed                      uint64        // operations of the warm-up that ended, well or not
	warmTime                    time.Duration // and how long they took in all
	warmFailed                  uint64        // of them
	outlasted, carried          uint64        // of them, that ended well after the window opened, and within it
	edge                        float64       // the window's share of those that outlasted the warm-up, in operations
	last                        time.Duration // end of the last operation of the window

	tallies  *tallies // being written
	spare    *tallies // cleared, to be swapped in
	classes  []tally
	failures tally
	input    *tally // nil where inputs are built before the run

	moments
	jitter     float64 // sum of |change| between consecutive operations of a worker
	changes    uint64  // number of its terms
	slots      slots
	slept      uint64        // tickets that a worker waited for
	oversleep  time.Duration // how much later than intended they started, in all
	spun       time.Duration // how long workers were awake for them, in all
	errors     []ErrorCount
	warm, kept keeper // results of the warm-up, and of the window
	workers    []*worker
	resultSize int // greatest result that was seen, B
}

// tallies are what is taken away each interval.
type tallies struct {
	latency        tally
	response, wait *tally // nil in a closed loop
	failed         uint64
	done           uint64 // and carried
}

func newTallies(open bool) *tallies {
	t := new(tallies)
	if open {
		t.response, t.wait = new(tally), new(tally)
	}
	return t
}

// swap takes what was tallied since the last swap away. The caller clears it
// before the next one.
func (s *shard) swap() *tallies {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := s.tallies
	s.tallies, s.spare = s.spare, full
	return full
}

// moments are the sums that mean and deviation are made of, of differences from
// the first value: without a division per value, and without the cancellation
// that sums of the values themselves would suffer from.
type moments struct {
	n             uint64
	pivot         float64
	sums, squares float64
}

func (m *moments) add(x float64) {
	if m.n == 0 {
		m.pivot = x
	}
	m.n++
	d := x - m.pivot
	m.sums += d
	m.squares += d * d
}

// merge adds the values of other.
func (m *moments) merge(other moments) {
	if m.n == 0 {
		*m = other
		return
	}
	n, shift := float64(other.n), other.pivot-m.pivot
	m.squares += other.squares + shift*(2*other.sums+n*shift)
	m.sums += other.sums + n*shift
	m.n += other.n
}

func (m *moments) mean() float64 {
	if m.n == 0 {
		return 0
	}
	return m.pivot + m.sums/float64(m.n)
}

func (m *moments) deviation() float64 {
	if m.n < 2 {
		return 0
	}
	return math.Sqrt(max(m.squares-m.sums*m.sums/float64(m.n), 0) / float64(m.n-1))
}

// slots are the sums of latencies by the time at which the operations ended, in
// equal slots from the opening of the window. Where the window outgrows them,
// neighbours are joined, so that there are never more, and slots of different
// shards still align.
type slots struct {
	folds uint // a slot is firstSlot << folds long
	sum   [slotCount]float64
	n     [slotCount]uint64
}

const (
	slotCount = 128
	firstSlot = 16 // log2 of ns
)

func (s *slots) add(at, latency time.Duration) {
	i := max(at, 0) >> (firstSlot + s.folds)
	for i >= slotCount {
		s.fold()
		i >>= 1
	}
	s.sum[i] += float64(latency)
	s.n[i]++
}

func (s *slots) fold() {
	s.folds++
	for i := range slotCount {
		s.sum[i], s.n[i] = s.pair(i)
	}
}

func (s *slots) pair(i int) (float64, uint64) {
	if i >= slotCount/2 {
		return 0, 0
	}
	return s.sum[2*i] + s.sum[2*i+1], s.n[2*i] + s.n[2*i+1]
}

func (s *slots) merge(other *slots) {
	for s.folds < other.folds {
		s.fold()
	}
	for other.folds < s.folds {
		other.fold()
	}
	for i := range slotCount {
		s.sum[i] += other.sum[i]
		s.n[i] += other.n[i]
	}
}

// means returns the mean latency of each slot, in ns, and the number of
// operations that it is of, up to the last slot that has one.
func (s *slots) means() (means, weights []float64) {
	for i := range slotCount {
		mean := 0.0
		if s.n[i] > 0 {
			mean = s.sum[i] / float64(s.n[i])
		}
		means, weights = append(means, mean), append(weights, float64(s.n[i]))
	}
	last := len(weights)
	for last > 0 && weights[last-1] == 0 {
		last--
	}
	return means[:last], weights[:last]
}

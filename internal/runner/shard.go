package runner

import (
	"math"
	"sync"
	"time"
)

// maxShards bounds the memory of the shards. If there are more workers, several share one
// shard and its lock; no more workers run at a time than there are processors.
const maxShards = 32

// shard collects the measurements of some workers. Its lock is hardly ever contended, so
// taking it costs nanoseconds. The lock serves the observer, which takes the tallies
// after each interval, and closing: an operation that outlasts the run finds the shard
// closed and writes nothing.
type shard struct {
	mu     sync.Mutex
	closed bool

	started, done, failed, late uint64
	warmed                      uint64        // operations of the warm-up that ended or failed
	warmTime                    time.Duration // their total time
	warmFailed                  uint64        // of warmed: failed
	outlasted                   uint64        // of warmed: succeeded after the window opened
	carried                     uint64        // of outlasted: succeeded before the window closed
	edge                        float64       // the window's share of the outlasted operations, in operations
	last                        time.Duration // end of the last operation of the window

	tallies  *tallies // being written
	spare    *tallies // cleared, to be swapped in
	classes  []tally
	failures tally
	input    *tally // nil if inputs are built before the run

	moments
	jitter     float64 // sum of |change| between consecutive operations of a worker
	changes    uint64  // number of its terms
	slots      slots
	slept      uint64        // tickets that a worker waited for
	oversleep  time.Duration // total delay of their starts
	spun       time.Duration // total time that workers spun for them
	errors     []ErrorCount
	warm, kept keeper // results of the warm-up, and of the window
	workers    []*worker
	resultSize int // largest result so far, B
}

// tallies count the operations of one interval.
type tallies struct {
	latency        tally
	response, wait *tally // nil in a closed loop
	failed         uint64
	done           uint64 // including carried ones
}

func newTallies(open bool) *tallies {
	t := new(tallies)
	if open {
		t.response, t.wait = new(tally), new(tally)
	}
	return t
}

// swap returns the tallies since the last swap. The caller must clear them before the
// next swap.
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

// slots sum latencies by the time at which operations ended, in equal slots from the
// opening of the window. If the window outgrows the slots, neighbours are joined. Their
// number therefore stays the same, and the slots of different shards align.
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

// means returns the mean latency of each slot, in ns, and its number of operations, up
// to the last slot that has one.
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

package runner

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

type nothing struct{ output []byte }

func (nothing) Input(context.Context, uint64) (any, error) { return nil, nil }
func (n nothing) Run(context.Context, any) ([]byte, error) { return n.output, nil }
func (nothing) Check(context.Context, any, []byte) error   { return nil }

// loop is a run with its only worker.
type loop struct {
	*run
	worker *worker
	last   time.Duration
}

// idle returns a run whose window is open, before its first operation.
func idle(tb testing.TB, cfg Config, output []byte) *loop {
	cfg.Workers, cfg.Samples, cfg.Duration = 1, 8, time.Minute
	if cfg.Arena == 0 {
		cfg.Arena = DefaultArena
	}
	r := newRun(&cfg, nothing{output})
	r.inputs = make([]any, cfg.Samples)
	r.fastest, r.resultSize = time.Microsecond, len(output)
	r.prepare(tb.Context())
	must.Do(tb, r.plan())
	tb.Cleanup(r.free)
	r.opening.Store(int64(r.clock()))
	r.startSchedule(false, r.opened())
	return &loop{r, r.workers[0], r.clock()}
}

// turn runs one iteration of the worker's loop.
func (l *loop) turn() bool {
	t, ok := l.pacer.take(l.last)
	if ok {
		l.last, ok = l.operate(l.window, l.worker, t, l.last, false)
	}
	return ok
}

// cases are the loops that are measured, with the size of their results.
var cases = []struct {
	name   string
	cfg    Config
	result int // B
}{
	{"loop=closed", Config{}, 0},
	// So fast that an arrival is always due: none is waited for.
	{"loop=open", Config{Arrivals: &Arrivals{Shape: Constant, Rates: []float64{MaxRate}}, Queue: 16}, 0},
	{"classes=2", Config{Classes: []string{"a", "b"}, Class: func(seq uint64) int { return int(seq % 2) }}, 0},
	{"check=sample=1024/result=1500B", Config{Check: Check{CheckSample, 1 << 10}}, 1500},
	{"check=fit/result=1500B", Config{}, 1500},
	{"check=none/result=1500B", Config{Check: Check{Policy: CheckNone}}, 1500},
}

func TestLoopAllocatesNothing(t *testing.T) {
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			r := idle(t, test.cfg, make([]byte, test.result))
			if n := testing.AllocsPerRun(2000, func() {
				if !r.turn() {
					t.Fatal("no operation")
				}
			}); n != 0 {
				t.Errorf("%v allocations per operation", n)
			}
		})
	}
}

func TestClosedShardCountsNothing(t *testing.T) {
	r := idle(t, Config{}, nil)
	w := r.worker
	w.closed = true
	if r.turn() {
		t.Error("an operation began")
	}
	w.succeed(r.run, ticket{}, 0, time.Second, 0, false, []byte("x"))
	if w.fail(r.window, ticket{}, 0, time.Second, context.DeadlineExceeded) {
		t.Error("a failure was counted")
	}
	golden.Equal(t, "what a closed shard counts", [6]uint64{}, [6]uint64{w.started, w.done, w.failed, w.moments.n, uint64(w.kept.n), r.pacer.offered})
}

// BenchmarkRecording is all that the runner adds to an operation: ticket, clock,
// tallies, moments, and the copy of a result where there is one to be kept. Its
// memory is that of the run, for 10^8 operations (-benchtime 100000000x) as for
// one.
func BenchmarkRecording(b *testing.B) {
	for _, test := range cases {
		b.Run(test.name, func(b *testing.B) {
			r := idle(b, test.cfg, make([]byte, test.result))
			b.ReportAllocs()
			for b.Loop() {
				if !r.turn() {
					b.Fatal("no operation")
				}
			}
		})
	}
}

// TestBucketsAreThoseOfTheHistogram: for every value the same bounds.
func TestBucketsAreThoseOfTheHistogram(t *testing.T) {
	h := newHistogram()
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.Int64Range(0, int64(maxLatency)).Draw(rt, "ns")
		i := bucket(time.Duration(v))
		h.Reset()
		must.Do(rt, h.RecordValue(v))
		// Its own percentile names the upper end of the histogram's bucket.
		if low, high := lowest(i), lowest(i+1)-1; v < low || v > high || high != h.ValueAtPercentile(100) || h.Min() != low {
			rt.Errorf("%d is in %d..%d, want %d..%d", v, low, high, h.Min(), h.ValueAtPercentile(100))
		}
	})
	if bucket(-1) != 0 || bucket(math.MaxInt64) != bucket(maxLatency) || bucket(maxLatency) >= buckets {
		t.Errorf("-1 ns is in bucket %d, the longest time in %d of %d", bucket(-1), bucket(math.MaxInt64), buckets)
	}
}

// TestPercentiles: 10^6 latencies of a log-normal distribution with a heavy tail,
// tallied by four shards and taken away in between.
func TestPercentiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	exact := make([]int64, 1_000_000)
	var sum tally
	tallies := make([]tally, 4)
	for i := range exact {
		exact[i] = int64(1e6 * math.Exp(rng.NormFloat64()*1.5))
		tallies[i%4].add(time.Duration(exact[i]))
		if i%300_000 == 0 {
			sum.merge(&tallies[i%4])
			tallies[i%4].clear()
		}
	}
	for i := range tallies {
		sum.merge(&tallies[i])
	}
	slices.Sort(exact)
	h := sum.histogram()
	ps := []float64{0.1, 1, 10, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999}
	quick := sum.percentiles(ps...)
	for i, p := range ps {
		want := float64(exact[int(math.Ceil(p*float64(len(exact))/100))-1])
		for name, got := range map[string]float64{"histogram": float64(h.ValueAtPercentile(p)), "tally": quick[i]} {
			if math.Abs(got-want) > 0.001*want {
				t.Errorf("P%v of the %s %v, want %v within 0.1 %%", p, name, got, want)
			}
		}
	}
	golden.Equal(t, "values", [2]int{len(exact), len(exact)}, [2]int{int(h.TotalCount()), int(sum.count())})
	// The cells of a part give the same histogram.
	again := newHistogram()
	for _, c := range sum.cells() {
		must.Do(t, again.RecordValues(lowest(c.bucket), int64(c.n)))
	}
	if !again.Equals(h) {
		t.Error("the cells give another histogram")
	}
}

// TestSlotsAlign: however the slots of two shards were folded, they hold the
// same operations at the same times as those of one.
func TestSlotsAlign(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var one, a, b slots
		n := rapid.IntRange(1, 50).Draw(rt, "n")
		for i := range n {
			at := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "at"))
			one.add(at, time.Duration(i))
			if rapid.Bool().Draw(rt, "a") {
				a.add(at, time.Duration(i))
			} else {
				b.add(at, time.Duration(i))
			}
		}
		a.merge(&b)
		if a != one {
			rt.Errorf("two shards hold %v, one %v", a, one)
		}
		means, weights := one.means()
		sum := 0.0
		for i := range means {
			sum += means[i] * weights[i]
		}
		if want := float64(n*(n-1)) / 2; math.Abs(sum-want) > 1e-9*want {
			rt.Errorf("latencies sum to %v, want %v", sum, want)
		}
	})
}

func TestMomentsMerge(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 2, 50).Draw(rt, "xs")
		cut := rapid.IntRange(0, len(xs)).Draw(rt, "cut")
		var all, a, b moments
		for i, x := range xs {
			all.add(x)
			if i < cut {
				a.add(x)
			} else {
				b.add(x)
			}
		}
		a.merge(b)
		if a.n != all.n || math.Abs(a.mean()-all.mean()) > 1e-9*(1+all.mean()) || math.Abs(a.deviation()-all.deviation()) > 1e-6*(1+all.deviation()) {
			rt.Errorf("%+v, want %+v", a, all)
		}
	})
}

// BenchmarkClock is what reading the clock costs: three times an operation.
func BenchmarkClock(b *testing.B) {
	r := idle(b, Config{}, nil)
	for b.Loop() {
		r.clock()
	}
}

// BenchmarkTally is counting one latency of about a millisecond, ours and that of the
// histogram that is made of it.
func BenchmarkTally(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]int64, 1024)
	for i := range values {
		values[i] = int64(1e6 + 1e5*rng.Float64())
	}
	b.Run("of=tally", func(b *testing.B) {
		t := new(tally)
		for i := 0; b.Loop(); i++ {
			t.add(time.Duration(values[i%len(values)]))
		}
	})
	b.Run("of=histogram", func(b *testing.B) {
		h := newHistogram()
		for i := 0; b.Loop(); i++ {
			must.Do(b, h.RecordValue(values[i%len(values)]))
		}
	})
}

package validator_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/validator"
)

// payment returns a system and a request with one input that it accepts.
func payment(t testing.TB) (*system, []byte) {
	t.Helper()
	s, ids := funded(t, token.RedeemOwner)
	a, _ := s.moved("pay", 0, "", ids[:1], output(s.owners[1].Identity(), 100))
	return s, s.sign(&request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}, []identity.Signer{s.owners[0]})
}

// front is a queue in a synctest bubble, whose batches take a fixed time.
type front struct {
	*system
	queue *validator.Queue
	raw   []byte
	begin time.Time
	took  time.Duration
	sizes []int // of the batches that began
	ends  int   // batches whose context ended

	callers sync.WaitGroup
	mu      sync.Mutex
	answers map[string]string // by caller: when, and what
}

func newFront(s *system, raw []byte, took time.Duration, b validator.Batching) *front {
	f := &front{system: s, raw: raw, begin: time.Now(), took: took, answers: make(map[string]string)}
	var err error
	f.queue, err = validator.NewQueue(s.v, f, func() time.Time {
		f.sizes = append(f.sizes, 0)
		return s.at
	}, b)
	must.Do(s, err)
	return f
}

// Token counts a request, and makes the first of a batch wait for as long as the
// batch is to take.
func (f *front) Token(ctx context.Context, id token.ID) ([]byte, error) {
	last := len(f.sizes) - 1
	if f.sizes[last]++; f.sizes[last] == 1 {
		select {
		case <-time.After(f.took):
		case <-ctx.Done():
			f.ends++
			return nil, ctx.Err()
		}
	}
	return f.ledger.Token(ctx, id)
}

func (f *front) Tokens(ctx context.Context, ids []token.ID) ([]ledgers.Found, error) {
	return validator.TokenFunc(f.Token).Tokens(ctx, ids)
}

// call submits a request at a given time and records when and how it was answered.
func (f *front) call(ctx context.Context, name string, at time.Duration) {
	f.callers.Go(func() {
		time.Sleep(at)
		own := append([]byte(nil), f.raw...)
		valid, err := f.queue.Validate(ctx, own)
		clear(own)
		answer := "accepted"
		if err != nil {
			answer = err.Error()
		}
		if (valid == nil) != (err != nil) {
			answer = "neither accepted nor refused"
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.answers[name] = fmt.Sprint(time.Since(f.begin), " ", answer)
	})
}

func (f *front) want(t *testing.T, sizes []int, answers map[string]string) {
	t.Helper()
	f.callers.Wait()
	synctest.Wait()
	golden.Equal(t, "batches", sizes, f.sizes)
	golden.Equal(t, "answers", answers, f.answers)
}

const ms = time.Millisecond

// TestQueueBatches: which requests are validated together, and when: batches take 10 ms.
func TestQueueBatches(t *testing.T) {
	s, raw := payment(t)
	load, verdicts := make(map[string]time.Duration), make(map[string]string)
	for i := range 7 {
		load[fmt.Sprint(i)] = time.Duration(i) * ms
		verdicts[fmt.Sprint(i)] = fmt.Sprint(time.Duration(11+i/2*10)*ms, " accepted")
	}
	for name, test := range map[string]struct {
		batching validator.Batching
		calls    map[string]time.Duration
		sizes    []int
		answers  map[string]string
	}{
		"a full batch waits for nothing": {
			validator.Batching{Max: 3, Wait: time.Hour},
			map[string]time.Duration{"a": 0, "b": 2 * ms, "c": 4 * ms, "alone": 20 * ms},
			[]int{3, 1},
			map[string]string{"a": "14ms accepted", "b": "14ms accepted", "c": "14ms accepted", "alone": "1h0m0.03s accepted"},
		},
		"a batch begins when its first request has waited, not its last": { // next's wait ends while the first batch runs
			validator.Batching{Max: 8, Wait: 5 * ms},
			map[string]time.Duration{"a": 0, "b": 4 * ms, "next": 6 * ms, "with it": 14 * ms},
			[]int{2, 2},
			map[string]string{"a": "15ms accepted", "b": "15ms accepted", "next": "25ms accepted", "with it": "25ms accepted"},
		},
		"what came while a batch ran goes on when that ends, and what a full batch leaves over right after it": {
			validator.Batching{Max: 2, Wait: 100 * ms}, load, []int{2, 2, 2, 1}, verdicts,
		},
		"without a wait nobody waits for others, but for the batch that runs": {
			validator.Batching{Max: 8},
			map[string]time.Duration{"alone": 0, "a": 1 * ms, "b": 9 * ms},
			[]int{1, 2},
			map[string]string{"alone": "10ms accepted", "a": "20ms accepted", "b": "20ms accepted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFront(s, raw, 10*ms, test.batching)
				for caller, at := range test.calls {
					f.call(t.Context(), caller, at)
				}
				f.want(t, test.sizes, test.answers)
			})
		})
	}
}

// TestQueueLeft: who leaves is answered at once; before the batch he is not in it,
// in the batch the others do not notice, and a batch that all have left is given up.
func TestQueueLeft(t *testing.T) {
	s, raw := payment(t)
	synctest.Test(t, func(t *testing.T) {
		f := newFront(s, raw, 10*ms, validator.Batching{Max: 8, Wait: 5 * ms})
		leaving := func(after time.Duration) context.Context {
			ctx, cancel := context.WithTimeoutCause(t.Context(), after, errors.New("left"))
			t.Cleanup(cancel)
			return ctx
		}
		f.call(leaving(1*ms), "before", 0)
		f.call(leaving(7*ms), "during", 0)
		f.call(t.Context(), "stays", 2*ms)
		f.call(leaving(7*ms), "during, not looked at", 3*ms)
		f.call(leaving(40*ms), "alone", 30*ms) // its batch runs from 35 to 45 ms
		f.call(leaving(50*ms), "too late", 60*ms)
		f.call(leaving(72*ms), "nobody else", 70*ms) // takes the wait along
		f.call(t.Context(), "after", 73*ms)
		f.want(t, []int{3, 1, 1}, map[string]string{
			"during, not looked at": "7ms left",
			"before":                "1ms left", "during": "7ms left", "stays": "15ms accepted", "alone": "40ms left",
			"too late": "60ms left", "nobody else": "72ms left", "after": "88ms accepted",
		})
		golden.Equal(t, "batches that were given up", 1, f.ends)
	})
}

// TestQueueClose: what waits is validated at once, what comes is refused, and Close
// returns when all have their answers.
func TestQueueClose(t *testing.T) {
	s, raw := payment(t)
	for _, c := range []struct {
		name    string
		calls   int
		sizes   []int
		answers map[string]string
		closed  time.Duration
	}{
		{"waiting=0", 0, nil, map[string]string{}, 5 * ms},
		{"waiting=1", 1, []int{1}, map[string]string{"0": "15ms accepted"}, 15 * ms},
		{"running=2,waiting=1", 3, []int{2, 1}, map[string]string{"0": "10ms accepted", "1": "10ms accepted", "2": "20ms accepted"}, 20 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFront(s, raw, 10*ms, validator.Batching{Max: 2, Wait: time.Hour})
				for i := range c.calls {
					f.call(t.Context(), fmt.Sprint(i), 0)
					synctest.Wait()
				}
				for range 2 {
					f.callers.Go(func() {
						time.Sleep(5 * ms)
						if err := f.queue.Close(); err != nil || time.Since(f.begin) != c.closed {
							t.Errorf("closed after %v: %v, want %v", time.Since(f.begin), err, c.closed)
						}
						must.FailGet(f.queue.Validate(t.Context(), raw))(t, fs.ErrClosed, "after Close")
					})
				}
				f.want(t, c.sizes, c.answers)
			})
		})
	}
}

// TestQueueAnswersEachCaller: many callers with good and bad requests of all kinds get
// the verdicts that these have alone, whoever leaves beside them.
func TestQueueAnswersEachCaller(t *testing.T) {
	s, raw := payment(t)
	raws := [][]byte{raw}
	for _, at := range []int{0, 3, len(raw) / 3, len(raw) / 2, len(raw) - 1} {
		bad := append([]byte(nil), raw...)
		bad[at] ^= 1
		raws = append(raws, bad)
	}
	queue := must.Get(validator.NewQueue(s.v, s.ledger, func() time.Time { return s.at }, validator.Batching{Max: 16, Wait: ms}))(s)
	left, cancel := context.WithCancel(t.Context())
	cancel()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			own := append([]byte(nil), raws[i%len(raws)]...)
			valid, err := queue.Validate(t.Context(), own)
			_, alone := s.v.Validate(t.Context(), s.ledger, own, s.at)
			if fmt.Sprint(err) != fmt.Sprint(alone) || (valid != nil) != (err == nil) {
				t.Errorf("caller %d: %v in the queue, %v alone", i, err, alone)
			}
			clear(own)
			must.FailGet(queue.Validate(left, own))(t, context.Canceled, "caller %d, cancelled", i)
		})
	}
	wg.Wait()
	must.Do(s, queue.Close())
}

func TestNewQueueRefuses(t *testing.T) {
	s := newSystem(t, token.RedeemOwner)
	for _, b := range []validator.Batching{{}, {Max: -1}, {Max: validator.MaxBatch + 1}, {Max: 1, Wait: -1}} {
		must.FailGet(validator.NewQueue(s.v, s.ledger, time.Now, b))(t, zkbench.ErrParams, "%+v", b)
	}
}

// TestQueueIsBounded: as many requests wait as there is room for; one that is taken back, or validated, makes room.
func TestQueueIsBounded(t *testing.T) {
	s, raw := payment(t)
	synctest.Test(t, func(t *testing.T) {
		f := newFront(s, raw, 10*ms, validator.Batching{Max: 8, Wait: 50 * ms})
		f.queue.Room(3*(len(raw)+validator.WaitingCost) + 1)
		leaves, leave := context.WithTimeout(t.Context(), 5*ms)
		defer leave()
		f.call(leaves, "a", 0)
		f.call(t.Context(), "b", ms)
		f.call(t.Context(), "c", 2*ms)
		f.call(t.Context(), "d", 3*ms)
		f.call(t.Context(), "e", 6*ms)
		f.call(t.Context(), "f", 7*ms)
		f.call(t.Context(), "g", 52*ms)
		limit := (&zkbench.LimitError{What: "bytes of requests that wait", Estimate: int64(4 * (len(raw) + validator.WaitingCost)), Max: int64(3*(len(raw)+validator.WaitingCost) + 1)}).Error()
		f.want(t, []int{3, 1}, map[string]string{
			"a": "5ms context deadline exceeded", "b": "60ms accepted", "c": "60ms accepted", "d": "3ms " + limit,
			"e": "60ms accepted", "f": "7ms " + limit, "g": "112ms accepted",
		})
	})
}

// fragile is a view of a ledger that panics over one token.
type fragile struct {
	ledger
	over token.ID
}

func (f fragile) Token(ctx context.Context, id token.ID) ([]byte, error) {
	if string(id) == string(f.over) {
		panic("over " + string(id))
	}
	return f.ledger.Token(ctx, id)
}

func (f fragile) Tokens(ctx context.Context, ids []token.ID) ([]ledgers.Found, error) {
	return validator.TokenFunc(f.Token).Tokens(ctx, ids)
}

// TestPanic: a request over which the validator panics has that as its error, and those beside it their verdicts.
func TestPanic(t *testing.T) {
	s, ids := funded(t, token.RedeemOwner)
	var raws [][]byte
	for i := range ids {
		anchor := fmt.Sprint("pay ", i)
		a, _ := s.moved(anchor, 0, "", ids[i:i+1], output(s.owners[1].Identity(), 100))
		raws = append(raws, s.sign(&request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}, s.owners[i:i+1]))
	}
	view := fragile{s.ledger, ids[1]}
	queue := must.Get(validator.NewQueue(s.v, view, func() time.Time { return s.at }, validator.Batching{Max: 3, Wait: time.Hour}))(t)
	results := s.v.ValidateBatch(t.Context(), view, raws, s.at)
	var wg sync.WaitGroup
	queued := make([]error, len(raws))
	for i := range raws {
		wg.Go(func() { _, queued[i] = queue.Validate(t.Context(), raws[i]) })
	}
	wg.Wait()
	must.Do(t, queue.Close())
	_, alone := s.v.Validate(t.Context(), view, raws[1], s.at)
	for i, r := range results {
		for _, err := range []error{r.Err, queued[i]} {
			if i != 1 {
				must.Do(t, err, i)
				continue
			}
			for _, err := range []error{err, alone} {
				if p, is := errors.AsType[*executor.PanicError](err); !is || p.Value != "over "+string(ids[1]) {
					t.Errorf("%v, want a panic", err)
				}
			}
		}
	}
}

// TestTimesRise: a clock that goes back does not take blocks with it, and no block is further ahead of it than allowed.
func TestTimesRise(t *testing.T) {
	s, raw := payment(t)
	clock := []time.Time{s.at, s.at.Add(-validator.Ahead), s.at.Add(-validator.Ahead - 1), s.at.Add(time.Second)}
	queue := must.Get(validator.NewQueue(s.v, s.ledger, func() (at time.Time) {
		at, clock = clock[0], clock[1:]
		return at
	}, validator.Batching{Max: 1}))(t)
	for i, want := range []time.Duration{0, 0, -1, time.Second} {
		valid, err := queue.Validate(t.Context(), raw)
		if ahead, ok := errors.AsType[*ledgers.AheadError](err); ok {
			golden.Equal(t, "refused", 2, i)
			golden.Equal(t, "ahead", ledgers.AheadError{Time: s.at, Clock: s.at.Add(-validator.Ahead - 1), Max: validator.Ahead}, *ahead)
			continue
		}
		must.Do(t, err)
		golden.Equal(t, "time", s.at.Add(want), valid.At)
	}
	must.Do(t, queue.Close())
}

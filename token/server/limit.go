package server

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc"
)

// Limits bound what a Server does, in all and for each client. A client is known by the key of its certificate, or by
// its address if there is no TLS. A field that is 0 has the default value.
//
// No client gets more of Memory, Running or Streams than is free. So some greedy clients always leave a part to others: as
// their calls end, and as streams of those who have too many are ended.
type Limits struct {
	Memory  int64 // bytes of requests and answers that are in memory at one time; default 256 MiB, at least two messages
	Running int   // calls at one time, those that wait too; default 4,096
	Open    int   // connections; default 8,192, at most a quarter of them from one address
	Streams int   // streams of the log at one time, which take up to 2 MiB each; default 128

	Calls         int   // calls a second of one client; default 1,000; twice as many at once
	Bytes         int64 // bytes a second that one client sends; default 16 MiB; at once: four times as many
	Proofs        int   // proofs a second that one client submits; default 1,000; twice as many at once. Each KiB of a request counts as one
	ClientRunning int   // calls of one client at one time; default 256. It also has a quarter of Memory, or one message if that is more
	ClientStreams int   // streams of one client at one time; default 16
}

// Default limits.
const (
	DefaultMemory        = 256 << 20
	DefaultRunning       = 4096
	DefaultOpen          = 8192
	DefaultStreams       = 128
	DefaultCalls         = 1000
	DefaultBytes         = 16 << 20
	DefaultProofs        = 1000
	DefaultClientRunning = 256
	DefaultClientStreams = 16
)

// proofBytes is the number of bytes of a request that count as one proof. The range proof of one output takes about as
// many, with its share of the rest.
const proofBytes = 1 << 10

// maxAllowances is the number of clients that a server remembers. A client that it forgets begins with a full allowance.
const maxAllowances = 8192

// copies is how many times the bytes of a request or an answer are in memory while a call runs: as they arrive or leave,
// in the message, and as the copy of the validator or the ledger.
const copies = 3

// maxReading is how many calls read from the ledger at one time what may be large, and maxOwnReading how many of one
// client. Its size is known, and counts, when it has been read.
const (
	maxReading    = 8
	maxOwnReading = 2
)

func (l *Limits) fill() error {
	for _, f := range []struct {
		name         string
		value        *int64
		initial, min int64
	}{{"memory", &l.Memory, DefaultMemory, 2 * copies * rpc.MaxMessage}, {"bytes a second", &l.Bytes, DefaultBytes, 1 << 10}} {
		if *f.value == 0 {
			*f.value = f.initial
		}
		if *f.value < f.min {
			return refused("a limit of %d for %s, accepted are %d or more", *f.value, f.name, f.min)
		}
	}
	for _, f := range []struct {
		name    string
		value   *int
		initial int
	}{
		{"calls", &l.Running, DefaultRunning},
		{"connections", &l.Open, DefaultOpen},
		{"streams", &l.Streams, DefaultStreams},
		{"calls a second", &l.Calls, DefaultCalls},
		{"proofs a second", &l.Proofs, DefaultProofs},
		{"calls of a client", &l.ClientRunning, DefaultClientRunning},
		{"streams of a client", &l.ClientStreams, DefaultClientStreams},
	} {
		if *f.value == 0 {
			*f.value = f.initial
		}
		if *f.value < 1 {
			return refused("a limit of %d for %s, accepted are 1 or more", *f.value, f.name)
		}
	}
	return nil
}

// limiter holds the limits of a server, and what is in use.
type limiter struct {
	Limits
	memory  atomic.Int64 // bytes in use
	running atomic.Int64
	streams atomic.Int64
	reading chan struct{} // has a value for each call that reads

	mu      sync.Mutex
	clients map[string]*list.Element // of *allowance
	order   *list.List               // the client that called last is in front
	open    map[string]int           // connections by address
	opened  int                      // all of them
}

// allowance is what one client may still do.
type allowance struct {
	key                  string
	calls, bytes, proofs *rate.Limiter
	running, streams     atomic.Int64
	held                 atomic.Int64  // bytes in use, of the limit of memory
	reading              chan struct{} // has a value for each call that reads
}

func newLimiter(l Limits) (*limiter, error) {
	if err := l.fill(); err != nil {
		return nil, err
	}
	return &limiter{Limits: l, clients: make(map[string]*list.Element), order: list.New(), reading: make(chan struct{}, maxReading), open: make(map[string]int)}, nil
}

// of returns the allowance of a client.
func (l *limiter) of(key string) *allowance {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, known := l.clients[key]; known {
		l.order.MoveToFront(e)
		return e.Value.(*allowance)
	}
	if l.order.Len() >= maxAllowances {
		l.forget()
	}
	a := &allowance{
		key: key, calls: rate.NewLimiter(rate.Limit(l.Calls), 2*l.Calls), bytes: rate.NewLimiter(rate.Limit(l.Bytes), 4*int(l.Bytes)),
		proofs:  rate.NewLimiter(rate.Limit(l.Proofs), max(2*l.Proofs, rpc.MaxMessage/proofBytes+rpc.MaxRequests)),
		reading: make(chan struct{}, maxOwnReading),
	}
	l.clients[key] = l.order.PushFront(a)
	return a
}

// forget forgets the client that has not called for longest, of those without a call. l.mu is locked.
func (l *limiter) forget() {
	for e := l.order.Back(); e != nil; e = e.Prev() {
		if a := e.Value.(*allowance); a.running.Load() == 0 {
			l.order.Remove(e)
			delete(l.clients, a.key)
			return
		}
	}
}

// connection counts a connection from an address, and reports whether there may be one more. If not, it is not counted.
func (l *limiter) connection(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened >= l.Open || l.open[address] >= max(1, l.Open/4) {
		return false
	}
	l.opened, l.open[address] = l.opened+1, l.open[address]+1
	return true
}

// disconnection ends the counting of a connection.
func (l *limiter) disconnection(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened--
	if l.open[address]--; l.open[address] == 0 {
		delete(l.open, address)
	}
}

// take takes n from a rate, or returns how much later n are there.
func take(r *rate.Limiter, what string, n int) error {
	now := time.Now()
	reservation := r.ReserveN(now, n)
	if !reservation.OK() {
		return &zkbench.LimitError{What: what, Estimate: int64(n), Max: int64(r.Burst())}
	}
	after := reservation.DelayFrom(now)
	if after == 0 {
		return nil
	}
	reservation.CancelAt(now)
	return &rpc.Busy{LimitError: &zkbench.LimitError{What: what, Estimate: int64(n), Max: int64(r.TokensAt(now))}, After: after}
}

// call counts a call, which runs until end is called.
func (l *limiter) call(a *allowance) (end func(), err error) {
	if err := take(a.calls, "calls of one client", 1); err != nil {
		return nil, err
	}
	return both(&a.running, &l.running, l.ClientRunning, l.Running, "calls")
}

// share returns how much one client may have of something that is limited to most in all, if it gets n and then all have
// used: as much as was free before (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches",
// IEEE/ACM Transactions on Networking 6, 1998, with the factor 1). It is less than n if more than most would be used.
func share(most, used, n int64) int64 { return most - used + n }

// both counts something of a client and in all, until back is called.
func both(own, all *atomic.Int64, mostOwn, mostAll int, what string) (back func(), err error) {
	back = func() { own.Add(-1); all.Add(-1) }
	switch n, m := own.Add(1), all.Add(1); {
	case n > int64(mostOwn):
		err = busy(what+" of one client at one time", n, int64(mostOwn))
	case n > share(int64(mostAll), m, 1):
		err = busy(what+" of one client at one time, while others have the rest", n, max(0, share(int64(mostAll), m, 1)))
	default:
		return back, nil
	}
	back()
	return nil, err
}

// busy returns the error of a limit that is reached for now.
func busy(what string, n, most int64) error {
	return &rpc.Busy{LimitError: &zkbench.LimitError{What: what, Estimate: n, Max: most}, After: time.Second}
}

// submits counts the proofs of requests.
func (l *limiter) submits(a *allowance, requests [][]byte) error {
	n := 0
	for _, r := range requests {
		n += 1 + len(r)/proofBytes
	}
	return take(a.proofs, "proofs that one client submits", n)
}

// bytes counts bytes of a request that have arrived. They are released also if it returns an error.
func (l *limiter) bytes(a *allowance, n int64) error {
	err := l.hold(a, n)
	if n > 0 && err == nil {
		err = take(a.bytes, "bytes that one client sends", int(n))
	}
	return err
}

// hold counts bytes of a client's requests or answers, until they are released: also if it returns an error.
func (l *limiter) hold(a *allowance, n int64) error {
	own, used := a.held.Add(copies*n), l.memory.Add(copies*n)
	const what = "bytes of requests and answers of one client at one time"
	if most := max(l.Memory/4, copies*rpc.MaxMessage); own > most {
		return busy(what, own, most)
	}
	if most := share(l.Memory, used, copies*n); own > most {
		return busy(what+", while others have the rest", own, max(0, most))
	}
	return nil
}

// release gives back bytes.
func (l *limiter) release(a *allowance, n int64) {
	a.held.Add(-copies * n)
	l.memory.Add(-copies * n)
}

// read calls read, of which no more than maxReading run at one time, and no more than maxOwnReading of one client.
func (l *limiter) read(ctx context.Context, read func() error) error {
	for _, slots := range []chan struct{}{callOf(ctx).allowance.reading, l.reading} {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return read()
}

// stream is a stream of a client, which counts until it is released.
type stream struct {
	*limiter
	of  *allowance
	end func()

	// Guarded by limiter.mu.
	ended bool
	why   error // why it ended before its call
}

// stream counts a stream, until release is called.
func (l *limiter) stream(a *allowance) (*stream, error) {
	end, err := both(&a.streams, &l.streams, l.ClientStreams, l.Streams, "streams")
	if err != nil {
		return nil, err
	}
	return &stream{limiter: l, of: a, end: end}, nil
}

// release ends the counting of the stream. Further calls do nothing.
func (s *stream) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		s.end()
	}
}

// keep releases the stream and returns an error if its client has more streams than it could have by now, and another one
// left. All later calls return that error too.
func (s *stream) keep() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, most := s.of.streams.Load(), max(1, share(int64(s.Streams), s.streams.Load(), 1))
	if s.ended || own <= most {
		return s.why
	}
	s.ended, s.why = true, busy("streams of one client at one time, while others have the rest", own, most)
	s.end()
	return s.why
}

package server

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc"
)

// Limits bound what a Server does, in all and for each client. A client is known by the key of its certificate, or by
// its address if there is no TLS. A field that is 0 has the default value.
type Limits struct {
	Memory  int64 // bytes of requests that are read or worked on at one time; default 256 MiB, at least one message
	Streams int   // streams of the log at one time; default 256

	Calls         int   // calls a second of one client; default 1,000; twice as many at once
	Bytes         int64 // bytes a second that one client sends; default 16 MiB; at once: four times as many
	Proofs        int   // proofs a second that one client submits; default 1,000; twice as many at once. Each KiB of a request counts as one
	ClientStreams int   // streams of one client at one time; default 16
}

// Default limits.
const (
	DefaultMemory        = 256 << 20
	DefaultStreams       = 256
	DefaultCalls         = 1000
	DefaultBytes         = 16 << 20
	DefaultProofs        = 1000
	DefaultClientStreams = 16
)

// proofBytes is the number of bytes of a request that count as one proof. The range proof of one output takes about as
// many, with its share of the rest.
const proofBytes = 1 << 10

// maxAllowances is the number of clients that a server remembers. One that it forgets begins with a full allowance.
const maxAllowances = 8192

// copies is how many times the bytes of a request are in memory while a call runs: as they arrive, in its message, and
// as the validator's copy.
const copies = 3

func (l *Limits) fill() error {
	for _, f := range []struct {
		name         string
		value        *int64
		initial, min int64
	}{{"memory", &l.Memory, DefaultMemory, copies * rpc.MaxMessage}, {"bytes a second", &l.Bytes, DefaultBytes, 1 << 10}} {
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
		{"streams", &l.Streams, DefaultStreams}, {"calls a second", &l.Calls, DefaultCalls},
		{"proofs a second", &l.Proofs, DefaultProofs}, {"streams of a client", &l.ClientStreams, DefaultClientStreams},
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
	streams atomic.Int64

	mu      sync.Mutex
	clients map[string]*list.Element // of *allowance
	order   *list.List               // the client that called last is in front
}

// allowance is what one client may still do.
type allowance struct {
	key                  string
	calls, bytes, proofs *rate.Limiter
	streams              atomic.Int64
}

func newLimiter(l Limits) (*limiter, error) {
	if err := l.fill(); err != nil {
		return nil, err
	}
	return &limiter{Limits: l, clients: make(map[string]*list.Element), order: list.New()}, nil
}

// of returns the allowance of a client.
func (l *limiter) of(key string) *allowance {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, known := l.clients[key]; known {
		l.order.MoveToFront(e)
		return e.Value.(*allowance)
	}
	if l.order.Len() == maxAllowances {
		oldest := l.order.Remove(l.order.Back()).(*allowance)
		delete(l.clients, oldest.key)
	}
	a := &allowance{
		key: key, calls: rate.NewLimiter(rate.Limit(l.Calls), 2*l.Calls), bytes: rate.NewLimiter(rate.Limit(l.Bytes), 4*int(l.Bytes)),
		proofs: rate.NewLimiter(rate.Limit(l.Proofs), max(2*l.Proofs, rpc.MaxMessage/proofBytes)),
	}
	l.clients[key] = l.order.PushFront(a)
	return a
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

// call counts a call.
func (l *limiter) call(a *allowance) error { return take(a.calls, "calls of one client", 1) }

// submits counts the proofs of requests.
func (l *limiter) submits(a *allowance, requests [][]byte) error {
	n := 0
	for _, r := range requests {
		n += 1 + len(r)/proofBytes
	}
	return take(a.proofs, "proofs that one client submits", n)
}

// bytes counts bytes that have arrived, also if it returns an error: they must be released.
func (l *limiter) bytes(a *allowance, n int64) error {
	if used := l.memory.Add(copies * n); used > l.Memory {
		return &rpc.Busy{LimitError: &zkbench.LimitError{What: "bytes of requests at one time", Estimate: used, Max: l.Memory}, After: time.Second}
	}
	if n == 0 {
		return nil
	}
	return take(a.bytes, "bytes that one client sends", int(n))
}

// release gives back bytes.
func (l *limiter) release(n int64) { l.memory.Add(-copies * n) }

// stream counts a stream, until release is called.
func (l *limiter) stream(a *allowance) (release func(), err error) {
	back := func() { a.streams.Add(-1); l.streams.Add(-1) }
	own, all := a.streams.Add(1), l.streams.Add(1)
	switch {
	case own > int64(l.ClientStreams):
		err = &rpc.Busy{LimitError: &zkbench.LimitError{What: "streams of one client", Estimate: own, Max: int64(l.ClientStreams)}, After: time.Second}
	case all > int64(l.Streams):
		err = &rpc.Busy{LimitError: &zkbench.LimitError{What: "streams", Estimate: all, Max: int64(l.Streams)}, After: time.Second}
	default:
		return back, nil
	}
	back()
	return nil, err
}

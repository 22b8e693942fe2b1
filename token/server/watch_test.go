package server_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/server"
)

// reads is a store that counts the reads of each record, and calls before each of them.
type reads struct {
	*bolt.Ledger
	before func(ctx context.Context, anchor string)

	mu     sync.Mutex
	counts map[string]int // by anchor
}

func (r *reads) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	r.mu.Lock()
	r.counts[string(anchor)]++
	r.mu.Unlock()
	if r.before != nil {
		r.before(ctx, string(anchor))
	}
	return r.Ledger.Record(ctx, anchor)
}

func (r *reads) of(anchor string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[anchor]
}

// through returns a function for openWith.
func (r *reads) through(l *bolt.Ledger) ledger.Store {
	r.Ledger, r.counts = l, make(map[string]int)
	return r
}

// TestWakes: a new record wakes the call that waits for it, and no other one, whether this process wrote it or another one
// did.
func TestWakes(t *testing.T) {
	t.Parallel()
	store := new(reads)
	var b *bank
	b = openWith(t, server.Options{}, nil, func(_ context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		verdicts := make([]ledger.Verdict, len(requests))
		for i, r := range requests { // which are anchors
			apply(t, b, string(r))
			record, _, err := b.store.Record(t.Context(), r)
			verdicts[i] = ledger.Verdict{Anchor: r, Record: &record, Err: err}
		}
		return verdicts, nil
	}, store.through)
	c := b.dial(t, client.Options{Patience: -1})
	const others = 5
	var waiting sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for n := range others {
		waiting.Go(func() {
			if _, _, err := c.WaitRecord(ctx, fmt.Append(nil, "other ", n), time.Minute); ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	for n := range others { // a call that waits has read when it came, and when it began to wait
		for store.of(fmt.Sprint("other ", n)) < 2 {
			time.Sleep(time.Millisecond)
		}
	}
	for n := range 5 {
		for _, write := range []struct {
			by string
			do func(anchor string)
		}{
			{"this process", func(anchor string) { b.post(t, "Submit", map[string]any{"requests": [][]byte{[]byte(anchor)}}) }},
			{"another process", func(anchor string) { apply(t, b, anchor) }},
		} {
			anchor := fmt.Sprint(write.by, " ", n)
			var found sync.WaitGroup
			found.Go(func() {
				_, ok, err := c.WaitRecord(t.Context(), []byte(anchor), time.Minute)
				must.Do(t, err)
				golden.Equal(t, anchor, true, ok)
			})
			for store.of(anchor) < 2 {
				time.Sleep(time.Millisecond)
			}
			write.do(anchor)
			found.Wait()
		}
	}
	for n := range others {
		if got, most := store.of(fmt.Sprint("other ", n)), 3; got > most { // once more when the server looked first
			t.Errorf("call %d, whose record was not written, read %d times; at most %d are needed", n, got, most)
		}
	}
	stop()
	waiting.Wait()
}

// TestReadingSlots: a client whose reads take long leaves reads to others.
func TestReadingSlots(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	begun := make(chan string, 64)
	store := &reads{before: func(_ context.Context, anchor string) {
		begun <- anchor
		if anchor == "slow" {
			<-release
		}
	}}
	b := openSecuredThrough(t, server.Limits{}, refuses, store.through)
	greedy, other := b.as(t, "greedy"), b.as(t, "other")
	const calls = 2 * server.MaxReading
	var slow sync.WaitGroup
	for range calls {
		slow.Go(func() {
			_, _, err := greedy.Record(t.Context(), []byte("slow"))
			must.Do(t, err)
		})
	}
	for range server.MaxOwnReading {
		<-begun
	}
	waitRunning(b.bank, calls)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, _, err := other.Record(ctx, []byte("quick"))
	must.Do(t, err)
	golden.Equal(t, "slow reads at one time", server.MaxOwnReading, store.of("slow"))
	close(release)
	slow.Wait()
	golden.Equal(t, "slow reads", calls, store.of("slow"))
}

package token

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/request"
)

// The sizes of a request and of its tokens, in bytes. The request has two inputs and two
// outputs on BN254 with 32 bits, a bulletproof, owners with Ed25519 keys, one auditor, and
// an anchor (transaction id) of 32 bytes.
const (
	anchorLen  = 32
	requestLen = 2614
	tokenLen   = 67
	perRequest = 2 // number of inputs, and of outputs
)

// The maximum memory in bytes, as measured.
const (
	fileBytes  = 256       // per token: the ledger's file, which the system keeps in memory if it can
	applyBytes = 160 << 10 // per request that is applied: mainly pages of the file that change
)

// LedgerApply returns the workload that applies batches of accepted requests to an embedded
// ledger.
func LedgerApply() workload.Def {
	batch := workload.BatchAxis()
	batch.Default = []string{"256"}
	return workload.Def{
		Name: "LedgerApply", Noun: "applying a batch of requests to a ledger",
		Doc: "apply a batch of requests with two inputs and two outputs durably to a bbolt ledger in the directory for temporary files; " +
			"a ledger does not decode requests, so they are random bytes of a real request's length; the time includes numbering them, about 0.5 us per request",
		Axes: []workload.Axis{batch, workload.TokensAxis()},
		Memory: func(c workload.Case) (workload.Memory, error) {
			batch, err := c.Int("batch")
			if err != nil {
				return workload.Memory{}, err
			}
			before, err := c.With("tokens", workload.TokensAxis().ValueOf(c)).Int("tokens")
			requests := uint64(batch) * (requestLen + perRequest*(tokenLen+anchorLen) + 512)
			return workload.Memory{Base: systemBytes + uint64(before)*fileBytes, Input: requests, Operation: uint64(batch) * applyBytes}, err
		},
		New: newLedgerApply,
	}
}

// ledgerApply is a ledger that grows with every operation. An operation puts its number
// into the anchors of its input's entries, so that one input gives new entries each time.
// The entries spend tokens that an earlier operation or the set-up has made.
type ledgerApply struct {
	seed   uint64
	batch  int
	dir    string
	ledger *bolt.Ledger

	mu      sync.Mutex
	number  uint64
	unspent []tokens // in the order in which they were made and are spent; each is for one operation
}

// tokens returns the id of the i-th of perRequest times batch unspent tokens.
type tokens func(i int) token.ID

func newLedgerApply(ctx context.Context, c workload.Case, seed uint64) (_ workload.Instance, err error) {
	l := &ledgerApply{seed: seed}
	if l.batch, err = c.Int("batch"); err != nil {
		return nil, err
	}
	before, err := c.With("tokens", workload.TokensAxis().ValueOf(c)).Int("tokens")
	if err != nil {
		return nil, err
	}
	if l.dir, err = os.MkdirTemp("", "zkbench-ledger-"); err != nil {
		return nil, err
	}
	if l.ledger, err = bolt.Create(filepath.Join(l.dir, "ledger.db"), ledger.Genesis{}); err == nil {
		err = l.fill(ctx, before)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// issued is the number of tokens that one entry issues, and issuedTogether the number of such entries that are applied
// at once: few, to use little memory.
const (
	issued         = 64
	issuedTogether = 64
)

// fill issues n tokens with evenly spread ids, in the order of the ids, because this is the
// fastest way to grow a ledger. It divides them among operations so that the tokens of one
// operation are spread over the whole ledger.
func (l *ledgerApply) fill(ctx context.Context, n int) error {
	entries := (n + issued - 1) / issued
	anchor := func(i int) []byte {
		b := make([]byte, anchorLen)
		binary.BigEndian.PutUint64(b, uint64(i)*(math.MaxUint64/uint64(entries)))
		return b
	}
	if err := l.issue(ctx, n, anchor); err != nil {
		return err
	}
	sets := n / (perRequest * l.batch)
	for k := range sets {
		l.unspent = append(l.unspent, func(i int) token.ID {
			t := i*sets + k
			return request.OutputID(anchor(t/issued), 0, t%issued)
		})
	}
	return nil
}

// issue issues n tokens in entries with the given anchors.
func (l *ledgerApply) issue(ctx context.Context, n int, anchor func(i int) []byte) error {
	encoded := make([]byte, tokenLen)
	var batch []ledger.Entry
	for i := 0; n > 0; i++ {
		e := ledger.Entry{Anchor: anchor(i), Time: blockTime}
		for j := range min(n, issued) {
			e.Creates = append(e.Creates, ledger.Created{ID: request.OutputID(e.Anchor, 0, j), Token: encoded})
		}
		batch = append(batch, e)
		if n -= len(e.Creates); n > 0 && len(batch) < issuedTogether {
			continue
		}
		if err := l.ledger.Apply(ctx, batch); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return nil
}

// Input draws the entries of a sequence number. Run completes them with an operation's
// number, and with the tokens that it spends and creates.
func (l *ledgerApply) Input(_ context.Context, seq uint64) (any, error) {
	r := (&setup{seed: l.seed}).corpus("entries", seq)
	entries := make([]ledger.Entry, l.batch)
	for i := range entries {
		e := &entries[i]
		drawn := r.bytes(anchorLen + len(e.Digest) + requestLen + perRequest*tokenLen)
		next := func(n int) (b []byte) {
			b, drawn = drawn[:n:n], drawn[n:]
			return b
		}
		e.Anchor, e.Time = next(anchorLen), blockTime
		copy(e.Digest[:], next(len(e.Digest)))
		e.Request = next(requestLen)
		for range perRequest {
			e.Creates = append(e.Creates, ledger.Created{Token: next(tokenLen)})
		}
	}
	return entries, nil
}

// numbered returns the anchor that an entry has in the operation with the given number.
func numbered(anchor []byte, number uint64) []byte {
	b := append([]byte(nil), anchor...)
	// The factor is odd, so that no two numbers give the same anchor. Half of its bits are
	// set, so that ids stay spread.
	binary.BigEndian.PutUint64(b, binary.BigEndian.Uint64(b)^number*0x9e3779b97f4a7c15)
	return b
}

// Run applies a batch and returns the operation's number. If no unspent tokens are left, it
// first issues those that it spends. Only the first operations that run at the same time
// do so, and the warm-up includes them.
func (l *ledgerApply) Run(ctx context.Context, input any) ([]byte, error) {
	number, spends, err := l.take(ctx)
	if err != nil {
		return nil, err
	}
	entries := input.([]ledger.Entry)
	batch := make([]ledger.Entry, len(entries))
	for i, e := range entries {
		e.Anchor = numbered(e.Anchor, number)
		// Two outputs of one request are next to each other in the ledger, so it spends those of different requests.
		e.Spends = []token.ID{spends(perRequest * i), spends(perRequest*((i+1)%len(entries)) + 1)}
		e.Creates = slices.Clone(e.Creates)
		for j := range e.Creates {
			e.Creates[j].ID = request.OutputID(e.Anchor, 0, j)
		}
		batch[i] = e
	}
	if err := l.ledger.Apply(ctx, batch); err != nil {
		return nil, err
	}
	l.give(func(i int) token.ID {
		return request.OutputID(numbered(entries[i/perRequest].Anchor, number), 0, i%perRequest)
	})
	return binary.BigEndian.AppendUint64(nil, number), nil
}

// take returns the number of an operation and the tokens that it spends.
func (l *ledgerApply) take(ctx context.Context) (uint64, tokens, error) {
	l.mu.Lock()
	l.number++
	number := l.number
	if len(l.unspent) > 0 {
		spends := l.unspent[0]
		l.unspent = l.unspent[1:]
		l.mu.Unlock()
		return number, spends, nil
	}
	l.mu.Unlock()
	anchor := func(i int) []byte {
		b := make([]byte, anchorLen)
		binary.BigEndian.PutUint64(b[8:], uint64(i)+1) // 0 is for the entries of fill
		return numbered(b, number)
	}
	err := l.issue(ctx, perRequest*l.batch, anchor)
	return number, func(i int) token.ID { return request.OutputID(anchor(i/issued), 0, i%issued) }, err
}

func (l *ledgerApply) give(t tokens) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unspent = append(l.unspent, t)
}

// Check makes sure that every request of the operation is on the ledger, and that the
// ledger refuses another in its place.
func (l *ledgerApply) Check(ctx context.Context, input any, output []byte) error {
	number := binary.BigEndian.Uint64(output)
	for i, e := range input.([]ledger.Entry) {
		e.Anchor = numbered(e.Anchor, number)
		if r, found, err := l.ledger.Record(ctx, e.Anchor); err != nil || !found || r.Digest != e.Digest {
			return fmt.Errorf("request %d of operation %d is not on the ledger: %v", i, number, err)
		}
		if i > 0 {
			continue
		}
		e.Digest[0] ^= 1
		e.Creates = nil
		if err := l.ledger.Apply(ctx, []ledger.Entry{e}); !errors.Is(err, zkbench.ErrAnchorConflict) {
			return fmt.Errorf("another request in the place of request %d was not refused for that: %v", i, err)
		}
	}
	return nil
}

// Metrics returns the number of requests per operation, and the length of a request.
func (l *ledgerApply) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{
		record.Requests.Metric(float64(l.batch)),
		record.RequestSize.Metric(requestLen),
	}, nil
}

// Close removes the ledger.
func (l *ledgerApply) Close() (err error) {
	if l.ledger != nil {
		err = l.ledger.Close()
	}
	return errors.Join(err, os.RemoveAll(l.dir))
}

package validator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
)

// maxLate is the maximum number of times that a Submitter validates a request again because its time is too
// early.
const maxLate = 64

// Submitter validates requests and applies them to a store, in one process. It chooses the time of the block
// in which the requests are recorded: the time of its clock, or the ledger's last time if the clock is
// behind. It is safe for concurrent use.
type Submitter struct {
	v     *Validator
	store ledger.Store
	clock func() time.Time
}

var _ ledger.Submitter = (*Submitter)(nil)

// NewSubmitter returns a Submitter for a validator and the store of its ledger. If clock is nil, it uses
// time.Now. NewSubmitter returns ErrParams if the validator is for another ledger.
func NewSubmitter(v *Validator, store ledger.Store, clock func() time.Time) (*Submitter, error) {
	if id := store.Genesis().ID(); id != v.ledger {
		return nil, fmt.Errorf("%w: a validator of ledger %x for ledger %x", zkbench.ErrParams, v.ledger, id)
	}
	if clock == nil {
		clock = time.Now
	}
	return &Submitter{v: v, store: store, clock: clock}, nil
}

// blockTime returns the time of the next block: the clock's, or the last block's if that is later. It returns
// a *ledger.AheadError if the last block is further ahead of the clock than the policy allows.
func (v *Validator) blockTime(clock, last time.Time) (time.Time, error) {
	if !last.After(clock) {
		return clock, nil
	}
	if most := v.current.Load().Limits.Ahead; last.Sub(clock) > most {
		return time.Time{}, &ledger.AheadError{Time: last, Clock: clock, Max: most}
	}
	return last, nil
}

// Submit implements ledger.Submitter. It applies the requests in batches that are within the
// store's limits.
//
// Submit looks up each request by its anchor and digest before it verifies anything. If Submit refuses a
// request, it looks the request up once more, because another validator may have recorded it in the meantime.
//
// If the ledger's policy has changed, Submit follows the update and validates the refused requests again. So
// a request that comes after an update is checked under the new policy, even if another validator recorded
// the update. If the ledger rejects a request because its time is too early, Submit validates it again at the
// ledger's last time. After 64 such attempts it returns the *ledger.TimeError.
//
// If the ledger's last time is further ahead of the clock than the policy allows, Submit writes nothing.
// Requests that are not on the ledger then get a *ledger.AheadError.
//
// If ctx has a span of OpenTelemetry, Submit adds spans below it for validating and for writing.
func (s *Submitter) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	b := &submission{Submitter: s, requests: make([]submitted, len(requests)), verdicts: make([]ledger.Verdict, len(requests))}
	all := make([]int, len(requests))
	for i, raw := range requests {
		all[i], b.requests[i].raw = i, raw
		if id, err := entry.KeyOf(raw); err == nil {
			b.requests[i].Key = id
		}
		b.verdicts[i].Anchor = b.requests[i].Anchor
	}
	left, err := b.find(ctx, all)
	if err != nil {
		return nil, err
	}
	if len(left) == 0 {
		return b.verdicts, nil
	}
	state, err := s.store.State(ctx)
	if err != nil {
		return nil, err
	}
	b.land(ctx, left, state.Time)
	return b.verdicts, nil
}

// submitted is an encoded request with its anchor and digest.
type submitted struct {
	raw       []byte
	entry.Key // zero if it does not decode
}

// submission is one call of Submit.
type submission struct {
	*Submitter
	requests []submitted
	verdicts []ledger.Verdict
}

// find sets the verdicts of requests whose anchors are on the ledger, and returns the other requests. If it
// returns an error, it has set no verdict.
func (b *submission) find(ctx context.Context, among []int) (others []int, err error) {
	// The last version of a policy is never current, and no digest is zero. So a store that
	// has an anchor rejects its probe for the anchor, and another one for the policy.
	var probes []ledger.Entry
	var of []int
	for _, i := range among {
		if anchor := b.requests[i].Anchor; anchor != nil {
			probes, of = append(probes, ledger.Entry{Anchor: anchor, Policy: math.MaxUint64}), append(of, i)
		}
	}
	known := make(map[int]bool, len(of))
	for len(probes) > 0 {
		n := fit(probes)
		decision, err := b.store.Decide(ctx, probes[:n])
		if err != nil {
			return nil, err
		}
		for k, i := range of[:n] {
			known[i] = errors.Is(decision.Rejected[k], zkbench.ErrAnchorConflict)
		}
		probes, of = probes[n:], of[n:]
	}
	for _, i := range among {
		if !known[i] {
			others = append(others, i)
		} else if err := b.record(ctx, i); err != nil {
			b.verdicts[i].Err = err
		}
	}
	return others, nil
}

// record sets the verdict of a request whose anchor is on the ledger.
func (b *submission) record(ctx context.Context, i int) error {
	r, found, err := b.store.Record(ctx, b.requests[i].Anchor)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w: the ledger does not have the anchor %x any more", zkbench.ErrEnv, b.requests[i].Anchor)
	}
	digest, err := b.requests[i].Digest(b.store.Genesis().ForRecord(r.Seq).ID())
	switch v := &b.verdicts[i]; {
	case err != nil:
		return err
	case r.Digest != digest:
		v.Err = failed("anchor", -1, -1, zkbench.ErrAnchorConflict)
	default:
		v.Record, v.Err = &r, nil
	}
	return nil
}

// land validates and applies the requests in left. last is the ledger's last time.
func (b *submission) land(ctx context.Context, left []int, last time.Time) {
	for rounds := 0; ; rounds++ {
		at, err := b.v.blockTime(b.clock(), last)
		if err != nil {
			b.fail(left, err)
			return
		}
		version := b.v.current.Load().Version
		updated := b.apply(ctx, left, at)
		var refused, late []int
		for _, i := range left {
			if _, ok := errors.AsType[*zkbench.CheckError](b.verdicts[i].Err); ok {
				refused = append(refused, i)
			}
		}
		// Another validator may have recorded what is refused here, for example because its
		// tokens are spent: its sender must not pay again.
		others, err := b.find(ctx, refused)
		if err != nil {
			b.fail(refused, err)
			return
		}
		if refused = others; !updated && len(refused) == 0 {
			return
		}
		if err := b.v.Follow(ctx, b.store); err != nil {
			for _, i := range refused {
				b.verdicts[i].Err = fmt.Errorf("%w; and the policy cannot be followed: %w", b.verdicts[i].Err, err)
			}
			return
		}
		for _, i := range refused {
			if t, ok := errors.AsType[*ledger.TimeError](b.verdicts[i].Err); ok {
				late = append(late, i)
				if t.Last.After(last) {
					last = t.Last
				}
			}
		}
		if left = refused; b.v.current.Load().Version == version {
			if left = late; !last.After(at) || rounds >= maxLate {
				return
			}
		}
		if len(left) == 0 {
			return
		}
	}
}

// fail sets an error that does not say whether the requests are valid.
func (b *submission) fail(requests []int, err error) {
	for _, i := range requests {
		b.verdicts[i].Err = err
	}
}

// traced starts a span about some requests, if the context has one.
func traced(ctx context.Context, name string, requests int) (context.Context, trace.Span) {
	tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer("github.com/zkbench/zkbench/token/validator")
	return tracer.Start(ctx, name, trace.WithAttributes(attribute.Int("zkbench.requests", requests)))
}

// apply validates and applies the requests in left once. It reports whether one of them was a valid update.
func (b *submission) apply(ctx context.Context, left []int, at time.Time) (updated bool) {
	raws := make([][]byte, len(left))
	for k, i := range left {
		raws[k] = b.requests[i].raw
	}
	var entries []ledger.Entry
	var of []int
	validating, span := traced(ctx, "validate", len(raws))
	results := b.v.ValidateBatch(validating, b.store, raws, at)
	span.End()
	for k, r := range results {
		if b.verdicts[left[k]].Err = r.Err; r.Err == nil {
			updated = updated || r.Valid.Update != nil
			entries, of = append(entries, r.Valid.Entry()), append(of, left[k])
		}
	}
	for len(entries) > 0 {
		n := fit(entries)
		writing, span := traced(ctx, "write", n)
		rejected, err := b.store.ApplyEach(writing, entries[:n])
		span.End()
		for k, i := range of[:n] {
			switch v := &b.verdicts[i]; {
			case err != nil:
				v.Err = err
			case rejected[k] != nil:
				v.Err = alone(rejected[k])
			default:
				if err := b.record(ctx, i); err != nil { // it is recorded, so it must not look refused
					v.Err = fmt.Errorf("%w: %w", zkbench.ErrOutcomeUnknown, err)
				}
			}
		}
		entries, of = entries[n:], of[n:]
	}
	return updated
}

// alone returns the rejection of an entry without its index in the batch, which the sender does not know.
func alone(rejected error) error {
	if c, ok := rejected.(*zkbench.CheckError); ok {
		return failed(c.Check, -1, c.Index, c.Err)
	}
	return rejected
}

// fit returns how many entries, from the first, a store takes in one batch. It returns at least 1.
func fit(entries []ledger.Entry) int {
	size := 0
	for n := range entries {
		if size += entries[n].Size(); n > 0 && (n == ledger.MaxBatch || size > ledger.MaxBatchBytes) {
			return n
		}
	}
	return len(entries)
}

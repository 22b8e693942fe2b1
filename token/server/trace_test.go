package server_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/server"
)

const (
	getLedger = "zkbench.token.v1.LedgerService/GetLedger"
	submit    = "zkbench.token.v1.LedgerService/Submit"
)

// traced serves a new ledger, and returns what it has traced.
func traced(t *testing.T, s sdk.Sampler, submit submitFunc) (*bank, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSampler(s), sdk.WithSpanProcessor(recorder))
	return openWith(t, server.Options{Traces: provider}, nil, submit, func(l *bolt.Ledger) ledger.Store { return l }), recorder
}

// named returns the spans of a name that have ended, in the order in which they ended.
func named(r *tracetest.SpanRecorder, name string) (all []sdk.ReadOnlySpan) {
	for _, s := range r.Ended() {
		if s.Name() == name {
			all = append(all, s)
		}
	}
	return all
}

// sharedBatch submits two requests, and while these are decided on, one request each of two calls, which share a batch. It
// returns the span of that batch if there is one.
func sharedBatch(t *testing.T, s sdk.Sampler) (*tracetest.SpanRecorder, sdk.ReadOnlySpan) {
	begun, release := make(chan int, 2), make(chan struct{})
	b, recorder := traced(t, s, func(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
		begun <- len(requests)
		<-release
		return refuses(ctx, requests)
	})
	c := b.dial(t, client.Options{})
	var calls sync.WaitGroup
	submits := func(requests ...[]byte) {
		running := testutil.ToFloat64(gauge{b, "zkbench_calls_running"})
		calls.Go(func() { must.Get(c.Submit(t.Context(), requests))(t) })
		for testutil.ToFloat64(gauge{b, "zkbench_calls_running"}) == running {
			time.Sleep(time.Millisecond)
		}
	}
	submits([]byte("secret 1"), []byte("secret 2"))
	golden.Equal(t, "requests of the first batch", 2, <-begun)
	submits([]byte("secret 3"))
	submits([]byte("secret 4"))
	golden.Equal(t, "requests of the second batch", 2, <-begun)
	close(release)
	calls.Wait()
	b.server.Stop()
	must.Do(t, b.http.Shutdown(t.Context())) // all spans have ended
	for _, s := range named(recorder, "batch") {
		if slices.Contains(s.Attributes(), attribute.Int("zkbench.calls", 2)) {
			return recorder, s
		}
	}
	return recorder, nil
}

// TestTraces checks that a batch is below one of its calls, and that the other one has a link to it. No span has what a request
// contains.
func TestTraces(t *testing.T) {
	t.Parallel()
	recorder, shared := sharedBatch(t, sdk.AlwaysSample())
	names := make(map[string]int)
	byID := make(map[trace.SpanID]sdk.ReadOnlySpan)
	for _, s := range recorder.Ended() {
		names[s.Name()]++
		byID[s.SpanContext().SpanID()] = s
		golden.Equal(t, "status of "+s.Name(), sdk.Status{}, s.Status())
		for _, a := range s.Attributes() {
			switch a.Key {
			case "rpc.system.name", "rpc.method", "zkbench.requests", "zkbench.calls":
			default:
				t.Errorf("%s has the attribute %s", s.Name(), a.Key)
			}
			if strings.Contains(a.Value.String(), "secret") {
				t.Errorf("%s: %s is %s", s.Name(), a.Key, a.Value.String())
			}
		}
	}
	golden.Equal(t, "spans", map[string]int{getLedger: 1, submit: 3, "wait for a batch": 3, "batch": 2}, names)
	for _, s := range append(named(recorder, "wait for a batch"), named(recorder, "batch")...) {
		golden.Equal(t, "parent of "+s.Name(), submit, byID[s.Parent().SpanID()].Name())
	}
	golden.Equal(t, "the shared batch says its requests", true, slices.Contains(shared.Attributes(), attribute.Int("zkbench.requests", 2)))
	links := 0
	for _, s := range named(recorder, submit) {
		golden.Equal(t, "a call is a root", false, s.Parent().IsValid())
		for _, l := range s.Links() {
			links++
			golden.Equal(t, "link to the shared batch", true, l.SpanContext.Equal(shared.SpanContext()))
			golden.Equal(t, "link of the parent", false, shared.Parent().Equal(s.SpanContext()))
		}
	}
	golden.Equal(t, "links", 1, links)
}

// everySecond samples every second span.
type everySecond struct{ spans atomic.Int64 }

func (s *everySecond) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if s.spans.Add(1)%2 == 0 {
		return sdk.AlwaysSample().ShouldSample(p)
	}
	return sdk.NeverSample().ShouldSample(p)
}

func (*everySecond) Description() string { return "every second span" }

// TestSampledBatch checks that a batch is sampled if its second call is: GetLedger is the first root, and the calls of the batch
// are the third and the fourth.
func TestSampledBatch(t *testing.T) {
	t.Parallel()
	recorder, shared := sharedBatch(t, sdk.ParentBased(new(everySecond)))
	golden.Equal(t, "sampled calls", 2, len(named(recorder, submit)))
	if shared == nil {
		t.Fatal("the batch is not sampled")
	}
	golden.Equal(t, "the parent is sampled", true, shared.Parent().IsSampled())
}

// TestTracesOfClients checks that a client can neither have its calls sampled nor choose a trace, and that its trace context
// becomes a link without the state, which is any text.
func TestTracesOfClients(t *testing.T) {
	t.Parallel()
	call := func(b *bank) {
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/"+getLedger, strings.NewReader("{}")))(t)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("traceparent", "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01")
		r.Header.Set("tracestate", "any=text")
		answer := must.Get(http.DefaultClient.Do(r))(t)
		must.Do(t, answer.Body.Close())
		golden.Equal(t, "status", http.StatusOK, answer.StatusCode)
	}
	b, recorder := traced(t, sdk.ParentBased(sdk.NeverSample()), refuses)
	call(b)
	golden.Equal(t, "spans that the client has chosen", 0, len(recorder.Started()))

	b, recorder = traced(t, sdk.ParentBased(sdk.AlwaysSample()), refuses)
	call(b)
	s := recorder.Started()[0]
	golden.Equal(t, "parent", false, s.Parent().IsValid())
	golden.Equal(t, "links", 1, len(s.Links()))
	got := s.Links()[0].SpanContext
	golden.Equal(t, "trace of the link", "0102030405060708090a0b0c0d0e0f10", got.TraceID().String())
	golden.Equal(t, "state of the link", "", got.TraceState().String())
	if s.SpanContext().TraceID() == got.TraceID() {
		t.Error("the client has chosen the trace")
	}
}

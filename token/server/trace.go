package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// tracerName is the instrumentation scope of the server's spans.
const tracerName = "github.com/zkbench/zkbench/token/server"

// newTracer returns the tracer of a provider, one without traces if it is nil.
func newTracer(p trace.TracerProvider) trace.Tracer {
	if p == nil {
		p = noop.NewTracerProvider()
	}
	return p.Tracer(tracerName)
}

// traced starts the span of a call, and returns a context with it.
//
// The trace context that a client sends becomes a link. It is never the parent: a parent decides whether a span is sampled,
// by its flag or by the trace's id, so any client could have all its calls exported.
func (s *Server) traced(ctx context.Context, spec connect.Spec, header http.Header) context.Context {
	method := strings.TrimPrefix(spec.Procedure, "/")
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("rpc.system.name", "connectrpc"), attribute.String("rpc.method", method)),
	}
	sent := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(header))
	if c := trace.SpanContextFromContext(sent); c.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: c.WithTraceState(trace.TraceState{})})) // the state is any text
	}
	ctx, _ = s.tracer.Start(ctx, method, options...)
	return ctx
}

// endSpan ends the span of a call. It has the code of an error, and not its text, which may quote the request.
func endSpan(ctx context.Context, code string, fault bool) {
	span := trace.SpanFromContext(ctx)
	if code != codeOK {
		span.SetAttributes(attribute.String("rpc.response.status_code", code))
	}
	if fault {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// requestsOf is the attribute of spans that says how many requests they are about.
func requestsOf(n int) trace.SpanStartEventOption {
	return trace.WithAttributes(attribute.Int("zkbench.requests", n))
}

// traceBatch ends the waiting of calls, and starts the span of their batch. Its parent is the first call that is sampled: so
// the batch is sampled if one of its calls is. The others have a link to the batch.
func (b *batcher) traceBatch(calls []*call, requests int) (context.Context, trace.Span) {
	sampled := func(c *call) bool { return c.span.SpanContext().IsSampled() }
	parent := calls[max(0, slices.IndexFunc(calls, sampled))]
	ctx, span := b.tracer.Start(trace.ContextWithSpan(context.Background(), parent.span), "batch", requestsOf(requests), trace.WithAttributes(attribute.Int("zkbench.calls", len(calls))))
	for _, c := range calls {
		c.waiting.End()
		if c != parent {
			c.span.AddLink(trace.Link{SpanContext: span.SpanContext()})
		}
	}
	return ctx, span
}

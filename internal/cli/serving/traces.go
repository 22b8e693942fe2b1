package serving

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token/server"
)

// flush is how long a server that has stopped waits until its last traces are exported.
const flush = 5 * time.Second

// protocolVariable is the variable for the protocol of all exporters. Its value for traces goes before it.
const protocolVariable = "OTEL_EXPORTER_OTLP_PROTOCOL"

// tracing reports whether the standard environment variables of OpenTelemetry ask for traces.
func tracing() bool {
	endpoint := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	return endpoint != "" && os.Getenv("OTEL_TRACES_EXPORTER") != "none" && !strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true")
}

// Trace makes the process export traces by OTLP over HTTP, if the standard environment variables of OpenTelemetry name an
// endpoint. service is the service's name unless they have another. The log gets the errors of the exporter.
func (p *Process) Trace(ctx context.Context, service string) error {
	if !tracing() {
		return nil
	}
	switch v := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv(protocolVariable)); v {
	case "", "http/protobuf", "http/json":
	default:
		return &argument.ValueError{Field: protocolVariable, Value: v, Accepted: "http/protobuf, http/json"}
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { p.Log.Warn("traces not exported", "error", err) }))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return err
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(attribute.String("service.name", service)), resource.WithFromEnv())
	if err != nil {
		return err
	}
	p.traces = trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
	return nil
}

// Options returns the options of the process's server, with default limits.
func (p *Process) Options() server.Options {
	o := server.Options{Log: p.Log, Metrics: p.Registry}
	if p.traces != nil {
		o.Traces = p.traces
	}
	return o
}

// endTraces exports what has not been exported.
func (p *Process) endTraces(ctx context.Context) {
	if p.traces == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flush)
	defer cancel()
	if err := p.traces.Shutdown(ctx); err != nil {
		otel.Handle(err)
	}
}

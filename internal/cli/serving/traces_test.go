package serving

import (
	"errors"
	"io"
	"testing"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestTrace checks which variables turn traces on and off, and that a protocol that is not spoken is refused.
func TestTrace(t *testing.T) {
	for _, name := range []string{"ENDPOINT", "TRACES_ENDPOINT", "PROTOCOL", "TRACES_PROTOCOL"} {
		t.Setenv("OTEL_EXPORTER_OTLP_"+name, "")
	}
	t.Setenv("OTEL_TRACES_EXPORTER", "")
	t.Setenv("OTEL_SDK_DISABLED", "")
	traces := func() bool {
		t.Helper()
		p := NewProcess(io.Discard)
		must.Do(t, p.Trace(t.Context(), "test"))
		p.endTraces(t.Context())
		return p.Options().Traces != nil
	}
	golden.Equal(t, "without an endpoint", false, traces())
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "http://127.0.0.1:1")
			golden.Equal(t, "with an endpoint", true, traces())
		})
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	for name, value := range map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_SDK_DISABLED": "true"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			golden.Equal(t, "turned off", false, traces())
		})
	}
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	err := NewProcess(io.Discard).Trace(t.Context(), "test")
	if refused, ok := errors.AsType[*argument.ValueError](err); !ok || refused.Field != protocolVariable {
		t.Errorf("the protocol grpc: %v", err)
	}
}

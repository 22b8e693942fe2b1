package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/server"
)

// grace is how long a server that stops waits for its calls.
const grace = 30 * time.Second

// StopTime is how long a server takes to stop at most: it waits for its calls, and exports its last traces.
const StopTime = grace + flush

// Process is a server as a process.
type Process struct {
	Listen       string        // host:port; port 0: one that is free
	Certificates *Certificates // nil: without TLS, on a loopback address only
	Metrics      string        // host:port of the page of metrics; empty: none
	Log          *slog.Logger
	Registry     *prometheus.Registry
	traces       *trace.TracerProvider // nil: none
}

// NewProcess returns a process that logs to w, one JSON object a line.
func NewProcess(w io.Writer) *Process {
	p := &Process{Log: slog.New(slog.NewJSONHandler(w, nil)), Registry: prometheus.NewRegistry()}
	p.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return p
}

// AcceptedListen says what Listen accepts.
const AcceptedListen = "host:port; a loopback address, for example 127.0.0.1:7300, unless there are certificates (--tls)"

// listen opens an address. field is the name of the flag that names it.
func listen(ctx context.Context, field, address string, loopback bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &argument.ValueError{Field: field, Value: address, Accepted: AcceptedListen}
	}
	if ip := net.ParseIP(host); loopback && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &argument.ValueError{Field: field, Value: address, Accepted: AcceptedListen}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return l, nil
}

// Run serves until ctx ends, and then answers the calls that have begun. ready is called with the server's URL, and with
// that of the metrics if there is one, when it can be reached.
func (p *Process) Run(ctx context.Context, s *server.Server, ready func(url, metrics string) error) (err error) {
	defer p.endTraces(ctx)
	l, err := listen(ctx, "listen", p.Listen, p.Certificates == nil)
	if err != nil {
		return err
	}
	url := "http://" + l.Addr().String()
	h := s.HTTP()
	if p.Certificates != nil {
		url = "https://" + l.Addr().String()
		h.TLSConfig = p.Certificates.Server()
		end := prometheus.NewGauge(prometheus.GaugeOpts{Name: "zkbench_certificate_end_seconds", Help: "When the server's certificate ends, in seconds since 1970-01-01 UTC."})
		end.Set(float64(p.Certificates.Own.Leaf.NotAfter.Unix()))
		p.Registry.MustRegister(end)
	}
	failed := make(chan error, 2)
	var pages *http.Server
	var page string
	if p.Metrics != "" {
		m, err := listen(ctx, "metrics", p.Metrics, false)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", promhttp.HandlerFor(p.Registry, promhttp.HandlerOpts{}))
		pages = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: grace, IdleTimeout: time.Minute}
		page = "http://" + m.Addr().String() + "/metrics"
		go func() { failed <- pages.Serve(m) }()
		defer func() { err = errors.Join(err, pages.Close()) }()
	}
	go func() {
		if p.Certificates != nil {
			failed <- h.ServeTLS(l, "", "")
		} else {
			failed <- h.Serve(l)
		}
	}()
	p.Log.Info("serving", "url", url, "metrics", page)
	if err := ready(url, page); err != nil {
		return errors.Join(err, h.Close())
	}
	select {
	case err := <-failed:
		return errors.Join(err, h.Close())
	case <-ctx.Done():
	}
	p.Log.Info("stopping")
	s.Stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err = h.Shutdown(ending)
	if errors.Is(err, context.DeadlineExceeded) { // a client that does not take its answer
		p.Log.Warn("stopped with calls that had not ended")
		err = h.Close()
	}
	return err
}

// Client returns the settings of a client that shows these certificates to a server with the given role.
func (c *Certificates) Client(role peer.Role) *tls.Config {
	return peer.Client(&c.Own, c.Authorities, role)
}

// Server returns the settings of a server with these certificates.
func (c *Certificates) Server() *tls.Config { return peer.Server(c.Own, c.Authorities) }

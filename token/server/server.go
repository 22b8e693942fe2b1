// Package server serves the parties of a token system over the network: a ledger with its validator, an auditor, an
// issuer. Programs call it by gRPC, gRPC-Web or HTTP with JSON, or in Go through package client. docs/serve.md describes
// the services, what a client is allowed, and what is logged and counted.
package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/peer"
)

// Options configures a Server. The zero value serves with the default limits, and neither logs, counts nor traces.
type Options struct {
	Limits  Limits
	Log     *slog.Logger          // calls that fail by the server's fault; it gets no secrets. nil: none
	Metrics prometheus.Registerer // nil: none
	Traces  trace.TracerProvider  // of each call, and of what a validator does with requests; without their contents. nil: none
}

// Service is one service of a Server.
type Service struct {
	name    string
	clients []peer.Role            // who may call it
	methods map[string][]peer.Role // who may call these procedures, in place of clients
	handler func(opts ...connect.HandlerOption) (path string, h http.Handler)
	header  func(http.Header)     // of each answer; nil: none
	attach  func(s *Server) error // nil: none
}

// Server answers the calls of one or more services. It is an http.Handler, and is safe for concurrent use.
type Server struct {
	log      *slog.Logger
	register prometheus.Registerer
	limits   *limiter
	metrics  *metrics
	tracer   trace.Tracer
	mux      *http.ServeMux
	health   *grpchealth.StaticChecker
	services []string
	slack    time.Duration // defaultSlack
	beat     time.Duration // rpc.Heartbeat

	stopping chan struct{}
	stop     sync.Once
}

var _ http.Handler = (*Server)(nil)

// New returns a server of services. It returns ErrParams if a limit is out of bounds, or the error of the registerer.
func New(o Options, services ...Service) (*Server, error) {
	limits, err := newLimiter(o.Limits)
	if err != nil {
		return nil, err
	}
	s := &Server{log: o.Log, register: o.Metrics, limits: limits, tracer: newTracer(o.Traces), mux: http.NewServeMux(), slack: defaultSlack, beat: rpc.Heartbeat, stopping: make(chan struct{})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.register == nil {
		s.register = prometheus.NewRegistry()
	}
	if s.metrics, err = newMetrics(s.register, limits); err != nil {
		return nil, err
	}
	for _, service := range services {
		s.services = append(s.services, service.name)
		if service.attach != nil {
			if err := service.attach(s); err != nil {
				return nil, err
			}
		}
		options := s.handled(rpc.MaxMessage)
		for _, c := range rpc.Codecs {
			options = append(options, connect.WithCodec(c))
		}
		path, h := service.handler(options...)
		s.mux.Handle(path, s.admit(service, h))
	}
	s.health = grpchealth.NewStaticChecker(s.services...)
	reflector := grpcreflect.NewStaticReflector(s.services...)
	for _, handler := range []func(...connect.HandlerOption) (string, http.Handler){
		func(o ...connect.HandlerOption) (string, http.Handler) { return grpchealth.NewHandler(s.health, o...) },
		func(o ...connect.HandlerOption) (string, http.Handler) {
			return grpcreflect.NewHandlerV1(reflector, o...)
		},
		func(o ...connect.HandlerOption) (string, http.Handler) {
			return grpcreflect.NewHandlerV1Alpha(reflector, o...)
		},
	} {
		path, h := handler(s.handled(maxStandard)...)
		s.mux.Handle(path, s.admit(Service{clients: peer.Roles()}, h))
	}
	return s, nil
}

// maxStandard is the greatest length in bytes of a message of the calls for health and reflection.
const maxStandard = 4 << 10

// handled returns the options of every handler. Nothing is compressed: what is sent is mostly random, and a few bytes must
// not become many.
func (s *Server) handled(most int) []connect.HandlerOption {
	return []connect.HandlerOption{
		connect.WithInterceptors(&interceptor{s}), connect.WithReadMaxBytes(most), connect.WithCompression("gzip", nil, nil), connect.WithRecover(s.recovered),
	}
}

// ServeHTTP answers a call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// HTTP returns an http.Server for the handler. It has deadlines for connections: for the headers of a call, for idle
// connections, and for those whose other end is gone. It closes a connection beyond the limits at once.
func (s *Server) HTTP() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: s, Protocols: protocols, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 10 * time.Minute, MaxHeaderBytes: 64 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 250, MaxReceiveBufferPerStream: 256 << 10, MaxReceiveBufferPerConnection: 512 << 10,
			SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second, WriteByteTimeout: 30 * time.Second,
		},
		ConnState: s.connection(),
		ErrorLog:  slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

// connection returns a function that counts connections.
func (s *Server) connection() func(net.Conn, http.ConnState) {
	var counted sync.Map // connections
	return func(c net.Conn, state http.ConnState) {
		address := addressOf(c.RemoteAddr().String())
		switch state {
		case http.StateNew:
			if s.limits.connection(address) {
				counted.Store(c, nil)
				return
			}
			s.metrics.refused.WithLabelValues("connections").Inc()
			_ = c.Close()
		case http.StateClosed, http.StateHijacked:
			if _, was := counted.LoadAndDelete(c); was {
				s.limits.disconnection(address)
			}
		}
	}
}

// Stop makes the server answer what it has begun and refuse the rest. It ends the calls that wait or follow the log.
// http.Server.Shutdown then returns when all have their answers.
func (s *Server) Stop() {
	s.stop.Do(func() {
		for _, name := range s.services {
			s.health.SetStatus(name, grpchealth.StatusNotServing)
		}
		close(s.stopping)
	})
}

// errStopping is the cause with which a call ends that waits while the server stops.
var errStopping = fmt.Errorf("the server stops: %w", fs.ErrClosed)

// until returns a context that ends when ctx ends or the server stops.
func (s *Server) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-s.stopping:
			cancel(errStopping)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

func (s *Server) recovered(ctx context.Context, spec connect.Spec, _ http.Header, value any) error {
	s.log.ErrorContext(ctx, "call panicked", "method", spec.Procedure, "panic", fmt.Sprintf("%T", value), "stack", stack())
	return rpc.PutError(errors.New("panic"))
}

// refused returns an ErrParams.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrParams}, args...)...)
}

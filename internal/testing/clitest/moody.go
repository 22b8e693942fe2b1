package clitest

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// Moments says when an operation of the workload Moody fails, for each value of the axis "moment". Durations
// are counted from the start of the first operation. The first operation that begins after the duration fails.
var Moments = map[string]time.Duration{"probe": 0, "warm-up": 100 * time.Millisecond, "window": 400 * time.Millisecond, "never": time.Hour}

// Manners lists the ways in which an operation of the workload Moody can fail. They are the values of the axis
// "manner".
var Manners = []string{"error", "panic", "exit", "signal", "goexit", "timeout"}

// MoodyFlags has flags for the lengths of the warm-up and the window. With these lengths, the operation fails
// in the part of the run that the value of the axis "moment" names: the probe, the warm-up or the window.
var MoodyFlags = []string{"--warmup", "250ms", "--duration", "350ms"}

// Moody returns a workload in which one operation fails. The workload's axes say when and how the operation
// fails.
func Moody() workload.Def {
	moments := workload.NameAxis(workload.Axis{Key: "moment", Flag: "moments", Usage: "when"}, []string{"never", "probe", "warm-up", "window"}, []string{"never"})
	manners := workload.NameAxis(workload.Axis{Key: "manner", Flag: "manners", Usage: "how"}, Manners, []string{"error"})
	return workload.Def{
		Name: "Moody", Doc: "Fails once.", Axes: []workload.Axis{moments, manners},
		New: func(_ context.Context, c workload.Case, _ uint64) (workload.Instance, error) {
			return NewMood(c.Get("moment"), c.Get("manner")), nil
		},
	}
}

// Mood is a case of the workload Moody.
type Mood struct {
	after  time.Duration
	manner string

	mu     sync.Mutex
	first  time.Time
	failed bool
}

// NewMood returns a case of the workload Moody, in which one operation fails. The parameter moment says when
// it fails, for example "warm-up" (see Moments), and the parameter manner says how, for example "panic" (see
// Manners).
func NewMood(moment, manner string) *Mood { return &Mood{after: Moments[moment], manner: manner} }

// turn reports whether the operation that begins now is the one that fails.
func (m *Mood) turn() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first.IsZero() {
		m.first = time.Now()
	}
	if m.failed || time.Since(m.first) < m.after {
		return false
	}
	m.failed = true
	return true
}

func (m *Mood) Run(context.Context, any) ([]byte, error) {
	fails := m.turn()
	time.Sleep(time.Millisecond)
	if !fails {
		return []byte("ok"), nil
	}
	switch m.manner {
	case "panic":
		panic("moody on purpose")
	case "exit":
		os.Stderr.WriteString("moody on purpose\n")
		os.Exit(7)
	case "signal":
		os.Stderr.WriteString("moody on purpose\n")
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		time.Sleep(time.Minute)
	case "goexit":
		runtime.Goexit()
	case "timeout":
		return nil, context.DeadlineExceeded
	}
	return nil, errors.New("moody on purpose")
}

func (m *Mood) Input(context.Context, uint64) (any, error) { return 1, nil }

// SecretInput returns an input. The command `zkbench leak` accepts workloads with this method.
func (m *Mood) SecretInput(context.Context, uint64, bool) (any, error) { return 1, nil }

func (m *Mood) Check(_ context.Context, _ any, output []byte) error {
	if string(output) != "ok" {
		return errors.New("not ok")
	}
	return nil
}

func (m *Mood) Metrics(context.Context) ([]record.Metric, error) { return nil, nil }
func (m *Mood) Close() error                                     { return nil }

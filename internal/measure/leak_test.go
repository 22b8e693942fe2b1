package measure_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
)

// sleeper is an operation of about a millisecond, with noise. If leak is set, a quarter of the
// operations with a random witness end a hundredth earlier.
type sleeper struct {
	sleep
	leak  bool
	noise *rand.Rand
}

type witness struct {
	fixed bool
	seq   uint64
}

func (s sleeper) SecretInput(_ context.Context, seq uint64, fixed bool) (any, error) {
	return witness{fixed, seq}, nil
}

func (s sleeper) Run(_ context.Context, input any) ([]byte, error) {
	w := input.(witness)
	took := time.Millisecond + time.Duration(s.noise.NormFloat64()*5e3)
	if s.leak && !w.fixed && w.seq%4 == 0 {
		took -= 10 * time.Microsecond
	}
	if s.noise.IntN(50) == 0 { // another process had the processor
		took += time.Duration(s.noise.ExpFloat64() * 1e7)
	}
	time.Sleep(took)
	return nil, nil
}

func TestLeak(t *testing.T) {
	testsize.Full(t)
	for _, test := range []struct {
		name string
		leak bool
		s    func(s *measure.Settings)
	}{
		{"constant", false, func(s *measure.Settings) { s.Count = 20_000 }},
		{"early exit", true, func(s *measure.Settings) { s.Count = 20_000 }},
		{"early exit, 20s", true, func(s *measure.Settings) { s.Duration = 20 * time.Second }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				def := defs()[0]
				def.New = func(context.Context, workload.Case, uint64) (workload.Instance, error) {
					return sleeper{sleep{}, test.leak, rand.New(rand.NewPCG(1, 2))}, nil
				}
				s := measure.DefaultSettings(1, 0)
				test.s(&s)
				rec := measure.Leak(t.Context(), def, workload.NewCase(record.Axis{Key: "bits", Value: "8"}), s)
				if rec.Status != record.OK {
					t.Fatal(rec.Error)
				}
				m, ok := rec.Metric(record.LeakT)
				if !ok {
					t.Fatal("no t")
				}
				if test.leak && math.Abs(m.Value) <= 10 || !test.leak && math.Abs(m.Value) >= measure.LeakThreshold {
					t.Errorf("t = %v with a leak: %v", m.Value, test.leak)
				}
				fixed, random := rec.Count(record.CountLeakFixed), rec.Count(record.CountLeakRandom)
				if fixed < 1_000 || random < 1_000 {
					t.Errorf("%d and %d samples of about 20000, some of them cropped", fixed, random)
				}
			})
		})
	}
}

// TestLeakGoesOn: a time that is too short for the samples of a test is exceeded by as much as
// they take, unless a count of operations or the end of the context forbids it.
func TestLeakGoesOn(t *testing.T) {
	measured := func(ctx context.Context, count uint64) *record.Record {
		def := defs()[0]
		def.New = func(context.Context, workload.Case, uint64) (workload.Instance, error) {
			return sleeper{sleep{}, false, rand.New(rand.NewPCG(1, 2))}, nil
		}
		s := measure.DefaultSettings(1, 10*time.Millisecond)
		s.Count = count
		return measure.Leak(ctx, def, workload.NewCase(record.Axis{Key: "bits", Value: "8"}), s)
	}
	synctest.Test(t, func(t *testing.T) {
		rec := measured(t.Context(), 0)
		if n := rec.Count(record.CountDone); rec.Status != record.OK || n < 1_200 || n > 2_000 {
			t.Errorf("%s after %d operations: %s", rec.Status, n, rec.Error)
		}
		if rec := measured(t.Context(), 300); rec.Status != record.Partial || rec.Count(record.CountDone) != 300 {
			t.Errorf("300 operations at most: %s after %d", rec.Status, rec.Count(record.CountDone))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if rec := measured(ctx, 0); rec.Status != record.Partial || rec.Count(record.CountDone) > 100 {
			t.Errorf("100 ms at most: %s after %d", rec.Status, rec.Count(record.CountDone))
		}
	})
}

func TestLeakNeedsAWitness(t *testing.T) {
	s := measure.DefaultSettings(1, 0)
	s.Count = 1
	rec := measure.Leak(t.Context(), defs()[0], workload.NewCase(), s)
	if rec.Status != record.Failed || !strings.Contains(rec.Error, `"sleep" is not accepted; accepted: one whose operation has a witness`) {
		t.Errorf("%s: %s", rec.Status, rec.Error)
	}
}

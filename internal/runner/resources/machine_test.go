package resources

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestDisturbances: of a second of two processors, what each count says just below and
// above its bound; what the resolution of the counts could make of nothing is no
// disturbance of a short window.
func TestDisturbances(t *testing.T) {
	const ms = time.Millisecond
	second := Machine{Wall: time.Second, Processors: 2, User: 900 * ms, System: 100 * ms}
	for _, test := range []struct {
		name    string
		edit    func(m *Machine)
		crowded bool
		want    []string
	}{
		{"by=nothing", func(m *Machine) {}, false, nil},
		{"by=a little of each", func(m *Machine) { m.Stolen, m.Others, m.Waited = 30*ms, 240*ms, 205*ms }, false, nil},
		{"by=hypervisor", func(m *Machine) { m.Stolen = 40 * ms }, false, []string{"the hypervisor took 2.0 % of the processors' time"}},
		{"by=others", func(m *Machine) { m.Others = 250 * ms }, false, []string{"other processes used 12.5 % of the processors' time"}},
		{"by=waiting", func(m *Machine) { m.Waited = 206 * ms }, false, []string{"its threads waited 206ms for a processor and had one for 1s"}},
		{"by=waiting, crowded", func(m *Machine) { m.Waited = 520 * ms }, true, nil},
		{"by=short", func(m *Machine) {
			*m = Machine{Wall: 10 * ms, Processors: 2, User: 10 * ms, Stolen: 10 * ms, Others: 40 * ms, Waited: 7 * ms}
		}, false, nil},
		{"by=silence", func(m *Machine) { *m = Machine{} }, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := second
			test.edit(&m)
			golden.Equal(t, "disturbances", test.want, m.Disturbances(test.crowded))
		})
	}
}

// TestSince: what was counted between two moments. A thread that ended takes its waiting
// with it, and ticks may be behind the process' own time: neither is less than nothing.
func TestSince(t *testing.T) {
	before := counts{own: own{wall: 1, user: 2, system: 3, preempted: 4}, waited: 50, busy: 60, stolen: 7, pressure: 8, processors: 2, load: 9}
	after := counts{own: own{wall: 101, user: 22, system: 33, preempted: 44}, waited: 40, busy: 160, stolen: 77, pressure: 88, processors: 2, load: 0.5}
	golden.Equal(t, "between", &Machine{
		Wall: 100, User: 20, System: 30, Preempted: 40, Waited: 0, Processors: 2, Others: 50, Stolen: 70, Pressure: 80, Load: 0.5,
	}, after.since(before))
	after.busy, after.stolen = 1060, 507 // ticks of a time before the window
	m := after.since(before)
	golden.Equal(t, "others, stolen: no more than there is", [2]time.Duration{0, 200}, [2]time.Duration{m.Others, m.Stolen})
	after.stolen = 7
	golden.Equal(t, "others beside the process", 150, after.since(before).Others)
	after.stolen = 77
	after.busy, after.waited = 61, 53
	m = after.since(before)
	golden.Equal(t, "others, waited", [2]time.Duration{0, 3}, [2]time.Duration{m.Others, m.Waited})
	golden.Equal(t, "of the operations, which this process ran", CPU{20, 30}, m.OfOperations())
	before.adopted, after.adopted = CPU{5, 6}, CPU{15, 10}
	golden.Equal(t, "of the operations, which children ran", CPU{10, 4}, after.since(before).OfOperations())
	before.adopted, after.adopting = after.adopted, true
	golden.Equal(t, "of children that did nothing yet", CPU{}, after.since(before).OfOperations())
	if counts := (counts{}); counts.since(before) != nil {
		t.Error("counts of a silent platform")
	}
}

// TestAwaitQuiet: a machine on which others work for three seconds is waited for, and not
// beyond the limit.
func TestAwaitQuiet(t *testing.T) {
	const busy = 3 * time.Second
	for _, test := range []struct {
		limit, waited time.Duration
		quiet         bool
	}{{10 * time.Second, 4 * time.Second, true}, {2500 * time.Millisecond, 2500 * time.Millisecond, false}} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			waited, quiet := awaitQuiet(t.Context(), test.limit, func() counts {
				at := time.Since(begin)
				return counts{own: own{wall: 1 + at}, busy: min(at, busy), processors: 2}
			})
			if waited != test.waited || quiet != test.quiet {
				t.Errorf("limit %v: waited %v, quiet %v", test.limit, waited, quiet)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		if _, quiet := awaitQuiet(t.Context(), time.Minute, func() counts { return counts{} }); !quiet {
			t.Error("a platform that counts nothing is never quiet")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if waited, quiet := awaitQuiet(ctx, time.Minute, func() counts { return counts{} }); quiet || waited > 0 {
			t.Errorf("cancelled: %v, %v", waited, quiet)
		}
	})
}

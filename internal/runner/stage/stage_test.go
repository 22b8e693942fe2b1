package stage_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// What varies with the process is not compared.
var varying = cmp.Options{cmpopts.IgnoreFields(record.Stage{}, "PeakRSS", "Allocated"), cmpopts.EquateComparable(record.Quantity{})}

func TestStagesInOrderOfStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := stage.New()
		if got := r.Stages(); got != nil {
			t.Errorf("stages %v before the first", got)
		}
		setup := r.Start("set-up")
		time.Sleep(2 * time.Second)
		key := record.ProvingKeySize.Metric(96)
		setup.End(key)
		prove := r.Start("prove")
		time.Sleep(time.Second)
		commit := r.Start("prove/commit")
		time.Sleep(3 * time.Second)
		overlapping := r.Start("check")
		commit.End()
		time.Sleep(5 * time.Second)
		prove.End()
		overlapping.End()
		want := []record.Stage{
			{Name: "set-up", Time: 2 * time.Second, Whose: record.OfOperations, Sizes: []record.Metric{key}},
			{Name: "prove", Time: 9 * time.Second, Whose: record.OfOperations},
			{Name: "prove/commit", Time: 3 * time.Second, Whose: record.OfOperations},
			{Name: "check", Time: 5 * time.Second, Whose: record.OfOperations},
		}
		golden.Equal(t, "stages", want, r.Stages(), varying)
	})
}

// TestEndOf: a stage in which another program did the work has that program's memory, and nothing of
// this process'.
func TestEndOf(t *testing.T) {
	r := stage.New()
	foreign, silent := r.Start("prove"), r.Start("verify")
	held := make([]byte, 1<<20)
	foreign.EndOf("prover/prove", 300<<20, record.CPUTime.Metric(5))
	silent.EndOf("prover/verify", 0)
	silent.End()
	runtime.KeepAlive(held)
	for i, want := range []record.Stage{
		{Name: "prove", Whose: "prover/prove", PeakRSS: 300 << 20, Sizes: []record.Metric{record.CPUTime.Metric(5)}}, {Name: "verify", Whose: "prover/verify"},
	} {
		got := r.Stages()[i]
		got.Time = 0
		golden.Equal(t, "stage", want, got, cmpopts.EquateComparable(record.Quantity{}))
	}
}

func TestEndedTwiceOrNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := stage.New()
		twice, never := r.Start("twice"), r.Start("never")
		time.Sleep(time.Second)
		twice.End(record.ProofSize.Metric(1))
		first := r.Stages()
		time.Sleep(time.Second)
		twice.End(record.ProofSize.Metric(2))
		golden.Equal(t, "stages", first, r.Stages(), varying)
		if len(first) != 1 || first[0].Name != "twice" {
			t.Errorf("stages %+v, want the one that ended", first)
		}
		never.End()
		if got := r.Stages(); len(got) != 2 || got[1].Time != 2*time.Second {
			t.Errorf("stages %+v after the other ended", got)
		}
	})
}

func TestConcurrentStages(t *testing.T) {
	const n = 50
	r := stage.New()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			s := r.Start(fmt.Sprint(i))
			r.Stages()
			s.End()
		})
	}
	wg.Wait()
	names := map[string]bool{}
	for _, s := range r.Stages() {
		names[s.Name] = true
	}
	golden.Equal(t, "stages", n, len(names))
}

// A stage shows what it allocated and held, the stage around it too, and the one
// after it does not.
func TestStageMemory(t *testing.T) {
	const large, slack = 64 << 20, 16 << 20
	r := stage.New()
	debug.FreeOSMemory()
	outer := r.Start("outer")
	before := r.Start("before")
	before.End()
	during := r.Start("during")
	held := make([]byte, large)
	for i := range held {
		held[i] = 1
	}
	runtime.KeepAlive(held)
	held = nil
	debug.FreeOSMemory()
	during.End()
	after := r.Start("after")
	after.End()
	outer.End()

	got := map[string]record.Stage{}
	for _, s := range r.Stages() {
		got[s.Name] = s
	}
	for _, name := range []string{"outer", "during"} {
		golden.Within(t, name+": bytes allocated", large, got[name].Allocated, large+slack)
	}
	for _, name := range []string{"before", "after"} {
		if a := got[name].Allocated; a > slack {
			t.Errorf("%s: %d bytes allocated", name, a)
		}
	}
	if got["before"].PeakRSS == 0 {
		t.Skip("the platform does not tell a stage's peak memory")
	}
	base := got["before"].PeakRSS
	for _, name := range []string{"outer", "during"} {
		if p := got[name].PeakRSS; p < base+large-slack {
			t.Errorf("%s: peak of %d bytes, want %d above %d", name, p, large, base)
		}
	}
	// The race detector keeps shadows of what was held.
	if after, during := got["after"].PeakRSS, got["during"].PeakRSS; after == 0 || after > during-large+slack {
		t.Errorf("after: peak of %d bytes, want %d below %d", after, large, during)
	}
}

package sve_test

import (
	"math"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/study/sve"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func model() sve.Model {
	return sve.Model{
		Time: 2, Clock: 2.8, Width: 128, Instructions: map[int]float64{128: 38317, 256: 19175, 512: 9605},
		Dynamic: 0.5, Processor: 0.4, Energy: 0.1,
	}
}

// TestModel: the study's equations by hand.
func TestModel(t *testing.T) {
	t.Parallel()
	m := model()
	must.Do(t, m.Check())
	near := func(what string, got, want float64) {
		t.Helper()
		golden.Near(t, what, want, got, 1e-9)
	}
	near("nothing changed", m.TimeAt(2.8, 128), 2)
	near("twice the clock", m.TimeAt(5.6, 128), 1)
	near("256 bits", m.TimeAt(2.8, 256), 2*19175./38317)
	near("512 bits at 3.7 GHz", m.Factor(3.7, 512), 3.7/2.8*38317/9605)
	near("power of twice the speed", m.Power(2), 1.5)
	near("cost of twice the speed", m.Cost(2), 1+0.1*0.4*0.5)
	near("cost of the same", m.Cost(1), 1)
}

func TestModelRefuses(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*sve.Model){
		"time":      func(m *sve.Model) { m.Time = 0 },
		"clock":     func(m *sve.Model) { m.Clock = math.NaN() },
		"width":     func(m *sve.Model) { m.Width = 1024 },
		"dynamic":   func(m *sve.Model) { m.Dynamic = 1.1 },
		"processor": func(m *sve.Model) { m.Processor = -0.1 },
		"energy":    func(m *sve.Model) { m.Energy = math.NaN() },
	} {
		m := model()
		change(&m)
		must.Fail(t, m.Check(), zkbench.ErrParams, "%s", what)
	}
}

// TestMachines: the clocks that the study's model starts from.
func TestMachines(t *testing.T) {
	t.Parallel()
	clocks := make(map[string]float64)
	for _, m := range sve.Machines() {
		clocks[m.Name] = m.GHz
		if m.Cores <= 0 || m.Bits < 128 || m.ISA == "" || m.Architecture == "" {
			t.Errorf("%+v", m)
		}
	}
	if clocks["Graviton4 (c8g)"] != 2.8 || clocks["Axion (c4a)"] != 3.1 || len(clocks) != 6 {
		t.Errorf("clocks %v", clocks)
	}
}

// Package sve reproduces the study of ARM's Scalable Vector Extension for provers: machines,
// trees, functions, and its model of faster processors.
package sve

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench/internal/input/argument"
)

// Machine is a processor of the study's table 2.
type Machine struct {
	Name, ISA, Architecture string
	Cores                   int     // of a processor
	GHz                     float64 // the clock that it was measured at
	Bits                    int     // width of its vectors in the study's code
}

// Machines are the study's, in its order.
func Machines() []Machine {
	return []Machine{
		{"Graviton3 (c7g)", "ARMv8.4, SVE", "Neoverse V1", 64, 2.6, 256},
		{"Graviton4 (c8g)", "ARMv9, SVE2", "Neoverse V2", 96, 2.8, 128},
		{"Yitian 710 (c8y)", "ARMv9, SVE2", "Neoverse N2", 128, 3.0, 128},
		{"Axion (c4a)", "ARMv9, SVE2", "Neoverse V2", 72, 3.1, 128},
		{"EPYC 9R14 (c7a)", "x86-64, AVX-512", "Zen 4", 96, 3.7, 512},
		{"Xeon 8488C (c7i)", "x86-64, AVX-512", "Golden Cove", 48, 3.7, 512},
	}
}

// Model is the study's what-if of section 5: how long a processor with another clock and
// other vectors would take, and what it would cost.
type Model struct {
	Time         float64         // s, measured at Clock with vectors of Width bits
	Clock        float64         // GHz
	Width        int             // bits
	Instructions map[int]float64 // of the same work by the vectors' width in bits

	Dynamic   float64 // part of a processor's power that grows with its speed, 0 to 1
	Processor float64 // part of a server's power that is the processor's, 0 to 1
	Energy    float64 // part of the cost of ownership that is energy's, 0 to 1
}

// Check returns an ErrParams that names the first parameter out of its bounds.
func (m *Model) Check() error {
	if !positive(m.Time) {
		return wrong("time", m.Time, "more than 0 seconds")
	}
	if !positive(m.Clock) {
		return wrong("clock", m.Clock, "more than 0 GHz")
	}
	if !positive(m.Instructions[m.Width]) {
		return wrong("width", m.Width, "a width of which instructions are known")
	}
	for _, part := range []struct {
		name  string
		value float64
	}{{"dynamic", m.Dynamic}, {"processor", m.Processor}, {"energy", m.Energy}} {
		if !(part.value >= 0 && part.value <= 1) {
			return wrong(part.name, part.value, "0 to 1")
		}
	}
	return nil
}

// positive is above 0 and finite.
func positive(v float64) bool { return v > 0 && v <= math.MaxFloat64 }

func wrong(name string, v any, accepted string) error {
	return &argument.ValueError{Field: name, Value: fmt.Sprint(v), Accepted: accepted}
}

// At is the time in seconds at another clock and width (equation 5): cycles over clock, the
// cycles as many as instructions.
func (m *Model) At(clock float64, width int) float64 {
	return m.Time * m.Clock / clock * m.Instructions[width] / m.Instructions[m.Width]
}

// Factor is how much faster that is.
func (m *Model) Factor(clock float64, width int) float64 { return m.Time / m.At(clock, width) }

// Power is a processor's power that is faster by a factor, of what it took (equations 6
// and 7): its dynamic part grows as the speed does.
func (m *Model) Power(factor float64) float64 { return 1 + m.Dynamic*(factor-1) }

// Cost is the cost of ownership with it, of what it was (equations 8 and 9).
func (m *Model) Cost(factor float64) float64 {
	return 1 + m.Energy*m.Processor*(m.Power(factor)-1)
}

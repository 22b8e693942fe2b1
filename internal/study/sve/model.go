// Package sve reproduces OKX's study of ARM's Scalable Vector Extension (SVE) for provers. It measures the study's
// Merkle trees and its functions over the Goldilocks field, and evaluates the study's model of processors with another
// clock frequency and wider vectors.
package sve

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench/internal/input/argument"
)

// Machine is a processor that table 2 of the study lists.
type Machine struct {
	Name, ISA, Architecture string
	Cores                   int     // of a processor
	GHz                     float64 // clock frequency during the study's measurements
	Bits                    int     // width of its vectors in the study's code
}

// Machines returns the machines of the study's table 2, in its order.
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

// Model is the what-if model of the study's section 5. It estimates the time, power and cost of a processor with
// another clock frequency and another width of vectors.
type Model struct {
	Time         float64         // seconds, or any other unit, measured at Clock with vectors of Width bits
	Clock        float64         // GHz
	Width        int             // bits
	Instructions map[int]float64 // instructions of the same work, by the width of the vectors in bits

	Dynamic   float64 // share of a processor's power that grows with its speed, 0 to 1
	Processor float64 // share of a server's power that the processor uses, 0 to 1
	Energy    float64 // share of the cost of ownership that pays for energy, 0 to 1
}

// Check returns an *argument.ValueError that names the first field of the model that is out of range, or nil if all
// fields are in range.
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

// positive reports whether v is above 0 and finite.
func positive(v float64) bool { return v > 0 && v <= math.MaxFloat64 }

func wrong(name string, v any, accepted string) error {
	return &argument.ValueError{Field: name, Value: fmt.Sprint(v), Accepted: accepted}
}

// TimeAt returns the estimated time for another clock frequency, in GHz, and another width of the vectors, in bits
// (equation 5 of the study). The result is in the unit of m.Time. The model assumes that the number of cycles is
// proportional to the number of instructions.
func (m *Model) TimeAt(clock float64, width int) float64 {
	return m.Time * m.Clock / clock * m.Instructions[width] / m.Instructions[m.Width]
}

// Factor returns how many times faster the processor is with another clock frequency, in GHz, and another width of the
// vectors, in bits.
func (m *Model) Factor(clock float64, width int) float64 { return m.Time / m.TimeAt(clock, width) }

// Power returns the power of a processor that is faster by the given factor, divided by the power of the original
// processor (equations 6 and 7). The dynamic part of the power (m.Dynamic) grows in proportion to the speed.
func (m *Model) Power(factor float64) float64 { return 1 + m.Dynamic*(factor-1) }

// Cost returns the cost of ownership with a processor that is faster by the given factor, divided by the cost with the
// original processor (equations 8 and 9).
func (m *Model) Cost(factor float64) float64 {
	return 1 + m.Energy*m.Processor*(m.Power(factor)-1)
}

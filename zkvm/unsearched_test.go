package zkvm

import (
	"maps"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/riscv/call"
)

// TestMessagesAreNeeded: each message of the tables that are not searched balances a bus, or is a range that TestRangesOfSteps or
// TestInputBytes leaves out.
func TestMessagesAreNeeded(t *testing.T) {
	balancing, ranges := balancing(t), make(map[string]int)
	for name := range notSearched {
		for i, m := range compiledTables()[name].Messages {
			if !balancing[name][i] {
				ranges[name+" "+m.Bus]++
			}
		}
	}
	golden.Equal(t, "ranges", map[string]int{"zeros half": 2, "regions half": 2, "bridges half": 2, "input bytes": inputBytes / 2}, ranges)
}

// TestRangesOfSteps plants steps between addresses and between times that go back. Only one look-up of a half refuses each of them: all
// else of the trace is right.
func TestRangesOfSteps(t *testing.T) {
	// A step of n - 1 has a half that is negative: the lower one, or the upper one below a lower half that is one.
	for _, halves := range []struct {
		name         string
		lower, upper func(n uint64) uint64
	}{
		{"lower", func(n uint64) uint64 { return minus - n }, func(uint64) uint64 { return 0 }},
		{"upper", func(n uint64) uint64 { return half - n }, func(uint64) uint64 { return minus - 1 }},
	} {
		for name, plant := range map[string]func() *forgery{
			"a cell begins twice": func() *forgery {
				f := zeroed(t)
				z := f.machine.zeros
				f.set(z, 0, halves.lower(1), z.lower).set(z, 0, halves.upper(1), z.upper) // the next cell is the same
				return f.set(z, 2, 1, z.real).set(z, 2, zerosAt/8+1, z.address)
			},
			"a region's first cell begins twice": func() *forgery {
				f := zeroed(t)
				z, r := f.machine.zeros, f.machine.regions
				f.set(r, 0, halves.lower(1), r.lower).set(r, 0, halves.upper(1), r.upper)
				return f.set(z, 2, 1, z.real).set(z, 2, zerosAt/8, z.address)
			},
			"a bridge to an earlier time": func() *forgery {
				f := operated(codeSums, 1, 2, 3, nil)(t)
				b, registers, time := f.machine.bridges, f.machine.registers, timeOf(operationIndex)+3
				f.set(b, 0, 1, b.real).set(b, 0, spaceRegisters, b.space).set(b, 0, result, b.address).set(b, 0, 3, b.cell.lo).set(b, 0, time, b.cell.time)
				return f.set(b, 0, halves.lower(4), b.lower).set(b, 0, halves.upper(4), b.upper).set(registers, result, time-3, registers.last.time)
			},
		} {
			f := plant()
			name += ", " + halves.name
			refused(t, name, `bus "half"`, f.check(t))
			maps.DeleteFunc(f.unanswered, func(_ tuple, n goldilocks.Element) bool { return n == 0 })
			if len(f.broken) > 0 || len(f.unanswered) != 1 {
				t.Errorf("%s: broken are also %q; unanswered are %v, want one half", name, f.broken, f.unanswered)
			}
		}
	}
}

// TestInputBytes plants inputs with a number that is no byte, whose elements are those of the statement: another byte of the element
// differs. Only one look-up refuses each of them.
func TestInputBytes(t *testing.T) {
	c := claim(t, ran(t, assembled(t, calling(call.Input)), counting(inputBytes))) // no word is loaded
	f, at := forge(c), c.input
	columns := filled(t, c)[at]
	for pair := 0; pair < inputBytes; pair += 2 {
		other := pair / elementBytes * elementBytes // a byte of another pair, in the element of the pair's first byte
		if other/2 == pair/2 {
			other = pair + 2
		}
		if other/elementBytes != pair/elementBytes {
			t.Fatalf("bytes %d and %d are in two elements", pair, other)
		}
		weight := func(i int) goldilocks.Element { return 1 << (8 * (i % elementBytes)) }
		byteOf := func(i int) *uint64 { return &columns[at.bytes[i]][0] }
		before := [2]uint64{*byteOf(pair), *byteOf(other)}
		sent := f.change(at, columns, 0, func() {
			*byteOf(other)++
			*byteOf(pair) = uint64(goldilocks.Element(*byteOf(pair)).Sub(weight(other).Mul(weight(pair).Inverse())))
		})
		var asked []tuple
		for of, n := range sent {
			_, answers := compiledTables()[newAnds().name()].index()[of]
			if n != 0 && !answers {
				asked = append(asked, of)
			}
		}
		want := []tuple{{busBytes, [6]goldilocks.Element{goldilocks.Element(*byteOf(pair)), goldilocks.Element(*byteOf(pair + 1))}}}
		if broken := f.breaks(at, nil, columns, 0); len(broken) > 0 || !slices.Equal(asked, want) {
			t.Errorf("bytes %d and %d: broken are %q, and nobody answers %v, want %v", pair, pair+1, broken, asked, want)
		}
		*byteOf(pair), *byteOf(other) = before[0], before[1]
	}
}

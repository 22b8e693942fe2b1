package zkvm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark"
)

// planting is a table in a run of echo, whose cells a test changes, and what the statement says then.
type planting struct {
	*claimed
	cells *stark.Cells
}

// set sets cells of a row.
func (p *planting) set(row int, to uint64, columns ...column) *planting {
	for _, c := range columns {
		p.cells.Set(row, int(c), to)
	}
	return p
}

// behind sets a column in all rows from one on.
func (p *planting) behind(row int, to uint64, c column) *planting {
	for ; row < leastRows; row++ {
		p.set(row, to, c)
	}
	return p
}

// say makes the statement say another length of the input.
func (p *planting) say(length uint64) *planting {
	p.about.Publics[publicInput] = length
	return p
}

// fill fills a row of the hash.
func (p *planting) fill(row int, a *absorbed) {
	p.sponge.fill(&writer{shape: p.shape, all: p.cells, cells: stark.Columns[uint64](p.cells), row: row}, a)
}

// absorb changes a row of the streams' hashes, with its permutation. If it is the last one of a stream, the statement has the digest that
// it leads to.
func (p *planting) absorb(row int, change func(a *absorbed)) *planting {
	input, output := absorbedBy(streamInput, p.options.Input), absorbedBy(streamOutput, p.output)
	a := &slices.Concat(input, output)[row]
	change(a)
	p.fill(row, a)
	a.state.Permute()
	for i, e := range a.state[:poseidon.DigestLen] {
		switch row {
		case len(input) - 1:
			p.about.Publics[publicInput+1+i] = uint64(e)
		case len(input) + len(output) - 1:
			p.about.Publics[publicOutput+1+i] = uint64(e)
		}
	}
	return p
}

// leaveOut fills rows of the hash as rows of no stream.
func (p *planting) leaveOut(rows ...int) *planting {
	for _, row := range rows {
		p.fill(row, nil)
		p.set(row, 0, p.sponge.stream[:]...)
	}
	return p
}

// planted changes a table in a run of echo with n bytes of input.
type planted struct {
	at    func(m *machine) table
	n     int
	plant func(p *planting)
}

// brokenAlone has, for constraints of the tables that are not searched, changes that break this one of the table only.
func brokenAlone() map[string]planted {
	inputs := func(n int, plant func(p *planting)) planted {
		return planted{func(m *machine) table { return m.input }, n, plant}
	}
	hashes := func(n int, plant func(p *planting)) planted {
		return planted{func(m *machine) table { return m.sponge }, n, plant}
	}
	m := newMachine(rv64)
	in, of := m.input, m.sponge
	const count = poseidon.Rate // the element of a stream's first state that says how many elements there are
	all := map[string]planted{
		"last is a bit": inputs(5, func(p *planting) {
			p.set(0, 0, in.last[4], in.bytes[3], in.bytes[4]).set(0, 2, in.last[3]).set(0, minus-1, in.last[2])
		}),
		"one byte is the last": inputs(3, func(p *planting) {
			p.set(0, 0, in.last[2], in.bytes[0], in.bytes[2], in.loaded[0]).set(0, 1, in.last[0], in.last[1])
		}),
		"bytes behind the input are 0": inputs(5, func(p *planting) { p.set(0, 1, in.bytes[5]) }),
		"bytes before the first row": inputs(5, func(p *planting) {
			p.say(inputBytes+5).set(0, inputBytes, in.before).behind(1, inputBytes+5, in.before)
		}),
		"bytes before the next row": inputs(5, func(p *planting) { p.say(6).behind(1, 6, in.before) }),
		"another row": inputs(61, func(p *planting) {
			p.say(60).set(0, 0, in.last[55], in.bytes[55]).set(0, 1, in.last[54]).set(1, 55, in.before).behind(2, 60, in.before)
		}),
		"length of the input":     inputs(5, func(p *planting) { p.say(6) }),
		"loads of the input only": inputs(5, func(p *planting) { p.set(0, 1, in.loaded[1]) }),

		"the input comes first": hashes(9, func(p *planting) { // twice, and so the output does
			p.absorb(0, func(a *absorbed) { a.left, a.state[count], a.state[0] = 4, 5, 2*9 }).set(0, 2, of.stream[0]).set(0, 0, of.has[2])
			p.absorb(1, func(a *absorbed) { a.left, a.state[count], a.state[0] = 4, 2*5, 2*9 }).set(1, 2, of.stream[1], of.begins).set(1, 0, of.has[2])
		}),
		"the output does not": hashes(9, func(p *planting) { // it does, with the input
			p.absorb(0, func(a *absorbed) { a.left, a.state[count], a.state[0] = 4, 5, 9+9 }).set(0, 0, of.has[2]).set(0, 1, of.stream[1])
			for i := range poseidon.DigestLen {
				after, output := &p.about.Publics[publicInput+1+i], goldilocks.Element(p.about.Publics[publicOutput+1+i])
				*after = uint64(goldilocks.Element(*after).Add(goldilocks.Element(*after)).Sub(output))
			}
		}),
		"the input begins":   hashes(9, func(p *planting) { p.set(0, 0, of.begins) }),
		"the output begins":  hashes(9, func(p *planting) { p.set(1, 0, of.begins) }),
		"rows of the input":  hashes(61, func(p *planting) { p.set(1, 0, of.stream[0]).leaveOut(2, 3) }),
		"rows of the output": hashes(61, func(p *planting) { p.set(3, 0, of.stream[1]) }),
		"ends is a bit": hashes(9, func(p *planting) { // and then the next row goes on with the negated capacity
			var a absorbed
			a.state.Permute()
			for i := range a.state {
				if a.state[i] = goldilocks.Element(0).Sub(a.state[i]); i < poseidon.Rate {
					a.state[i] = 0
				}
			}
			a.stream = streamInput
			p.fill(6, &a)
			p.set(5, 2, of.ends).set(6, 0, of.stream[0], of.begins).set(6, minus-poseidon.Rate, of.before)
		}),
		"has is a bit": hashes(9, func(p *planting) {
			p.absorb(0, func(a *absorbed) { a.left, a.state[count] = 5, 6 }).set(0, 0, of.has[2]).set(0, 2, of.has[3])
		}),
		"no element":                    hashes(9, func(p *planting) { p.absorb(0, func(a *absorbed) { a.state[5] = 1 }) }),
		"length":                        hashes(9, func(p *planting) { p.say(10) }),
		"elements before the first row": hashes(9, func(p *planting) { p.set(0, 8, of.before) }),
		"elements before the next row":  hashes(9, func(p *planting) { p.set(1, 8, of.before) }),
		"elements left":                 hashes(61, func(p *planting) { p.absorb(1, func(a *absorbed) { a.left++ }) }),
		"no elements are left": hashes(61, func(p *planting) {
			p.absorb(1, func(a *absorbed) { a.state[1] = 0 }).set(1, 0, of.has[0])
		}),
	}
	all["length of the output"] = planted{func(m *machine) table { return m.registers }, 5, func(p *planting) { p.set(cellPosition, 1, m.registers.last.lo) }}
	for i := range of.capacity {
		other := func(a *absorbed) { a.state[poseidon.Rate+i]++ }
		all[fmt.Sprintf("element %d of the input's capacity", i)] = hashes(9, func(p *planting) { p.absorb(0, other) })
		all[fmt.Sprintf("element %d of the next capacity", i)] = hashes(61, func(p *planting) { p.absorb(1, other) })
		all[fmt.Sprintf("element %d of the digest", i)] = hashes(9, func(p *planting) { p.about.Publics[publicInput+1+i]++ })
	}
	return all
}

// notAlone has the constraints of these tables that brokenAlone does not have, with the reason.
var notAlone = map[string]string{
	"loads of cells only": "TestPlanted, memory: a load of no constant",
	"the input has ended": "TestLowTables fills a table with the input",
	"the output ends":     "TestLowTables fills a table with the output",
}

// TestBrokenAlone: each constraint of the tables that are not searched is broken by a planted table that satisfies all others. Left out are
// those of the permutation, which package stark/poseidon tests, and those which package air states for every ask.
func TestBrokenAlone(t *testing.T) {
	testsize.Full(t)
	all := brokenAlone()
	for name := range notSearched {
		for _, c := range compiledTables()[name].Constraints {
			if _, ok := all[c.Name]; !ok && notAlone[c.Name] == "" && !strings.HasPrefix(c.Name, "round ") && !strings.HasPrefix(c.Name, "asks ") {
				t.Errorf("no planted table breaks %q of %s", c.Name, name)
			}
		}
	}
	for name, of := range all {
		c := claim(t, ran(t, echo(t), counting(of.n)))
		at := of.at(c.machine)
		var broken []string
		_ = c.check(t, at, func(cells *stark.Cells) { // for the filled cells; the other tables do not matter
			of.plant(&planting{c, cells})
			f, columns := forge(c), stark.Columns[uint64](cells)
			fixed := f.fixedOf(at)
			for row := range columns[0] {
				broken = append(broken, f.breaks(at, fixed, columns, row)...)
			}
		})
		slices.Sort(broken)
		golden.Equal(t, "what is broken", []string{name}, slices.Compact(broken))
	}
}

package zkvm

import (
	"fmt"
	"maps"

	"github.com/zkbench/zkbench/stark"
)

// A form is the heights of all tables. A statement lists at most stark.MaxForms of them, so that one circuit a form can check
// all proofs. The forms are sizes of a run, each with some mixes of instructions. A mix halves a table's height, from
// 2^size rows on, as often as it says. Small sizes have few mixes, because a proof in another mix does not take much longer.

// sizes are the logarithms of the cycles that a form can hold, if the run has a form's mix, with the mixes of this size.
var sizes = []struct {
	log   int
	mixes []mix
}{
	{14, []mix{ofCode, ofLoops}},
	{16, []mix{ofCode, ofLoops}},
	{18, []mix{ofHashes, ofCode, ofNumbers, ofLoops}},
	{largest, []mix{ofHashes, ofCode, ofWideCode, ofNumbers, ofSums, ofBits, ofProducts, ofAccesses}},
}

const largest = 20

// mix says how often a table's height is halved, by the code of its family. Tables that it does not have are halved most times.
type mix struct {
	name   string // what it was chosen for; docs/zkvm.md has the counts
	halved map[uint64]int
}

// rarely is how often the height of a table is halved that a mix does not have.
const rarely = 6

// Codes of tables that are no family, in a mix.
const (
	codeZeros = codeEnd + iota
	codeBridges
	codeOutput
	codeInput
	codeSponge
)

var (
	ofHashes   = mix{"hashes of 32 bits", map[uint64]int{codeSums: 1, codeLogic: 1, codeShift: 2, codeWords: 3, codeEqual: 4}}
	ofCode     = mix{"compiled code", map[uint64]int{codeSums: 1, codeLogic: 2, codeShift: 2, codeWords: 1, codeNarrowWords: 3, codeEqual: 3, codeCompare: 3, codeJump: 3, codeProduct: 4, codeDivision: 4, codeShiftBy: 4, codeZeros: 4, codeBridges: 3}}
	ofWideCode = mix{"compiled code, wide numbers", map[uint64]int{codeSums: 1, codeLogic: 2, codeShift: 2, codeWords: 1, codeNarrowWords: 3, codeEqual: 3, codeCompare: 2, codeJump: 3, codeProduct: 3, codeDivision: 4, codeShiftBy: 4, codeZeros: 4, codeBridges: 3}}
	ofNumbers  = mix{"numbers of many words", map[uint64]int{codeSums: 1, codeLogic: 4, codeShift: 4, codeWords: 2, codeEqual: 3, codeCompare: 2, codeProduct: 2}}
	ofLoops    = mix{"short loops", map[uint64]int{codeSums: 0, codeWords: 1, codeEqual: 1, codeCompare: 3, codeLogic: 3, codeShift: 3}}

	// Loops of one kind, by which machines are measured.
	ofSums     = mix{"loops of sums", map[uint64]int{codeSums: 0, codeEqual: 2, codeWords: 4, codeLogic: 4, codeCompare: 4}}
	ofBits     = mix{"loops of shifts and logic", map[uint64]int{codeSums: 2, codeLogic: 1, codeShift: 1, codeEqual: 3, codeWords: 4, codeCompare: 4}}
	ofProducts = mix{"loops of products", map[uint64]int{codeProduct: 1, codeSums: 1, codeLogic: 3, codeEqual: 3, codeWords: 4, codeCompare: 4}}
	ofAccesses = mix{"loops of loads and stores", map[uint64]int{codeWords: 1, codeSums: 1, codeLogic: 2, codeEqual: 4, codeCompare: 4, codeBridges: 2, codeZeros: 5}}
)

// MaxInput is the number of bytes that an input can have at most: the largest forms hold no more. Their sponge has a row for 56
// bytes, and one is for the output. The length of the input takes seven bytes of the others.
const MaxInput = (leastOfLargest-1)*inputBytes - elementBytes

// MaxOutput is the number of bytes that a run can commit to at most: each has a row of the output.
const MaxOutput = leastOfLargest

// leastOfLargest is the height of a table that no mix has, in the largest forms.
const leastOfLargest = 1 << (largest - rarely)

// height returns the height of a table in a form.
func (x mix) height(code uint64, size int) int {
	halved, ok := x.halved[code]
	if !ok {
		halved = rarely
	}
	return max(1<<(size-halved), leastRows)
}

// formName returns the name of a form by its number.
func formName(i int) string {
	for _, size := range sizes {
		if i < len(size.mixes) {
			return fmt.Sprintf("%s, 2^%d cycles", size.mixes[i].name, size.log)
		}
		i -= len(size.mixes)
	}
	panic("zkvm: no such form")
}

// forms returns the forms of runs of a program, whose tables have the given heights.
func (m *machine) forms(image []int) (all []stark.Form) {
	for _, size := range sizes {
		for _, x := range size.mixes {
			heights := m.fixedHeights(image)
			for _, f := range m.instructions() {
				heights[f.table] = x.height(f.code, size.log)
			}
			maps.Copy(heights, map[table]int{
				m.zeros: x.height(codeZeros, size.log), m.bridges: x.height(codeBridges, size.log), m.output: x.height(codeOutput, size.log),
				m.input: x.height(codeInput, size.log), m.sponge: x.height(codeSponge, size.log),
			})
			var form stark.Form
			for _, t := range m.all() {
				form = append(form, heights[t])
			}
			all = append(all, form)
		}
	}
	return all
}

// fixedHeights returns the heights of the tables with fixed columns, given those of the program.
func (m *machine) fixedHeights(image []int) map[table]int {
	return map[table]int{
		m.program: image[0], m.constants: image[1], m.data: image[2], m.regions: image[3],
		m.registers: firstConstant, m.ranges: int(m.halves()), m.ands: 1 << (2 * m.byte), m.powers: m.powers.rows(m.shape),
	}
}

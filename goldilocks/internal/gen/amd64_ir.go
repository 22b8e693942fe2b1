package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A block is straight-line vector code over values, each assigned once: registers are
// given to values when the block is written out, and values that find none lie on the
// stack meanwhile. One source so serves both widths: 32 registers of eight lanes (AVX-512)
// and 16 of four (AVX2).
type block struct {
	lanes  int
	code   []step
	values int
	masks  int
	high   map[value]value
}

type value int

// A step is an instruction; its operands stand in the assembler's order, the destination last.
type step struct {
	mnemonic string
	before   string // what stands before the sources: immediates
	sources  []operand
	mask     string // what stands between sources and destination
	merge    bool   // the destination is the last source's register
	hidden   bool   // and that source is not written out
	toMemory string
	toMask   int   // the mask that it computes; 0: none
	under    int   // the mask that it is under; 0: none, or what mask says
	result   value // -1: none
}

// operand is a value, or text if text is not empty.
type operand struct {
	value value
	text  string
}

func newBlock(lanes int) *block {
	return &block{lanes: lanes, high: map[value]value{}}
}

func (b *block) emit(i step) value {
	i.result = -1
	if i.toMemory == "" && i.toMask == 0 {
		i.result = value(b.values)
		b.values++
	}
	b.code = append(b.code, i)
	return i.result
}

func operandOf(v value) operand { return operand{value: v} }

func operandsOf(values []value) (all []operand) {
	for _, v := range values {
		all = append(all, operandOf(v))
	}
	return all
}

// op is an instruction of the operands, in the assembler's order.
func (b *block) op(mnemonic string, sources ...value) value {
	return b.emit(step{mnemonic: mnemonic, sources: operandsOf(sources)})
}

func (b *block) immediate(mnemonic string, n int, sources ...value) value {
	return b.emit(step{mnemonic: mnemonic, before: fmt.Sprintf("$%d, ", n), sources: operandsOf(sources)})
}

// withConstant is an instruction whose first source is the named constant, in every lane.
func (b *block) withConstant(mnemonic, name string, sources ...value) value {
	return b.emit(step{mnemonic: mnemonic, sources: append([]operand{{text: "=" + name}}, operandsOf(sources)...)})
}

// withWord is an instruction whose first source is a 64-bit word in memory, in every lane.
func (b *block) withWord(mnemonic, address string, sources ...value) value {
	if b.lanes == 4 {
		return b.op(mnemonic, append([]value{b.broadcast(address)}, sources...)...)
	}
	return b.emit(step{mnemonic: mnemonic + ".BCST", sources: append([]operand{{text: address}}, operandsOf(sources)...)})
}

func (b *block) load(address string) value {
	return b.emit(step{mnemonic: b.either("VMOVDQU64", "VMOVDQU"), sources: []operand{{text: address}}})
}

func (b *block) broadcast(address string) value {
	return b.emit(step{mnemonic: "VPBROADCASTQ", sources: []operand{{text: address}}})
}

func (b *block) store(v value, address string) {
	b.emit(step{mnemonic: b.either("VMOVDQU64", "VMOVDQU"), sources: []operand{operandOf(v)}, toMemory: address})
}

// either is the first for AVX-512, the second for AVX2.
func (b *block) either(avx512, avx2 string) string {
	if b.lanes == 8 {
		return avx512
	}
	return avx2
}

func (b *block) register(n int) string {
	return b.either("Z", "Y") + fmt.Sprint(n)
}

const unused = 1 << 30

// allocation is the state of writing a block out.
type allocation struct {
	*block
	out   *bytes.Buffer
	uses  [][]int       // of each value, the instructions that read it and are to come
	where map[value]int // its register
	slots map[value]int // its place on the stack
	owner map[int]value // the value in a register, -1: none
	spare []int         // places that are free
	top   int           // places in all
	pool  []int         // registers, but the pinned
	fixed map[string]string
	names map[int]string // of masks that are computed and not yet used
}

// maskRegisters are those of masks, but K6 and K7.
const maskRegisters = 5

// maskFor is a register for the mask.
func (a *allocation) maskFor(mask int) string {
	taken := slices.Collect(maps.Values(a.names))
	for n := range maskRegisters {
		if name := fmt.Sprintf("K%d", n+1); !slices.Contains(taken, name) {
			a.names[mask] = name
			return name
		}
	}
	panic("more masks than registers")
}

// write writes the block out and returns how many places it used, of which the first is at
// R12. Registers of pinned are left alone.
func (b *block) write(out *bytes.Buffer, pinned map[string]string) (places int) {
	a := allocation{
		block: b, out: out, uses: make([][]int, b.values), where: map[value]int{}, slots: map[value]int{},
		owner: map[int]value{}, fixed: pinned, names: map[int]string{},
	}
	taken := map[string]bool{}
	for _, r := range pinned {
		taken[r] = true
	}
	for n := range 4 * b.lanes {
		if r := b.register(n); !taken[r] {
			a.pool = append(a.pool, n)
			a.owner[n] = -1
		}
	}
	for at, i := range b.code {
		for _, s := range i.sources {
			if s.text == "" {
				a.uses[s.value] = append(a.uses[s.value], at)
			}
		}
	}
	for at, i := range b.code {
		a.step(at, i)
	}
	return a.top
}

func (a *allocation) line(mnemonic, rest string) {
	fmt.Fprintf(a.out, "\t%s %s\n", mnemonic, rest)
}

func (a *allocation) slot(v value) string {
	return fmt.Sprintf("%d(R12)", a.slots[v]*8*a.lanes)
}

// free returns a register that holds nothing, other than those kept.
func (a *allocation) free(kept []int) int {
	worst, when := -1, -1
	for _, r := range a.pool {
		v := a.owner[r]
		if v < 0 {
			return r
		}
		if slices.Contains(kept, r) {
			continue
		}
		if next := a.next(v); next > when {
			worst, when = r, next
		}
	}
	v := a.owner[worst]
	if _, lies := a.slots[v]; !lies && when != unused {
		if len(a.spare) == 0 {
			a.spare = append(a.spare, a.top)
			a.top++
		}
		a.slots[v] = a.spare[len(a.spare)-1]
		a.spare = a.spare[:len(a.spare)-1]
		a.line(a.either("VMOVDQA64", "VMOVDQA"), a.register(worst)+", "+a.slot(v))
	}
	delete(a.where, v)
	a.owner[worst] = -1
	return worst
}

func (a *allocation) next(v value) int {
	if len(a.uses[v]) == 0 {
		return unused
	}
	return a.uses[v][0]
}

func (a *allocation) step(at int, i step) {
	var kept []int
	texts := make([]string, len(i.sources))
	for n, s := range i.sources {
		if s.text == "" {
			if r, ok := a.where[s.value]; ok {
				kept = append(kept, r)
			}
			continue
		}
		texts[n] = s.text
		if name, constant := strings.CutPrefix(s.text, "="); constant {
			texts[n] = a.constant(name)
		}
	}
	for n, s := range i.sources {
		if s.text != "" {
			continue
		}
		r, ok := a.where[s.value]
		if !ok {
			// The last time that it is read it can be read where it lies.
			if n == 0 && len(a.uses[s.value]) == 1 && len(i.sources) > 1 {
				texts[n] = a.slot(s.value)
				continue
			}
			r = a.free(kept)
			a.line(a.either("VMOVDQA64", "VMOVDQA"), a.slot(s.value)+", "+a.register(r))
			a.where[s.value], a.owner[r] = r, s.value
			kept = append(kept, r)
		}
		texts[n] = a.register(r)
	}
	// What is read here for the last time gives its register up.
	for _, s := range i.sources {
		if s.text != "" {
			continue
		}
		if len(a.uses[s.value]) > 0 && a.uses[s.value][0] == at {
			a.uses[s.value] = a.uses[s.value][1:]
		}
	}
	var last int
	for n, s := range i.sources {
		if s.text != "" {
			continue
		}
		r, in := a.where[s.value]
		if n == len(i.sources)-1 {
			last = r
		}
		if len(a.uses[s.value]) > 0 {
			continue
		}
		if in {
			a.owner[r] = -1
			delete(a.where, s.value)
			kept = slices.DeleteFunc(kept, func(k int) bool { return k == r })
		}
		if place, lies := a.slots[s.value]; lies {
			delete(a.slots, s.value)
			// Only when the step has been written: it may read the place.
			defer func() { a.spare = append(a.spare, place) }()
		}
	}
	switch {
	case i.toMemory != "":
		a.line(i.mnemonic, i.before+strings.Join(texts, ", ")+", "+i.toMemory)
		return
	case i.toMask != 0:
		a.line(i.mnemonic, i.before+strings.Join(texts, ", ")+", "+a.maskFor(i.toMask))
		return
	}
	var r int
	if i.under != 0 {
		i.mask = a.names[i.under] + ", " // a mask is used once
		delete(a.names, i.under)
	}
	if i.merge {
		r = last
		if a.owner[last] >= 0 { // read again later
			r = a.free(kept)
			a.line(a.either("VMOVDQA64", "VMOVDQA"), a.register(last)+", "+a.register(r))
			texts[len(texts)-1] = a.register(r)
		}
		if i.hidden {
			texts = texts[:len(texts)-1]
		}
	} else {
		r = a.free(kept)
	}
	a.where[i.result], a.owner[r] = r, i.result
	a.line(i.mnemonic, i.before+strings.Join(texts, ", ")+", "+i.mask+a.register(r))
	if len(a.uses[i.result]) == 0 {
		panic(fmt.Sprintf("%s: its result is not read", i.mnemonic))
	}
}

func (a *allocation) constant(name string) string {
	if r, ok := a.fixed[name]; ok {
		return r
	}
	return name + "<>(SB)"
}

// Package asm writes straight-line vector code in Go's assembly. Programs that generate kernels use it. A Block
// collects steps, which are instructions, and the values that they compute. It schedules the steps for the
// processor's ports and allocates registers. When no register is free, it keeps values on the stack.
package asm

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Block is straight-line amd64 code. Its steps compute values, and each value is assigned once. A value is not
// bound to a register. So the same steps serve AVX-512, which has 32 registers of eight 64-bit lanes, and AVX2,
// which has 16 registers of four such lanes.
type Block struct {
	Lanes  int // 8 or 4
	code   []Step
	values int
	masks  int

	entered, left []place
}

// Value identifies the result of one step of a block. The result fills one register.
type Value int

// Step is one instruction. Its operands are in the order of Go's assembler, which puts the destination last.
type Step struct {
	Mnemonic string
	Before   string // text before the sources: immediates
	Sources  []Operand
	Mask     string // text between sources and destination
	Merge    bool   // the destination is the last source's register
	Hidden   bool   // with Merge: that source is not written out
	ToMemory string // the destination's address, if it is in memory
	toMask   int    // the mask that it computes; 0: none
	under    int    // the mask that it is under; 0: none, or the one in Mask
	result   Value  // -1: none
}

// Operand is a value, or text for the assembler if Text is not empty. A text that consists of "=" and a name
// stands for a vector that has the constant with that name in every lane. Some constants are in registers: the
// parameter pinned of Block.Write says which ones, and in which registers. All other constants are in memory.
type Operand struct {
	Value Value
	Text  string
}

// New returns an empty block for registers of the given number of lanes, 8 or 4.
func New(lanes int) *Block { return &Block{Lanes: lanes} }

// Interleave returns a block with the steps of all the given blocks. It takes one step from each block in turn, so
// that the processor can work on one block's steps while those of another block wait. The blocks must not depend
// on each other, must not use masks, and must not use Enter or Leave.
func Interleave(blocks ...*Block) *Block {
	all := New(blocks[0].Lanes)
	for at := 0; ; at++ {
		more := false
		first := 0
		for _, b := range blocks {
			if at < len(b.code) {
				more = true
				s := b.code[at]
				s.Sources = slices.Clone(s.Sources)
				for i := range s.Sources {
					if s.Sources[i].Text == "" {
						s.Sources[i].Value += Value(first)
					}
				}
				if s.result >= 0 {
					s.result += Value(first)
				}
				all.code = append(all.code, s)
			}
			first += b.values
		}
		all.values = first
		if !more {
			return all
		}
	}
}

// Emit adds a step and returns its result, or -1 if the step writes to memory or to a mask.
func (b *Block) Emit(i Step) Value {
	i.result = -1
	if i.ToMemory == "" && i.toMask == 0 {
		i.result = Value(b.values)
		b.values++
	}
	b.code = append(b.code, i)
	return i.result
}

// ValueOperand returns v as an operand.
func ValueOperand(v Value) Operand { return Operand{Value: v} }

func all(values []Value) (operands []Operand) {
	for _, v := range values {
		operands = append(operands, ValueOperand(v))
	}
	return operands
}

// Op adds an instruction with the given sources, in the assembler's order, and returns its result.
func (b *Block) Op(mnemonic string, sources ...Value) Value {
	return b.Emit(Step{Mnemonic: mnemonic, Sources: all(sources)})
}

// Immediate adds an instruction that has the immediate operand n before its sources, and returns its result.
func (b *Block) Immediate(mnemonic string, n int, sources ...Value) Value {
	return b.Emit(Step{Mnemonic: mnemonic, Before: fmt.Sprintf("$%d, ", n), Sources: all(sources)})
}

// WithConstant adds an instruction and returns its result. The first source is a vector that has the constant with
// the given name in every lane.
func (b *Block) WithConstant(mnemonic, name string, sources ...Value) Value {
	return b.Emit(Step{Mnemonic: mnemonic, Sources: append([]Operand{{Text: "=" + name}}, all(sources)...)})
}

// WithWord adds an instruction and returns its result. The first source is a vector that has the 64-bit word at
// the given address in every lane.
func (b *Block) WithWord(mnemonic, address string, sources ...Value) Value {
	if b.Lanes == 4 {
		return b.Op(mnemonic, append([]Value{b.Broadcast(address)}, sources...)...)
	}
	return b.Emit(Step{Mnemonic: mnemonic + ".BCST", Sources: append([]Operand{{Text: address}}, all(sources)...)})
}

// Compare adds a VPCMPUQ instruction, which needs AVX-512 and compares u with v lane by lane. The parameter
// relation is the instruction's immediate operand. Compare returns the mask of the lanes in which u has that
// relation to v.
func (b *Block) Compare(relation int, v, u Operand) (mask int) {
	b.masks++
	b.Emit(Step{Mnemonic: "VPCMPUQ", Before: fmt.Sprintf("$%d, ", relation), Sources: []Operand{v, u}, toMask: b.masks})
	return b.masks
}

// Masked adds an instruction that acts only in the lanes of a mask, and returns its result. In these lanes the
// result is what the instruction computes from the named constant and x. In the other lanes the result is x. Use
// each mask only once.
func (b *Block) Masked(mnemonic, constant string, x Value, mask int) Value {
	return b.Emit(Step{Mnemonic: mnemonic, Sources: []Operand{{Text: "=" + constant}, ValueOperand(x)}, under: mask, Merge: true})
}

// Load adds an instruction that loads all lanes from the given address, and returns its result.
func (b *Block) Load(address string) Value {
	return b.Emit(Step{Mnemonic: b.Either("VMOVDQU64", "VMOVDQU"), Sources: []Operand{{Text: address}}})
}

// Broadcast adds an instruction that loads the word at the given address into every lane, and returns its result.
func (b *Block) Broadcast(address string) Value {
	return b.Emit(Step{Mnemonic: "VPBROADCASTQ", Sources: []Operand{{Text: address}}})
}

// Store adds an instruction that stores all lanes of v at the given address.
func (b *Block) Store(v Value, address string) {
	b.Emit(Step{Mnemonic: b.Either("VMOVDQU64", "VMOVDQU"), Sources: []Operand{ValueOperand(v)}, ToMemory: address})
}

// Either returns avx512 if the block has eight lanes, and avx2 if it has four.
func (b *Block) Either(avx512, avx2 string) string {
	if b.Lanes == 8 {
		return avx512
	}
	return avx2
}

// Register returns the name of register n in the block's width, for example Z3.
func (b *Block) Register(n int) string {
	return b.Either("Z", "Y") + fmt.Sprint(n)
}

const unused = 1 << 30

// allocation is the state of writing a block out.
type allocation struct {
	*Block
	out   *bytes.Buffer
	uses  [][]int           // by value: the later instructions that read it
	where map[Value]int     // a value's register
	slots map[Value]int     // a value's place on the stack
	owner map[int]Value     // the value in a register, -1: none
	spare []int             // free places
	top   int               // how many places have been used
	pool  []int             // all registers except the pinned ones
	fixed map[string]string // pinned registers of constants
	names map[int]string    // registers of masks that are computed and not yet used
}

// maskRegisters is how many mask registers a block may use: K1 to K5. K6 and K7 are left alone.
const maskRegisters = 5

// maskFor allocates a register for the mask and returns its name.
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

// Write allocates registers, writes the block's assembly to out, and returns the number of places on the stack
// that the code uses. A place is as wide as a register, and the first place is at the address in R12. The
// parameter pinned maps names of constants to the registers that hold them. The code uses these registers for
// nothing else.
func (b *Block) Write(out *bytes.Buffer, pinned map[string]string) (places int) {
	a := allocation{
		Block: b, out: out, uses: make([][]int, b.values), where: map[Value]int{}, slots: map[Value]int{},
		owner: map[int]Value{}, fixed: pinned, names: map[int]string{},
	}
	taken := map[string]bool{}
	for _, r := range pinned {
		taken[r] = true
	}
	for n := range 4 * b.Lanes {
		if r := b.Register(n); !taken[r] {
			a.pool = append(a.pool, n)
			a.owner[n] = -1
		}
	}
	for at, i := range b.code {
		for _, s := range i.Sources {
			if s.Text == "" {
				a.uses[s.Value] = append(a.uses[s.Value], at)
			}
		}
	}
	a.enter()
	for at, i := range b.code {
		a.step(at, i)
	}
	a.leave()
	return a.top
}

func (a *allocation) line(mnemonic, rest string) {
	fmt.Fprintf(a.out, "\t%s %s\n", mnemonic, rest)
}

func (a *allocation) slot(v Value) string {
	return fmt.Sprintf("%d(R12)", a.slots[v]*8*a.Lanes)
}

// free returns a register that holds nothing. If none is free, it spills the value that is read last. It does not
// touch the registers in kept.
func (a *allocation) free(kept []int) int {
	worst, when := -1, -1
	for _, r := range a.pool {
		if slices.Contains(kept, r) {
			continue
		}
		v := a.owner[r]
		if v < 0 {
			return r
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
		a.line(a.Either("VMOVDQA64", "VMOVDQA"), a.Register(worst)+", "+a.slot(v))
	}
	delete(a.where, v)
	a.owner[worst] = -1
	return worst
}

func (a *allocation) next(v Value) int {
	if len(a.uses[v]) == 0 {
		return unused
	}
	return a.uses[v][0]
}

func (a *allocation) step(at int, i Step) {
	var kept []int
	texts := make([]string, len(i.Sources))
	for n, s := range i.Sources {
		if s.Text == "" {
			if r, ok := a.where[s.Value]; ok {
				kept = append(kept, r)
			}
			continue
		}
		texts[n] = s.Text
		if name, constant := strings.CutPrefix(s.Text, "="); constant {
			texts[n] = a.constant(name)
		}
	}
	var last int // the register of the last source
	for n, s := range i.Sources {
		if s.Text != "" {
			continue
		}
		r, ok := a.where[s.Value]
		if !ok {
			// The last read can take the value directly from the stack.
			if n == 0 && len(a.uses[s.Value]) == 1 && len(i.Sources) > 1 {
				texts[n] = a.slot(s.Value)
				continue
			}
			r = a.free(kept)
			a.line(a.Either("VMOVDQA64", "VMOVDQA"), a.slot(s.Value)+", "+a.Register(r))
			a.where[s.Value], a.owner[r] = r, s.Value
			kept = append(kept, r)
		}
		texts[n], last = a.Register(r), r
	}
	read := slices.Clone(kept)
	// A value that is read here for the last time frees its register.
	for _, s := range i.Sources {
		if s.Text != "" {
			continue
		}
		if len(a.uses[s.Value]) > 0 && a.uses[s.Value][0] == at {
			a.uses[s.Value] = a.uses[s.Value][1:]
		}
	}
	for _, s := range i.Sources {
		if s.Text != "" {
			continue
		}
		r, in := a.where[s.Value]
		if len(a.uses[s.Value]) > 0 {
			continue
		}
		if in {
			a.owner[r] = -1
			delete(a.where, s.Value)
			kept = slices.DeleteFunc(kept, func(k int) bool { return k == r })
		}
		if place, lies := a.slots[s.Value]; lies {
			delete(a.slots, s.Value)
			// The place is free only after the step has been written, because the step may read it.
			defer func() { a.spare = append(a.spare, place) }()
		}
	}
	switch {
	case i.ToMemory != "":
		a.line(i.Mnemonic, i.Before+strings.Join(texts, ", ")+", "+i.ToMemory)
		return
	case i.toMask != 0:
		a.line(i.Mnemonic, i.Before+strings.Join(texts, ", ")+", "+a.maskFor(i.toMask))
		return
	}
	var r int
	if i.under != 0 {
		i.Mask = a.names[i.under] + ", " // a mask is used once
		delete(a.names, i.under)
	}
	if i.Merge {
		r = last
		if a.owner[last] >= 0 { // read again later
			r = a.free(read)
			a.line(a.Either("VMOVDQA64", "VMOVDQA"), a.Register(last)+", "+a.Register(r))
			texts[len(texts)-1] = a.Register(r)
		}
		if i.Hidden {
			texts = texts[:len(texts)-1]
		}
	} else {
		r = a.free(kept)
	}
	a.where[i.result], a.owner[r] = r, i.result
	a.line(i.Mnemonic, i.Before+strings.Join(texts, ", ")+", "+i.Mask+a.Register(r))
	if len(a.uses[i.result]) == 0 {
		panic(fmt.Sprintf("%s: its result is not read", i.Mnemonic))
	}
}

func (a *allocation) constant(name string) string {
	if r, ok := a.fixed[name]; ok {
		return r
	}
	return name + "<>(SB)"
}

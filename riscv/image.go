package riscv

import (
	"encoding/binary"
	"slices"
	"strings"
)

// Segment is a part of a program's memory when the program starts. The memory in [Start, End) is Data, and zero
// after it. A segment has whole pages of 4,096 bytes, as the machine maps them. If the file has two segments on one
// page, the boundary is where the second one begins.
type Segment struct {
	Start, End                     uint64 // addresses
	Data                           []byte
	Readable, Writable, Executable bool // at most one of the last two
}

// Segments returns the segments of the program, by address. The stack of a program for Linux and the addresses of
// Options.Map are not among them.
func (p *Program) Segments() (all []Segment) {
	for i, s := range p.segments {
		start, end := p.mapped(i)
		all = append(all, Segment{
			Start: start, End: end, Data: slices.Concat(make([]byte, s.start-start), s.data),
			Readable: s.rights&readable != 0, Writable: s.rights&writable != 0, Executable: s.rights&executable != 0,
		})
	}
	return all
}

// mapped returns the addresses that have the rights of segment i.
func (p *Program) mapped(i int) (start, end uint64) {
	s := p.segments[i]
	start, end = s.start&^pageMask, (s.end+pageMask)&^pageMask
	if i > 0 && p.segments[i-1].end > start {
		start = s.start
	}
	if i+1 < len(p.segments) && p.segments[i+1].start < end {
		end = p.segments[i+1].start
	}
	return start, end
}

// Instruction is an instruction of a program. A compressed instruction stands as the 32-bit instruction that it
// abbreviates. In floating-point instructions, registers of either kind have numbers from 0 to 31.
type Instruction struct {
	Address uint64
	Size    int // bytes: 4, or 2 if it is compressed; 0 for an end of code

	// Op is the mnemonic in lower case, for example addi or amoadd.w. It is empty if the machine does not execute
	// the instruction. auipc is lui, and all instructions on control registers are csr. An RV32 instruction that
	// RV64 has under another name has that name: add is addw.
	Op string

	// Rs1 and Rs2 are 0 if the instruction does not read them. Rd is 32 if the instruction writes no register or
	// register zero.
	Rd, Rs1, Rs2 uint8

	// Imm is the immediate, sign-extended, and for shifts the amount. For lui it is the value of Rd: the immediate
	// shifted by 12 bits, to which auipc adds its address. For branches and jal it is the target's address. For csr
	// and illegal instructions it is the encoding.
	Imm int64
}

// mnemonics holds the mnemonics of all operations from opLui on.
var mnemonics = strings.Fields(`
	lui addi slti sltiu xori ori andi slli srli srai add sub sll slt sltu xor srl sra or and
	addiw slliw srliw sraiw addw subw sllw srlw sraw fence
	mul mulh mulhsu mulhu div divu rem remu mulw divw divuw remw remuw mulh mulhsu mulhu
	lb lh lw ld lbu lhu lwu sb sh sw sd flw fld fsw fsd lr.w lr.d sc.w sc.d amoswap.w amoswap.d amoadd.w amoadd.d
	amoxor.w amoxor.d amoand.w amoand.d amoor.w amoor.d amomin.w amomin.d amomax.w amomax.d amominu.w amominu.d amomaxu.w amomaxu.d
	fadd.s fsub.s fmul.s fdiv.s fsqrt.s fsgnj.s fsgnjn.s fsgnjx.s fmin.s fmax.s feq.s flt.s fle.s fclass.s
	fmadd.s fmsub.s fnmsub.s fnmadd.s fmv.x.w fmv.w.x fcvt.w.s fcvt.wu.s fcvt.l.s fcvt.lu.s fcvt.s.w fcvt.s.wu fcvt.s.l fcvt.s.lu
	fadd.d fsub.d fmul.d fdiv.d fsqrt.d fsgnj.d fsgnjn.d fsgnjx.d fmin.d fmax.d feq.d flt.d fle.d fclass.d
	fmadd.d fmsub.d fnmsub.d fnmadd.d fmv.x.d fmv.d.x fcvt.w.d fcvt.wu.d fcvt.l.d fcvt.lu.d fcvt.d.w fcvt.d.wu fcvt.d.l fcvt.d.lu
	fcvt.s.d fcvt.d.s
	beq bne blt bge bltu bgeu jal jalr (profiled) ecall ebreak csr`)

// Instructions returns the instructions of all executable segments, by address. They depend on the file alone. A run
// can execute an instruction that is not among them only if it jumps into the middle of another one, or if the file
// does not contain the whole instruction.
//
// Each instruction is followed by the one that runs next if it does not jump. Decoding goes through a segment from
// its start, and restarts at the entry and at each function of the symbol table, so that data between functions
// cannot hide code. Data are decoded like code, and what a restart cuts off is an illegal instruction of two bytes.
// After the data of a segment comes an end of code, unless the next segment continues there.
func (p *Program) Instructions() (all []Instruction) {
	starts := p.starts()
	align := p.ISA.align()
	for _, s := range p.segments {
		if s.rights&executable == 0 {
			continue
		}
		pc := (s.start + align - 1) &^ (align - 1)
		if n := len(all); n > 0 && all[n-1].Address == pc { // the code goes on here after the last segment's end
			all = all[:n-1]
		}
		for ok := true; ok; {
			in, found := p.ISA.fetch(pc, s.parcel)
			if ok = found; !ok {
				in = instr{rd: sink}
			}
			for len(starts) > 0 && starts[0] <= pc {
				starts = starts[1:]
			}
			if len(starts) > 0 && starts[0] < pc+uint64(in.size) {
				low, _ := s.parcel(pc)
				in = instr{rd: sink, size: uint8(starts[0] - pc), imm: int64(low)}
			}
			one := Instruction{Address: pc, Size: int(in.size), Rd: in.rd, Rs1: in.rs1, Rs2: in.rs2, Imm: in.imm}
			if in.op >= opLui {
				one.Op = mnemonics[in.op-opLui]
			}
			all = append(all, one)
			pc += uint64(in.size)
		}
	}
	return all
}

// align returns the number of bytes of which every instruction's address is a multiple.
func (a ISA) align() uint64 {
	if a.Compressed {
		return 2
	}
	return 4
}

// starts returns the addresses at which instructions start for certain, sorted: the entry, and functions.
func (p *Program) starts() []uint64 {
	all := []uint64{p.Entry}
	for _, f := range p.functions {
		all = append(all, f.start)
	}
	all = slices.DeleteFunc(all, func(pc uint64) bool { return pc%p.ISA.align() != 0 })
	slices.Sort(all)
	return all
}

// parcel returns the 16 bits of a segment's data at an address, or false if it has none there.
func (s *segment) parcel(pc uint64) (uint16, bool) {
	at := pc - s.start
	if at+2 > uint64(len(s.data)) {
		return 0, false
	}
	return binary.LittleEndian.Uint16(s.data[at:]), true
}

package riscv

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/zkbench/zkbench"
)

// Program is a guest: a static RISC-V executable.
type Program struct {
	ISA   ISA
	Entry uint64

	segments  []segment  // by address
	arch      string     // the instruction set that it was compiled for, from its attributes; empty: not known
	functions []function // by address
	headers   uint64     // address of the program headers; 0: not loaded
	count     int        // number of program headers
}

type segment struct {
	start, end uint64 // addresses
	data       []byte // the rest is zero
	rights     rights
}

type function struct {
	start, end uint64
	name       string
}

// Limits of a program.
const (
	mostSegments = 64
	// highest is the end of the addresses of a user's program under Linux, with Sv48.
	highest = 1 << 47
)

// highest returns the end of the addresses of an instruction set.
func (a ISA) highest() uint64 {
	if a.XLEN == 32 {
		return 1<<32 - pageSize
	}
	return highest
}

// Load parses a statically linked ELF executable. ELF64 files are for RV64GC, the instruction set of
// programs for Linux, or for RV64IM or RV64IMC; ELF32 files are for RV32IM. Load accepts no other instruction sets. If
// isa is nil, Load takes RV64GC for ELF64 files and RV32IM for ELF32 files. Segments may share a page but
// must not overlap. The program does not retain raw.
//
// Errors have type *zkbench.DecodeError and wrap zkbench.ErrMalformed. If the file is for another machine,
// the error says what the file is for and what is accepted.
func Load(raw []byte, isa *ISA) (*Program, error) {
	p, err := load(bytes.Clone(raw), isa)
	if err != nil {
		return nil, &zkbench.DecodeError{Path: "elf", Reason: err.Error()}
	}
	return p, nil
}

func load(raw []byte, isa *ISA) (*Program, error) {
	file, err := readELF(raw)
	if err != nil {
		return nil, err
	}
	p := &Program{ISA: rv64gc, count: len(file.segments)}
	if file.class == elf.ELFCLASS32 {
		p.ISA = rv32im
	}
	if isa != nil {
		p.ISA = *isa
	}
	if p.ISA != rv64gc && p.ISA != rv64imc && p.ISA != rv64im && p.ISA != rv32im {
		return nil, fmt.Errorf("instruction set %v; accepted: %v, %v, %v, %v", p.ISA, rv64gc, rv64imc, rv64im, rv32im)
	}
	if err := p.accept(file); err != nil {
		return nil, err
	}
	base, err := file.base()
	if err != nil {
		return nil, err
	}
	p.Entry = uint64(p.ISA.extend(file.header.Entry + base))
	p.arch = file.architecture()
	for i, header := range file.segments {
		if elf.ProgType(header.Type) != elf.PT_LOAD {
			continue
		}
		if err := p.segment(file, header, base); err != nil {
			return nil, fmt.Errorf("program header %d: %w", i, err)
		}
	}
	slices.SortFunc(p.segments, func(a, b segment) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(p.segments); i++ {
		if p.segments[i].start < p.segments[i-1].end {
			return nil, fmt.Errorf("segments at %#x and %#x overlap", p.segments[i-1].start, p.segments[i].start)
		}
	}
	if p.rightsOf(p.Entry)&executable == 0 {
		return nil, fmt.Errorf("entry %#x is not in a segment of code", p.Entry)
	}
	return p, p.symbols(file, base)
}

// accept returns an error if the file is for another machine than the program's, and names everything that
// the machine lacks.
func (p *Program) accept(file *elfFile) error {
	kind, machine, bits := elf.Type(file.header.Type), elf.Machine(file.header.Machine), 64
	if file.class == elf.ELFCLASS32 {
		bits = 32
	}
	switch {
	case machine != elf.EM_RISCV:
		return fmt.Errorf("a program for %v; accepted: %v", machine, elf.EM_RISCV)
	case bits != p.ISA.XLEN:
		return fmt.Errorf("a program of %d bits (%v) for %v; accepted: a program of %d bits", bits, file.class, p.ISA, p.ISA.XLEN)
	case len(file.segments) > mostSegments:
		return fmt.Errorf("%d program headers; accepted: at most %d", len(file.segments), mostSegments)
	}
	for _, header := range file.segments {
		if elf.ProgType(header.Type) == elf.PT_INTERP {
			return fmt.Errorf("a dynamically linked program (%v); accepted: a statically linked program (-static)", elf.PT_INTERP)
		}
	}
	if kind != elf.ET_EXEC && kind != elf.ET_DYN {
		return fmt.Errorf("type %v; accepted: %v, and %v for a statically linked program", kind, elf.ET_EXEC, elf.ET_DYN)
	}
	if lacks := p.ISA.missing(file.header.Flags); len(lacks) > 0 {
		return fmt.Errorf("a program that uses %s, which %v lacks; accepted: a program compiled for %[2]v (-march)", strings.Join(lacks, " and "), p.ISA)
	}
	return nil
}

// segment adds a segment to the program.
func (p *Program) segment(file *elfFile, prog elf.Prog64, base uint64) error {
	if prog.Memsz == 0 {
		return nil
	}
	most := p.ISA.highest()
	before := prog.Vaddr
	prog.Vaddr += base
	end := prog.Vaddr + prog.Memsz
	if prog.Filesz > prog.Memsz || prog.Vaddr < before || end < prog.Vaddr || end > most {
		return fmt.Errorf("%d bytes at %#x, %d of them in the file; accepted: addresses below %#x", prog.Memsz, prog.Vaddr, prog.Filesz, most)
	}
	data, err := file.part("segment", prog.Off, prog.Filesz)
	if err != nil {
		return err
	}
	s := segment{start: uint64(p.ISA.extend(prog.Vaddr)), data: data}
	if s.end = s.start + prog.Memsz; uint64(p.ISA.extend(end-1)) != s.end-1 {
		return fmt.Errorf("%d bytes at %#x; accepted: segments on one side of address %#x", prog.Memsz, prog.Vaddr, 1<<31)
	}
	for flag, right := range map[elf.ProgFlag]rights{elf.PF_R: readable, elf.PF_W: writable, elf.PF_X: executable} {
		if elf.ProgFlag(prog.Flags)&flag != 0 {
			s.rights |= right
		}
	}
	if s.rights&writable != 0 && s.rights&executable != 0 {
		return errors.New("both writable and executable; accepted: at most one of them")
	}
	if p.ISA == rv64gc && s.end > stackTop-stackSize && s.start < stackTop {
		return fmt.Errorf("%d bytes at %#x; accepted: none from %#x to %#x, where the stack is", prog.Memsz, prog.Vaddr, uint64(stackTop-stackSize), uint64(stackTop))
	}
	if at := file.header.Phoff; prog.Off <= at && at < prog.Off+prog.Filesz {
		p.headers = s.start + at - prog.Off
	}
	p.segments = append(p.segments, s)
	return nil
}

// end returns the first page above all segments that are below the stack.
func (p *Program) end() (end uint64) {
	for _, s := range p.segments {
		if s.end <= stackTop-stackSize {
			end = max(end, (s.end+pageMask)&^pageMask)
		}
	}
	return end
}

// rightsOf returns the rights of an address when the program starts.
func (p *Program) rightsOf(addr uint64) rights {
	for _, s := range p.segments {
		if s.start <= addr && addr < s.end {
			return s.rights
		}
	}
	return 0
}

// symbols reads the functions from the symbol table, if there is one.
func (p *Program) symbols(file *elfFile, base uint64) error {
	all, err := file.symbols()
	if err != nil {
		return err
	}
	for _, s := range all {
		s.value = uint64(p.ISA.extend(s.value + base))
		if s.isFunction() && p.rightsOf(s.value)&executable != 0 {
			p.functions = append(p.functions, function{s.value, s.value + s.size, printable(s.name)})
		}
	}
	slices.SortStableFunc(p.functions, func(a, b function) int { return cmp.Compare(a.start, b.start) })
	p.functions = slices.CompactFunc(p.functions, func(a, b function) bool { return a.start == b.start })
	return nil
}

// isFunction reports whether a symbol names a function. Symbols in assembly have no type. Neither have the
// marks of code and data within functions (RISC-V psABI, section "Mapping Symbol") or the assembler's own
// labels, which are not functions.
func (s *symbol) isFunction() bool {
	return s.kind == elf.STT_FUNC || s.kind == elf.STT_NOTYPE && s.name != "" && s.name[0] != '$' && !strings.HasPrefix(s.name, ".L")
}

// printable removes from a name the characters that would move a terminal's cursor.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, name)
}

// functionAt returns the index of the function that contains an address, or -1 if none is known.
func (p *Program) functionAt(pc uint64) int {
	i, found := slices.BinarySearchFunc(p.functions, pc, func(f function, pc uint64) int { return cmp.Compare(f.start, pc) })
	if found {
		return i
	}
	if i--; i < 0 || p.functions[i].end > p.functions[i].start && pc >= p.functions[i].end {
		return -1
	}
	return i
}

package riscv

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Flags of a file's machine (RISC-V psABI, section "File Header").
const (
	flagCompressed = 0x1
	flagFloat      = 0x6 // bits that say how floating-point numbers are passed: 0, or in registers of F, D or Q
)

// missing returns the extensions that a file's flags name and the instruction set lacks.
func (a ISA) missing(flags uint32) (lacks []string) {
	if flags&flagCompressed != 0 && !a.Compressed {
		lacks = append(lacks, "compressed instructions (C)")
	}
	const quad = 3
	if float := flags & flagFloat >> 1; float == quad || float != 0 && !a.Float {
		lacks = append(lacks, "floating-point registers ("+[...]string{"", "F", "D", "Q"}[float]+")")
	}
	return lacks
}

// extensionOf returns the extension that an instruction needs and the instruction set lacks. It is empty if
// the instruction belongs to no known extension.
func (a ISA) extensionOf(w uint32) string {
	const (
		loadFP, storeFP, atomics, madd, nmadd, opFP, vector = 0x07, 0x27, 0x2f, 0x43, 0x4f, 0x53, 0x57
		widthS, widthD                                      = 2, 3
	)
	opcode, width := w&0x7f, field(w, 12, 3)
	switch float := width == widthS || width == widthD; {
	case w == 0:
		return ""
	case w&3 != 3 && !a.Compressed:
		return "C"
	case opcode == atomics && !a.Atomic:
		return "A"
	case opcode == vector, (opcode == loadFP || opcode == storeFP) && !float:
		return "V"
	case (opcode == loadFP || opcode == storeFP || madd <= opcode && opcode <= nmadd && opcode&3 == 3 || opcode == opFP) && !a.Float:
		return "F"
	}
	return ""
}

// illegal describes an instruction that the program's instruction set does not have: the extension that it
// belongs to, and the instruction set for which the program was compiled.
func (p *Program) illegal(w uint32) string {
	extended, compiled := "", ""
	if extension := p.ISA.extensionOf(w); extension != "" {
		extended = ", of the extension " + extension
	}
	if p.arch != "" {
		compiled = "; the program is compiled for " + p.arch
	}
	return fmt.Sprintf("%#x%s; accepted: %v%s", w, extended, p.ISA, compiled)
}

// Dynamic entries (System V ABI, "Dynamic Section").
const (
	dynamicFlags1    = 0x6ffffffb // DT_FLAGS_1
	dynamicPIE       = 0x08000000 // DF_1_PIE
	positionFreeBase = 0x10000    // base of a position-independent program
)

// base returns the number to add to all addresses of a file. It is 0 except for a position-independent
// program that relocates itself.
func (f *elfFile) base() (uint64, error) {
	if elf.Type(f.header.Type) == elf.ET_EXEC {
		return 0, nil
	}
	for _, header := range f.segments {
		if elf.ProgType(header.Type) != elf.PT_DYNAMIC {
			continue
		}
		raw, err := f.part("dynamic entries", header.Off, header.Filesz)
		if err != nil {
			return 0, err
		}
		for ; len(raw) >= 16 && f.class == elf.ELFCLASS64; raw = raw[16:] {
			if le := binary.LittleEndian; le.Uint64(raw) == dynamicFlags1 && le.Uint64(raw[8:])&dynamicPIE != 0 {
				return positionFreeBase, nil
			}
		}
	}
	return 0, errors.New("type ET_DYN without DF_1_PIE, like a shared library; accepted: a program linked with -static or -static-pie")
}

// architecture returns the instruction set for which a file was compiled, from its attributes (RISC-V psABI,
// section "Attributes"). It is empty if there are no attributes that can be read.
func (f *elfFile) architecture() string {
	const (
		attributes         = 0x70000003 // SHT_RISCV_ATTRIBUTES
		version            = 'A'
		tagFile, tagArch   = 1, 5
		vendor             = "riscv\x00"
		longest, perLength = 256, 4
	)
	for _, s := range f.sections {
		if s.Type != attributes {
			continue
		}
		raw, err := f.part("attributes", s.Off, s.Size)
		if err != nil || len(raw) < 1+perLength || raw[0] != version {
			return ""
		}
		raw, ok := bytes.CutPrefix(raw[1+perLength:], []byte(vendor))
		if !ok || len(raw) < 1+perLength || raw[0] != tagFile {
			return ""
		}
		for raw = raw[1+perLength:]; len(raw) > 0; {
			tag, n := binary.Uvarint(raw)
			if n <= 0 {
				return ""
			}
			raw = raw[n:]
			if tag%2 == 0 { // a number
				if _, n = binary.Uvarint(raw); n <= 0 {
					return ""
				}
				raw = raw[n:]
				continue
			}
			text, rest, _ := bytes.Cut(raw, []byte{0})
			if tag == tagArch {
				return printable(strings.ToValidUTF8(string(text[:min(len(text), longest)]), ""))
			}
			raw = rest
		}
	}
	return ""
}

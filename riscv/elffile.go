package riscv

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// elfFile holds the tables of an ELF file, those of 32 bits converted to 64. Package debug/elf copies a name
// for each section and symbol, so that a small file could use up the memory. (System V ABI, chapter "Object
// Files".)
type elfFile struct {
	raw      []byte
	class    elf.Class
	header   elf.Header64
	segments []elf.Prog64
	sections []elf.Section64
}

func readELF(raw []byte) (*elfFile, error) {
	if len(raw) < elf.EI_NIDENT || !bytes.HasPrefix(raw, []byte(elf.ELFMAG)) {
		return nil, errors.New("no ELF file")
	}
	if order := elf.Data(raw[elf.EI_DATA]); order != elf.ELFDATA2LSB {
		machine := "a machine"
		if at := elf.EI_NIDENT + 2; order == elf.ELFDATA2MSB && len(raw) >= at+2 {
			machine = elf.Machine(binary.BigEndian.Uint16(raw[at:])).String()
		}
		return nil, fmt.Errorf("a program for %s of byte order %v; accepted: %v, %v", machine, order, elf.EM_RISCV, elf.ELFDATA2LSB)
	}
	f := &elfFile{raw: raw, class: elf.Class(raw[elf.EI_CLASS])}
	switch f.class {
	case elf.ELFCLASS64:
		return f, f.read64()
	case elf.ELFCLASS32:
		return f, f.read32()
	}
	return nil, fmt.Errorf("class %v; accepted: %v, %v", f.class, elf.ELFCLASS32, elf.ELFCLASS64)
}

func (f *elfFile) read64() error {
	headers, err := entries[elf.Header64](f.raw, "headers", 0, 64, 1)
	if err != nil {
		return err
	}
	h := headers[0]
	f.header = h
	if f.segments, err = entries[elf.Prog64](f.raw, "program headers", h.Phoff, h.Phentsize, h.Phnum); err != nil {
		return err
	}
	f.sections, err = entries[elf.Section64](f.raw, "section headers", h.Shoff, h.Shentsize, h.Shnum)
	return err
}

func (f *elfFile) read32() error {
	headers, err := entries[elf.Header32](f.raw, "headers", 0, 52, 1)
	if err != nil {
		return err
	}
	h := headers[0]
	f.header = elf.Header64{Type: h.Type, Machine: h.Machine, Entry: uint64(h.Entry), Phoff: uint64(h.Phoff), Flags: h.Flags}
	segments, err := entries[elf.Prog32](f.raw, "program headers", uint64(h.Phoff), h.Phentsize, h.Phnum)
	if err != nil {
		return err
	}
	for _, s := range segments {
		f.segments = append(f.segments, elf.Prog64{
			Type: s.Type, Flags: s.Flags, Off: uint64(s.Off), Vaddr: uint64(s.Vaddr), Filesz: uint64(s.Filesz), Memsz: uint64(s.Memsz),
		})
	}
	sections, err := entries[elf.Section32](f.raw, "section headers", uint64(h.Shoff), h.Shentsize, h.Shnum)
	for _, s := range sections {
		f.sections = append(f.sections, elf.Section64{Type: s.Type, Flags: uint64(s.Flags), Off: uint64(s.Off), Size: uint64(s.Size), Link: s.Link})
	}
	return err
}

// entries decodes the n entries of a table at an offset. Each has the given number of bytes.
func entries[T any](raw []byte, what string, at uint64, each, n uint16) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	all := make([]T, n)
	if int(each) < binary.Size(all[0]) || at > uint64(len(raw)) || uint64(each)*uint64(n) > uint64(len(raw))-at {
		return nil, fmt.Errorf("%d %s of %d bytes at offset %d of a file of %d", n, what, each, at, len(raw))
	}
	for i := range all {
		if _, err := binary.Decode(raw[at+uint64(each)*uint64(i):], binary.LittleEndian, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// part returns size bytes of the file at an offset.
func (f *elfFile) part(what string, at, size uint64) ([]byte, error) {
	if at > uint64(len(f.raw)) || size > uint64(len(f.raw))-at {
		return nil, fmt.Errorf("%s: %d bytes at offset %d of a file of %d", what, size, at, len(f.raw))
	}
	return f.raw[at:][:size], nil
}

// symbol is an entry of a file's symbol table.
type symbol struct {
	name        string
	kind        elf.SymType
	value, size uint64
}

// Limits of symbol tables.
const (
	mostSymbols = 1 << 20
	mostNamed   = 64 << 20 // bytes of all names, which may overlap in the file
)

// symbols returns the entries of the symbol table, if there is one.
func (f *elfFile) symbols() (all []symbol, err error) {
	var parts [2][]byte // the table, and its names
	for _, table := range f.sections {
		if elf.SectionType(table.Type) != elf.SHT_SYMTAB {
			continue
		}
		if int(table.Link) >= len(f.sections) {
			return nil, fmt.Errorf("symbols: names in section %d of %d", table.Link, len(f.sections))
		}
		for i, s := range []elf.Section64{table, f.sections[table.Link]} {
			if elf.SectionFlag(s.Flags)&elf.SHF_COMPRESSED != 0 {
				return nil, errors.New("compressed symbols; accepted: uncompressed symbols")
			}
			if parts[i], err = f.part("symbols", s.Off, s.Size); err != nil {
				return nil, err
			}
		}
		break
	}
	each := elf.Sym64Size
	if f.class == elf.ELFCLASS32 {
		each = elf.Sym32Size
	}
	if n := len(parts[0]) / each; n > mostSymbols {
		return nil, fmt.Errorf("%d symbols; accepted: at most %d", n, mostSymbols)
	}
	names, named := string(parts[1]), 0
	for raw := parts[0]; len(raw) >= each; raw = raw[each:] {
		le := binary.LittleEndian
		var s symbol
		if f.class == elf.ELFCLASS64 {
			s = symbol{kind: elf.ST_TYPE(raw[4]), value: le.Uint64(raw[8:]), size: le.Uint64(raw[16:])}
		} else {
			s = symbol{kind: elf.ST_TYPE(raw[12]), value: uint64(le.Uint32(raw[4:])), size: uint64(le.Uint32(raw[8:]))}
		}
		if at := le.Uint32(raw); uint64(at) < uint64(len(names)) {
			s.name = names[at:]
			if end := bytes.IndexByte(parts[1][at:], 0); end >= 0 {
				s.name = s.name[:end]
			}
		}
		if named += len(s.name); named > mostNamed {
			return nil, fmt.Errorf("names of symbols have more than %d bytes in all", mostNamed)
		}
		all = append(all, s)
	}
	return all, nil
}

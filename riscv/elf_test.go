package riscv_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/riscv"
)

// Where the programs of tests have their code and data.
const (
	codeAt = 0x10000
	dataAt = 0x200000
)

// part is a segment of an executable.
type part struct {
	at     uint64
	flags  uint32 // of ELF: 1 execute, 2 write, 4 read
	data   []byte
	memory uint64 // bytes; 0: as many as data
}

// executable is an ELF64 file of RISC-V.
func executable(entry uint64, parts ...part) []byte { return elfFile(64, entry, parts) }

// elfFile is an ELF file of RISC-V with registers of so many bits.
func elfFile(xlen int, entry uint64, parts []part) []byte {
	headers, each := 64, 56
	if xlen == 32 {
		headers, each = 52, 32
	}
	le := binary.LittleEndian
	word := func(raw []byte, v uint64) []byte {
		if xlen == 32 {
			return le.AppendUint32(raw, uint32(v))
		}
		return le.AppendUint64(raw, v)
	}
	raw := append([]byte{0x7f, 'E', 'L', 'F', byte(xlen / 32), 1, 1}, make([]byte, 9)...)
	raw = le.AppendUint16(raw, 2)   // ET_EXEC
	raw = le.AppendUint16(raw, 243) // EM_RISCV
	raw = le.AppendUint32(raw, 1)
	raw = word(raw, entry)
	raw = word(raw, uint64(headers))
	raw = word(raw, 0)
	raw = le.AppendUint32(raw, uint32(xlen-32)/32*5) // of 64 bits: compressed code, double precision
	for _, v := range []int{headers, each, len(parts), 64, 0, 0} {
		raw = le.AppendUint16(raw, uint16(v))
	}
	// A linker places a segment at an offset that is its address within a page.
	const page = 4096
	offset := uint64(page)
	var content []byte
	for _, p := range parts {
		content = append(content, make([]byte, int(offset+p.at%page)-page-len(content))...)
		at := uint64(page + len(content))
		content = append(content, p.data...)
		raw = le.AppendUint32(raw, 1) // PT_LOAD
		sizes := []uint64{at, p.at, p.at, uint64(len(p.data)), max(p.memory, uint64(len(p.data))), page}
		if xlen == 64 {
			raw = le.AppendUint32(raw, p.flags)
		}
		for i, v := range sizes {
			if xlen == 32 && i == 5 { // where the flags stand there
				raw = le.AppendUint32(raw, p.flags)
			}
			raw = word(raw, v)
		}
		offset = (at + uint64(len(p.data)) + page - 1) / page * page
	}
	return append(append(raw, make([]byte, page-len(raw))...), content...)
}

// section is one of an ELF64 file.
type section struct {
	kind, flags, link, size uint64 // as elf.SectionHeader has them, and of an entry
	data                    []byte
}

// withSections is an ELF64 file with sections 1 and on, the last of which has their names.
func withSections(raw []byte, sections ...section) []byte {
	le := binary.LittleEndian
	headers := make([]byte, 64)
	for _, s := range sections {
		headers = le.AppendUint64(headers, s.kind<<32)
		for _, v := range []uint64{s.flags, 0, uint64(len(raw)), uint64(len(s.data)), s.link, 8, s.size} {
			headers = le.AppendUint64(headers, v)
		}
		raw = append(raw, s.data...)
	}
	le.PutUint64(raw[40:], uint64(len(raw)))
	le.PutUint16(raw[60:], uint16(1+len(sections)))
	le.PutUint16(raw[62:], uint16(len(sections)))
	return append(raw, headers...)
}

// symbol is a function, or a label if it has no type.
type symbol struct {
	name string
	kind byte // 2: a function
	at   uint64
}

// withSymbols is an ELF64 file with a symbol table.
func withSymbols(raw []byte, symbols ...symbol) []byte {
	table, names := make([]byte, 24), []byte{0}
	for _, s := range symbols {
		table = binary.LittleEndian.AppendUint32(table, uint32(len(names)))
		table = append(table, s.kind, 0, 1, 0)
		table = binary.LittleEndian.AppendUint64(table, s.at)
		table = binary.LittleEndian.AppendUint64(table, 0)
		names = append(append(names, s.name...), 0)
	}
	return withSections(raw, section{2, 0, 2, 24, table}, section{kind: 3, data: names}, section{kind: 3, data: []byte{0}})
}

// code is an executable of instructions, and of data that may be written.
func code(words []uint32, data []byte) []byte {
	var text []byte
	for _, w := range words {
		text = binary.LittleEndian.AppendUint32(text, w)
	}
	return executable(codeAt, part{at: codeAt, flags: 5, data: text}, part{at: dataAt, flags: 6, data: data, memory: 1 << 16})
}

// TestLoadRefuses: what is no guest is a DecodeError that says why.
func TestLoadRefuses(t *testing.T) {
	text := part{at: codeAt, flags: 5, data: make([]byte, 8)}
	good := executable(codeAt, text)
	must.Get(riscv.Load(good, nil))(t)
	changed := func(at int, bytes ...byte) []byte {
		raw := append([]byte(nil), good...)
		copy(raw[at:], bytes)
		return raw
	}
	for name, test := range map[string]struct {
		raw  []byte
		says string
	}{
		"empty":            {nil, "EOF"},
		"another machine":  {changed(18, 62), "EM_X86_64"},
		"shared":           {changed(16, 3), "ET_DYN"},
		"big-endian":       {changed(5, 2), ""},
		"entry outside":    {executable(codeAt+8, text), "entry 0x10008 is in no segment of code"},
		"entry in data":    {executable(dataAt, text, part{at: dataAt, flags: 6, data: []byte{1}}), "entry 0x200000"},
		"changes itself":   {executable(codeAt, part{at: codeAt, flags: 7, data: text.data}), "both writable and executable"},
		"overlap":          {executable(codeAt, text, part{at: codeAt + 4, flags: 6, data: text.data}), "share a page"},
		"one page":         {executable(codeAt, text, part{at: codeAt + 64, flags: 6, data: text.data}), "share a page"},
		"huge":             {executable(codeAt, text, part{at: dataAt, flags: 6, memory: 1 << 60}), "accepted: addresses below"},
		"around":           {executable(codeAt, text, part{at: 1<<64 - 8, flags: 6, data: text.data}), "accepted: addresses below"},
		"interpreter":      {changed(64, 3), "PT_INTERP"},
		"dynamic":          {changed(64, 2), "PT_DYNAMIC"},
		"more in the file": {changed(64+40, 4), "8 of them in the file"},
		"segments":         {changed(56, 65), "65 program headers; accepted: at most 64"},
		"beyond the file":  {changed(64+8, 0, 0, 0, 1), "at offset 16777216"},
		"cut":              {good[:4100], "at offset 4096 of a file of 4100"},
	} {
		_, err := riscv.Load(test.raw, nil)
		must.Fail(t, err, zkbench.ErrMalformed, "%s", name)
		golden.Contains(t, err.Error(), test.says)
	}
	_, err := riscv.Load(good, &riscv.RV32IM)
	must.Fail(t, err, zkbench.ErrMalformed, "of the other width")
	for name, at := range map[string]uint64{"across 2^31": 1<<31 - 4, "to the end": 1<<32 - 8} {
		_, err := riscv.Load(elfFile(32, codeAt, []part{text, {at: at, flags: 6, data: text.data}}), nil)
		must.Fail(t, err, zkbench.ErrMalformed, "of 32 bits, %s", name)
	}
	must.Get(riscv.Load(elfFile(32, codeAt, []part{text, {at: 1<<31 - 8, flags: 6, data: text.data}}), nil))(t)
}

// TestSymbols: functions have names that a terminal can show, and are not cut by an assembler's labels.
func TestSymbols(t *testing.T) {
	words := []uint32{0x13, 0x13, 0x13, 0x13, typeI(opImm, 0, 17, 0, 93), 0x73}
	raw := withSymbols(code(words, nil),
		symbol{"$xrv64i2p1", 0, codeAt}, symbol{"first\x1b[2J\nsecond", 2, codeAt}, symbol{".L0 ", 0, codeAt + 8}, symbol{"$d", 0, codeAt + 12}, symbol{"label", 0, codeAt + 16})
	r := must.Get(riscv.Run(t.Context(), must.Get(riscv.Load(raw, nil))(t), riscv.Options{}))(t)
	got := ""
	for _, f := range r.Functions {
		got += fmt.Sprintln(f.Name, f.Total())
	}
	golden.Equal(t, "functions", "first[2Jsecond 4\nlabel 2\n", got)
}

// TestCompressed: symbols and names of sections that are small in the file and huge in memory are refused.
func TestCompressed(t *testing.T) {
	const most = 64 << 20
	bomb := bytes.NewBuffer(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0, 0, 0, 0, 0}, most), 1))
	w := zlib.NewWriter(bomb)
	must.Get(w.Write(make([]byte, most)))(t)
	must.Do(t, w.Close())
	plain := []section{{2, 0, 2, 24, make([]byte, 24)}, {kind: 3, data: []byte{0}}, {kind: 3, data: []byte{0}}}
	guest := code([]uint32{0x73}, nil)
	must.Get(riscv.Load(withSections(guest, plain...), nil))(t)
	for i, name := range []string{"symbols", "names of symbols", "names of sections"} {
		sections := slices.Clone(plain)
		sections[i].flags, sections[i].data = 1<<11, bomb.Bytes() // SHF_COMPRESSED
		raw := withSections(guest, sections...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := riscv.Load(raw, nil)
		runtime.ReadMemStats(&after)
		must.Fail(t, err, zkbench.ErrMalformed, "%s", name)
		golden.Contains(t, err.Error(), "that are compressed")
		golden.Within(t, name+": bytes", 0, after.TotalAlloc-before.TotalAlloc, most/8)
	}
	raw := withSections(guest, plain...)
	copy(raw[62:], []byte{0xff, 0xff})
	must.FailGet(riscv.Load(raw, nil))(t, zkbench.ErrMalformed, "the index of names elsewhere")
}

// TestOneName: functions of one name and one total are in the same order in each run.
func TestOneName(t *testing.T) {
	raw := withSymbols(code([]uint32{0x13, 0x0040006f, typeI(opImm, 0, 17, 0, 93), 0x73}, nil), symbol{"f", 2, codeAt}, symbol{"f", 2, codeAt + 8})
	p := must.Get(riscv.Load(raw, nil))(t)
	first := must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t)
	for range 50 {
		golden.Equal(t, "functions", fmt.Sprint(first.Functions), fmt.Sprint(must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t).Functions))
	}
}

// TestMemoryLimit: segments are not larger than memory may be.
func TestMemoryLimit(t *testing.T) {
	text := part{at: codeAt, flags: 5, data: bytes.Repeat([]byte{1}, 1<<16)}
	p := must.Get(riscv.Load(executable(codeAt, text), nil))(t)
	_, err := riscv.Run(t.Context(), p, riscv.Options{MemoryLimit: 1 << 15})
	golden.Contains(t, errorText(err), "guest: out of memory at 0x10000 after 0 cycles")
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzLoad: no bytes make the loader or the guest panic, or take more than the limits.
func FuzzLoad(f *testing.F) {
	f.Add(code([]uint32{0x00000073}, nil))
	f.Add(executable(codeAt, part{at: codeAt, flags: 5, data: make([]byte, 8)}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, isa := range []*riscv.ISA{nil, &riscv.RV64IM, &riscv.RV32IM} {
			p, err := riscv.Load(raw, isa)
			if err != nil {
				continue
			}
			r, _ := riscv.Run(t.Context(), p, riscv.Options{MemoryLimit: 1 << 20, CycleLimit: 10_000})
			if r != nil && (r.Cycles > 10_000 || r.Pages > 1<<8) {
				t.Errorf("%+v", r)
			}
		}
	})
}

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
	"github.com/zkbench/zkbench/internal/rv"
	"github.com/zkbench/zkbench/riscv"
)

// Where the programs of tests have their code and data.
const (
	codeAt = 0x10000
	dataAt = 0x200000
)

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
	le.PutUint16(raw[58:], 64)
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
	return rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(words...)}, rv.Segment{At: dataAt, Flags: 6, Data: data, Memory: 1 << 16})
}

// TestLoadRefuses: what is no guest is a DecodeError that says why.
func TestLoadRefuses(t *testing.T) {
	text := rv.Segment{At: codeAt, Flags: 5, Data: make([]byte, 8)}
	good := rv.ELF(64, codeAt, text)
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
		"entry outside":    {rv.ELF(64, codeAt+8, text), "entry 0x10008 is in no segment of code"},
		"entry in data":    {rv.ELF(64, dataAt, text, rv.Segment{At: dataAt, Flags: 6, Data: []byte{1}}), "entry 0x200000"},
		"changes itself":   {rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 7, Data: text.Data}), "both writable and executable"},
		"overlap":          {rv.ELF(64, codeAt, text, rv.Segment{At: codeAt + 4, Flags: 6, Data: text.Data}), "share a page"},
		"one page":         {rv.ELF(64, codeAt, text, rv.Segment{At: codeAt + 64, Flags: 6, Data: text.Data}), "share a page"},
		"huge":             {rv.ELF(64, codeAt, text, rv.Segment{At: dataAt, Flags: 6, Memory: 1 << 60}), "accepted: addresses below"},
		"around":           {rv.ELF(64, codeAt, text, rv.Segment{At: 1<<64 - 8, Flags: 6, Data: text.Data}), "accepted: addresses below"},
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
		_, err := riscv.Load(rv.ELF(32, codeAt, text, rv.Segment{At: at, Flags: 6, Data: text.Data}), nil)
		must.Fail(t, err, zkbench.ErrMalformed, "of 32 bits, %s", name)
	}
	must.Get(riscv.Load(rv.ELF(32, codeAt, text, rv.Segment{At: 1<<31 - 8, Flags: 6, Data: text.Data}), nil))(t)
}

// TestSymbols: functions have names that a terminal can show, and are not cut by an assembler's labels.
func TestSymbols(t *testing.T) {
	words := []uint32{rv.Nop, rv.Nop, rv.Nop, rv.Nop, rv.Addi(17, 0, 93), rv.Ecall}
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
	guest := code([]uint32{rv.Ecall}, nil)
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
	raw := withSymbols(code([]uint32{rv.Nop, rv.Jal(0, 4), rv.Addi(17, 0, 93), rv.Ecall}, nil), symbol{"f", 2, codeAt}, symbol{"f", 2, codeAt + 8})
	p := must.Get(riscv.Load(raw, nil))(t)
	first := must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t)
	for range 50 {
		golden.Equal(t, "functions", fmt.Sprint(first.Functions), fmt.Sprint(must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t).Functions))
	}
}

// TestMemoryLimit: segments are not larger than memory may be.
func TestMemoryLimit(t *testing.T) {
	text := rv.Segment{At: codeAt, Flags: 5, Data: bytes.Repeat([]byte{1}, 1<<16)}
	p := must.Get(riscv.Load(rv.ELF(64, codeAt, text), nil))(t)
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
	f.Add(code([]uint32{rv.Ecall}, nil))
	f.Add(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: make([]byte, 8)}))
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

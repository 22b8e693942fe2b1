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
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// Addresses of the test programs' code and data.
const (
	codeAt = 0x10000
	dataAt = 0x200000
)

// section is a section of an ELF file.
type section struct {
	kind, flags, link, size uint64 // as elf.SectionHeader has them, and of an entry
	data                    []byte
}

// withSections returns the file with sections 1 and up, the last of which holds their names.
func withSections(raw []byte, sections ...section) []byte {
	le := binary.LittleEndian
	word, shoff, counts := le.AppendUint64, 40, 58
	if raw[4] == 1 { // of 32 bits
		word, shoff, counts = func(raw []byte, v uint64) []byte { return le.AppendUint32(raw, uint32(v)) }, 32, 46
	}
	headers := make([]byte, 16+6*len(word(nil, 0)))
	each := len(headers)
	for _, s := range sections {
		headers = le.AppendUint64(headers, s.kind<<32)
		for _, v := range []uint64{s.flags, 0, uint64(len(raw)), uint64(len(s.data))} {
			headers = word(headers, v)
		}
		headers = le.AppendUint64(headers, s.link)
		headers = word(word(headers, 8), s.size)
		raw = append(raw, s.data...)
	}
	copy(raw[shoff:], word(nil, uint64(len(raw))))
	for i, v := range []int{each, 1 + len(sections), len(sections)} {
		le.PutUint16(raw[counts+2*i:], uint16(v))
	}
	return append(raw, headers...)
}

// label is a symbol: a function, or a symbol without a type.
type label struct {
	name string
	kind byte // 2: a function
	at   uint64
}

// withSymbols returns the file with a symbol table.
func withSymbols(raw []byte, labels ...label) []byte {
	le := binary.LittleEndian
	each := uint64(24)
	if raw[4] == 1 {
		each = 16
	}
	table, names := make([]byte, each), []byte{0}
	for _, s := range labels {
		table = le.AppendUint32(table, uint32(len(names)))
		if kind := []byte{s.kind, 0, 1, 0}; each == 24 {
			table = le.AppendUint64(le.AppendUint64(append(table, kind...), s.at), 0)
		} else {
			table = append(le.AppendUint64(table, s.at), kind...)
		}
		names = append(append(names, s.name...), 0)
	}
	return withSections(raw, section{2, 0, 2, each, table}, section{kind: 3, data: names}, section{kind: 3, data: []byte{0}})
}

// code returns an executable with these instructions, and with data that may be written.
func code(words []uint32, data []byte) []byte {
	return rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(words...)}, rv.Segment{At: dataAt, Flags: 6, Data: data, Memory: 1 << 16})
}

// TestLoadCopies: a program is what was loaded, whatever the buffer holds then.
func TestLoadCopies(t *testing.T) {
	raw := code(slices.Concat(number(10, dataAt), number(11, 5), own(call.Commit), system(93, 0)), []byte("valid"))
	p := must.Get(riscv.Load(raw, nil))(t)
	clear(raw)
	golden.Equal(t, "output", "valid", string(must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t).Output))
}

// TestISA: sets that the package does not know are refused, the zero value with them.
func TestISA(t *testing.T) {
	raw := code(system(93, 0), nil)
	for _, isa := range []riscv.ISA{{}, {XLEN: 128}, {XLEN: 64, Float: true}, *riscv.RV32IM()} {
		must.FailGet(riscv.Load(raw, &isa))(t, zkbench.ErrMalformed, "%v", isa)
	}
	riscv.RV64GC().XLEN = 32 // which is the caller's own copy
	golden.Equal(t, "the default", *riscv.RV64GC(), must.Get(riscv.Load(raw, nil))(t).ISA)
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
		"empty":            {nil, "no ELF file"},
		"text":             {[]byte("# A guest, as one might think"), "no ELF file"},
		"a magic alone":    {good[:16], "1 headers of 64 bytes at offset 0 of a file of 16"},
		"another class":    {changed(4, 3), "class ELFCLASS64+1"},
		"another machine":  {changed(18, 62), "a program for EM_X86_64; accepted: EM_RISCV"},
		"shared":           {changed(16, 3), "ET_DYN without DF_1_PIE, like a shared library"},
		"not linked":       {changed(16, 1), "type ET_REL; accepted: ET_EXEC, and ET_DYN"},
		"big-endian":       {slices.Concat(good[:5], []byte{2}, good[6:18], []byte{0, 21}, good[20:]), "a program for EM_PPC64 of byte order ELFDATA2MSB; accepted: EM_RISCV, ELFDATA2LSB"},
		"no byte order":    {changed(5, 0), "a program for a machine of byte order ELFDATANONE"},
		"quad precision":   {changed(48, 7), "a program that uses floating-point registers (Q), which RV64GC lacks; accepted: a program compiled for RV64GC (-march)"},
		"in the stack":     {rv.ELF(64, 0x3f_ffff_0000, rv.Segment{At: 0x3f_ffff_0000, Flags: 5, Data: text.Data}), "where the stack is"},
		"no sections":      {changed(60, 1), "1 section headers of 0 bytes at offset 0"},
		"headers beyond":   {changed(33, 0xff), "1 program headers of 56 bytes at offset 65344"},
		"entry outside":    {rv.ELF(64, codeAt+8, text), "entry 0x10008 is not in a segment of code"},
		"entry in data":    {rv.ELF(64, dataAt, text, rv.Segment{At: dataAt, Flags: 6, Data: []byte{1}}), "entry 0x200000"},
		"changes itself":   {rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 7, Data: text.Data}), "both writable and executable"},
		"overlap":          {rv.ELF(64, codeAt, text, rv.Segment{At: codeAt + 4, Flags: 6, Data: text.Data}), "segments at 0x10000 and 0x10004 overlap"},
		"huge":             {rv.ELF(64, codeAt, text, rv.Segment{At: dataAt, Flags: 6, Memory: 1 << 60}), "accepted: addresses below"},
		"around":           {rv.ELF(64, codeAt, text, rv.Segment{At: 1<<64 - 8, Flags: 6, Data: text.Data}), "accepted: addresses below"},
		"interpreter":      {changed(64, 3), "PT_INTERP"},
		"dynamic":          {changed(64, 2), "entry 0x10000 is not in a segment of code"},
		"more in the file": {changed(64+40, 4), "8 of them in the file"},
		"segments":         {changed(56, 65), "65 program headers; accepted: at most 64"},
		"beyond the file":  {changed(64+8, 0, 0, 0, 1), "at offset 16777216"},
		"cut":              {good[:4100], "at offset 4096 of a file of 4100"},
	} {
		_, err := riscv.Load(test.raw, nil)
		must.Fail(t, err, zkbench.ErrMalformed, "%s", name)
		golden.Contains(t, err.Error(), test.says)
	}
	bare := bytes.Clone(good)
	bare[48] = 5 // compressed, and double precision
	small := rv.ELF(32, codeAt, text)
	flagged := bytes.Clone(small)
	flagged[36] = 3
	for says, test := range map[string]struct {
		raw []byte
		isa *riscv.ISA
	}{
		"a program of 64 bits (ELFCLASS64) for RV32IM; accepted: a program of 32 bits":                    {good, riscv.RV32IM()},
		"a program of 32 bits (ELFCLASS32) for RV64IM; accepted: a program of 64 bits":                    {small, riscv.RV64IM()},
		"uses compressed instructions (C) and floating-point registers (D), which RV64IM lacks; accepted": {bare, riscv.RV64IM()},
		"uses compressed instructions (C) and floating-point registers (F), which RV32IM lacks; accepted": {flagged, nil},
	} {
		_, err := riscv.Load(test.raw, test.isa)
		must.Fail(t, err, zkbench.ErrMalformed, "%s", says)
		golden.Contains(t, err.Error(), says)
	}
	must.Get(riscv.Load(bare, nil))(t)
	for name, at := range map[string]uint64{"across 2^31": 1<<31 - 4, "to the end": 1<<32 - 8} {
		_, err := riscv.Load(rv.ELF(32, codeAt, text, rv.Segment{At: at, Flags: 6, Data: text.Data}), nil)
		must.Fail(t, err, zkbench.ErrMalformed, "of 32 bits, %s", name)
	}
	must.Get(riscv.Load(rv.ELF(32, codeAt, text, rv.Segment{At: 1<<31 - 8, Flags: 6, Data: text.Data}), nil))(t)
}

// TestSymbols: functions of either width have names that a terminal can show, and are not cut by an assembler's
// labels; what is behind one that has a size is none's.
func TestSymbols(t *testing.T) {
	words := append(slices.Repeat([]uint32{rv.Nop}, 4), system(93)...)
	for _, raw := range [][]byte{code(words, nil), rv.ELF(32, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(words...)})} {
		raw = withSymbols(raw,
			label{"$xrv64i2p1", 0, codeAt}, label{"first\x1b[2J\nsecond", 2, codeAt}, label{".L0 ", 0, codeAt + 8}, label{"$d", 0, codeAt + 12}, label{"label", 0, codeAt + 16}, label{"alias", 2, codeAt + 16})
		isa := riscv.RV64GC()
		if raw[4] == 1 {
			isa = riscv.RV32IM()
		} else {
			binary.LittleEndian.PutUint64(raw[bytes.Index(raw, []byte{2, 0, 1, 0, 0, 0, 1})+12:], 12) // the size of the first
		}
		r := must.Get(riscv.Run(t.Context(), must.Get(riscv.Load(raw, isa))(t), riscv.Options{}))(t)
		got := ""
		for _, f := range r.Functions {
			got += fmt.Sprintln(f.Name, f.Total())
		}
		want := "first[2Jsecond 4\nlabel 2\n"
		if isa.Compressed {
			want = "first[2Jsecond 3\nlabel 2\n 1\n"
		}
		golden.Equal(t, "functions", want, got)
	}
}

// TestNames: symbols that are small in the file and huge in memory are refused, before they are there: those that
// are compressed, and names that overlap.
func TestNames(t *testing.T) {
	const most = 64 << 20
	bomb := bytes.NewBuffer(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0, 0, 0, 0, 0}, most), 1))
	w := zlib.NewWriter(bomb)
	must.Get(w.Write(make([]byte, most)))(t)
	must.Do(t, w.Close())
	const compressed = 1 << 11 // SHF_COMPRESSED
	none, last := make([]byte, 24), section{kind: 3, data: []byte{0}}
	long := append(bytes.Repeat([]byte{'a'}, most/256), 0)
	overlapping := bytes.Clone(none)
	for i := range uint32(300) {
		overlapping = binary.LittleEndian.AppendUint32(overlapping, i)
		overlapping = append(append(overlapping, 2, 0, 1, 0), make([]byte, 16)...)
	}
	guest := code([]uint32{rv.Ecall}, nil)
	must.Get(riscv.Load(withSections(guest, section{2, 0, 2, 24, none}, section{kind: 3, data: []byte{0}}, last), nil))(t)
	for says, sections := range map[string][]section{
		"compressed symbols":                       {{2, compressed, 2, 24, bomb.Bytes()}, {kind: 3, data: []byte{0}}, last},
		"compressed symbols; accepted":             {{2, 0, 2, 24, none}, {kind: 3, flags: compressed, data: bomb.Bytes()}, last},
		"names of symbols have more than 67108864": {{2, 0, 2, 24, overlapping}, {kind: 3, data: long}, last},
		"names in section 9 of 4":                  {{2, 0, 9, 24, none}, {kind: 3, data: []byte{0}}, last},
	} {
		raw := withSections(guest, sections...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := riscv.Load(raw, nil)
		runtime.ReadMemStats(&after)
		must.Fail(t, err, zkbench.ErrMalformed, "%s", says)
		golden.Contains(t, err.Error(), says)
		golden.Within(t, says+": bytes", 0, after.TotalAlloc-before.TotalAlloc, most/8)
	}
	must.Get(riscv.Load(withSections(guest, append(slices.Repeat([]section{{kind: 1}}, 2000), section{kind: 3, data: long})...), nil))(t)
}

// TestAuxiliary: a program for Linux finds its arguments, its environment, and its program headers if a segment has
// them.
func TestAuxiliary(t *testing.T) {
	const words = 5 + 2*13
	text := slices.Concat([]uint32{rv.Addi(10, 2, 0)}, number(11, 8*words), own(call.Commit), system(93, 0))
	raw := rv.ELF(64, codeAt+4096, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(text...)}, rv.Segment{At: dataAt, Flags: 6, Memory: 100})
	whole := bytes.Clone(raw)
	le := binary.LittleEndian
	le.PutUint64(whole[64+8:], 0) // the segment begins with the file's header
	for _, at := range []int{64 + 32, 64 + 40} {
		le.PutUint64(whole[at:], uint64(len(raw)))
	}
	le.PutUint64(raw[24:], codeAt)
	for name, test := range map[string]struct {
		raw            []byte
		headers, entry uint64
	}{"with headers": {whole, codeAt + 64, codeAt + 4096}, "without": {raw, 0, codeAt}} {
		p := must.Get(riscv.Load(test.raw, nil))(t)
		r := must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t)
		var stack [words]uint64
		must.Get(binary.Decode(r.Output, le, &stack))(t)
		golden.Equal(t, name+": arguments", [2]uint64{1, 0}, [2]uint64{stack[0], stack[2]})
		golden.Equal(t, name+": the end", [4]uint64{25, stack[len(stack)-3], 0, 0}, [4]uint64(stack[len(stack)-4:]))
		auxiliary := make(map[uint64]uint64)
		for i := 5; i < words; i += 2 {
			auxiliary[stack[i]] = stack[i+1]
		}
		golden.Equal(t, name+": headers, their size and number, pages, entry", [5]uint64{test.headers, 56, 2, 4096, test.entry},
			[5]uint64{auxiliary[3], auxiliary[4], auxiliary[5], auxiliary[6], auxiliary[9]})
	}
}

// TestOneName: functions of one name and one total are in the same order in each run.
func TestOneName(t *testing.T) {
	raw := withSymbols(code([]uint32{rv.Nop, rv.Jal(0, 4), rv.Addi(17, 0, 93), rv.Ecall}, nil), label{"f", 2, codeAt}, label{"f", 2, codeAt + 8})
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
	f.Add(withSymbols(code([]uint32{rv.Ecall}, nil), label{"f", 2, codeAt}))
	f.Add(withSymbols(rv.ELF(32, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(rv.Ecall)}), label{"f", 2, codeAt}))
	f.Add(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: make([]byte, 8)}))
	f.Add(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(rv.Lui(5, codeAt), rv.S(rv.OpStore, 3, 5, 6, 12))}, rv.Segment{At: codeAt + 8, Flags: 6, Memory: 5000}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, isa := range []*riscv.ISA{nil, riscv.RV64IM(), riscv.RV32IM()} {
			p, err := riscv.Load(raw, isa)
			if err != nil {
				continue
			}
			r, _ := riscv.Run(t.Context(), p, riscv.Options{MemoryLimit: 1 << 20, CycleLimit: 10_000, Misaligned: true, Map: []riscv.Range{{Start: 0x8000, End: 0x20000}}})
			if r != nil && (r.Cycles > 10_000 || r.Pages > 1<<8) {
				t.Errorf("%+v", r)
			}
		}
	})
}

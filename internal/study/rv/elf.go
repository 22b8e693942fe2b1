package rv

import "encoding/binary"

// Segment is a part of an executable that is loaded into memory at a given address.
type Segment struct {
	At     uint64 // address
	Flags  uint32 // of ELF: 1 execute, 2 write, 4 read
	Data   []byte
	Memory uint64 // size in memory, bytes; 0: that of Data
}

// ELF returns an executable for registers of xlen bits, which is 32 or 64. Its execution starts at the address entry.
// As linkers do, it places the data of a segment at an offset in the file that is congruent to the segment's address
// modulo 4096, the size of a page.
func ELF(xlen int, entry uint64, segments ...Segment) []byte {
	const page = 4096
	header, each := 64, 56
	if xlen == 32 {
		header, each = 52, 32
	}
	le := binary.LittleEndian
	raw := append([]byte{0x7f, 'E', 'L', 'F', byte(xlen / 32), 1, 1}, make([]byte, 9)...)
	half := func(values ...int) {
		for _, v := range values {
			raw = le.AppendUint16(raw, uint16(v))
		}
	}
	word := func(v uint32) { raw = le.AppendUint32(raw, v) }
	long := func(values ...uint64) {
		for _, v := range values {
			if xlen == 32 {
				word(uint32(v))
			} else {
				raw = le.AppendUint64(raw, v)
			}
		}
	}
	half(2, 243) // ET_EXEC, EM_RISCV
	word(1)
	long(entry, uint64(header), 0)
	word(0) // flags
	half(header, each, len(segments), 0, 0, 0)
	end := uint64(header + each*len(segments))
	for _, s := range segments {
		offset := s.At % page
		if len(s.Data) > 0 {
			offset = end + (s.At-end)%page
			end = offset + uint64(len(s.Data))
		}
		word(1) // PT_LOAD
		if xlen == 64 {
			word(s.Flags)
		}
		long(offset, s.At, s.At, uint64(len(s.Data)), max(s.Memory, uint64(len(s.Data))))
		if xlen == 32 {
			word(s.Flags)
		}
		long(page)
	}
	for _, s := range segments {
		if len(s.Data) > 0 {
			raw = append(append(raw, make([]byte, (s.At-uint64(len(raw)))%page)...), s.Data...)
		}
	}
	return raw
}

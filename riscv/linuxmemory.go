package riscv

import (
	"crypto/sha256"
	"encoding/binary"
)

// Protections and flags of mmap.
const (
	protRead, protWrite, protExec = 1, 2, 4
	mapShared, mapPrivate         = 1, 2
	mapFixed, mapAnonymous        = 0x10, 0x20
	mapFixedNoReplace             = 0x100000
	adviceDontNeed                = 4
)

// brk moves the end of the heap and returns it. If it cannot be moved to the given address, it stays.
func (m *machine) brk(t *thread) int64 {
	want := t.x[a0]
	switch {
	case m.heap == 0:
		return 0 // a bare program has no heap, and no program takes this for a success
	case want < m.heap || want > highest:
		return int64(m.heapEnd)
	}
	from, to := (m.heapEnd+pageMask)&^pageMask, (want+pageMask)&^pageMask
	switch {
	case to > from:
		if m.mem.mapped(from, to) || len(m.mem.regions) >= mostRegions {
			return int64(m.heapEnd)
		}
		m.mem.setRights(from, to, readable|writable)
	case to < from:
		m.mem.unmap(to, from)
	}
	m.heapEnd = want
	return int64(want)
}

// span returns the range of whole pages in a call's first two arguments. It returns false if the range cannot
// be mapped.
func (m *machine) span(t *thread) (start, end uint64, ok bool) {
	start, size := t.x[a0], t.x[a1]
	end = start + (size+pageMask)&^pageMask
	return start, end, start&pageMask == 0 && end >= start && end <= highest && 0 < size && size <= highest
}

// keepsCode returns an error code if a call must not change a range. Code stays as it was loaded. There are
// no more regions than under Linux, and a call may split one region in two.
func (m *machine) keepsCode(start, end uint64) int64 {
	switch {
	case m.mem.hasCode(start, end):
		return badValue
	case len(m.mem.regions) >= mostRegions:
		return noMemory
	}
	return 0
}

func (m *machine) munmap(t *thread) int64 {
	start, end, ok := m.span(t)
	if !ok {
		return badValue
	}
	if code := m.keepsCode(start, end); code != 0 {
		return code
	}
	m.mem.unmap(start, end)
	return 0
}

func (m *machine) mprotect(t *thread) int64 {
	start, end, ok := m.span(t)
	switch {
	case start&pageMask == 0 && t.x[a1] == 0:
		return 0
	case !ok:
		return badValue
	}
	if code := m.keepsCode(start, end); code != 0 {
		return code
	}
	r, ok := protection(t.x[a2])
	switch {
	case !ok:
		return badValue
	case !m.mem.mappedAll(start, end):
		return noMemory
	}
	m.mem.setRights(start, end, r)
	return 0
}

func (m *machine) madvise(t *thread) int64 {
	start, end, ok := m.span(t)
	switch {
	case t.x[a1] == 0:
		return 0
	case !ok || m.mem.hasCode(start, end):
		return badValue
	}
	if t.x[a2] == adviceDontNeed {
		m.mem.drop(start, end)
	}
	return 0
}

// protection returns the rights for prot. It returns false if prot asks for the right to execute.
func protection(prot uint64) (r rights, ok bool) {
	if prot&protRead != 0 {
		r |= readable
	}
	if prot&protWrite != 0 {
		r |= writable
	}
	return r, prot&protExec == 0
}

func (m *machine) mmap(t *thread) int64 {
	hint, size, flags := t.x[a0], (t.x[a1]+pageMask)&^pageMask, t.x[a3]
	r, ok := protection(t.x[a2])
	switch fd := t.x[a4]; {
	case flags&mapAnonymous == 0 && !m.isOpen(fd):
		return badFile
	case t.x[a1] == 0, !ok, flags&(mapShared|mapPrivate) == 0:
		return badValue
	case flags&mapAnonymous == 0 && fd > 0: // a descriptor that can be written to but not read
		return noAccess
	case flags&mapAnonymous == 0:
		return noDevice
	case t.x[a1] > highest || len(m.mem.regions) >= mostRegions:
		return noMemory
	case flags&(mapFixed|mapFixedNoReplace) == 0:
		if hint &^= pageMask; hint > highest-size {
			hint = 0
		}
	case hint&pageMask != 0:
		return badValue
	case hint > highest-size:
		return noMemory
	case hint == 0: // below the lowest address that Linux maps
		return notAllowed
	}
	free := hint != 0 && !m.mem.mapped(hint, hint+size)
	switch {
	case flags&mapFixedNoReplace != 0 && !free:
		return exists
	case flags&mapFixed != 0 && m.mem.hasCode(hint, hint+size):
		return badValue
	case flags&mapFixed != 0:
		m.mem.unmap(hint, hint+size)
	case !free:
		if hint = m.room(size); hint == 0 {
			return noMemory
		}
	}
	m.mem.setRights(hint, hint+size, r)
	return int64(hint)
}

const mmapLowest = 1 << 32

// room returns the address of size free bytes below those that it returned last, or else anywhere below
// mmapTop. It returns 0 if there are none.
func (m *machine) room(size uint64) uint64 {
	at := m.mem.below(m.mmapNext, size)
	if at < mmapLowest {
		at = m.mem.below(mmapTop, size)
	}
	if at < mmapLowest {
		return 0
	}
	m.mmapNext = at
	return at
}

// mremap changes the length of a mapping, and may move it.
func (m *machine) mremap(t *thread) int64 {
	const mayMove = 1
	start, end, ok := m.span(t)
	size := (t.x[a2] + pageMask) &^ pageMask
	switch {
	case !ok || t.x[a2] == 0 || t.x[a2] > highest || t.x[a3]&^mayMove != 0 || m.mem.hasCode(start, end):
		return badValue
	case len(m.mem.regions) >= mostRegions:
		return noMemory
	}
	i := m.mem.find(start)
	if i == len(m.mem.regions) || m.mem.regions[i].start > start || m.mem.regions[i].end < end {
		return badAddr
	}
	r := m.mem.regions[i].rights
	switch wanted := start + size; {
	case wanted <= end:
		if wanted < end {
			m.mem.unmap(wanted, end)
		}
		return int64(start)
	case wanted <= highest && !m.mem.mapped(end, wanted):
		m.mem.setRights(end, wanted, r)
		return int64(start)
	case t.x[a3] == 0:
		return noMemory
	}
	to := m.room(size)
	if to == 0 {
		return noMemory
	}
	m.mem.move(start, end, to)
	m.mem.cut(start, end)
	m.mem.setRights(to, to+size, r)
	return int64(to)
}

// random fills memory with bytes that are the same in every run.
func (m *machine) random(t *thread) int64 {
	n := min(t.x[a1], 256)
	part := make([]byte, 0, n+sha256.Size)
	for uint64(len(part)) < n {
		m.drawn++
		block := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zkbench/v1/riscv/random"), m.drawn))
		part = append(part, block[:]...)
	}
	if m.mem.write(t.x[a0], part[:n]) != 0 {
		return badAddr
	}
	return int64(n)
}

// sysinfo writes a struct sysinfo (include/uapi/linux/sysinfo.h).
func (m *machine) sysinfo(t *thread) int64 {
	free := m.MemoryLimit - min(m.MemoryLimit, uint64(len(m.mem.pages))*pageSize)
	const processes, unit = 1, 1
	return m.words(t.x[a0], m.time/1e9, 0, 0, 0, m.MemoryLimit, free, 0, 0, 0, 0, processes, 0, 0, unit)
}

// prlimit reports the limit of the first stack, which cannot be changed.
func (m *machine) prlimit(t *thread) int64 {
	const stack = 3
	x := &t.x
	switch {
	case x[a1] != stack:
		return absent(m, t)
	case x[a2] != 0:
		return notAllowed
	case x[a3] == 0:
		return 0
	}
	return m.words(x[a3], stackSize, forever)
}

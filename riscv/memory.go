package riscv

import (
	"encoding/binary"
	"slices"
)

// Pages have the same size as under Linux.
const (
	pageBits = 12
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// page is 4,096 bytes, as little-endian words. An aligned access is an access to one word, whose index needs
// no bounds check.
type page [pageSize / 8]uint64

// rights is a set of rights to memory.
type rights uint8

const (
	readable rights = 1 << iota
	writable
	executable
)

// region is a mapped range of addresses, [start, end). It consists of whole pages, unless segments share a
// page.
type region struct {
	start, end uint64
	rights     rights
}

// mostRegions is the maximum number of regions, as under Linux (vm.max_map_count).
const mostRegions = 65530

// memory is the guest's memory. Pages are created when they are first touched.
type memory struct {
	isa     ISA
	regions []region // by address, without overlaps
	pages   map[uint64]*page
	free    []*page
	most    int // maximum number of pages
	peak    int
	touches uint64 // number of pages that were created
	shared  bool   // some page belongs to several regions

	// The pages of the last accesses, indexed by the low bits of their numbers.
	reads, writes [cachedPages]cachedPage
}

const cachedPages = 512

// cachedPage is a page whose rights are known. An address a is on the page and aligned to 8 bytes if and only
// if a &^ wordsMask == base.
type cachedPage struct {
	base uint64
	page *page
}

// wordsMask selects the bits of an address that index a word of its page.
const wordsMask = pageMask &^ 7

// nowhere is the base of an empty entry of the cache. No address with its word bits cleared is equal to it.
const nowhere = pageMask

func newMemory(isa ISA, limit uint64) *memory {
	m := &memory{isa: isa, pages: make(map[uint64]*page), most: int(limit / pageSize)}
	m.forget()
	return m
}

// forget empties the caches. It must be called after rights or pages have changed.
func (m *memory) forget() {
	for i := range m.reads {
		m.reads[i], m.writes[i] = cachedPage{base: nowhere}, cachedPage{base: nowhere}
	}
}

// find returns the index of the first region that ends after addr.
func (m *memory) find(addr uint64) int {
	i, _ := slices.BinarySearchFunc(m.regions, addr, func(r region, a uint64) int {
		if r.end <= a {
			return -1
		}
		return 1
	})
	return i
}

// rightsAt returns the rights at an address.
func (m *memory) rightsAt(addr uint64) rights {
	if i := m.find(addr); i < len(m.regions) && m.regions[i].start <= addr {
		return m.regions[i].rights
	}
	return 0
}

// mapped reports whether any address of [start, end) is mapped.
func (m *memory) mapped(start, end uint64) bool {
	i := m.find(start)
	return i < len(m.regions) && m.regions[i].start < end
}

// mappedAll reports whether all of [start, end) is mapped.
func (m *memory) mappedAll(start, end uint64) bool {
	for i := m.find(start); start < end; i++ {
		if i == len(m.regions) || m.regions[i].start > start {
			return false
		}
		start = m.regions[i].end
	}
	return true
}

// hasCode reports whether any address of [start, end) is code.
func (m *memory) hasCode(start, end uint64) bool {
	for i := m.find(start); i < len(m.regions) && m.regions[i].start < end; i++ {
		if m.regions[i].rights&executable != 0 {
			return true
		}
	}
	return false
}

// below returns the highest address of size free bytes that end at or before top, or 0 if there are none.
func (m *memory) below(top, size uint64) uint64 {
	for size < top {
		start := top - size
		i := m.find(start)
		if i == len(m.regions) || m.regions[i].start >= top {
			return start
		}
		top = m.regions[i].start
	}
	return 0
}

// setRights maps the whole pages [start, end), or changes their rights.
func (m *memory) setRights(start, end uint64, r rights) {
	m.cut(start, end)
	at := m.find(start)
	m.regions = slices.Insert(m.regions, at, region{start, end, r})
	// Merge neighbours with the same rights.
	if next := at + 1; next < len(m.regions) && m.regions[next].start == end && m.regions[next].rights == r {
		m.regions[at].end = m.regions[next].end
		m.regions = slices.Delete(m.regions, next, next+1)
	}
	if at > 0 && m.regions[at-1].end == start && m.regions[at-1].rights == r {
		m.regions[at-1].end = m.regions[at].end
		m.regions = slices.Delete(m.regions, at, at+1)
	}
	m.forget()
}

// cut removes [start, end) from all regions.
func (m *memory) cut(start, end uint64) {
	var kept []region
	first := m.find(start)
	next := first
	for ; next < len(m.regions) && m.regions[next].start < end; next++ {
		r := m.regions[next]
		if r.start < start {
			kept = append(kept, region{r.start, start, r.rights})
		}
		if r.end > end {
			kept = append(kept, region{end, r.end, r.rights})
		}
	}
	m.regions = slices.Replace(m.regions, first, next, kept...)
}

// unmap removes [start, end) and its contents.
func (m *memory) unmap(start, end uint64) {
	m.drop(start, end)
	m.cut(start, end)
}

// drop sets the mapped part of [start, end) to zero.
func (m *memory) drop(start, end uint64) {
	m.forget()
	var parts []region
	size := uint64(0)
	for i := m.find(start); i < len(m.regions) && m.regions[i].start < end; i++ {
		part := region{start: max(start, m.regions[i].start), end: min(end, m.regions[i].end)}
		parts, size = append(parts, part), size+part.end-part.start
	}
	if size>>pageBits > uint64(len(m.pages)) { // then there are fewer pages in memory than in the range
		for number := range m.pages {
			if start>>pageBits <= number && number < end>>pageBits {
				m.release(number)
			}
		}
		return
	}
	for _, part := range parts {
		for number := part.start >> pageBits; number < part.end>>pageBits; number++ {
			m.release(number)
		}
	}
}

// move moves the pages of [start, end) to another address, at which there must be no pages.
func (m *memory) move(start, end, to uint64) {
	m.forget()
	first, last := start>>pageBits, (end-1)>>pageBits
	var numbers []uint64
	if last-first >= uint64(len(m.pages)) { // then there are fewer pages in memory than in the range
		for number := range m.pages {
			if first <= number && number <= last {
				numbers = append(numbers, number)
			}
		}
	} else {
		for number := first; number <= last; number++ {
			if m.pages[number] != nil {
				numbers = append(numbers, number)
			}
		}
	}
	for _, number := range numbers {
		m.pages[number-first+to>>pageBits] = m.pages[number]
		delete(m.pages, number)
	}
}

func (m *memory) release(number uint64) {
	if p := m.pages[number]; p != nil {
		delete(m.pages, number)
		m.free = append(m.free, p)
	}
}

// page returns the page of a mapped address, and creates it if necessary. It returns nil if there would be
// too many pages.
func (m *memory) page(addr uint64) *page {
	number := addr >> pageBits
	p := m.pages[number]
	if p != nil {
		return p
	}
	if len(m.pages) == m.most {
		return nil
	}
	if n := len(m.free); n > 0 {
		p, m.free = m.free[n-1], m.free[:n-1]
		*p = page{}
	} else {
		p = new(page)
	}
	m.pages[number] = p
	m.touches++
	m.peak = max(m.peak, len(m.pages))
	return p
}

// reach returns the page of an address for an access that needs these rights, and caches it.
func (m *memory) reach(addr uint64, need rights) (*page, FaultKind) {
	cache := &m.reads
	if need == writable {
		cache = &m.writes
	}
	cached := &cache[addr>>pageBits%cachedPages]
	if cached.base == addr&^pageMask {
		return cached.page, 0
	}
	if m.rightsAt(addr)&need == 0 {
		if need == writable && m.rightsAt(addr)&executable != 0 {
			return nil, WriteToCode
		}
		return nil, WildAccess
	}
	p := m.page(addr)
	if p == nil {
		return nil, OutOfMemory
	}
	if !m.shared || m.all(addr&^pageMask, need) {
		*cached = cachedPage{addr &^ pageMask, p}
	}
	return p, 0
}

// all reports whether all parts of a page have rights.
func (m *memory) all(start uint64, need rights) bool {
	end := start + pageSize
	for i := m.find(start); i < len(m.regions) && m.regions[i].start < end; i++ {
		if m.regions[i].rights&need == 0 {
			return false
		}
	}
	return m.mappedAll(start, end)
}

// fill maps those of the whole pages [start, end) that are not mapped yet.
func (m *memory) fill(start, end uint64, r rights) {
	for start < end {
		next := end
		i := m.find(start)
		switch {
		case i == len(m.regions) || m.regions[i].start >= end:
			m.setRights(start, end, r)
		case m.regions[i].start > start:
			next = m.regions[i].start
			m.setRights(start, next, r)
		default:
			next = m.regions[i].end
		}
		start = next
	}
}

// after returns the address n bytes after addr.
func (m *memory) after(addr uint64, n int) uint64 { return uint64(m.isa.extend(addr + uint64(n))) }

// load reads size bytes (1, 2, 4 or 8) at an address of any alignment.
func (m *memory) load(addr uint64, size int) (v uint64, kind FaultKind) {
	for i := range size {
		a := m.after(addr, i)
		p, kind := m.reach(a, readable)
		if kind != 0 {
			return 0, kind
		}
		v |= p[a&pageMask>>3] >> (a & 7 * 8) & 0xff << (8 * i)
	}
	return v, 0
}

// store writes the low size bytes of v at an address of any alignment. It writes all of them or none.
func (m *memory) store(addr, v uint64, size int) FaultKind {
	step := max(size-1, 1)
	if m.shared {
		step = 1
	}
	for i := size - 1; i >= 0; i -= step {
		if _, kind := m.reach(m.after(addr, i), writable); kind != 0 {
			return kind
		}
	}
	for i := range size {
		a := m.after(addr, i)
		p, _ := m.reach(a, writable)
		word := &p[a&pageMask>>3]
		shift := a & 7 * 8
		*word = *word&^(0xff<<shift) | v>>(8*i)&0xff<<shift
	}
	return 0
}

// read copies len(to) bytes from an address. All of them must be readable.
func (m *memory) read(addr uint64, to []byte) FaultKind {
	return m.each(addr, to, readable, func(p *page, offset int, part []byte) {
		for len(part) > 0 {
			if offset&7 == 0 && len(part) >= 8 {
				binary.LittleEndian.PutUint64(part, p[offset>>3])
				offset, part = offset+8, part[8:]
				continue
			}
			part[0] = byte(p[offset>>3] >> (offset & 7 * 8))
			offset, part = offset+1, part[1:]
		}
	})
}

// write copies from to an address. All bytes there must be writable.
func (m *memory) write(addr uint64, from []byte) FaultKind {
	return m.each(addr, from, writable, func(p *page, offset int, part []byte) {
		for len(part) > 0 {
			if offset&7 == 0 && len(part) >= 8 {
				p[offset>>3] = binary.LittleEndian.Uint64(part)
				offset, part = offset+8, part[8:]
				continue
			}
			shift := offset & 7 * 8
			p[offset>>3] = p[offset>>3]&^(0xff<<shift) | uint64(part[0])<<shift
			offset, part = offset+1, part[1:]
		}
	})
}

// each calls do for the parts of a range, page by page.
func (m *memory) each(addr uint64, part []byte, need rights, do func(p *page, offset int, part []byte)) FaultKind {
	for len(part) > 0 {
		p, kind := m.reach(addr, need)
		if kind != 0 {
			return kind
		}
		offset := int(addr & pageMask)
		n := min(len(part), pageSize-offset)
		if m.shared {
			n = int(min(uint64(n), m.regions[m.find(addr)].end-addr))
		}
		do(p, offset, part[:n])
		addr, part = m.after(addr, n), part[n:]
	}
	return 0
}

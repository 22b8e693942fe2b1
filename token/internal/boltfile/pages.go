package boltfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// bbolt trusts its pages. A wrong page number sends it into endless recursion, which no recover stops, and a
// wrong list of free pages makes it write over live ones. So the file is read here first, page by page and
// without the map, and checked against what bbolt writes (go.etcd.io/bbolt v1.5.0, internal/common):
//
//   - both meta pages are good and belong to two transactions in sequence;
//   - every page is reached once: from the root, from the list of free pages,
//     or as a meta page; no page is left over;
//   - a page's keys and values follow its elements without gap or overlap,
//     and keys ascend, within a page and between pages.
//
// Values are not checked: they have checksums of their own, and the overflow pages of the log are not even
// read. Memory is one bit per page, one page per level of the tree, and the list of free pages, which bbolt
// holds too.

const (
	metaPages      = 2
	headerLen      = 16 // id(8) flags(2) count(2) overflow(4)
	elementLen     = 16 // branch: pos(4) ksize(4) page(8); leaf: flags(4) pos(4) ksize(4) vsize(4)
	bucketLen      = 16 // root(8) sequence(8)
	metaLen        = 64
	boltMagic      = 0xED0CDAED
	boltVersion    = 2
	maxKey         = 32768
	maxDepth       = 64
	flagBranch     = 0x01
	flagLeaf       = 0x02
	flagFreelist   = 0x10
	flagBucket     = 0x01 // of a leaf's element
	freeCountIsIn0 = 0xFFFF
)

// native is the byte order of bbolt's integers.
var native = binary.NativeEndian

// meta is a meta page.
type meta struct {
	pageSize             uint32
	root, freelist, high uint64
	txid                 uint64
}

func readMeta(r io.ReaderAt, page uint64, pageSize int64) (m meta, err error) {
	var b [metaLen]byte
	if _, err := r.ReadAt(b[:], int64(page)*pageSize+headerLen); err != nil {
		return m, ledger.Corruptf(place(page), "meta page: %v", err)
	}
	if native.Uint32(b[:]) != boltMagic {
		return m, ledger.Corruptf(place(page), "not a meta page of bbolt")
	}
	if v := native.Uint32(b[4:]); v != boltVersion {
		return m, &zkbench.DecodeError{Path: "bbolt version", Offset: int(int64(page)*pageSize) + headerLen + 4, Reason: fmt.Sprintf("version %d, only %d is known", v, boltVersion)}
	}
	h := fnv.New64a()
	_, _ = h.Write(b[:56]) // a hash never fails to write
	if h.Sum64() != native.Uint64(b[56:]) {
		return m, ledger.Corruptf(place(page), "meta page: wrong checksum")
	}
	return meta{
		pageSize: native.Uint32(b[8:]),
		root:     native.Uint64(b[16:]),
		freelist: native.Uint64(b[32:]),
		high:     native.Uint64(b[40:]),
		txid:     native.Uint64(b[48:]),
	}, nil
}

// checkFile checks a bbolt file of size bytes that nobody writes to.
func checkFile(r io.ReaderAt, size int64) error {
	m0, err := readMeta(r, 0, 0)
	if err != nil {
		return err
	}
	if s := m0.pageSize; s < 1024 || s > 1<<24 || bits.OnesCount32(s) != 1 {
		return ledger.Corruptf("page 0", "page size %d", s)
	}
	m1, err := readMeta(r, 1, int64(m0.pageSize))
	if err != nil {
		return err
	}
	if m1.pageSize != m0.pageSize || m0.txid%2 != 0 || (m1.txid != m0.txid+1 && m1.txid+1 != m0.txid) {
		return ledger.Corruptf("meta pages", "not of two transactions in sequence (%d and %d)", m0.txid, m1.txid)
	}
	m := m0
	if m1.txid > m0.txid {
		m = m1
	}
	if m.high > uint64(size)/uint64(m.pageSize) {
		return ledger.Corruptf("file", "truncated: %d bytes for %d pages of %d", size, m.high, m.pageSize)
	}
	p := newPages(r, int64(m.pageSize), m.high)
	if err := p.tree(m.root); err != nil {
		return err
	}
	if err := p.freelist(m.freelist); err != nil {
		return err
	}
	if p.count != m.high {
		return ledger.Corruptf("file", "%d pages of %d are neither in use nor free", m.high-p.count, m.high)
	}
	return nil
}

// pages walks a file's pages below the high-water mark high.
type pages struct {
	r     io.ReaderAt
	size  int64 // of a page
	high  uint64
	seen  []uint64 // a bit per page
	count uint64   // bits set
	heads [maxDepth][]byte
}

func newPages(r io.ReaderAt, size int64, high uint64) *pages {
	return &pages{r: r, size: size, high: high, seen: make([]uint64, high/64+1), count: metaPages}
}

// run is a page with its overflow pages, or the page inside an inline bucket.
type run struct {
	p     *pages
	id    uint64
	at    int64  // offset in the file
	len   int64  // bytes
	head  []byte // the first bytes
	flags uint16
	count int
}

func place(page uint64) string { return fmt.Sprintf("page %d", page) }

// bad returns a *ledger.CorruptError that names the page.
func (r *run) bad(format string, args ...any) error {
	return ledger.Corruptf(place(r.id), format, args...)
}

// mark records that page by leads to n pages from id on.
func (p *pages) mark(by, id, n uint64) error {
	if id < metaPages || id >= p.high || n > p.high-id {
		return ledger.Corruptf(place(by), "pages %d to %d, accepted are %d to %d", id, id+n-1, metaPages, p.high-1)
	}
	for ; n > 0; id, n = id+1, n-1 {
		if p.seen[id/64]>>(id%64)&1 != 0 {
			return ledger.Corruptf(place(by), "page %d is reached twice", id)
		}
		p.seen[id/64] |= 1 << (id % 64)
		p.count++
	}
	return nil
}

// open reads a page's header and first bytes into the buffer for its depth.
func (p *pages) open(id uint64, depth int) (*run, error) {
	if depth >= maxDepth {
		return nil, ledger.Corruptf(place(id), "deeper than %d levels", maxDepth)
	}
	if err := p.mark(id, id, 1); err != nil {
		return nil, err
	}
	if p.heads[depth] == nil {
		p.heads[depth] = make([]byte, p.size)
	}
	head := p.heads[depth]
	if _, err := p.r.ReadAt(head, int64(id)*p.size); err != nil {
		return nil, ledger.Corruptf(place(id), "%v", err)
	}
	if own := native.Uint64(head); own != id {
		return nil, ledger.Corruptf(place(id), "has the number %d", own)
	}
	overflow := uint64(native.Uint32(head[12:]))
	if overflow > 0 {
		if err := p.mark(id, id+1, overflow); err != nil {
			return nil, err
		}
	}
	r := &run{p: p, id: id, at: int64(id) * p.size, len: int64(overflow+1) * p.size, head: head}
	r.flags, r.count = native.Uint16(head[8:]), int(native.Uint16(head[10:]))
	return r, nil
}

// bytes returns n bytes at an offset of the run.
func (r *run) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > r.len || n > r.len-at {
		return nil, r.bad("%d bytes at %d reach beyond its end at %d", n, at, r.len)
	}
	if at+n <= int64(len(r.head)) {
		return r.head[at : at+n], nil
	}
	b := make([]byte, n)
	if _, err := r.p.r.ReadAt(b, r.at+at); err != nil {
		return nil, r.bad("%v", err)
	}
	return b, nil
}

// bounds are the keys that a page may hold: at least lo (nil: any) and below hi (nil: any).
type bounds struct{ lo, hi []byte }

// tree checks the tree of buckets whose root is the page id.
func (p *pages) tree(id uint64) error {
	return p.walk(id, 0, bounds{}, true)
}

// walk checks the page id and all pages below it. Only the root tree has buckets.
func (p *pages) walk(id uint64, depth int, within bounds, buckets bool) error {
	r, err := p.open(id, depth)
	if err != nil {
		return err
	}
	switch r.flags {
	case flagBranch:
		if r.count == 0 {
			return r.bad("a branch without children")
		}
		return r.branch(depth, within, buckets)
	case flagLeaf:
		return r.leaf(depth, within, buckets)
	}
	return r.bad("flags %#x, neither branch nor leaf", r.flags)
}

func (r *run) branch(depth int, within bounds, buckets bool) error {
	var child uint64
	var key []byte
	want := int64(headerLen + elementLen*r.count)
	for i := range r.count {
		at := int64(headerLen + elementLen*i)
		e, err := r.bytes(at, elementLen)
		if err != nil {
			return err
		}
		next, err := r.key(at, native.Uint32(e), native.Uint32(e[4:]), &want, key, within)
		if err != nil {
			return err
		}
		if i > 0 {
			if err := r.p.walk(child, depth+1, bounds{key, next}, buckets); err != nil {
				return err
			}
		}
		child, key = native.Uint64(e[8:]), next
	}
	return r.p.walk(child, depth+1, bounds{key, within.hi}, buckets)
}

func (r *run) leaf(depth int, within bounds, buckets bool) error {
	var key []byte
	want := int64(headerLen + elementLen*r.count)
	for i := range r.count {
		at := int64(headerLen + elementLen*i)
		e, err := r.bytes(at, elementLen)
		if err != nil {
			return err
		}
		flags, vsize := native.Uint32(e), int64(native.Uint32(e[12:]))
		if key, err = r.key(at, native.Uint32(e[4:]), native.Uint32(e[8:]), &want, key, within); err != nil {
			return err
		}
		value := want
		if want += vsize; want > r.len {
			return r.bad("value %d reaches beyond its end", i)
		}
		switch {
		case buckets && flags == flagBucket:
			if err := r.bucket(value, vsize, depth); err != nil {
				return err
			}
		case buckets || flags != 0:
			return r.bad("flags %#x of value %d", flags, i)
		}
	}
	return nil
}

// key returns the key of the element at offset at, which must start at *want, be above the key before it and be
// within the bounds. It advances *want past the key.
func (r *run) key(at int64, pos, size uint32, want *int64, before []byte, within bounds) ([]byte, error) {
	if size < 1 || size > maxKey || at+int64(pos) != *want {
		return nil, r.bad("a key of %d bytes at %d, want it at %d", size, at+int64(pos), *want)
	}
	key, err := r.bytes(*want, int64(size))
	if err != nil {
		return nil, err
	}
	*want += int64(size)
	if (before != nil && bytes.Compare(before, key) >= 0) ||
		(within.lo != nil && bytes.Compare(within.lo, key) > 0) ||
		(within.hi != nil && bytes.Compare(within.hi, key) <= 0) {
		return nil, r.bad("key %x out of order", key)
	}
	return key, nil
}

// bucket checks the bucket in the value at an offset of the run: a tree, or one leaf inside the value.
func (r *run) bucket(at, size int64, depth int) error {
	header, err := r.bytes(at, bucketLen)
	if err != nil {
		return err
	}
	root := native.Uint64(header)
	switch {
	case root != 0 && size == bucketLen:
		return r.p.walk(root, depth+1, bounds{}, false)
	case root == 0 && size >= bucketLen+headerLen:
		inline, err := r.bytes(at+bucketLen, size-bucketLen)
		if err != nil {
			return err
		}
		if id, flags := native.Uint64(inline), native.Uint16(inline[8:]); id != 0 || flags != flagLeaf || native.Uint32(inline[12:]) != 0 {
			return r.bad("an inline bucket that is not a leaf")
		}
		in := run{p: r.p, id: r.id, at: r.at + at + bucketLen, len: int64(len(inline)), head: inline}
		in.count = int(native.Uint16(inline[10:]))
		return in.leaf(depth, bounds{}, false)
	}
	return r.bad("a bucket of %d bytes", size)
}

// freelist marks the pages of the list of free pages, and the pages that the list names.
func (p *pages) freelist(id uint64) error {
	r, err := p.open(id, 0)
	if err != nil {
		return err
	}
	if r.flags != flagFreelist {
		return r.bad("flags %#x, not a list of free pages", r.flags)
	}
	at, n := int64(headerLen), int64(r.count)
	if r.count == freeCountIsIn0 {
		b, err := r.bytes(at, 8)
		if err != nil {
			return err
		}
		at, n = at+8, int64(native.Uint64(b))
	}
	if n < 0 || n > (r.len-at)/8 {
		return r.bad("%d free pages in %d bytes", n, r.len)
	}
	list, err := r.bytes(at, 8*n)
	if err != nil {
		return err
	}
	before := uint64(0)
	for ; len(list) > 0; list = list[8:] {
		free := native.Uint64(list)
		if free <= before {
			return r.bad("free page %d out of order", free)
		}
		if err := p.mark(id, free, 1); err != nil {
			return err
		}
		before = free
	}
	return nil
}

package group

import (
	"math/bits"
	"sync"
	"unsafe"
	"weak"

	"github.com/zkbench/zkbench/internal/sys/mapped"
)

// pool keeps working memory from one call for the next.
type pool interface {
	Get() any
	Put(x any)
}

// kept is a pool that never frees anything. It holds at most as many values as were in use at once.
type kept struct {
	mu   sync.Mutex
	free []any
	made func() any
}

func (k *kept) Get() any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.free); n > 0 {
		x := k.free[n-1]
		k.free = k.free[:n-1]
		return x
	}
	return k.made()
}

func (k *kept) Put(x any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.free = append(k.free, x)
}

// all takes all values that are not in use.
func (k *kept) all() []any {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.free
	k.free = nil
	return all
}

// shared is a kept that lasts as long as one of its users.
type shared struct {
	mu   sync.Mutex
	last weak.Pointer[kept]
	made func() any
}

func (s *shared) get() *kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.last.Value()
	if k == nil {
		k = &kept{made: s.made}
		s.last = weak.Make(k)
	}
	return k
}

// offHeap is memory outside of the garbage collector's heap. On the heap, the slices of a large sum would be garbage each time
// that a sum is larger than the last one, and one processor would clear all of a new slice. Outside, each page is
// cleared when a task first writes to it.
type offHeap struct {
	mu   sync.Mutex
	free map[unsafe.Pointer]func() // by the first element
}

// large is the least size in bytes of a slice outside of the heap.
const large = 1 << 20

// room returns s with n elements, which mean nothing. If s is too short, room frees it. The memory m may be nil.
func room[T any](m *offHeap, s []T, n int) []T {
	size := n * int(unsafe.Sizeof(*new(T)))
	if cap(s) >= n || size < large || m == nil {
		return resize(s, n)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := unsafe.Pointer(unsafe.SliceData(s))
	if free, ok := m.free[old]; ok {
		free()
		delete(m.free, old)
	}
	if m.free == nil {
		m.free = make(map[unsafe.Pointer]func())
	}
	data, free := mapped.Memory(1 << bits.Len(uint(size-1))) // mapped memory takes only what is written to
	m.free[unsafe.Pointer(unsafe.SliceData(data))] = free
	return mapped.Values[T](data)[:n]
}

// release frees the large slices.
func (s *scratch[E, PE]) release() {
	s.where, s.digits, s.multiples, s.entries = nil, nil, nil, nil
	s.given.kinds, s.given.magnitudes, s.given.picks = nil, nil, nil
	for _, by := range s.sortings.all() {
		by.(*sorting[E]).sorted = nil
		s.sortings.Put(by)
	}
	s.memory.release()
}

// release frees all slices.
func (m *offHeap) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, free := range m.free {
		free()
	}
	m.free = nil
}

// WithScratch returns g with its own working memory for MSM. Each sum reuses the memory of the
// previous sum, and the garbage collector does not free that memory between two sums. Use the
// returned group to compute many large sums one after another. The memory is freed with the
// returned group, or by the function free. After free, the next sum takes new memory. If g keeps no
// such memory, WithScratch returns g itself.
func WithScratch[S, P any](g Group[S, P]) (own Group[S, P], free func()) {
	if keeps, ok := g.(interface{ withScratch() (Group[S, P], func()) }); ok {
		return keeps.withScratch()
	}
	return g, func() {}
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) withScratch() (Group[S, P], func()) {
	own, sums := *g, *g.sums
	ofSums := &kept{made: func() any { return sums.newScratch() }}
	sums.ofSums = ofSums
	own.sums = &sums
	return &own, func() {
		for _, sc := range ofSums.all() {
			sc.(*scratch[E, PE]).release()
			ofSums.Put(sc)
		}
	}
}

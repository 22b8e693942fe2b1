package stark

import (
	"sync"
	"unsafe"
	"weak"
)

// kept reuses the memory of columns, which is most of what a proof takes. What one proof releases, the next
// ones take, unless the garbage collector has freed it. New memory has to be cleared first, which takes time.
// A sync.Pool would hide what one processor has released from the others.
type kept[E any] struct {
	mu   sync.Mutex
	left map[int][]weak.Pointer[E] // the first element of released memory, by length
}

func (k *kept[E]) take(n int) []E {
	for {
		first, ok := k.pop(n)
		if !ok {
			return make([]E, n)
		}
		if first := first.Value(); first != nil {
			return unsafe.Slice(first, n)
		}
	}
}

func (k *kept[E]) pop(n int) (first weak.Pointer[E], ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	left := k.left[n]
	if len(left) == 0 {
		return first, false
	}
	k.left[n] = left[:len(left)-1]
	return left[len(left)-1], true
}

func (k *kept[E]) give(memory []E) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left == nil {
		k.left = make(map[int][]weak.Pointer[E])
	}
	k.left[len(memory)] = append(k.left[len(memory)], weak.Make(unsafe.SliceData(memory)))
}

// memory is what one proof has taken from kept.
type memory[E any] struct {
	kept  *kept[E]
	taken [][]E
}

// columns returns columns of the given number of rows, in one piece of memory. They contain what other proofs
// have left there. They are not a power of two apart: otherwise the cells of one row would compete for the
// same place in the cache.
func (m *memory[E]) columns(width, rows int) [][]E {
	const apart = 16
	all := m.kept.take(width * (rows + apart))
	m.taken = append(m.taken, all)
	columns := make([][]E, width)
	for i := range columns {
		columns[i] = all[i*(rows+apart):][:rows:rows]
	}
	return columns
}

// release returns what was taken. Nothing may read it any more.
func (m *memory[E]) release() {
	for _, memory := range m.taken {
		m.kept.give(memory)
	}
	m.taken = nil
}

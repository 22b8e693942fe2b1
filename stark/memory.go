package stark

import (
	"context"
	"sync"
	"unsafe"
	"weak"

	"github.com/zkbench/zkbench/executor"
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
	mu    sync.Mutex
	taken [][]E
}

const (
	// slab is the number of bytes of columns in one piece of memory, if a column takes no more. New memory is
	// cleared, which takes some 100 microseconds for so many bytes.
	slab = 1 << 20
	// apart is the number of elements between two columns. With it they are not a power of two apart:
	// otherwise the cells of one row would compete for the same place in the cache.
	apart = 16
	// shifts is the number of places at which the first column of a slab begins, one after the other, for the
	// same reason.
	shifts = 64
)

// columns returns columns of the given number of rows. They contain what other proofs have left there.
func (m *memory[E]) columns(ctx context.Context, ex executor.Executor, width, rows int) ([][]E, error) {
	var e E
	perSlab := max(1, slab/(rows*int(unsafe.Sizeof(e))))
	columns := make([][]E, width)
	slabs := make([][]E, (width+perSlab-1)/perSlab)
	err := ex.Do(ctx, len(slabs), func(_ context.Context, s int) error {
		mine := columns[s*perSlab : min((s+1)*perSlab, width)]
		slabs[s] = m.kept.take(shifts*apart + len(mine)*(rows+apart))
		for i := range mine {
			mine[i] = slabs[s][s*perSlab%shifts*apart+i*(rows+apart):][:rows:rows]
		}
		return nil
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range slabs {
		if s != nil {
			m.taken = append(m.taken, s)
		}
	}
	return columns, err
}

// release returns what was taken. Nothing may read it any more.
func (m *memory[E]) release() {
	for _, memory := range m.taken {
		m.kept.give(memory)
	}
	m.taken = nil
}

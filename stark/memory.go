package stark

import (
	"context"
	"slices"
	"sync"
	"unsafe"
	"weak"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/internal/field"
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

// memory is what a proof, or a part of one, has taken from kept. All pieces have the same length, so that what
// one part of a proof releases, the next one can take, whatever its vectors are for.
type memory[E any] struct {
	kept  *kept[E]
	piece int // number of elements of a piece, unless one vector takes more
	mu    sync.Mutex
	taken [][]E
	left  []E // what is left of a piece
}

const (
	// slab is the maximum number of bytes of columns in one piece of memory, if a column takes no more. New memory
	// is cleared, which takes some 100 microseconds for so many bytes.
	slab = 1 << 20
	// pieces is the number of pieces in which a small proof has all its columns, because each part of a proof
	// takes whole pieces.
	pieces = 16
	// apart is the number of elements between two columns. With it they are not a power of two apart:
	// otherwise the cells of one row would compete for the same place in the cache.
	apart = 16
	// shifts is the number of places at which the first column of a piece begins, one after the other, for the
	// same reason.
	shifts = 64
)

// newMemory returns memory whose pieces suit the columns of the highest tables.
func newMemory[E any](kept *kept[E], l *layout) *memory[E] {
	column := 1<<slices.Max(l.rows) + apart
	cells := min(slab/l.bytes, l.cells/pieces)
	return &memory[E]{kept: kept, piece: shifts*apart + max(1, cells/column)*column}
}

// part returns memory for a part of a proof, which releases it when it ends.
func (m *memory[E]) part() *memory[E] { return &memory[E]{kept: m.kept, piece: m.piece} }

// columns returns columns of the given number of rows. They contain what other proofs have left there.
func (m *memory[E]) columns(ctx context.Context, ex executor.Executor, width, rows int) ([][]E, error) {
	columns, size := make([][]E, 0, width), rows+apart
	lay := func(memory []E, n int) []E {
		for range n {
			columns, memory = append(columns, memory[:rows:rows]), memory[size:]
		}
		return memory
	}
	m.mu.Lock()
	m.left = lay(m.left, min(width, len(m.left)/size))
	m.mu.Unlock()
	per := max(1, (m.piece-shifts*apart)/size)
	fresh := make([][]E, (width-len(columns)+per-1)/per)
	err := ex.Do(ctx, len(fresh), func(_ context.Context, i int) error {
		fresh[i] = m.kept.take(max(m.piece, shifts*apart+size))
		return nil
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, piece := range fresh {
		if piece == nil { // after an error
			continue
		}
		m.taken = append(m.taken, piece)
		left := lay(piece[i*per%shifts*apart:], min(per, width-len(columns)))
		if len(left) > len(m.left) {
			m.left = left
		}
	}
	return columns, err
}

// vector returns a vector of n zeros.
func (m *memory[E]) vector(degree, n int) field.Vector[E] {
	all := m.elements(degree * n)
	clear(all)
	return cut(all, n)
}

// elements returns n elements. They are what other proofs have left there.
func (m *memory[E]) elements(n int) []E {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := (n + apart - 1) / apart * apart // so that what follows begins with a line of the cache, like a piece
	if size > len(m.left) {
		piece := m.kept.take(max(m.piece, size))
		m.taken = append(m.taken, piece)
		if len(piece)-size < len(m.left) {
			return piece[:n:n]
		}
		m.left = piece
	}
	all := m.left[:n:n]
	m.left = m.left[size:]
	return all
}

// release returns what was taken. Nothing may read it any more.
func (m *memory[E]) release() {
	for _, memory := range m.taken {
		m.kept.give(memory)
	}
	m.taken, m.left = nil, nil
}

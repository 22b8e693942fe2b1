package stark

import "sync"

// kept is memory of columns, most of what a proof takes: what one leaves the next ones take, as long as the
// collector lets it lie. New memory is cleared before anybody has it, which takes 7 or 8 % of a proof's time.
type kept[E any] struct{ pools sync.Map } // of *[]E, by their length

func (k *kept[E]) take(n int) []E {
	if pool, ok := k.pools.Load(n); ok {
		if memory, ok := pool.(*sync.Pool).Get().(*[]E); ok {
			return *memory
		}
	}
	return make([]E, n)
}

func (k *kept[E]) give(memory []E) {
	pool, _ := k.pools.LoadOrStore(len(memory), new(sync.Pool))
	pool.(*sync.Pool).Put(&memory)
}

// memory is what one proof has taken.
type memory[E any] struct {
	kept  *kept[E]
	taken [][]E
}

// columns are of so many rows, with what other proofs have left in them, in one piece: not a power of two
// apart, so that what lies in one row of many of them has not one place in the cache.
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

// release gives back what was taken: nothing reads it any more.
func (m *memory[E]) release() {
	for _, memory := range m.taken {
		m.kept.give(memory)
	}
	m.taken = nil
}

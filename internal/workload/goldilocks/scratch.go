package goldilocks

import "sync"

// scratch holds buffers that operations reuse. If each operation allocated its own, the
// allocation would be part of its time, and would take longer than the fastest functions.
type scratch[T any] struct{ pool sync.Pool }

// take returns a buffer of n elements with arbitrary values.
func (s *scratch[T]) take(n int) *[]T {
	if b, ok := s.pool.Get().(*[]T); ok && len(*b) == n {
		return b
	}
	b := make([]T, n)
	return &b
}

// copyOf returns a buffer with the elements of in.
func (s *scratch[T]) copyOf(in []T) *[]T {
	b := s.take(len(in))
	copy(*b, in)
	return b
}

func (s *scratch[T]) put(b *[]T) { s.pool.Put(b) }

package goldilocks

import "sync"

// scratch are buffers that operations use again: one that allocated its own would time that
// beside its work, which for the fastest functions takes longer than they do.
type scratch[T any] struct{ pool sync.Pool }

// take returns a buffer of n elements, of any values.
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

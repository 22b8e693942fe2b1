package plonkish

import "sync"

// spare holds working memory that tasks share: as many values as there were tasks at once.
type spare[T any] struct {
	made func() T

	mu   sync.Mutex
	free []T
}

// take returns a value for the caller alone, until give.
func (s *spare[T]) take() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		x := s.free[last]
		s.free = s.free[:last]
		return x
	}
	return s.made()
}

func (s *spare[T]) give(x T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, x)
}

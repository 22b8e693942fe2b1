package identity

import (
	"container/list"
	"fmt"
	"sync"

	"github.com/zkbench/zkbench"
)

// Set parses identities and keeps the most recently used verifiers, up to a
// number of them. Pseudonyms pass through: they are used once. What does not
// parse is not kept, so that it cannot drive out what does. A Set is safe for
// concurrent use.
type Set struct {
	entries    int
	pseudonyms Scheme

	mu     sync.Mutex
	recent *list.List // of *entry, the most recent first
	byID   map[string]*list.Element
}

type entry struct {
	id       string
	verifier Verifier
}

// NewSet returns an empty set that keeps at most entries verifiers, of at most
// MaxLen bytes of identity each. pseudonyms nil: pseudonyms are refused. Fewer
// entries than 1 are an ErrParams.
func NewSet(entries int, pseudonyms Scheme) (*Set, error) {
	if entries < 1 {
		return nil, fmt.Errorf("%w: identity cache of %d entries, at least 1", zkbench.ErrParams, entries)
	}
	return &Set{entries: entries, pseudonyms: pseudonyms, recent: list.New(), byID: make(map[string]*list.Element)}, nil
}

// Verifier returns the verifier of an identity. One that is too long is a
// *zkbench.LimitError; one of an unknown type, or with a payload that is not its
// type's, is a *zkbench.DecodeError.
func (s *Set) Verifier(id Identity) (Verifier, error) {
	if v := s.lookUp(id); v != nil {
		return v, nil
	}
	v, err := parse(id, s.pseudonyms)
	if err != nil || id.Type() == TypePseudonym {
		return v, err
	}
	s.keep(string(id), v)
	return v, nil
}

// Len is the number of verifiers kept.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recent.Len()
}

func (s *Set) lookUp(id Identity) Verifier {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.byID[string(id)]
	if !ok {
		return nil
	}
	s.recent.MoveToFront(at)
	return at.Value.(*entry).verifier
}

func (s *Set) keep(id string, v Verifier) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.byID[id]; ok { // another caller parsed it meanwhile
		return
	}
	s.byID[id] = s.recent.PushFront(&entry{id, v})
	if s.recent.Len() > s.entries {
		last := s.recent.Back()
		s.recent.Remove(last)
		delete(s.byID, last.Value.(*entry).id)
	}
}

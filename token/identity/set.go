package identity

import (
	"bytes"
	"container/list"
	"fmt"
	"sync"

	"github.com/zkbench/zkbench"
)

// Set parses identities and keeps verifiers: those that were pinned, and up to a
// number of those that signed most recently. Only a signature that holds makes a
// Batch keep its verifier, so whoever cannot sign drives nothing out. Pseudonyms
// pass through: they are used once. A Set is safe for concurrent use.
type Set struct {
	entries    int
	pseudonyms Scheme

	mu     sync.Mutex
	pinned map[string]Verifier
	recent *list.List // of *entry, the most recent first
	byID   map[string]*list.Element
}

type entry struct {
	id       string
	verifier Verifier
}

// NewSet returns an empty set that keeps at most entries verifiers beside the
// pinned ones, of at most MaxLen bytes of identity each. pseudonyms nil: pseudonyms are refused. Fewer
// entries than 1 are an ErrParams.
func NewSet(entries int, pseudonyms Scheme) (*Set, error) {
	if entries < 1 {
		return nil, fmt.Errorf("%w: identity cache of %d entries, at least 1", zkbench.ErrParams, entries)
	}
	return &Set{
		entries: entries, pseudonyms: pseudonyms,
		pinned: make(map[string]Verifier), recent: list.New(), byID: make(map[string]*list.Element),
	}, nil
}

// Pin returns the verifier of an identity as Verifier does, and keeps it for good.
// It is for the few that the set's owner has chosen.
func (s *Set) Pin(id Identity) (Verifier, error) {
	v, err := s.Verifier(id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pinned[string(id)] = v
	return v, nil
}

// Verifier returns the verifier of an identity, a kept one or one that it parses
// and does not keep. One that is too long is a *zkbench.LimitError; one of an
// unknown type, or with a payload that is not its type's, is a
// *zkbench.DecodeError.
func (s *Set) Verifier(id Identity) (Verifier, error) {
	if v := s.lookUp(id); v != nil {
		return v, nil
	}
	return parse(id, s.pseudonyms)
}

// SameKey reports whether two identities have one key, as SameKey of their verifiers does. An identity that
// does not parse has no key.
func (s *Set) SameKey(a, b Identity) bool {
	if a.Type() != b.Type() {
		return false
	}
	if bytes.Equal(a, b) {
		return true
	}
	if a.Type() == TypePseudonym { // whose key has one encoding
		return false
	}
	va, err := s.Verifier(a)
	if err != nil {
		return false
	}
	vb, err := s.Verifier(b)
	return err == nil && SameKey(va, vb)
}

// Len is the number of verifiers kept, pinned ones aside.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recent.Len()
}

func (s *Set) lookUp(id Identity) Verifier {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.pinned[string(id)]; ok {
		return v
	}
	at, ok := s.byID[string(id)]
	if !ok {
		return nil
	}
	s.recent.MoveToFront(at)
	return at.Value.(*entry).verifier
}

// keep keeps a verifier that is not kept yet, and forgets the one that was used
// longest ago for it.
func (s *Set) keep(id Identity, v Verifier) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.byID[string(id)]; ok || s.pinned[string(id)] != nil {
		return
	}
	s.byID[string(id)] = s.recent.PushFront(&entry{string(id), v})
	if s.recent.Len() > s.entries {
		last := s.recent.Back()
		s.recent.Remove(last)
		delete(s.byID, last.Value.(*entry).id)
	}
}

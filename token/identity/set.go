package identity

import (
	"bytes"
	"container/list"
	"fmt"
	"sync"

	"github.com/zkbench/zkbench"
)

// Set parses identities and caches their verifiers. It keeps the verifier of every identity that was given to
// Pin. It also keeps the verifiers of the identities that signed most recently, up to a fixed number. A Batch
// stores a verifier only after a good signature, so nobody can push verifiers out without being able to sign.
// Pseudonyms are not cached, because each is used once. A Set is safe for concurrent use.
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

// NewSet returns an empty set. The parameter entries is the maximum number of verifiers that the set caches
// besides the pinned ones; each is for an identity of at most MaxLen bytes. If pseudonyms is nil, the set
// refuses pseudonyms. NewSet returns ErrParams if entries is less than 1.
func NewSet(entries int, pseudonyms Scheme) (*Set, error) {
	if entries < 1 {
		return nil, fmt.Errorf("%w: identity cache of %d entries, at least 1", zkbench.ErrParams, entries)
	}
	return &Set{
		entries: entries, pseudonyms: pseudonyms,
		pinned: make(map[string]Verifier), recent: list.New(), byID: make(map[string]*list.Element),
	}, nil
}

// Pin returns the verifier of an identity, as the method Verifier does, and stores it for the life of the set.
// Use it for a few identities that the set's owner has chosen.
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

// Verifier returns the verifier of an identity. It returns a cached one, or parses the identity and does not
// cache the result. It returns a *zkbench.LimitError if the identity is too long. It returns a
// *zkbench.DecodeError if the type is unknown, or if the payload is not valid for the type.
func (s *Set) Verifier(id Identity) (Verifier, error) {
	if v := s.lookUp(id); v != nil {
		return v, nil
	}
	return parse(id, s.pseudonyms)
}

// SameKey reports whether two identities have one key, that is, whether the function SameKey returns true
// for their verifiers. If an identity does not parse, the method returns true only if both identities have
// the same bytes.
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

// Len returns the number of cached verifiers, without the pinned ones.
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

// keep adds a verifier to the cache. If the cache is full, it removes the one that was used longest ago.
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

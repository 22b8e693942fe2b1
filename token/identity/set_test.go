package identity

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// TestSetBound: a set keeps the most recently used, never more than its bound,
// neither pseudonyms nor what does not parse.
func TestSetBound(t *testing.T) {
	set := must[*Set](t)(NewSet(3, testBN()))
	ids := make([]Identity, 5)
	for i := range ids {
		ids[i] = ed25519TestSigner(t, fmt.Sprint("id ", i)).Identity()
	}
	get := func(i int) Verifier {
		t.Helper()
		return must[Verifier](t)(set.Verifier(ids[i]))
	}
	first := get(0)
	if get(0) != first {
		t.Error("a kept verifier is parsed again")
	}
	get(1)
	second := get(1)
	get(2)
	get(0) // 1 is the least recently used
	get(3)
	if set.Len() != 3 {
		t.Errorf("%d kept, want 3", set.Len())
	}
	if get(0) != first {
		t.Error("a recently used verifier was dropped")
	}
	if get(1) == second {
		t.Error("the least recently used verifier was kept")
	}
	for i := range 10 {
		if _, err := set.Verifier(newPseudonym(t, testBN(), fmt.Sprint(i)).Identity()); err != nil {
			t.Fatal(err)
		}
		if _, err := set.Verifier(Identity{byte(TypeEd25519), byte(i)}); err == nil {
			t.Fatal("a short key was accepted")
		}
	}
	if get(0) != first || set.Len() != 3 {
		t.Error("pseudonyms or malformed identities drove others out")
	}
}

// TestSetConcurrent: many goroutines on a set smaller than what they ask for get
// the right verifiers; the race detector watches.
func TestSetConcurrent(t *testing.T) {
	set := must[*Set](t)(NewSet(4, nil))
	const n = 12
	ids, signatures := make([]Identity, n), make([][]byte, n)
	for i := range ids {
		s := ed25519TestSigner(t, fmt.Sprint("concurrent ", i))
		ids[i], signatures[i] = s.Identity(), must[[]byte](t)(s.Sign([]byte{byte(i)}, nil))
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 50 {
				i := r.IntN(n)
				if err := verifyOne(set, ids[i], []byte{byte(i)}, signatures[i]); err != nil {
					t.Errorf("identity %d: %v", i, err)
				}
				if k := set.Len(); k > 4 {
					t.Errorf("%d kept, at most 4", k)
				}
			}
		})
	}
	wg.Wait()
}

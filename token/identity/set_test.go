package identity

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// use has set verify the signer's signatures of messages, one of them flipped where
// bad is its index, and reports whether they hold.
func use(t testing.TB, set *Set, bad int, signers ...Signer) bool {
	t.Helper()
	b := NewBatch(set)
	var group []Signed
	for i, s := range signers {
		signature := must.Get(s.Sign([]byte("message"), nil))(t)
		if i == bad {
			signature[0] ^= 1
		}
		group = append(group, Signed{s.Identity(), []byte("message"), signature})
	}
	b.Add(group...)
	return b.Verify(context.Background(), executor.Serial()) == nil
}

// TestSetBound: a set keeps those who signed most recently, never more than its
// bound, beside what was pinned.
func TestSetBound(t *testing.T) {
	set := must.Get(NewSet(3, testBN()))(t)
	signers := make([]Signer, 5)
	for i := range signers {
		signers[i] = ed25519TestSigner(t, fmt.Sprint("id ", i))
	}
	get := func(i int) Verifier {
		t.Helper()
		return must.Get(set.Verifier(signers[i].Identity()))(t)
	}
	sign := func(i int) {
		t.Helper()
		if !use(t, set, -1, signers[i]) {
			t.Fatalf("signature of %d was refused", i)
		}
	}
	pinned := must.Get(set.Pin(signers[4].Identity()))(t)
	sign(0)
	first := get(0)
	if get(0) != first {
		t.Error("a kept verifier is parsed again")
	}
	sign(1)
	second := get(1)
	sign(2)
	sign(0) // 1 signed longest ago
	sign(3)
	sign(4)
	golden.Equal(t, "kept", 3, set.Len())
	if get(0) != first {
		t.Error("a recently used verifier was dropped")
	}
	if get(1) == second {
		t.Error("the least recently used verifier was kept")
	}
	if get(4) != pinned {
		t.Error("a pinned verifier was dropped")
	}
	must.FailGet(set.Pin(Identity{byte(TypeEd25519), 1}))(t, must.ErrAny, "a short key")
}

// TestSetKeepsWhoSigns: nothing but signatures that hold, all of a group, puts a
// verifier where it can drive out others: not a look, not what does not parse, not
// pseudonyms, not a good signature beside a bad one.
func TestSetKeepsWhoSigns(t *testing.T) {
	set := must.Get(NewSet(1, testBN()))(t)
	user := x509Signer(t)
	if !use(t, set, -1, user) || set.Len() != 1 {
		t.Fatal("who signed is not kept")
	}
	kept := must.Get(set.Verifier(user.Identity()))(t)
	others := []Signer{ed25519TestSigner(t, "one"), ed25519TestSigner(t, "two"), x509Signer(t)}
	for _, s := range others {
		must.Get(set.Verifier(s.Identity()))(t)
	}
	for bad := range others {
		if use(t, set, bad, others...) {
			t.Fatal("a flipped signature was accepted")
		}
	}
	if !use(t, set, -1, newPseudonym(t, testBN(), "user")) {
		t.Fatal("a pseudonym's signature was refused")
	}
	if _, err := set.Verifier(Identity{byte(TypeEd25519), 1}); err == nil {
		t.Fatal("a short key was accepted")
	}
	if must.Get(set.Verifier(user.Identity()))(t) != kept {
		t.Error("somebody drove out who had signed")
	}
	if !use(t, set, -1, others...) || must.Get(set.Verifier(user.Identity()))(t) == kept {
		t.Error("who signs is kept, and the one before still too, in a set of one")
	}
}

// TestSetConcurrent: many goroutines on a set smaller than what they ask for get
// the right verifiers; the race detector watches.
func TestSetConcurrent(t *testing.T) {
	set := must.Get(NewSet(4, nil))(t)
	const n = 12
	signers := make([]Signer, n)
	for i := range signers {
		signers[i] = ed25519TestSigner(t, fmt.Sprint("concurrent ", i))
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 50 {
				i, bad := r.IntN(n), -r.IntN(2)
				golden.Equal(t, fmt.Sprintf("identity %d holds with the bad signature %d", i, bad), bad < 0, use(t, set, bad, signers[i]))
				if k := set.Len(); k > 4 {
					t.Errorf("%d kept, at most 4", k)
				}
			}
		})
	}
	wg.Wait()
}

package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

type testExecutor = executor.Executor

func forEach(t *testing.T, f func(t *testing.T, ex testExecutor)) {
	t.Helper()
	for _, ex := range []executor.Executor{executor.Serial(), executor.Unbounded(), executor.Pool()} {
		t.Run("exec="+ex.Name(), func(t *testing.T) { f(t, ex) })
	}
}

// pool is signatures of all types, good and bad, with what single verification
// says of each.
type pool struct {
	set   *Set
	items []item
	bad   []bool
}

func (p *pool) add(id Identity, message, signature []byte) {
	it := item{id, message, signature}
	p.items, p.bad = append(p.items, it), append(p.bad, p.set.verify(&it) != nil)
}

func newPool(t *testing.T) *pool {
	t.Helper()
	p := &pool{set: newSet(t)}
	for i, c := range edCases(t) {
		if i%5 == 0 || !c.valid {
			p.add(append(Identity{byte(TypeEd25519)}, c.key...), c.message, c.signature)
		}
	}
	for name, s := range signers(t) {
		for i := range 8 {
			message := fmt.Appendf(nil, "%s %d", name, i)
			signature := must[[]byte](t)(s.Sign(message, nil))
			p.add(s.Identity(), message, signature)
			flipped := slices.Clone(signature)
			flipped[i*len(flipped)/8] ^= 4
			p.add(s.Identity(), message, flipped)
			p.add(s.Identity(), message, signature[:len(signature)-i])
			p.add(s.Identity()[:len(s.Identity())-i], message, signature)
		}
	}
	p.add(nil, nil, nil)
	p.add(Identity{7}, nil, nil)
	return p
}

// TestBatchAgreesWithSingle: any selection of signatures of all types, torsion,
// non-canonical encodings and malformed identities among them, is judged in a
// batch as each by itself.
func TestBatchAgreesWithSingle(t *testing.T) {
	p := newPool(t)
	if n := len(p.items); !slices.Contains(p.bad, true) || !slices.Contains(p.bad, false) || n < 100 {
		t.Fatalf("a pool of %d is not mixed", n)
	}
	executors := []executor.Executor{executor.Serial(), executor.Pool()}
	rapid.Check(t, func(rt *rapid.T) {
		chosen := rapid.SliceOfN(rapid.IntRange(0, len(p.items)-1), 0, 12).Draw(rt, "chosen")
		ex := rapid.SampledFrom(executors).Draw(rt, "executor")
		b := NewBatch(p.set)
		var want []int
		for i, c := range chosen {
			b.Add(p.items[c].id, p.items[c].message, p.items[c].signature)
			if p.bad[c] {
				want = append(want, i)
			}
		}
		if b.Len() != len(chosen) {
			rt.Fatalf("Len() = %d, want %d", b.Len(), len(chosen))
		}
		if got := verdicts(t, b, ex); !slices.Equal(got, want) {
			rt.Fatalf("batch names %v, single %v", got, want)
		}
	})
}

// TestBatchNames: one bad signature, at every place of a batch of each type, is
// named alone, and wraps ErrSignature.
func TestBatchNames(t *testing.T) {
	set := newSet(t)
	const n = 9
	for name, s := range signers(t) {
		t.Run("type="+name, func(t *testing.T) {
			signatures := make([][]byte, n)
			for i := range signatures {
				signatures[i] = must[[]byte](t)(s.Sign([]byte{byte(i)}, nil))
			}
			for bad := range n {
				b := NewBatch(set)
				for i := range signatures {
					message := []byte{byte(i)}
					if i == bad {
						message = []byte{n}
					}
					b.Add(s.Identity(), message, signatures[i])
				}
				if got := verdicts(t, b, executor.Serial()); !slices.Equal(got, []int{bad}) {
					t.Errorf("bad=%d, named %v", bad, got)
				}
				if err := b.Verify(context.Background(), executor.Serial()); !errors.Is(err, zkbench.ErrSignature) {
					t.Errorf("bad=%d: %v", bad, err)
				}
			}
		})
	}
}

// TestBatchErrorsCancel: two bad signatures whose errors are opposite cancel
// where both have one weight: s_1 + 1 and s_2 - 1.
func TestBatchErrorsCancel(t *testing.T) {
	set := newSet(t)
	for name, s := range signers(t) {
		if name == "x509" {
			continue
		}
		b := NewBatch(set)
		for i, delta := range []int{1, -1} {
			message := []byte{byte(i)}
			signature := must[[]byte](t)(s.Sign(message, seeded("cancel")))
			low := len(signature) - 32 // ed25519's s is little-endian, scalars of groups are big-endian
			if name == "pseudonym" {
				low = len(signature) - 1
			}
			if signature[low] == 0 || signature[low] == 255 {
				t.Fatal("choose messages without a carry")
			}
			signature[low] += byte(delta)
			b.Add(s.Identity(), message, signature)
		}
		if got := verdicts(t, b, executor.Serial()); !slices.Equal(got, []int{0, 1}) {
			t.Errorf("%s: named %v", name, got)
		}
	}
}

// TestBatchWeights: weights are fresh for every sum, and change with what was
// absorbed and with the local randomness.
func TestBatchWeights(t *testing.T) {
	var s bisection
	first, second := s.weights(2), s.weights(2)
	other := bisection{local: [32]byte{1}}
	third := bisection{state: [64]byte{1}}
	seen := make(map[weight]bool)
	for _, w := range slices.Concat(first, second, other.weights(2), third.weights(2)) {
		if seen[w] || w == (weight{}) {
			t.Errorf("weight %x repeated or zero", w)
		}
		seen[w] = true
	}
}

func TestBatchEmptyAndCancelled(t *testing.T) {
	set := newSet(t)
	b := NewBatch(set)
	if err := b.Verify(context.Background(), executor.Serial()); err != nil {
		t.Errorf("empty batch: %v", err)
	}
	for name, s := range signers(t) {
		b := NewBatch(set)
		b.Add(s.Identity(), []byte("m"), must[[]byte](t)(s.Sign([]byte("m"), nil)))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := b.Verify(ctx, executor.Serial()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
}

// faulty is claims of which every sum with more than one fails.
type faulty struct{}

func (faulty) holds(_ context.Context, _ executor.Executor, indices []int, _ []weight) (bool, error) {
	return len(indices) == 1, nil
}

// TestBisectionFault: where the whole fails and no part does, all are named.
func TestBisectionFault(t *testing.T) {
	s := bisection{cs: faulty{}}
	got, err := s.find(context.Background(), executor.Serial(), []int{3, 8})
	if err != nil || !slices.Equal(got, []int{3, 8}) {
		t.Errorf("named %v, error %v", got, err)
	}
}

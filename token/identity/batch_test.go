package identity

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/exectest"
	"github.com/zkbench/zkbench/internal/testing/must"
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
	it := item{id: id, message: message, signature: signature}
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
			signature := must.Get(s.Sign(message, nil))(t)
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

// TestBatchAgreesWithSingle: any groups of signatures of all types, torsion,
// non-canonical encodings and malformed identities among them, are judged in a batch
// as their signatures are one after the other: by the first that is bad.
func TestBatchAgreesWithSingle(t *testing.T) {
	p := newPool(t)
	if n := len(p.items); !slices.Contains(p.bad, true) || !slices.Contains(p.bad, false) || n < 100 {
		t.Fatalf("a pool of %d is not mixed", n)
	}
	executors := []executor.Executor{executor.Serial(), executor.Pool()}
	rapid.Check(t, func(rt *rapid.T) {
		groups := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, len(p.items)-1), 0, 6), 1, 6).Draw(rt, "groups")
		ex := rapid.SampledFrom(executors).Draw(rt, "executor")
		b := NewBatch(p.set)
		var want []place
		for g, chosen := range groups {
			var signed []Signed
			for _, c := range chosen {
				signed = append(signed, Signed{p.items[c].id, p.items[c].message, p.items[c].signature})
			}
			b.Add(signed...)
			if i := slices.IndexFunc(chosen, func(c int) bool { return p.bad[c] }); i >= 0 {
				want = append(want, place{g, i})
			}
		}
		if b.Len() != len(groups) {
			rt.Fatalf("Len() = %d, want %d", b.Len(), len(groups))
		}
		if got := named(t, b, ex); !slices.Equal(got, want) {
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
				signatures[i] = must.Get(s.Sign([]byte{byte(i)}, nil))(t)
			}
			for bad := range n {
				b := NewBatch(set)
				for i := range signatures {
					message := []byte{byte(i)}
					if i == bad {
						message = []byte{n}
					}
					b.Add(Signed{s.Identity(), message, signatures[i]})
				}
				if got := named(t, b, executor.Serial()); !slices.Equal(got, []place{{bad, 0}}) {
					t.Errorf("bad=%d, named %v", bad, got)
				}
				must.Fail(t, b.Verify(context.Background(), executor.Serial()), zkbench.ErrSignature, "bad=%d", bad)
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
			signature := must.Get(s.Sign(message, seeded("cancel")))(t)
			low := len(signature) - 32 // ed25519's s is little-endian, scalars of groups are big-endian
			if name == "pseudonym" {
				low = len(signature) - 1
			}
			if signature[low] == 0 || signature[low] == 255 {
				t.Fatal("choose messages without a carry")
			}
			signature[low] += byte(delta)
			b.Add(Signed{s.Identity(), message, signature})
		}
		if got := named(t, b, executor.Serial()); !slices.Equal(got, []place{{0, 0}, {1, 0}}) {
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
	must.Fail(t, b.Verify(context.Background(), executor.Serial()), zkbench.ErrParams, "empty batch")
	for name, s := range signers(t) {
		b := NewBatch(set)
		b.Add(Signed{s.Identity(), []byte("m"), must.Get(s.Sign([]byte("m"), nil))(t)})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		must.Fail(t, b.Verify(ctx, executor.Serial()), context.Canceled, "%s, cancelled", name)
	}
}

// TestBatchFailsClosed: whichever call of an executor fails, and whenever a context ends, a batch is not accepted.
func TestBatchFailsClosed(t *testing.T) {
	t.Parallel()
	set := newSet(t)
	for name, s := range signers(t) {
		for _, ex := range []executor.Executor{executor.Serial(), exectest.Wide(2)} {
			verify := func(ctx context.Context, ex executor.Executor) error {
				b := NewBatch(set)
				for i := range 2 * leastSignatures {
					message := []byte{byte(i)}
					b.Add(Signed{s.Identity(), message, must.Get(s.Sign(message, nil))(t)})
				}
				return b.Verify(ctx, ex)
			}
			calls, err := exectest.EachRefused(t, ex, func(ex executor.Executor) error { return verify(t.Context(), ex) })
			must.Do(t, err)
			asked, err := exectest.EachEnded(t, ex, verify)
			must.Do(t, err)
			if calls < 2 || name == "ed25519" && asked < 2*leastSignatures {
				t.Errorf("%s on %s: only %d calls, asked only %d times", name, ex.Name(), calls, asked)
			}
		}
	}
}

// counting is claims of which some do not hold, and which counts what sums are over.
type counting struct {
	bad    func(index int) bool
	summed int
}

func (c *counting) holds(_ context.Context, _ executor.Executor, indices []int, _ []weight) (bool, error) {
	c.summed += len(indices)
	return !slices.ContainsFunc(indices, c.bad), nil
}

// TestDeadGroup: of a group with bad claims, however many and wherever, the first is
// found, with sums over three times as many claims as there are.
func TestDeadGroup(t *testing.T) {
	const n = 1024
	var indices []int
	for i := range n {
		indices = append(indices, i)
	}
	for _, c := range []struct {
		name  string
		bad   func(i int) bool
		first int
	}{
		{"bad=all", func(int) bool { return true }, 0},
		{"bad=last", func(i int) bool { return i == n-1 }, n - 1},
		{"bad=middle", func(i int) bool { return i == n/2 }, n / 2},
		{"bad=odd", func(i int) bool { return i%2 == 1 }, 1},
	} {
		claims := &counting{bad: c.bad}
		s := bisection{cs: claims, group: func(int) int { return 0 }}
		got, err := s.find(t.Context(), executor.Serial(), indices)
		if err != nil || !slices.Equal(got, []int{c.first}) || claims.summed > 3*n {
			t.Errorf("%s: named %v, error %v, sums over %d claims of %d", c.name, got, err, claims.summed, n)
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
	s := bisection{cs: faulty{}, group: func(j int) int { return j }}
	got, err := s.find(context.Background(), executor.Serial(), []int{3, 8})
	if err != nil || !slices.Equal(got, []int{3, 8}) {
		t.Errorf("named %v, error %v", got, err)
	}
}

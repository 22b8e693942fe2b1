package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha3"
	"encoding/binary"
	"errors"
	"runtime"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/transcript"
)

// CheckName is the check that a Batch names in its errors.
const CheckName = "signature"

// Batch gathers signatures and verifies them together: Ed25519 and pseudonyms
// each in one multi-scalar multiplication, ECDSA one by one. It is not safe for
// concurrent use.
type Batch struct {
	set   *Set
	items []item
}

type item struct {
	id                 Identity
	message, signature []byte
}

// weight is 128 bits by which an equation is multiplied, so that a sum with an
// equation that does not hold is zero with probability 2^-128.
type weight [16]byte

// claims are equations that are verified together.
type claims interface {
	// holds reports whether the equations of the claims at indices, each with
	// its weight, sum to zero.
	holds(ctx context.Context, ex executor.Executor, indices []int, weights []weight) (bool, error)
}

// NewBatch returns an empty batch whose identities set parses.
func NewBatch(set *Set) *Batch { return &Batch{set: set} }

// Len is the number of signatures added.
func (b *Batch) Len() int { return len(b.items) }

// Add adds a signature of message by id, which gets the index Len() before the
// call. The slices are read by Verify and must not change until then.
func (b *Batch) Add(id Identity, message, signature []byte) {
	b.items = append(b.items, item{id, message, signature})
}

// Verify accepts exactly what Set.Verifier and Verifier.Verify accept for every
// signature by itself. Each signature that does not hold is named by a
// *zkbench.CheckError with its index as Action, which wraps ErrSignature, or the
// error of Set.Verifier where its identity does not parse; the errors are joined
// in order of index. Any other error is the executor's or the context's. An
// empty batch holds.
func (b *Batch) Verify(ctx context.Context, ex executor.Executor) error {
	failed := make([]error, len(b.items))
	var single, ed, pseudonyms []int
	for i := range b.items {
		switch t := b.items[i].id.Type(); {
		case t == TypeEd25519:
			ed = append(ed, i)
		case t == TypePseudonym && b.set.pseudonyms != nil && len(b.items[i].id) <= MaxLen:
			pseudonyms = append(pseudonyms, i)
		default:
			single = append(single, i)
		}
	}
	if err := ex.Do(ctx, len(single), func(_ context.Context, j int) error {
		i := single[j]
		failed[i] = b.set.verify(&b.items[i])
		return nil
	}); err != nil {
		return err
	}
	if err := b.together(ctx, ex, failed, ed, b.set.ed25519Claims); err != nil {
		return err
	}
	if len(pseudonyms) > 0 {
		if err := b.together(ctx, ex, failed, pseudonyms, b.set.pseudonyms.claims); err != nil {
			return err
		}
	}
	var errs []error
	for i, err := range failed {
		if err != nil {
			errs = append(errs, &zkbench.CheckError{Check: CheckName, Action: i, Index: -1, Err: err})
		}
	}
	return errors.Join(errs...)
}

// verify verifies one signature.
func (s *Set) verify(it *item) error {
	v, err := s.Verifier(it.id)
	if err != nil {
		return err
	}
	return v.Verify(it.message, it.signature)
}

// ed25519Claims decodes the signatures of items, which are Ed25519 by their type.
func (s *Set) ed25519Claims(ctx context.Context, ex executor.Executor, items []item) (claims, []error, [][]byte, error) {
	cs, errs, states := make(ed25519Claims, len(items)), make([]error, len(items)), make([][]byte, len(items))
	err := ex.Do(ctx, len(items), func(_ context.Context, i int) error {
		v, err := s.Verifier(items[i].id)
		if err == nil {
			states[i], err = cs[i].decode(v.(*ed25519Verifier), items[i].message, items[i].signature)
		}
		errs[i] = err
		return nil
	})
	return cs, errs, states, err
}

// together verifies the items at indices with one scheme and sets failed for
// those that do not hold.
func (b *Batch) together(ctx context.Context, ex executor.Executor, failed []error, indices []int,
	decode func(context.Context, executor.Executor, []item) (claims, []error, [][]byte, error),
) error {
	items := make([]item, len(indices))
	for j, i := range indices {
		items[j] = b.items[i]
	}
	cs, errs, states, err := decode(ctx, ex, items)
	if err != nil {
		return err
	}
	t := transcript.New("signature batch")
	var good []int
	for j, i := range indices {
		if failed[i] = errs[j]; errs[j] == nil {
			good = append(good, j)
			t.Append("claim", states[j])
		}
	}
	search := bisection{cs: cs, state: t.State()}
	if _, err := rand.Read(search.local[:]); err != nil {
		return err
	}
	bad, err := search.find(ctx, ex, good)
	for _, j := range bad {
		failed[indices[j]] = rejected("not by this key")
	}
	return err
}

// bisection looks for the claims that do not hold. Weights come from the states
// of all claims and from local randomness, so that no signer knows them.
type bisection struct {
	cs    claims
	state [transcript.StateLen]byte
	local [transcript.SeedLen]byte
	drawn uint64 // weight streams used
}

func (s *bisection) weights(n int) []weight {
	x := s.stream()
	out := make([]weight, n)
	for i := range out {
		_, _ = x.Read(out[i][:]) // a XOF never fails to read
	}
	return out
}

func (s *bisection) stream() *sha3.SHAKE {
	s.drawn++
	return transcript.XOF("zkbench/v1/weights", s.state[:], s.local[:], binary.LittleEndian.AppendUint64(nil, s.drawn))
}

// find returns those of indices that do not hold, in order.
func (s *bisection) find(ctx context.Context, ex executor.Executor, indices []int) ([]int, error) {
	if len(indices) == 0 {
		return nil, nil
	}
	ok, err := s.cs.holds(ctx, ex, indices, s.weights(len(indices)))
	if err != nil || ok {
		return nil, err
	}
	if len(indices) == 1 {
		return indices, nil
	}
	half := len(indices) / 2
	left, err := s.find(ctx, ex, indices[:half])
	if err != nil {
		return nil, err
	}
	right, err := s.find(ctx, ex, indices[half:])
	if err == nil && len(left)+len(right) == 0 {
		// The sum of all fails and no part does. Honest arithmetic comes here
		// with probability 2^-128; a fault must not turn into acceptance.
		return indices, nil
	}
	return append(left[:len(left):len(left)], right...), err
}

// taskCount is the number of tasks that n items are shared out to.
func taskCount(ex executor.Executor, n int) int {
	tasks := ex.Width()
	if tasks == 0 {
		tasks = runtime.GOMAXPROCS(0)
	}
	return max(1, min(tasks, n))
}

package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha3"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/transcript"
)

// CheckName is the check that a Batch names in its errors.
const CheckName = "signature"

// Signed is a signature of Message by ID.
type Signed struct {
	ID                 Identity
	Message, Signature []byte
}

// Batch gathers signatures and verifies them together: Ed25519 and pseudonyms
// each in one multi-scalar multiplication, ECDSA one by one. Signatures come in
// groups, for example those of one request: a group is as dead with one bad
// signature as with a thousand, so the search ends at its first. It is not safe
// for concurrent use.
type Batch struct {
	set    *Set
	items  []item
	groups int
}

type item struct {
	id                 Identity
	message, signature []byte

	group, index int      // which group's, and its place there
	verifier     Verifier // nil until parsed; never a pseudonym's
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

// Len is the number of groups added.
func (b *Batch) Len() int { return b.groups }

// Add adds a group of signatures, which gets the index Len() before the call. The
// slices are read by Verify and must not change until then.
func (b *Batch) Add(group ...Signed) {
	for i, s := range group {
		b.items = append(b.items, item{id: s.ID, message: s.Message, signature: s.Signature, group: b.groups, index: i})
	}
	b.groups++
}

// Verify accepts exactly what Set.Verifier and Verifier.Verify accept for every
// signature by itself. The first of each group that does not hold is named by a
// *zkbench.CheckError with the group as Action and its place there as Index, which
// wraps ErrSignature, or the error of Set.Verifier where its identity does not
// parse; the errors are joined in order of groups. Any other error is the
// executor's or the context's. A batch without groups is an ErrParams. A group without signatures
// holds, so that it spoils no other one: whoever adds groups of what others sent sees to it that somebody must sign.
//
// The set keeps the verifiers of groups that hold: who cannot sign for all of a
// group drives nobody out of it.
func (b *Batch) Verify(ctx context.Context, ex executor.Executor) error {
	if b.groups == 0 {
		return fmt.Errorf("%w: no signatures to verify, accepted are 1 group or more", zkbench.ErrParams)
	}
	bad := newVerdicts(b)
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
		if i := single[j]; bad.open(i) {
			bad.set(i, b.set.verify(&b.items[i]))
		}
		return nil
	}); err != nil {
		return err
	}
	if err := b.together(ctx, ex, bad, ed, b.set.ed25519Claims); err != nil {
		return err
	}
	if len(pseudonyms) > 0 {
		if err := b.together(ctx, ex, bad, pseudonyms, b.set.pseudonyms.claims); err != nil {
			return err
		}
	}
	for i := range b.items {
		if it := &b.items[i]; bad.cause[it.group] == nil && it.verifier != nil {
			b.set.keep(it.id, it.verifier)
		}
	}
	return bad.join()
}

// verdicts are the first bad signatures of groups, as far as they are known.
type verdicts struct {
	items []item
	mu    sync.Mutex
	first []int // by group, an index of items
	cause []error
}

func newVerdicts(b *Batch) *verdicts {
	return &verdicts{items: b.items, first: make([]int, b.groups), cause: make([]error, b.groups)}
}

// open reports whether it matters if item i is bad: no item before it in its group
// is known to be.
func (v *verdicts) open(i int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	g := v.items[i].group
	return v.cause[g] == nil || i < v.first[g]
}

// set notes what is wrong with item i, if anything.
func (v *verdicts) set(i int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if g := v.items[i].group; err != nil && (v.cause[g] == nil || i < v.first[g]) {
		v.first[g], v.cause[g] = i, err
	}
}

func (v *verdicts) join() error {
	var errs []error
	for g, err := range v.cause {
		if err != nil {
			errs = append(errs, &zkbench.CheckError{Check: CheckName, Action: g, Index: v.items[v.first[g]].index, Err: err})
		}
	}
	return errors.Join(errs...)
}

// verify verifies one signature.
func (s *Set) verify(it *item) (err error) {
	if it.verifier, err = s.Verifier(it.id); err != nil {
		return err
	}
	return it.verifier.Verify(it.message, it.signature)
}

// ed25519Claims decodes the signatures of items, which are Ed25519 by their type.
func (s *Set) ed25519Claims(ctx context.Context, ex executor.Executor, items []item) (claims, []error, [][]byte, error) {
	cs, errs, states := make(ed25519Claims, len(items)), make([]error, len(items)), make([][]byte, len(items))
	err := ex.Do(ctx, len(items), func(_ context.Context, i int) error {
		it := &items[i]
		if it.verifier, errs[i] = s.Verifier(it.id); errs[i] == nil {
			states[i], errs[i] = cs[i].decode(it.verifier.(*ed25519Verifier), it.message, it.signature)
		}
		return nil
	})
	return cs, errs, states, err
}

// together verifies the items at indices with one scheme, those that matter, and
// notes the first bad ones of their groups.
func (b *Batch) together(ctx context.Context, ex executor.Executor, bad *verdicts, indices []int,
	decode func(context.Context, executor.Executor, []item) (claims, []error, [][]byte, error),
) error {
	indices = slices.DeleteFunc(indices, func(i int) bool { return !bad.open(i) })
	items := make([]item, len(indices))
	for j, i := range indices {
		items[j] = b.items[i]
	}
	cs, errs, states, err := decode(ctx, ex, items)
	if err != nil {
		return err
	}
	for j, i := range indices {
		b.items[i].verifier = items[j].verifier
		bad.set(i, errs[j])
	}
	t := transcript.New("signature batch")
	var good []int
	for j, i := range indices {
		if bad.open(i) && errs[j] == nil {
			good = append(good, j)
			t.Append("claim", states[j])
		}
	}
	search := bisection{cs: cs, group: func(j int) int { return items[j].group }, state: t.State()}
	if _, err := rand.Read(search.local[:]); err != nil {
		return err
	}
	found, err := search.find(ctx, ex, good)
	for _, j := range found {
		bad.set(indices[j], rejected("not by this key"))
	}
	return err
}

// bisection looks for the first claim of each group that does not hold. Weights
// come from the states of all claims and from local randomness, so that no signer
// knows them.
type bisection struct {
	cs    claims
	group func(index int) int // rises with the index
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

// find returns, in order, the first of each group in indices that does not hold. In
// one group of n its sums are over 3n claims at most: a half that holds some bad one
// ends the search in the other.
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
	rest := indices[half:]
	if len(left) > 0 {
		dead := s.group(left[len(left)-1])
		for len(rest) > 0 && s.group(rest[0]) == dead {
			rest = rest[1:]
		}
	}
	right, err := s.find(ctx, ex, rest)
	if err == nil && len(left)+len(right) == 0 {
		// The sum of all fails and no part does. Honest arithmetic comes here
		// with probability 2^-128; a fault must not turn into acceptance.
		return indices, nil
	}
	return append(left[:len(left):len(left)], right...), err
}

// taskCount is the number of tasks that n items are shared out to.
func taskCount(ex executor.Executor, n int) int { return max(1, min(executor.Tasks(ex), n)) }

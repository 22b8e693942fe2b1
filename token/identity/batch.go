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

// CheckName is the value of the field Check in every *zkbench.CheckError that Batch.Verify returns.
const CheckName = "signature"

// Signed is a message and a signature of this message by the identity in the field ID.
type Signed struct {
	ID                 Identity
	Message, Signature []byte
}

// Batch collects signatures and verifies them together. It verifies all Ed25519 signatures in one multi-scalar
// multiplication, all signatures of pseudonyms in another, and ECDSA signatures one by one. The caller adds
// signatures in groups, for example those of one request. One bad signature makes its whole group bad, so the
// Batch looks only for the first bad signature of a group. A Batch is not safe for concurrent use.
type Batch struct {
	set    *Set
	items  []item
	groups int
}

type item struct {
	id                 Identity
	message, signature []byte

	group, index int      // the group, and the index in it
	verifier     Verifier // nil until parsed; never a pseudonym's
}

// weight is a random factor of 128 bits for an equation. If an equation is wrong, the weighted sum is zero with
// probability 2^-128.
type weight [16]byte

// claims are equations that are verified together.
type claims interface {
	// holds reports whether the equations of the claims at indices, each with
	// its weight, sum to zero.
	holds(ctx context.Context, ex executor.Executor, indices []int, weights []weight) (bool, error)
}

// NewBatch returns an empty batch that uses set to parse identities.
func NewBatch(set *Set) *Batch { return &Batch{set: set} }

// Len returns the number of groups added.
func (b *Batch) Len() int { return b.groups }

// Add adds a group of signatures. The group's index is the value of Len before the call. Verify reads the
// bytes of the group's identities, messages and signatures, so the caller must not change them until Verify
// returns.
func (b *Batch) Add(group ...Signed) {
	for i, s := range group {
		b.items = append(b.items, item{id: s.ID, message: s.Message, signature: s.Signature, group: b.groups, index: i})
	}
	b.groups++
}

// Verify accepts a signature exactly if Set.Verifier accepts its identity and Verifier.Verify accepts the
// signature. For each bad group, the error contains a *zkbench.CheckError that names the group's first bad
// signature: Action is the group's index, and Index is the signature's index in the group. The CheckError
// wraps ErrSignature, or the error of Set.Verifier if the identity does not parse. The errors are joined in
// order of groups.
//
// Verify returns ErrParams if the batch has no groups. Any other error comes from the executor or the context.
// A group without signatures is accepted, so that it does not affect other groups. If groups come from other
// parties, the caller must check that each group has the required signatures.
//
// Verify stores verifiers in the set for good groups only. So nobody can push verifiers out of the set
// without being able to sign for a whole group.
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

// verdicts holds the first bad signature of each group, as far as it is known.
type verdicts struct {
	items []item
	mu    sync.Mutex
	first []int // by group, an index of items
	cause []error
}

func newVerdicts(b *Batch) *verdicts {
	return &verdicts{items: b.items, first: make([]int, b.groups), cause: make([]error, b.groups)}
}

// open reports whether it still matters if item i is bad: no item before it in its group is known to be bad.
func (v *verdicts) open(i int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	g := v.items[i].group
	return v.cause[g] == nil || i < v.first[g]
}

// set records that item i is bad, unless err is nil.
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

// ed25519Claims decodes the signatures of items whose type is Ed25519.
func (s *Set) ed25519Claims(ctx context.Context, ex executor.Executor, items []item) (claims, []error, [][]byte, error) {
	cs, errs, states := make(ed25519Claims, len(items)), make([]error, len(items)), make([][]byte, len(items))
	err := executor.Ranges(ctx, ex, len(items), leastSignatures, func(ctx context.Context, lo, hi int) error {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			it := &items[i]
			if it.verifier, errs[i] = s.Verifier(it.id); errs[i] == nil {
				states[i], errs[i] = cs[i].decode(it.verifier.(*ed25519Verifier), it.message, it.signature)
			}
		}
		return context.Cause(ctx)
	})
	return cs, errs, states, err
}

// together verifies the items at indices with one scheme, except those that no longer matter. It records the
// first bad one of each group.
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

// bisection finds the first bad claim of each group. Weights come from the states of all claims and from local
// randomness, so that no signer knows them.
type bisection struct {
	cs    claims
	group func(index int) int // does not decrease with the index
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

// find returns, in order, the first bad claim of each group in indices. In one group of n claims, its sums
// cover at most 3n claims, because a bad claim in the left half ends the search in the right half.
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

// leastSignatures is the least number of signatures in a task. Fewer take no longer than waking a processor.
const leastSignatures = 4

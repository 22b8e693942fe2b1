package token

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Proven is the part that all actions share: the proof, and once the action has
// been decoded, its claim. Actions embed it.
type Proven struct {
	Proof []byte

	claim Claim
}

// DecodeProof decodes the points of the statement and of the proof, which makes
// the action verifiable. Every error is a *zkbench.DecodeError.
func (p *Proven) DecodeProof(pp CryptoParams, st *Statement, proof Field) error {
	var err error
	p.Proof = proof.Bytes
	p.claim, err = pp.Decode(st, proof)
	return err
}

// Verify verifies a decoded action in its context, for example the
// transaction's anchor. The error is an ErrProof.
func (p *Proven) Verify(ctx context.Context, ex executor.Executor, pp CryptoParams, context []byte) error {
	return VerifyBatch(ctx, ex, pp, []Item{{p, context}})
}

func (p *Proven) proven() *Proven { return p }

// Action is an issue or a transfer: whatever embeds Proven.
type Action interface{ proven() *Proven }

// Item is a decoded action with the context to verify it in.
type Item struct {
	Action  Action
	Context []byte
}

// VerifyBatch verifies decoded actions, of any kinds, in one multi-scalar
// multiplication. Every action that does not hold is named by a
// *zkbench.CheckError with its index; the errors are joined.
func VerifyBatch(ctx context.Context, ex executor.Executor, pp CryptoParams, items []Item) error {
	claims := make([]Claim, len(items))
	for i, item := range items {
		claim := item.Action.proven().claim
		if claim == nil {
			return fmt.Errorf("%w: action %d was not decoded; verify its encoding", zkbench.ErrParams, i)
		}
		claims[i] = claim.WithContext(item.Context)
	}
	return pp.Verify(ctx, ex, claims...)
}

package token

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Proven is the part that all actions share: the proof; once the action has been
// parsed, its statement; once that has been prepared, its claim. Actions embed it.
type Proven struct {
	Proof []byte

	st    Statement
	field Field
	claim Claim
}

// Parsed notes the statement and the proof of an action whose structure has been
// parsed.
func (p *Proven) Parsed(st Statement, proof Field) { p.Proof, p.st, p.field = proof.Bytes, st, proof }

// Prepare decodes the points of a parsed action and its proof, which makes it
// verifiable: square roots, the expensive part of decoding. Every error is a
// *zkbench.DecodeError.
func (p *Proven) Prepare(pp CryptoParams) error {
	var err error
	p.claim, err = pp.Decode(&p.st, p.field)
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

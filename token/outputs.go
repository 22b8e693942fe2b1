package token

import (
	"context"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Output is a token to be made.
type Output struct {
	Owner []byte // empty: redeemed
	Value uint64
}

// MakeOutputs draws the action's seed from rand (nil: the parameters' source),
// derives the blindings of the outputs, all of type typ, and commits. It returns
// the action's witness, with inputs as given, and the tokens.
func MakeOutputs(ctx context.Context, ex executor.Executor, pp CryptoParams, kind Kind, inputs []Opening, typ string, outputs []Output, context []byte, rand io.Reader) (*Witness, []Token, error) {
	if err := checkCounts(kind, len(inputs), len(outputs)); err != nil {
		return nil, nil, err
	}
	if len(typ) > MaxType {
		return nil, nil, &zkbench.LimitError{What: "bytes of token type", Estimate: int64(len(typ)), Max: MaxType}
	}
	if rand == nil {
		rand = pp.Rand()
	}
	w := &Witness{Inputs: inputs, Outputs: make([]Opening, len(outputs))}
	if _, err := io.ReadFull(rand, w.Seed[:]); err != nil {
		return nil, nil, fmt.Errorf("drawing the action's seed: %w", err)
	}
	for j, o := range outputs {
		w.Outputs[j] = Opening{Type: typ, Value: o.Value}
	}
	witness, err := w.encode()
	if err != nil {
		return nil, nil, err
	}
	for j, b := range pp.DeriveBlindings(w.Seed, kind, witness, context, len(outputs)) {
		w.Outputs[j].Blinding = b
	}
	commitments, err := pp.Commit(ctx, ex, w.Outputs)
	if err != nil {
		return nil, nil, err
	}
	tokens := make([]Token, len(outputs))
	for j := range tokens {
		tokens[j] = Token{Owner: outputs[j].Owner, Commitment: commitments[j]}
	}
	return w, tokens, nil
}

// Commitments returns the commitments of tokens as a statement's fields.
func Commitments(tokens []Token) []Field {
	out := make([]Field, len(tokens))
	for i := range tokens {
		out[i].Bytes = tokens[i].Commitment
	}
	return out
}

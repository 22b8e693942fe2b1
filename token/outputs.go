package token

import (
	"context"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/transcript"
)

// MakeOutputs draws the action's seed from rand (nil: the parameters' source),
// derives the blindings of outputs of type typ with these values, and commits.
// It returns the action's witness, with inputs as given, and the tokens.
func MakeOutputs(ctx context.Context, ex executor.Executor, pp CryptoParams, kind Kind, inputs []Opening, typ string, values []uint64, owners [][]byte, context []byte, rand io.Reader) (*Witness, []Token, error) {
	if err := checkCounts(kind, len(inputs), len(values)); err != nil {
		return nil, nil, err
	}
	if len(typ) > MaxType {
		return nil, nil, &zkbench.LimitError{What: "bytes of token type", Estimate: int64(len(typ)), Max: MaxType}
	}
	if rand == nil {
		rand = pp.Rand()
	}
	w := &Witness{Inputs: inputs, Outputs: make([]Opening, len(values))}
	var seed [transcript.SeedLen]byte
	if _, err := io.ReadFull(rand, seed[:]); err != nil {
		return nil, nil, fmt.Errorf("drawing the action's seed: %w", err)
	}
	w.Seed = seed
	for j, v := range values {
		w.Outputs[j] = Opening{Type: typ, Value: v}
	}
	witness, err := w.encode()
	if err != nil {
		return nil, nil, err
	}
	for j, b := range pp.DeriveBlindings(seed, kind, witness, context, len(values)) {
		w.Outputs[j].Blinding = b
	}
	commitments, err := pp.Commit(ctx, ex, w.Outputs)
	if err != nil {
		return nil, nil, err
	}
	tokens := make([]Token, len(values))
	for j := range tokens {
		tokens[j] = Token{Owner: owners[j], Commitment: commitments[j]}
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

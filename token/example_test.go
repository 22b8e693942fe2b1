package token_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
)

// A token shows a commitment to its type and value. Whoever has the opening can check it; another value does not open the
// token.
func Example() {
	ctx, ex := context.Background(), executor.Serial()
	pp, err := token.NewCryptoParams(token.Config{Curve: "BN254", Bits: 32, ProofType: token.CSP}, token.Tuning{})
	if err != nil {
		panic(err)
	}
	opening := token.Opening{Type: "USD", Value: 100, Blinding: make([]byte, 32)}
	opening.Blinding[31] = 7 // package action draws it
	commitments, err := pp.Commit(ctx, ex, []token.Opening{opening})
	if err != nil {
		panic(err)
	}
	t := &token.Token{Owner: []byte("alice"), Commitment: commitments[0]}
	fmt.Println(len(t.Commitment), "bytes:", token.Opens(ctx, ex, pp, t, opening))

	opening.Value = 1_000_000
	fmt.Println("a million:", errors.Is(token.Opens(ctx, ex, pp, t, opening), zkbench.ErrProof))
	// Output:
	// 32 bytes: <nil>
	// a million: true
}

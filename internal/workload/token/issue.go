package token

import (
	"context"
	"io"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
)

// Issuer returns the workload that makes, proves and encodes an issue of tokens.
func Issuer() workload.Def {
	def := define("Issuer", "an issue", "make, prove and encode an issue",
		token.Issue, func(s *setup) workload.Instance { return &issuer{s} })
	def.Alias = "issue"
	return def
}

// ProofVerificationIssuer returns the workload that decodes an issue of tokens and verifies it.
func ProofVerificationIssuer() workload.Def {
	return define("ProofVerificationIssuer", "verifying an issue", "decode an issue and verify it",
		token.Issue, func(s *setup) workload.Instance { return &verification{s} })
}

// order holds what an issuer makes an issue from.
type order struct {
	outputs []action.Output
	anchor  string
}

func (s *setup) order(seq uint64) *order { return s.orderOf(seq, seq) }

// orderOf returns the order with sequence number seq. Its values are those of the sequence number values.
func (s *setup) orderOf(seq, values uint64) *order {
	amounts, drawn := s.corpus("amounts", values), make([]uint64, s.out)
	for j := range drawn {
		drawn[j] = s.total(amounts)
	}
	return &order{outputs(s.corpus("order", seq), drawn), anchorOf(seq)}
}

// issue returns the encoded issue of an order. The prover's randomness is from rand, or
// from the parameters' source if rand is nil.
func (s *setup) issue(ctx context.Context, o *order, rand io.Reader) ([]byte, error) {
	d, err := action.NewIssue(ctx, s.ex, s.pp, tokenType, action.Spec{Outputs: o.outputs, Anchor: token.Anchor(o.anchor), Rand: rand})
	if err != nil {
		return nil, err
	}
	return d.Prove(ctx)
}

type issuer struct{ *setup }

// Metrics adds the length of the encoded issue to the sizes of the case.
func (i *issuer) Metrics(ctx context.Context) ([]record.Metric, error) {
	raw, err := i.issue(ctx, i.order(0), i.corpus("prover", 0))
	if err != nil {
		return nil, err
	}
	return i.withSize(ctx, record.ActionSize, raw)
}

func (i *issuer) Input(_ context.Context, seq uint64) (any, error) { return i.order(seq), nil }

func (i *issuer) Run(ctx context.Context, input any) ([]byte, error) {
	return i.issue(ctx, input.(*order), nil)
}

func (i *issuer) Check(ctx context.Context, input any, output []byte) error {
	return i.receive(ctx, output, input.(*order).anchor)
}

// SecretInput builds an order with the same values each time if fixed is set, and with
// others if not. In both cases it has its own owners and anchor.
func (i *issuer) SecretInput(_ context.Context, seq uint64, fixed bool) (any, error) {
	seq += secretSeq + 1
	if fixed {
		return i.orderOf(seq, secretSeq), nil
	}
	return i.order(seq), nil
}

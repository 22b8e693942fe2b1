package token

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token/validator"
)

// The ways in which a request is tampered with, and so refused.
const (
	tamperedSpent     = "spent"     // its tokens are not on the ledger
	tamperedSignature = "signature" // the owners' signatures are of another message
	tamperedProof     = "proof"     // signed by all, with a proof that does not hold
	tamperedStructure = "structure" // its last byte is missing
)

// TamperedAxis is how a request is tampered with.
func TamperedAxis() workload.Axis {
	kinds := []string{tamperedSpent, tamperedSignature, tamperedProof, tamperedStructure}
	return workload.NameAxis(workload.Axis{Name: "tampered with", Key: "tampered", Flag: "tampered", Usage: "ways in which a request is tampered with"}, kinds, kinds)
}

// Reject refuses a request that is tampered with: what each way to be refused costs.
func Reject() workload.Def {
	return validating("Reject", "refuse a request of one transfer that is tampered with",
		func(v *validation, c workload.Case) workload.Instance { return &rejection{v, TamperedAxis().Of(c)} }, TamperedAxis())
}

type rejection struct {
	*validation
	tampered string
}

// Input makes sure that the request is accepted where nobody tampers with it.
func (r *rejection) Input(ctx context.Context, seq uint64) (any, error) {
	genuine, err := r.submit(ctx, seq, "")
	if err != nil {
		return nil, err
	}
	if _, err := r.validator.Validate(ctx, genuine.ledger, genuine.raw, blockTime); err != nil {
		return nil, err
	}
	return r.submit(ctx, seq, r.tampered)
}

// Run returns the name of the check that refuses the request.
func (r *rejection) Run(ctx context.Context, input any) ([]byte, error) {
	s := input.(*submitted)
	_, err := r.validator.Validate(ctx, s.ledger, s.raw, blockTime)
	c, ok := errors.AsType[*zkbench.CheckError](err)
	if !ok {
		return nil, fmt.Errorf("no check refused the request: %v", err)
	}
	return []byte(c.Check), nil
}

// Check makes sure that the request was refused for what was done to it.
func (r *rejection) Check(_ context.Context, _ any, output []byte) error {
	want := map[string]string{
		tamperedSpent: validator.Inputs, tamperedSignature: validator.Owners,
		tamperedProof: validator.Proofs, tamperedStructure: validator.Structure,
	}[r.tampered]
	if string(output) != want {
		return fmt.Errorf("tampered=%s was refused by the check of %s, want %s", r.tampered, output, want)
	}
	return nil
}

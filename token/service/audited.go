package service

import (
	"context"

	"github.com/zkbench/zkbench/token"
)

// AuditSigner signs requests as one auditor of a ledger's policy. A client.Auditor is one at a server.
type AuditSigner interface {
	// Place returns the auditor's index in a policy. It returns ErrParams if the policy does not name the auditor.
	Place(ctx context.Context, rules *token.Policy) (int, error)
	// Sign returns the auditor's signature of a request, which counts under the policy. Both arguments are encodings, as
	// Submission.ForAuditors returns them.
	Sign(ctx context.Context, rules *token.Policy, rawRequest, rawInformation []byte) (signature []byte, err error)
}

// Audit has all auditors of a policy sign the submission, one after the other in the order of the arguments, and puts
// their signatures into its request. It returns ErrParams, and shows the submission to nobody, if an auditor of the policy
// is missing or given twice. Else it returns the first error of an AuditSigner.
func (s *Submission) Audit(ctx context.Context, rules *token.Policy, auditors ...AuditSigner) error {
	rawRequest, rawInformation, err := s.ForAuditors()
	if err != nil {
		return err
	}
	places, given := make([]int, len(auditors)), make([]bool, len(rules.Auditors))
	for i, a := range auditors {
		at, err := a.Place(ctx, rules)
		switch {
		case err != nil:
			return err
		case given[at]:
			return refuse("auditor %d of policy %d is given twice", at, rules.Version)
		}
		places[i], given[at] = at, true
	}
	for at, known := range given {
		if !known {
			return refuse("auditor %d of the %d of policy %d is missing: identity %.16x", at, len(given), rules.Version, rules.Auditors[at].Identity)
		}
	}
	signatures := make([][]byte, len(given))
	for i, a := range auditors {
		if signatures[places[i]], err = a.Sign(ctx, rules, rawRequest, rawInformation); err != nil {
			return err
		}
	}
	s.Request.Auditors = signatures
	return nil
}

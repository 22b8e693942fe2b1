package token

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/service"
)

// IssueServiceIssue returns the workload that calls an issuer's service. The time includes
// the service's write to the disk.
func IssueServiceIssue() workload.Def {
	return defineService("IssueServiceIssue", "an issue by the service", "issue tokens with the issue service: addresses, proof, signature, audit information, durable submission, encoding",
		token.Issue, func(s *services) (workload.Instance, error) { return newIssuing(s) })
}

type issuing struct {
	*services
	service *service.IssueService
	held    held
}

func newIssuing(s *services) (*issuing, error) {
	vault, err := s.vault("issuer")
	if err != nil {
		return nil, err
	}
	i := &issuing{services: s, held: held{vault: vault}}
	i.service, err = service.NewIssueService(s.params, s.proofType, token.Tuning{}, s.ex, vault, s.issuer)
	return i, err
}

func (i *issuing) Input(_ context.Context, seq uint64) (any, error) {
	pays, err := i.payments(seq, evenly(i.total(i.corpus("amounts", seq)), i.out))
	return &service.Order{Type: tokenType, Payments: pays}, err
}

func (i *issuing) Run(ctx context.Context, input any) ([]byte, error) {
	sub, err := i.service.Issue(ctx, *input.(*service.Order))
	if err != nil {
		return nil, err
	}
	return i.held.keep(ctx, sub)
}

func (i *issuing) Check(ctx context.Context, input any, output []byte) error {
	report, err := i.accept(ctx, view{}, output)
	if err != nil {
		return err
	}
	for j, p := range input.(*service.Order).Payments {
		if got := report.Actions[0].Outputs[j].Value; got != p.Value {
			return fmt.Errorf("output %d is not of the payment's value", j)
		}
	}
	return nil
}

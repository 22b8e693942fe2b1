package wallet

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/receipt"
	"github.com/zkbench/zkbench/token/service"
)

// Receipt returns a receipt for a payment of the wallet that opens one of its outputs. The parameter output is the
// output's number in Movement.Paid, from 1. The receipt verifies under the wallet's parameters. Receipt returns
// zkbench.ErrParams if the payment is not on the ledger or the vault does not have its openings, and the errors of
// receipt.Make and receipt.Verify.
func (p *Purse) Receipt(ctx context.Context, l ledger.Reader, anchor []byte, output uint64) ([]byte, error) {
	m, err := p.Movement(anchor)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("%w: the wallet knows no payment %x", zkbench.ErrParams, anchor)
	case m.Status != service.Landed:
		return nil, fmt.Errorf("%w: the payment %x is %v, not on the ledger", zkbench.ErrParams, anchor, m.Status)
	case len(m.Paid) == 0:
		return nil, fmt.Errorf("%w: the vault has no openings of payment %x: only the vault that made it has them, and one restored from its keys has lost them", zkbench.ErrParams, anchor)
	case output < 1 || output > uint64(len(m.Paid)):
		return nil, &argument.ValueError{Field: "open", Value: fmt.Sprint(output), Accepted: fmt.Sprintf("1 to %d, an output of this payment", len(m.Paid))}
	}
	r, err := receipt.Make(ctx, l, anchor)
	if err != nil {
		return nil, err
	}
	if err := r.Open(ctx, p.params, m.Paid[output-1].Opening); err != nil {
		return nil, err
	}
	data, err := r.Encode()
	if err != nil {
		return nil, err
	}
	if _, err := receipt.Verify(ctx, data, p.params); err != nil {
		return nil, err
	}
	return data, nil
}

package replay

import (
	"context"
	"errors"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Interrupted adds a record that waits for validation, calls stop, and then validates.
func Interrupted(ctx context.Context, stop func(), params *token.PublicParams, genesis ledger.Genesis, r ledger.Record) error {
	v, err := newValidation(ctx, params, genesis, "")
	if err != nil {
		return err
	}
	err = v.Add(ctx, r)
	stop()
	return errors.Join(err, v.Flush(ctx), v.close())
}

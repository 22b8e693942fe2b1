package replay

import (
	"context"
	"errors"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Interrupted has a record wait for its validation, stops ctx, and validates.
func Interrupted(ctx context.Context, stop func(), params *token.PublicParams, r ledger.Record) error {
	v, err := newValidation(params)
	if err != nil {
		return err
	}
	err = v.add(ctx, r)
	stop()
	return errors.Join(err, v.flush(ctx), v.close())
}

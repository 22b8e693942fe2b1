package validator

import (
	"context"
)

// Authorized checks of an encoded request what needs neither a ledger nor a clock, and
// verifies neither proofs nor auditors' signatures, which may be missing: an auditor
// asks it before signing. Encodings, proof types, limits and the parameters' policies
// are right, and issuers and owners have signed; for a script's token the one has whom
// its witness names, at whatever time. Whether the tokens exist is not asked, so
// whoever makes one up signs for it as its owner. The error is Validate's.
func (v *Validator) Authorized(ctx context.Context, raw []byte) error {
	c := &pending{v: v, raw: raw, anyTime: true}
	c.err = c.claims()
	v.signatures(ctx, []*pending{c})
	v.outputs(ctx, []*pending{c})
	return c.err
}

// claims does what of examine needs neither a ledger nor a clock.
func (c *pending) claims() error {
	if err := c.rules(); err != nil {
		return err
	}
	for i := range c.actions {
		if err := c.locks(i); err != nil {
			return err
		}
	}
	c.message = c.request.Message(c.v.digest)
	return nil
}

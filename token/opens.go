package token

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Opens checks that an opening is the token's: that the token's commitment is that of its type, value and blinding. What
// somebody says of a token, in a note or in a message, counts for nothing before. That the token is on a ledger, and who owns it,
// is not looked at. No token and an empty type are an ErrParams. The error is an ErrProof for another token's opening, an ErrMalformed for a blinding that is
// no scalar, and an ErrLimit for a type that is too long.
func Opens(ctx context.Context, ex executor.Executor, pp CryptoParams, t *Token, o Opening) error {
	if t == nil {
		return fmt.Errorf("%w: no token", zkbench.ErrParams)
	}
	commitments, err := pp.Commit(ctx, ex, []Opening{o})
	if err != nil {
		return err
	}
	if !bytes.Equal(commitments[0], t.Commitment) {
		return fmt.Errorf("%w: the opening is another token's", zkbench.ErrProof)
	}
	return nil
}

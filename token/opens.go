package token

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Opens checks that an opening opens a token: the token must commit to the opening's type, value and blinding.
// Call it before you rely on anything that another party says of a token, in an encrypted output or in a
// message. It does not check that the token is on a ledger, or who owns it.
//
// Opens returns ErrProof if the opening is another token's, ErrMalformed if the blinding is not a canonical
// scalar, and ErrLimit if the type is too long. It returns ErrParams if t is nil or the type is empty.
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

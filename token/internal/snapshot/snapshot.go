// Package snapshot copies public parameters, so that a participant's copy does not change when the caller
// changes the original.
package snapshot

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Params returns a copy of the given parameters, and the id of the ledger with the given genesis. The copy
// shares no memory with the original. Params returns the error of PublicParams.Encode, or ErrParams if the
// genesis belongs to other parameters.
func Params(shared *token.PublicParams, genesis ledger.Genesis) (p *token.PublicParams, id token.LedgerID, err error) {
	encoded, err := shared.Encode()
	if err != nil {
		return nil, id, err
	}
	if p, err = token.DecodePublicParams(encoded); err != nil {
		return nil, id, err
	}
	digest, err := p.Digest()
	if err == nil {
		err = genesis.CheckParams(digest)
	}
	if err != nil {
		return nil, id, err
	}
	first, err := p.Policy.Digest()
	if err == nil && first != genesis.Policy {
		err = fmt.Errorf("%w: ledger %x begins with another policy", zkbench.ErrParams, genesis.ID())
	}
	return p, genesis.ID(), err
}

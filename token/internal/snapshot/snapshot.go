// Package snapshot makes what a participant keeps of public parameters that somebody else holds too.
package snapshot

import (
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Params returns parameters that share nothing with these, and the id of the ledger on which they are used. The
// error is that of Encode, or an ErrParams for the genesis of other parameters.
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
	return p, genesis.ID(), err
}

// Package snapshot makes what a participant keeps of public parameters that somebody else holds too.
package snapshot

import (
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// Params returns parameters that share nothing with these, and their digest. The error is
// that of Encode.
func Params(shared *token.PublicParams) (p *token.PublicParams, digest [transcript.StateLen]byte, err error) {
	encoded, err := shared.Encode()
	if err == nil {
		p, err = token.DecodePublicParams(encoded)
	}
	if err == nil {
		digest, err = p.Digest()
	}
	return p, digest, err
}

package ledger

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// Genesis is entry 0 of a ledger's log, with which it was created: public parameters, and what tells the
// ledger from every other one under the same parameters.
type Genesis struct {
	Params [transcript.StateLen]byte // the parameters' digest
	Nonce  [32]byte                  // random
}

// NewGenesis draws that of a new ledger under parameters, whose error of Encode it returns.
func NewGenesis(params *token.PublicParams) (Genesis, error) {
	digest, err := params.Digest()
	g := Genesis{Params: digest}
	_, _ = rand.Read(g.Nonce[:]) // which never fails
	return g, err
}

// ID names the ledger: SHA-256 of "zkbench/v2/ledger id", parameters' digest and nonce.
func (g Genesis) ID() token.LedgerID {
	return sha256.Sum256(g.Append([]byte("zkbench/v2/ledger id")))
}

// Append appends the encoding: params(64) nonce(32).
func (g Genesis) Append(dst []byte) []byte { return append(append(dst, g.Params[:]...), g.Nonce[:]...) }

// GenesisLen is the length of the encoding in bytes.
const GenesisLen = transcript.StateLen + 32

// DecodeGenesis decodes what Append made. The error is a *zkbench.DecodeError.
func DecodeGenesis(data []byte) (g Genesis, err error) {
	if len(data) != GenesisLen {
		return g, &zkbench.DecodeError{Path: "genesis", Reason: fmt.Sprintf("%d bytes, accepted are %d", len(data), GenesisLen)}
	}
	copy(g.Params[:], data)
	copy(g.Nonce[:], data[len(g.Params):])
	return g, nil
}

// Of refuses parameters that are not those of the ledger, as an ErrParams.
func (g Genesis) Of(params [transcript.StateLen]byte) error {
	if g.Params != params {
		return fmt.Errorf("%w: the ledger %x is of other parameters", zkbench.ErrParams, g.ID())
	}
	return nil
}

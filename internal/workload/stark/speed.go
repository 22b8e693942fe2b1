package stark

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
)

// SpeedProof returns the function prove, which is for measuring the speed of this module's STARK. The function
// makes a proof for the Keccak-256 of a 13,600-byte message on one thread, with parameters for 100 bits of
// proven security. The result cells is the number of cells in the traces of this proof.
func SpeedProof() (prove func(context.Context) error, cells float64, err error) {
	const bytes = 13_600
	params, err := sets["secure100"](stark.KoalaBear)
	if err != nil {
		return nil, 0, err
	}
	s, err := keccak.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: params}, stark.Exposed)
	if err != nil {
		return nil, 0, err
	}
	messages := [][]byte{make([]byte, bytes)}
	return func(ctx context.Context) error {
		_, err := s.Prove(ctx, executor.Serial(), messages, nil, stark.Options{})
		return err
	}, float64(s.Cells(hash.Blocks(bytes))), nil
}

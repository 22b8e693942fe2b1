package circuits

import (
	"fmt"
	"math/rand/v2"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/transcript"
)

// corpus returns the stream from which the assignment of a sequence number is drawn.
func corpus(seed, seq uint64) *rand.ChaCha8 {
	xof := transcript.XOF("zkbench/v1/corpus/circuits", fmt.Appendf(nil, "%d %d", seed, seq))
	var key [32]byte
	_, _ = xof.Read(key[:]) // which never fails
	return rand.NewChaCha8(key)
}

func element(r *rand.ChaCha8) (e fr.Element) {
	var wide [48]byte
	_, _ = r.Read(wide[:]) // which never fails
	e.SetBytes(wide[:])
	return e
}

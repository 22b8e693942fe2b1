package group

import (
	"crypto/sha3"
)

// Weights is a stream of independent uniform scalars that merge verification equations into one.
// Choose the source of the stream only after every proof in the merge is fixed.
type Weights[S, P any] struct {
	g   Group[S, P]
	xof *sha3.SHAKE
	buf [WideLen]byte
}

// NewWeights returns a stream of weights read from xof.
func NewWeights[S, P any](g Group[S, P], xof *sha3.SHAKE) *Weights[S, P] {
	return &Weights[S, P]{g: g, xof: xof}
}

// Next returns the next weight.
func (w *Weights[S, P]) Next() S {
	_, _ = w.xof.Read(w.buf[:]) // a XOF never fails to read
	return w.g.ScalarFromWide(w.buf[:])
}

// RandomScalars fills dst with uniform scalars, each from WideLen bytes of xof. Provers draw their
// nonces with this function.
func RandomScalars[S, P any](g Group[S, P], dst []S, xof *sha3.SHAKE) {
	w := Weights[S, P]{g: g, xof: xof}
	for i := range dst {
		dst[i] = w.Next()
	}
}

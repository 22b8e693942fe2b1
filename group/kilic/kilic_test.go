package kilic_test

import (
	"bytes"
	"fmt"
	"testing"

	gnark "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/zkbench/zkbench/group/kilic"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// The rest of what a group promises is tested in package group.
func TestHashesLikeGnark(t *testing.T) {
	g := kilic.BLS12381()
	for n := range 40 {
		msg := bytes.Repeat([]byte{byte(n)}, n*n)
		dst := fmt.Sprintf("zkbench/v1/test/%0*d", n, n)
		want := must.Get(gnark.HashToG1(msg, []byte(dst)))(t)
		got := must.Get(g.HashToPoint(dst, msg))(t)
		wantBytes := want.Bytes()
		golden.Equal(t, fmt.Sprintf("n=%d: hash, and gnark-crypto's", n), wantBytes[:], g.AppendPoints(nil, got))
	}
}

//go:build !race

package action_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
)

// TestAllocations holds proving and verifying a 2-in/2-out transfer to 200
// allocations each, under the serial executor (the short form, on one curve).
func TestAllocations(t *testing.T) {
	for _, curve := range []string{"BN254", "BLS12_381_BBS_GURVY"}[:testsize.Pick(1, 2, 2)] {
		for _, proofType := range token.ProofTypes() {
			pp := must.Get(token.NewCryptoParams(token.Config{Curve: curve, Bits: 32, ProofType: proofType}, token.Tuning{}))(t)
			s := must.Get(action.NewSender(ctx, serial, pp, owned(t, pp, "allocations", 10, 20)))(t)
			d := must.Get(s.Transfer(ctx, action.Spec{Outputs: []action.Output{{Value: 5}, {Value: 25}}, Anchor: "anchor"}))(t)
			var raw []byte
			prove := testing.AllocsPerRun(5, func() {
				raw = must.Get(d.Prove(ctx))(t)
			})
			verify := testing.AllocsPerRun(5, func() {
				must.Do(t, receive(pp, token.Transfer, raw, "anchor"))
			})
			if prove > 200 || verify > 200 {
				t.Errorf("curve=%s proof=%s: %v allocations to prove, %v to verify, at most 200 wanted", curve, proofType, prove, verify)
			}
		}
	}
}

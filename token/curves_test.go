package token_test

import (
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// TestCurveNames: the study's names and those of papers are accepted, in capitals or not, and give one curve's
// name and digest.
func TestCurveNames(t *testing.T) {
	t.Parallel()
	small := token.Tuning{Table: group.TableOptions{Window: 2, Spacing: 64}}
	others := map[string]string{"BLS12-381": "BLS12_381_BBS_GURVY", "FP256BN": "FP256BN_AMCL"}
	for _, name := range token.Curves() {
		others[name] = name
		golden.Contains(t, token.AcceptedCurves(token.Curves()...), name)
	}
	for other, name := range others {
		want := must.Get(token.NewCryptoParams(token.Config{Curve: name, Bits: 2}, small))(t)
		for _, typed := range []string{other, strings.ToLower(other)} {
			golden.Equal(t, typed, name, token.Curve(typed))
			pp := must.Get(token.NewCryptoParams(token.Config{Curve: typed, Bits: 2}, small))(t)
			golden.Equal(t, typed+": configuration", want.Config(), pp.Config())
			golden.Equal(t, typed+": digest", want.Digest(), pp.Digest())
			golden.Equal(t, typed+": of pseudonyms", must.Get(identity.NewScheme(name))(t).Digest(), must.Get(identity.NewScheme(typed))(t).Digest())
		}
		golden.Contains(t, token.AcceptedCurves(token.Curves()...), other)
	}
	golden.Equal(t, "curve of parameters", "FP256BN_AMCL", must.Get(token.NewPublicParams("fp256bn", 2, token.CSP))(t).Curve)
	for _, none := range []string{"", "BLS12", "BN 254", "BLS12_381"} {
		must.FailGet(token.NewCryptoParams(token.Config{Curve: none, Bits: 2}, small))(t, zkbench.ErrParams, "curve %q", none)
		must.FailGet(identity.NewScheme(none))(t, zkbench.ErrParams, "curve %q", none)
	}
	golden.Equal(t, "accepted of two", "BN254, BLS12_381_BBS_GURVY (or BLS12-381)", token.AcceptedCurves("BN254", "BLS12_381_BBS_GURVY"))
}

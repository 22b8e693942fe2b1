package token_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

func publicParams(t testing.TB, proofTypes ...string) *token.PublicParams {
	t.Helper()
	return must.Get(token.NewPublicParams("BN254", 8, proofTypes...))(t)
}

func encode(t testing.TB, p *token.PublicParams) []byte {
	t.Helper()
	return must.Get(p.Encode())(t)
}

// arbitraryParams draws parameters that check accepts; their digests are those of
// no generators.
func arbitraryParams(t *rapid.T) *token.PublicParams {
	p := &token.PublicParams{
		Curve: rapid.SampledFrom(token.Curves()).Draw(t, "curve"), Bits: rapid.IntRange(1, 64).Draw(t, "bits"),
		Policy: *arbitraryPolicy(t),
	}
	p.Policy.Version = 0
	for _, name := range []string{token.Bulletproof, token.BulletproofAgg, token.CSP} {
		if len(p.RangeProofs) == 0 || rapid.Bool().Draw(t, name) {
			s := token.RangeProof{ProofType: name, Stop: rapid.IntRange(0, 1<<16-1).Draw(t, "stop")}
			copy(s.Digest[:], rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "digest"))
			p.RangeProofs = append(p.RangeProofs, s)
		}
	}
	return p
}

// TestPublicParamsEncoding: one encoding per value, and what is decoded is what
// was encoded; every byte counts for the digest.
func TestPublicParamsEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := arbitraryParams(t)
		data := must.Get(p.Encode())(t)
		got := must.Get(token.DecodePublicParams(data))(t)
		golden.Equal(t, "parameters", p, got)
		digest := must.Get(p.Digest())(t)
		i := rapid.IntRange(0, len(data)-1).Draw(t, "byte")
		flipped := bytes.Clone(data)
		flipped[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		other, err := token.DecodePublicParams(flipped)
		if err != nil {
			return
		}
		golden.Equal(t, "what was decoded, encoded again", flipped, must.Get(other.Encode())(t))
		if d, err := other.Digest(); err != nil || d == digest {
			t.Errorf("byte %d is not in the digest", i)
		}
	})
}

func TestPublicParamsTruncated(t *testing.T) {
	p := publicParams(t, token.CSP)
	p.Policy.Issuers = ledgertest.Issuers([]byte{1}, []byte{2, 3})
	data := encode(t, p)
	for n := range data {
		must.FailGet(token.DecodePublicParams(data[:n]))(t, zkbench.ErrMalformed, "%d of %d bytes", n, len(data))
	}
	_, err := token.DecodePublicParams(append(data, 0))
	if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Offset != len(data) {
		t.Errorf("trailing byte: %v", err)
	}
	data[1] = 1
	if _, err := token.DecodePublicParams(data); err == nil || !strings.Contains(err.Error(), "version 1, only 2 is known") {
		t.Errorf("version 1: %v", err)
	}
}

func TestPublicParamsRefused(t *testing.T) {
	for name, edit := range map[string]func(p *token.PublicParams){
		"curve":                                func(p *token.PublicParams) { p.Curve = "BN255" },
		"bits":                                 func(p *token.PublicParams) { p.Bits = 65 },
		"range-proof systems":                  func(p *token.PublicParams) { p.RangeProofs = nil },
		"range-proof systems[1]":               func(p *token.PublicParams) { p.RangeProofs = append(p.RangeProofs, p.RangeProofs[0]) },
		"range-proof systems[0]":               func(p *token.PublicParams) { p.RangeProofs[0].ProofType = "stark" },
		"policy version":                       func(p *token.PublicParams) { p.Policy.Version = 1 },
		"redeem policy issuer without issuers": func(p *token.PublicParams) { p.Policy.Redeem = token.RedeemIssuer },
	} {
		t.Run(name, func(t *testing.T) {
			p := publicParams(t, token.Bulletproof)
			edit(p)
			for what, err := range map[string]error{"encode": func() error { _, err := p.Encode(); return err }(), "validate": func() error { _, err := p.Validate(t.Context()); return err }()} {
				if !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: %v, want an ErrParams about %s", what, err, name)
				}
			}
		})
	}
	must.FailGet(token.NewPublicParams("BN254", 8))(t, zkbench.ErrParams, "no proof type")
	must.FailGet(token.NewPublicParams("BN254", 8, token.CSP, token.CSP))(t, zkbench.ErrParams, "one proof type twice")
}

// TestValidateDerivesEveryGenerator: parameters are those of their generators, and
// of none others.
func TestValidateDerivesEveryGenerator(t *testing.T) {
	p := publicParams(t, token.CSP, token.Bulletproof, token.BulletproofAgg)
	golden.Equal(t, "generators", []int{2*8 + 4, 2*8*token.DefaultAggregation + 4, 22}, must.Get(p.Validate(t.Context()))(t))
	for i := range p.RangeProofs {
		p.RangeProofs[i].Digest[63] ^= 1
		if _, err := p.Validate(t.Context()); !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), "digest of "+p.RangeProofs[i].ProofType) {
			t.Errorf("%s: %v", p.RangeProofs[i].ProofType, err)
		}
		must.FailGet(p.Crypto(p.RangeProofs[i].ProofType, token.Tuning{}))(t, zkbench.ErrParams, "%s used", p.RangeProofs[i].ProofType)
		p.RangeProofs[i].Digest[63] ^= 1
	}
	p.Bits = 9
	must.FailGet(p.Validate(t.Context()))(t, zkbench.ErrParams, "digests of another bit length")
	p.Bits = 8
	ctx, cancel := context.WithCancelCause(t.Context())
	planted := errors.New("planted")
	cancel(planted)
	must.FailGet(p.Validate(ctx))(t, planted, "cancelled")
}

func TestCryptoOfPublicParams(t *testing.T) {
	p := publicParams(t, token.CSP, token.BulletproofAgg)
	direct := must.Get(token.NewCryptoParams(token.Config{Curve: "BN254", Bits: 8, ProofType: token.BulletproofAgg}, token.Tuning{}))(t)
	pp, err := p.Crypto(token.BulletproofAgg, token.Tuning{Table: group.TableOptions{Window: 2, Spacing: 64}})
	if err != nil || pp.Digest() != direct.Digest() || pp.Config() != direct.Config() || pp.TableBytes() >= direct.TableBytes() {
		t.Errorf("%v, %+v", err, pp)
	}
	if _, err := p.Crypto(token.Bulletproof, token.Tuning{}); !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), "bulletproof-agg, csp") {
		t.Errorf("a system that is not allowed: %v", err)
	}
}

func FuzzDecodePublicParams(f *testing.F) {
	p := publicParams(f, token.CSP, token.Bulletproof)
	p.Policy.Issuers, p.Policy.Auditors = ledgertest.Issuers([]byte{1, 2}), ledgertest.Auditors(f, []byte{3}, []byte{4})
	f.Add(encode(f, p))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := token.DecodePublicParams(data)
		if err != nil {
			if !errors.Is(err, zkbench.ErrMalformed) && !errors.Is(err, zkbench.ErrParams) {
				t.Errorf("untyped error %v", err)
			}
			return
		}
		golden.Equal(t, "the same parameters, encoded again", data, must.Get(p.Encode())(t))
	})
}

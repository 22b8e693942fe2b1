package token

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestOpens changes each part of an opening, and of the token.
func TestOpens(t *testing.T) {
	t.Parallel()
	ctx, ex := context.Background(), executor.Serial()
	pp := must.Get(NewCryptoParams(Config{Curve: "BN254", Bits: 8, ProofType: CSP}, Tuning{}))(t)
	o := Opening{Type: "USD", Value: 1, Blinding: slices.Repeat([]byte{1}, 32)}
	one := &Token{Commitment: must.Get(pp.Commit(ctx, ex, []Opening{o}))(t)[0]}
	must.Do(t, Opens(ctx, ex, pp, one, o))
	for name, c := range map[string]struct {
		edit func(*Token, *Opening)
		want error
	}{
		"value":           {func(_ *Token, o *Opening) { o.Value = 1_000_000 }, zkbench.ErrProof},
		"type":            {func(_ *Token, o *Opening) { o.Type = "EUR" }, zkbench.ErrProof},
		"blinding":        {func(_ *Token, o *Opening) { o.Blinding[31]++ }, zkbench.ErrProof},
		"commitment":      {func(t *Token, _ *Opening) { t.Commitment[5]++ }, zkbench.ErrProof},
		"no commitment":   {func(t *Token, _ *Opening) { t.Commitment = nil }, zkbench.ErrProof},
		"no blinding":     {func(_ *Token, o *Opening) { o.Blinding = nil }, zkbench.ErrMalformed},
		"no scalar":       {func(_ *Token, o *Opening) { o.Blinding = slices.Repeat([]byte{0xff}, 32) }, zkbench.ErrMalformed},
		"a type too long": {func(_ *Token, o *Opening) { o.Type = string(make([]byte, MaxType+1)) }, zkbench.ErrLimit},
	} {
		other, opening := &Token{Commitment: slices.Clone(one.Commitment)}, o
		opening.Blinding = slices.Clone(o.Blinding)
		c.edit(other, &opening)
		must.Fail(t, Opens(ctx, ex, pp, other, opening), c.want, "%s", name)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := Opens(cancelled, ex, pp, one, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestNothingIsVerified: nil would say that a claim holds.
func TestNothingIsVerified(t *testing.T) {
	t.Parallel()
	pp := must.Get(NewCryptoParams(Config{Curve: "BN254", Bits: 8, ProofType: Bulletproof}, Tuning{}))(t)
	must.Fail(t, proofs(pp).Verify(context.Background(), executor.Serial()), zkbench.ErrParams, "no claims")
	must.Fail(t, proofs(pp).Verify(context.Background(), executor.Serial(), nil), zkbench.ErrParams, "a claim that is nil")
}

// TestOpeningIsNotPrinted: no verb shows an opening's value, type or blinding.
func TestOpeningIsNotPrinted(t *testing.T) {
	t.Parallel()
	o := Opening{Type: "USD", Value: 1234567, Blinding: []byte("blinding")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%d", "%s", "%q"} {
		for _, text := range []string{fmt.Sprintf(verb, o), fmt.Sprintf(verb, &o), fmt.Sprintf(verb, []Opening{o})} {
			for _, secret := range []string{"USD", "1234567", "12d687", "blinding", fmt.Sprintf("%x", "blinding")} {
				if strings.Contains(text, secret) {
					t.Errorf("%s prints %s: %s", verb, secret, text)
				}
			}
		}
	}
}

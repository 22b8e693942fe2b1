package token_test

import (
	"bytes"
	"crypto/hpke"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// arbitraryPolicy draws a policy that is accepted.
func arbitraryPolicy(t *rapid.T) *token.Policy {
	identities := func(name string) [][]byte {
		ids := rapid.SliceOfNDistinct(rapid.SliceOfN(rapid.Byte(), 1, 80), 0, 4, func(id []byte) string { return string(id) }).Draw(t, name)
		slices.SortFunc(ids, bytes.Compare)
		if len(ids) == 0 {
			return nil
		}
		return ids
	}
	p := &token.Policy{
		Version: rapid.Uint64Range(0, 1<<63-1).Draw(t, "version"), Validators: identities("validators"),
		Owners: token.OwnerKinds(rapid.IntRange(1, 7).Draw(t, "plain owners") | rapid.IntRange(0, 3).Draw(t, "scripts")<<3),
		Limits: token.Limits{
			Inputs: rapid.IntRange(1, token.MaxTokens).Draw(t, "inputs"), Outputs: rapid.IntRange(1, token.MaxTokens).Draw(t, "outputs"),
			Metadata: rapid.IntRange(0, token.MaxMetadata).Draw(t, "metadata"),
		},
		Redeem: token.RedeemOwner, Notes: rapid.SampledFrom(token.KEMs()).Draw(t, "notes"),
		Administrators: token.Administrators{Identities: identities("administrators")},
	}
	if n := len(p.Administrators.Identities); n > 0 {
		p.Administrators.Threshold = rapid.IntRange(1, n).Draw(t, "threshold")
	}
	if ids := identities("auditors"); ids != nil {
		p.Auditors = ledgertest.Auditors(t, ids...)
	}
	for _, id := range identities("issuers") {
		i := token.Issuer{Identity: id}
		if len(p.Auditors) > 0 {
			types := rapid.SliceOfNDistinct(rapid.StringN(0, 10, token.MaxType), 0, 3, rapid.ID[string]).Draw(t, "types")
			if slices.Sort(types); len(types) > 0 {
				i.Types = types
			}
		}
		p.Issuers = append(p.Issuers, i)
	}
	if len(p.Issuers) > 0 && rapid.Bool().Draw(t, "redeemed by issuers") {
		p.Redeem = token.RedeemIssuer
	}
	return p
}

// TestPolicyEncoding: one encoding per policy, and what is decoded is what was encoded; every byte counts for
// the digest, and of a prefix nothing is decoded.
func TestPolicyEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := arbitraryPolicy(t)
		data := must.Get(p.Encode())(t)
		golden.Equal(t, "policy", p, must.Get(token.DecodePolicy(data))(t))
		golden.Equal(t, "clone", p, p.Clone())
		digest := must.Get(p.Digest())(t)
		i := rapid.IntRange(0, len(data)-1).Draw(t, "byte")
		must.FailGet(token.DecodePolicy(data[:i]))(t, zkbench.ErrMalformed, "%d of %d bytes", i, len(data))
		must.FailGet(token.DecodePolicy(append(data, 0)))(t, zkbench.ErrMalformed, "a byte too many")
		flipped := bytes.Clone(data)
		flipped[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		other, err := token.DecodePolicy(flipped)
		if err != nil {
			return
		}
		golden.Equal(t, "what was decoded, encoded again", flipped, must.Get(other.Encode())(t))
		if d, err := other.Digest(); err != nil || d == digest {
			t.Errorf("byte %d is not in the digest", i)
		}
	})
}

// TestPolicyRefused: the error names the field, in an encoding too.
func TestPolicyRefused(t *testing.T) {
	for name, edit := range map[string]func(p *token.Policy){
		"policy version":                     func(p *token.Policy) { p.Version = 1 << 63 },
		"limit of inputs":                    func(p *token.Policy) { p.Limits.Inputs = 0 },
		"limit of outputs":                   func(p *token.Policy) { p.Limits.Outputs = token.MaxTokens + 1 },
		"limit of metadata":                  func(p *token.Policy) { p.Limits.Metadata = -1 },
		"redeem policy":                      func(p *token.Policy) { p.Redeem = 0 },
		"issuer without issuers":             func(p *token.Policy) { p.Issuers, p.Redeem = nil, token.RedeemIssuer },
		"issuers[1]":                         func(p *token.Policy) { p.Issuers = ledgertest.Issuers([]byte{2}, []byte{1}) },
		"issuers ":                           func(p *token.Policy) { p.Issuers = make([]token.Issuer, token.MaxIdentities+1) },
		"issuers[0].types [\"EUR\"] without": func(p *token.Policy) { p.Issuers[0].Types, p.Auditors = []string{"EUR"}, nil },
		"issuers[0].types[1]":                func(p *token.Policy) { p.Issuers[0].Types = []string{"USD", "EUR"} },
		"issuers[0].types[0]":                func(p *token.Policy) { p.Issuers[0].Types = []string{strings.Repeat("a", token.MaxType+1)} },
		"issuers[0].types 257":               func(p *token.Policy) { p.Issuers[0].Types = make([]string, token.MaxTypes+1) },
		"auditors[0] of 0 bytes":             func(p *token.Policy) { p.Auditors[0].Identity = nil },
		"auditors[1] out of order":           func(p *token.Policy) { p.Auditors = slices.Repeat(p.Auditors, 2) },
		"auditors[0]: ":                      func(p *token.Policy) { p.Auditors[0].KEM = 0x0010 },
		"auditors[0]: invalid parameters: key of X25519 of 31 bytes": func(p *token.Policy) { p.Auditors[0].Key = p.Auditors[0].Key[1:] },
		"auditors[0]: invalid parameters: key of MLKEM768-X25519":    func(p *token.Policy) { p.Auditors[0].KEM = token.MLKEM768X25519 },
		"validators[0] of 4097 bytes":                                func(p *token.Policy) { p.Validators = [][]byte{make([]byte, token.MaxOwner+1)} },
		"owner kinds \"\"":                                           func(p *token.Policy) { p.Owners = 0 },
		"owner kinds \"hashlock\"":                                   func(p *token.Policy) { p.Owners = token.OwnerHashLock },
		"owner kinds 0xff":                                           func(p *token.Policy) { p.Owners = 0xff },
		"notes: ":                                                    func(p *token.Policy) { p.Notes = 0 },
		"administrators[1] out of order": func(p *token.Policy) {
			p.Administrators = token.Administrators{Identities: [][]byte{{1}, {1}}, Threshold: 2}
		},
		"threshold of administrators 0, accepted: 1 to 2": func(p *token.Policy) { p.Administrators = token.Administrators{Identities: [][]byte{{1}, {2}}} },
		"threshold of administrators 3, accepted: 1 to 2": func(p *token.Policy) {
			p.Administrators = token.Administrators{Identities: [][]byte{{1}, {2}}, Threshold: 3}
		},
		"threshold of administrators 1, accepted: 0 to 0": func(p *token.Policy) { p.Administrators.Threshold = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			p := token.DefaultPolicy()
			p.Issuers, p.Auditors = ledgertest.Issuers([]byte{1}), ledgertest.Auditors(t, []byte{2})
			must.Get(p.Encode())(t)
			edit(&p)
			for what, err := range map[string]error{
				"encode": func() error { _, err := p.Encode(); return err }(),
				"digest": func() error { _, err := p.Digest(); return err }(),
			} {
				if !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: %v, want an ErrParams about %s", what, err, name)
				}
			}
		})
	}
}

// TestPolicyFormat: the encoding of a later version is refused by its number.
func TestPolicyFormat(t *testing.T) {
	p := token.DefaultPolicy()
	data := must.Get(p.Encode())(t)
	data[0]++
	_, err := token.DecodePolicy(data)
	if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != "policy.format" || d.Reason != "format 2, only 1 is known" {
		t.Errorf("%v", err)
	}
}

// TestKEMs: what is sealed to a key that CheckKey accepts is opened with the other half.
func TestKEMs(t *testing.T) {
	for _, kem := range token.KEMs() {
		key := must.Get(must.Get(kem.HPKE())(t).GenerateKey())(t)
		must.Do(t, kem.CheckKey(key.PublicKey().Bytes()))
		sealed := must.Get(hpke.Seal(key.PublicKey(), hpke.HKDFSHA256(), hpke.AES256GCM(), nil, []byte("opening")))(t)
		opened := must.Get(hpke.Open(key, hpke.HKDFSHA256(), hpke.AES256GCM(), nil, sealed))(t)
		golden.Equal(t, kem.String(), []byte("opening"), opened)
		small := bytes.Clone(key.PublicKey().Bytes())
		clear(small[len(small)-32:])
		if err := kem.CheckKey(small); !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), "of small order") {
			t.Errorf("%v with a point of small order: %v", kem, err)
		}
	}
}

func TestOwnerKinds(t *testing.T) {
	golden.Equal(t, "all", token.AllOwners, must.Get(token.ParseOwners(token.OwnerNames()...))(t))
	golden.Equal(t, "two", "ed25519, hashlock", must.Get(token.ParseOwners("hashlock", "ed25519"))(t).String())
	must.FailGet(token.ParseOwners("hashlock", "nobody"))(t, zkbench.ErrParams, "an unknown kind")
}

func FuzzDecodePolicy(f *testing.F) {
	p := token.DefaultPolicy()
	p.Version, p.Issuers, p.Auditors = 3, ledgertest.Issuers([]byte{1, 2}), ledgertest.Auditors(f, []byte{3}, []byte{4})
	p.Issuers[0].Types = []string{"EUR", "USD"}
	p.Validators, p.Administrators = [][]byte{{5}}, token.Administrators{Identities: [][]byte{{6}, {7}}, Threshold: 2}
	f.Add(must.Get(p.Encode())(f))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := token.DecodePolicy(data)
		if err != nil {
			if !errors.Is(err, zkbench.ErrMalformed) && !errors.Is(err, zkbench.ErrParams) {
				t.Errorf("untyped error %v", err)
			}
			return
		}
		golden.Equal(t, "the same policy, encoded again", data, must.Get(p.Encode())(t))
	})
}

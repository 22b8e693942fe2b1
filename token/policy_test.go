package token_test

import (
	"bytes"
	"crypto/hpke"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
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
		Version: rapid.Uint64Range(0, 1<<63-1).Draw(t, "version"),
		Owners:  token.OwnerKinds(rapid.IntRange(1, 7).Draw(t, "plain owners") | rapid.IntRange(0, 3).Draw(t, "scripts")<<3),
		Limits: token.Limits{
			Inputs: rapid.IntRange(1, token.MaxTokens).Draw(t, "inputs"), Outputs: rapid.IntRange(1, token.MaxTokens).Draw(t, "outputs"),
			Metadata: rapid.IntRange(0, token.MaxMetadata).Draw(t, "metadata"),
			Ahead:    time.Duration(rapid.IntRange(1, int(token.MaxAhead/time.Second)).Draw(t, "ahead")) * time.Second,
		},
		Redeem: token.RedeemOwner, Notes: rapid.SampledFrom(token.KEMs()).Draw(t, "notes"),
		Administrators: token.Administrators{Identities: identities("administrators")},
	}
	for _, head := range rapid.SliceOfNDistinct(rapid.SliceOfN(rapid.Byte(), 32, 32), 0, 4, func(key []byte) string { return string(key) }).Draw(t, "validators") {
		v := token.Validator{HeadKey: [32]byte(head)}
		if rapid.Bool().Draw(t, "with a consensus key") {
			v.ConsensusKey = rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "consensus key")
		}
		p.Validators = append(p.Validators, v)
	}
	slices.SortFunc(p.Validators, func(a, b token.Validator) int { return bytes.Compare(a.HeadKey[:], b.HeadKey[:]) })
	if n := len(p.Validators); n > 0 {
		p.HeadThreshold = rapid.IntRange(1, n).Draw(t, "head threshold")
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
		clone := p.Clone()
		golden.Equal(t, "clone", p, clone)
		for i, v := range clone.Validators {
			if len(v.ConsensusKey) > 0 && &v.ConsensusKey[0] == &p.Validators[i].ConsensusKey[0] {
				t.Error("a clone shares a consensus key")
			}
		}
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
		"limit of time ahead 0s, accepted: 1s to 24h0m0s, in whole":  func(p *token.Policy) { p.Limits.Ahead = 0 },
		"limit of time ahead -1m0s":                                  func(p *token.Policy) { p.Limits.Ahead = -time.Minute },
		"limit of time ahead 24h0m1s":                                func(p *token.Policy) { p.Limits.Ahead = token.MaxAhead + time.Second },
		"limit of time ahead 1.5s":                                   func(p *token.Policy) { p.Limits.Ahead = 1500 * time.Millisecond },
		"validators 81, accepted: up to 80":                          func(p *token.Policy) { p.Validators = make([]token.Validator, token.MaxValidators+1) },
		"validators[1].head key out of order":                        func(p *token.Policy) { setValidators(p, 1, 2, 1) },
		"validators[1].head key out of order, accepted: each":        func(p *token.Policy) { setValidators(p, 1, 1, 1) },
		"validators[1].consensus key of 31 bytes, accepted: 0 or 32": func(p *token.Policy) { setValidators(p, 1, 1, 2); p.Validators[1].ConsensusKey = make([]byte, 31) },
		"validators[0].consensus key of 1 bytes":                     func(p *token.Policy) { setValidators(p, 1, 1); p.Validators[0].ConsensusKey = []byte{1} },
		"threshold of validators 0, accepted: 1 to 2":                func(p *token.Policy) { setValidators(p, 0, 1, 2) },
		"threshold of validators 3, accepted: 1 to 2":                func(p *token.Policy) { setValidators(p, 3, 1, 2) },
		"threshold of validators 1, accepted: 0 to 0":                func(p *token.Policy) { setValidators(p, 1) },
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

// setValidators gives a policy validators with these bytes in their head keys, so many of whom sign a head.
func setValidators(p *token.Policy, threshold int, heads ...byte) {
	p.Validators, p.HeadThreshold = nil, threshold
	for _, head := range heads {
		p.Validators = append(p.Validators, token.Validator{HeadKey: [32]byte{head}})
	}
}

// TestPolicyDecodeRefused: fields that no policy encodes are refused when they come, too.
func TestPolicyDecodeRefused(t *testing.T) {
	p := token.DefaultPolicy()
	setValidators(&p, 1, 1, 2)
	p.Validators[0].ConsensusKey = bytes.Repeat([]byte{3}, 32)
	good := must.Get(p.Encode())(t)
	from := len(good) - 2*2 - 2 - 2*33 - 32 // where the first validator starts
	for name, edit := range map[string]func(data []byte) []byte{
		"limit of time ahead 0s":                 func(data []byte) []byte { data[from-5] = 0; return data },
		"policy.ahead":                           func(data []byte) []byte { data[from-8] = 0x80; return data },
		"limit of time ahead 191073h51m56s":      func(data []byte) []byte { data[from-8] = 0x29; return data },
		"validators[1].head key out of order":    func(data []byte) []byte { data[from+65] = 0; return data },
		"validators[0].consensus key of 31":      func(data []byte) []byte { data[from+32] = 31; return append(data[:from+33], data[from+34:]...) },
		"threshold of validators 3":              func(data []byte) []byte { data[len(data)-5] = 3; return data },
		"threshold of validators 0":              func(data []byte) []byte { data[len(data)-5] = 0; return data },
		"policy.validators[1].head key at byte ": func(data []byte) []byte { return data[:from+70] },
		"policy.validators at byte":              func(data []byte) []byte { data[from-1] = token.MaxValidators + 1; return data },
	} {
		_, err := token.DecodePolicy(edit(bytes.Clone(good)))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want an error about %s", err, name)
		}
	}
}

// TestPolicyFormat: the encoding of another version is refused by its number.
func TestPolicyFormat(t *testing.T) {
	p := token.DefaultPolicy()
	data := must.Get(p.Encode())(t)
	for _, format := range []byte{1, 3} {
		data[0] = format
		_, err := token.DecodePolicy(data)
		if d, ok := errors.AsType[*zkbench.DecodeError](err); !ok || d.Path != "policy.format" || d.Reason != fmt.Sprintf("format %d, only 2 is known", format) {
			t.Errorf("%v", err)
		}
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
	setValidators(&p, 2, 5, 8)
	p.Validators[1].ConsensusKey = bytes.Repeat([]byte{9}, 32)
	p.Administrators = token.Administrators{Identities: [][]byte{{6}, {7}}, Threshold: 2}
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

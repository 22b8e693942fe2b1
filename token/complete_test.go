package token

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/exectest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
)

func TestCurves(t *testing.T) {
	const want = "BN254 BLS12_381_BBS_GURVY BLS12_381_BBS_GURVY_FAST_RNG BLS12_381_BBS FP256BN_AMCL FP256BN_AMCL_MIRACL"
	golden.Equal(t, "curves", want, strings.Join(Curves(), " "))
}

// TestEveryCurve proves, verifies, batch-verifies and rejects a tampered
// transfer on every curve that users can name, with every proof type (in the short
// form with one, the types in turn, and fewer bytes tampered with).
func TestEveryCurve(t *testing.T) {
	for i, curve := range Curves() {
		types := ProofTypes()
		first := i % len(types)
		for _, proofType := range testsize.Pick(types[first:first+1], types, types) {
			t.Run(fmt.Sprintf("curve=%s/proof=%s", curve, proofType), func(t *testing.T) {
				t.Parallel()
				pp := newTestParams(t, Config{Curve: curve, Bits: 8, ProofType: proofType})
				var claims []Claim
				for i := range 3 {
					e := newExample(t, pp, fmt.Sprint("every curve ", i), []uint64{200, 55}, []uint64{uint64(i), 255 - uint64(i)})
					proof := e.prove(t, pp)
					claim := must.Get(proofs(pp).Decode(&e.st, Field{Bytes: proof}))(t)
					claims = append(claims, claim)
				}
				verify := func(claims ...Claim) error {
					return proofs(pp).Verify(context.Background(), executor.Serial(), claims...)
				}
				must.Do(t, verify(claims[0]), "single")
				must.Do(t, verify(claims...), "batch")
				for i := 0; i < 8; i += testsize.Pick(7, 1, 1) { // a byte of the proof, here and there
					e := newExample(t, pp, "every curve 0", []uint64{200, 55}, []uint64{0, 255})
					proof := e.prove(t, pp)
					proof[i*(len(proof)-1)/7] ^= 1
					mustReject(t, fmt.Sprintf("flipped byte %d of 7", i), check(pp, &e.st, proof))
				}
				claims[1] = claims[1].WithAnchor([]byte("another"))
				must.Fail(t, verify(claims[1]), zkbench.ErrProof, "tampered, single")
				err := verify(claims...)
				if c, ok := errors.AsType[*zkbench.CheckError](err); !ok || c.Action != 1 || !errors.Is(err, zkbench.ErrProof) {
					t.Errorf("tampered, batch: %v", err)
				}
			})
		}
	}
}

func TestCompleteness(t *testing.T) {
	configs := []Config{
		{Bits: 1, ProofType: CSP},
		{Bits: 16, ProofType: Bulletproof},
		{Bits: 16, ProofType: CSP},
		{Bits: 64, ProofType: Bulletproof},
		{Bits: 13, ProofType: BulletproofAgg, Aggregation: 3},
	}
	for _, cfg := range configs {
		pp := newBN(t, cfg)
		t.Run(fmt.Sprintf("bits=%d/proof=%s", cfg.Bits, cfg.ProofType), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				limit := uint64(1)<<(cfg.Bits-1) - 1 + uint64(1)<<(cfg.Bits-1)
				total := rapid.Uint64Range(0, limit).Draw(r, "total")
				split := func(label string) []uint64 {
					n := rapid.IntRange(1, 4).Draw(r, label)
					parts, left := make([]uint64, n), total
					for i := range n - 1 {
						parts[i] = rapid.Uint64Range(0, left).Draw(r, label)
						left -= parts[i]
					}
					parts[n-1] = left
					return parts
				}
				inputs, outputs := split("inputs"), split("outputs")
				if rapid.Bool().Draw(r, "issue") {
					inputs = nil
				}
				e := newExample(t, pp, fmt.Sprint(inputs, outputs), inputs, outputs)
				must.Do(r, check(pp, &e.st, e.prove(t, pp)))
			})
		})
	}
}

// TestSameBytes: with a fixed seed the executor, the table's shape and the
// constant-time path change no byte.
func TestSameBytes(t *testing.T) {
	for _, proofType := range ProofTypes() {
		var first []byte
		for _, tuning := range []Tuning{
			{Table: cheap}, {Table: group.TableOptions{Window: 8, Spacing: 4}}, {Table: group.TableOptions{Window: 5, Spacing: 1}}, {ConstantTime: true},
		} {
			pp := newTunedParams(t, Config{Curve: "BN254", Bits: testsize.Pick(8, 16, 16), ProofType: proofType}, tuning)
			e := newExample(t, pp, "same bytes", []uint64{70, 30}, []uint64{60, 35, 5})
			exectest.Each(t, func(t *testing.T, ex executor.Executor) {
				proof := must.Get(proofs(pp).Prove(context.Background(), ex, &e.st, &e.w))(t)
				if first == nil {
					first = proof
				}
				if !bytes.Equal(first, proof) {
					t.Errorf("proof=%s table=%v constant-time=%v: other bytes", proofType, tuning.Table, tuning.ConstantTime)
				}
				claim := must.Get(proofs(pp).Decode(&e.st, Field{Bytes: proof}))(t)
				must.Do(t, proofs(pp).Verify(context.Background(), ex, claim, claim, claim))
			})
		}
	}
}

// TestTwoImplementations: the two implementations of BLS12-381 have one digest
// and accept each other's proofs.
func TestTwoImplementations(t *testing.T) {
	for _, proofType := range []string{Bulletproof, CSP} {
		gnark := newTestParams(t, Config{Curve: "BLS12_381_BBS_GURVY", Bits: 8, ProofType: proofType})
		kilic := newTestParams(t, Config{Curve: "BLS12_381_BBS", Bits: 8, ProofType: proofType})
		if gnark.Digest() != kilic.Digest() {
			t.Fatalf("proof=%s: digests differ", proofType)
		}
		e := newExample(t, gnark, "implementations", []uint64{7, 9}, []uint64{15, 1})
		p1, p2 := e.prove(t, gnark), e.prove(t, kilic)
		golden.Equal(t, fmt.Sprintf("proof=%s: proofs", proofType), p2, p1)
		must.Do(t, check(kilic, &e.st, p1), "proof="+proofType)
	}
}

func TestCancel(t *testing.T) {
	pp := newBN(t, Config{Bits: 8})
	e := newExample(t, pp, "cancel", []uint64{1}, []uint64{1, 0})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must.FailGet(proofs(pp).Prove(ctx, executor.Serial(), &e.st, &e.w))(t, context.Canceled, "Prove")
	claim := must.Get(proofs(pp).Decode(&e.st, Field{Bytes: e.prove(t, pp)}))(t)
	must.Fail(t, proofs(pp).Verify(ctx, executor.Pool(), claim), context.Canceled, "Verify")
}

func TestBadConfig(t *testing.T) {
	good := Config{Curve: "BN254", Bits: 32}
	for name, change := range map[string]func(*Config, *Tuning){
		"curve":                       func(c *Config, _ *Tuning) { c.Curve = "P-256" },
		"bits=0":                      func(c *Config, _ *Tuning) { c.Bits = 0 },
		"bits=65":                     func(c *Config, _ *Tuning) { c.Bits = 65 },
		"proof":                       func(c *Config, _ *Tuning) { c.ProofType = "groth16" },
		"aggregation":                 func(c *Config, _ *Tuning) { c.Aggregation = 2 },
		"aggregation=1":               func(c *Config, _ *Tuning) { c.ProofType, c.Aggregation = BulletproofAgg, 1 },
		"aggregation=65":              func(c *Config, _ *Tuning) { c.ProofType, c.Aggregation = BulletproofAgg, MaxTokens+1 },
		"stop=-1":                     func(c *Config, _ *Tuning) { c.Stop = -1 },
		"stop=-1/proof=csp":           func(c *Config, _ *Tuning) { c.ProofType, c.Stop = CSP, -1 },
		"window=1":                    func(_ *Config, t *Tuning) { t.Table.Window = 1 },
		"window=13":                   func(_ *Config, t *Tuning) { t.Table.Window = 13 },
		"spacing=-1":                  func(_ *Config, t *Tuning) { t.Table.Spacing = -1 },
		"spacing=1000000":             func(_ *Config, t *Tuning) { t.Table.Spacing = 1000000 },
		"constant time/curve=FP256BN": func(c *Config, t *Tuning) { c.Curve, t.ConstantTime = "FP256BN_AMCL", true },
		"constant time/curve=kilic":   func(c *Config, t *Tuning) { c.Curve, t.ConstantTime = "BLS12_381_BBS", true },
		"window=1/curve=bls":          func(c *Config, t *Tuning) { c.Curve, t.Table.Window = "BLS12_381_BBS_GURVY", 1 },
	} {
		cfg, tuning := good, Tuning{}
		change(&cfg, &tuning)
		must.FailGet(NewCryptoParams(cfg, tuning))(t, zkbench.ErrParams, "%s", name)
	}
}

// TestDefaults: Config says what was chosen for what is 0, the greatest aggregation is accepted,
// and one curve name draws from a generator of its own.
func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ given, want Config }{
		{Config{}, Config{ProofType: Bulletproof, Stop: bulletproof.DefaultStop}},
		{Config{ProofType: BulletproofAgg}, Config{ProofType: BulletproofAgg, Aggregation: DefaultAggregation, Stop: bulletproof.DefaultStop}},
		{Config{ProofType: BulletproofAgg, Aggregation: 2, Stop: 1}, Config{ProofType: BulletproofAgg, Aggregation: 2, Stop: 1}},
		{Config{ProofType: BulletproofAgg, Aggregation: MaxTokens}, Config{ProofType: BulletproofAgg, Aggregation: MaxTokens, Stop: bulletproof.DefaultStop}},
		{Config{ProofType: CSP}, Config{ProofType: CSP, Stop: csp.DefaultStop}},
	} {
		c.given.Bits, c.want.Bits, c.want.Curve = 1, 1, "BN254"
		if p := newBN(t, c.given); p.Config() != c.want {
			t.Errorf("%+v became %+v, want %+v", c.given, p.Config(), c.want)
		} else if p.Rand() != rand.Reader {
			t.Errorf("%+v draws from %T", c.given, p.Rand())
		}
	}
	if _, ok := newTestParams(t, Config{Curve: fastRNG, Bits: 1}).Rand().(*group.DRBG); !ok {
		t.Errorf("%s draws from another source than its own", fastRNG)
	}
}

package plonkish

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/srs"
)

func TestStatementsHold(t *testing.T) {
	for _, s := range statements(t) {
		t.Run(s.name, func(t *testing.T) {
			if err := s.Check(); err != nil {
				t.Error(err)
			}
			if err := agree(t, s.Verifying(), s.proof, s.public, bound); err != nil {
				t.Error(err)
			}
			var wait sync.WaitGroup
			for range 3 {
				wait.Go(func() { s.accepted(t) })
			}
			wait.Wait()
			if len(s.proof) != s.ProofLen() {
				t.Errorf("%d bytes, %d said", len(s.proof), s.ProofLen())
			}
		})
	}
}

// TestEveryByteCounts: each byte changed in one bit is refused or rejected, and so is what is
// cut off or added.
func TestEveryByteCounts(t *testing.T) {
	for _, s := range statements(t) {
		t.Run(s.name, func(t *testing.T) {
			defer s.accepted(t)
			for i := 0; i < len(s.proof); i += testsize.Pick(7, 1, 1) {
				bad := slices.Clone(s.proof)
				bad[i] ^= 1 << rand.IntN(8)
				if err := s.VerifyInsecure(bad, s.public, bound); !isProofError(err) {
					t.Errorf("byte %d changed: %v", i, err)
				}
			}
			for i := 0; i < len(s.proof); i += testsize.Pick(7, 1, 1) {
				var decode *zkbench.DecodeError
				if err := s.VerifyInsecure(s.proof[:i], s.public, bound); !errors.As(err, &decode) {
					t.Errorf("%d bytes: %v", i, err)
				}
			}
			var decode *zkbench.DecodeError
			if err := s.VerifyInsecure(append(slices.Clone(s.proof), 0), s.public, bound); !errors.As(err, &decode) {
				t.Errorf("a byte added: %v", err)
			}
		})
	}
}

func isProofError(err error) bool {
	var decode *zkbench.DecodeError
	return errors.As(err, &decode) || errors.Is(err, zkbench.ErrProof)
}

// TestEveryElementCounts: each point and value of a proof changed to another one, negated or
// exchanged with its neighbour is rejected by both verifiers.
func TestEveryElementCounts(t *testing.T) {
	_, _, g, _ := bn254.Generators()
	for _, s := range statements(t) {
		t.Run(s.name, func(t *testing.T) {
			defer s.accepted(t)
			count := 0
			for i := 0; ; i += testsize.Pick(8, 1, 1) {
				p := must.Get(s.decode(s.proof))(t)
				var points []*bn254.G1Affine
				var values []*fr.Element
				for _, part := range [][]bn254.G1Affine{p.columns, p.quotient, p.opening[:]} {
					for i := range part {
						points = append(points, &part[i])
					}
				}
				for i := range p.values {
					values = append(values, &p.values[i])
				}
				count = len(points)*3 + len(values)*3
				if i >= count {
					break
				}
				at, how := i/3, i%3
				if at < len(points) {
					x, y := points[at], points[(at+1)%len(points)]
					switch how {
					case 0:
						x.Add(x, &g)
					case 1:
						x.Neg(x)
					default:
						*x, *y = *y, *x
					}
				} else {
					x, y := values[at-len(points)], values[(at-len(points)+1)%len(values)]
					switch how {
					case 0:
						x.Add(x, ptr(element(1)))
					case 1:
						x.Neg(x)
					default:
						*x, *y = *y, *x
					}
				}
				bad := p.encode()
				if slices.Equal(bad, s.proof) {
					continue // a value that is 0, or two that are equal
				}
				if err := agree(t, s.Verifying(), bad, s.public, bound); !errors.Is(err, zkbench.ErrProof) {
					t.Errorf("element %d changed in way %d: %v", at, how, err)
				}
			}
		})
	}
}

// TestEveryStatementIsItsOwn: a proof is of its public values, context, key, circuit and arithmetization.
func TestEveryStatementIsItsOwn(t *testing.T) {
	all := statements(t)
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			defer s.accepted(t)
			k := s.Verifying()
			refused := func(what string, k *VerifyingKey, public []fr.Element, bound []byte) {
				t.Helper()
				if err := agree(t, k, s.proof, public, bound); !isProofError(err) {
					t.Errorf("%s: %v", what, err)
				}
			}
			for i := range s.public {
				other := slices.Clone(s.public)
				other[i].Add(&other[i], ptr(element(1)))
				refused(fmt.Sprintf("public value %d", i), k, other, bound)
			}
			refused("a public value less", k, s.public[1:], bound)
			refused("a public value more", k, append(slices.Clone(s.public), fr.Element{}), bound)
			swapped := slices.Clone(s.public)
			if slices.Reverse(swapped); !slices.Equal(swapped, s.public) {
				refused("public values in another order", k, swapped, bound)
			}
			refused("no context", k, s.public, nil)
			refused("another context", k, s.public, []byte("another payment"))
			for i, other := range all {
				if other.name != s.name && i%testsize.Pick(4, 1, 1) == 0 {
					refused("the key of "+other.name, other.Verifying(), s.public, bound)
				}
			}
			other := must.Get(srs.Insecure(t.Context(), executor.Serial(), s.Size(), 2))(t)
			refused("a key over another string", must.Get(Setup(t.Context(), executor.Serial(), s.Circuit, other))(t).Verifying(), s.public, bound)
		})
	}
}

// TestBatch: what is verified one by one is verified together, and each claim that does not hold is
// named, with what it fails of.
func TestBatch(t *testing.T) {
	var claims []Claim
	var decode *zkbench.DecodeError
	all := statements(t)
	for range 2 {
		for _, s := range all {
			claims = append(claims, Claim{s.Verifying(), s.proof, s.public, bound, true})
		}
	}
	b := NewBuilder(Plonk())
	chain(b, 5, 2)
	c := must.Get(b.Build())(t)
	other := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 2))(t)
	k := must.Get(Setup(t.Context(), executor.Serial(), c, other))(t)
	claims = append(claims, Claim{k.Verifying(), must.Get(k.Prove(t.Context(), executor.Serial(), c, Options{Context: bound}))(t), c.Public(), bound, true})
	for _, ex := range []executor.Executor{executor.Serial(), executor.Pool()} {
		if err := VerifyBatch(t.Context(), ex, claims); err != nil {
			t.Error(err)
		}
	}
	must.Fail(t, VerifyBatch(t.Context(), executor.Serial(), nil), zkbench.ErrParams, "no claims")
	must.Fail(t, VerifyBatch(t.Context(), executor.Serial(), []Claim{{}}), zkbench.ErrParams, "a claim that says nothing")
	for _, none := range []*VerifyingKey{nil, {}} {
		must.Fail(t, none.VerifyInsecure(claims[0].Proof, claims[0].Public, bound), zkbench.ErrParams, "a key that is none")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := VerifyBatch(ctx, executor.Serial(), claims); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}

	// Two proofs whose faults cancel each other: W' of both moved by opposites.
	_, _, g, _ := bn254.Generators()
	moved := func(i int, by bn254.G1Affine) []byte {
		p := must.Get(claims[i].Key.decode(claims[i].Proof))(t)
		p.opening[1].Add(&p.opening[1], &by)
		return p.encode()
	}
	var minus bn254.G1Affine
	minus.Neg(&g)
	for name, bad := range map[string]map[int]func(c *Claim){
		"one":              {3: func(c *Claim) { c.Context = nil }},
		"the last":         {len(claims) - 1: func(c *Claim) { c.Public = swap(c.Public) }},
		"opposites":        {0: func(c *Claim) { c.Proof = moved(0, g) }, len(all): func(c *Claim) { c.Proof = moved(len(all), minus) }},
		"of several kinds": {0: func(c *Claim) { c.Proof = c.Proof[1:] }, 1: func(c *Claim) { c.Public = nil }, 5: func(c *Claim) { c.Context = nil }},
		"another's key":    {0: func(c *Claim) { c.Key = k.Verifying() }},
	} {
		some := slices.Clone(claims)
		for i, change := range bad {
			change(&some[i])
		}
		err := VerifyBatch(t.Context(), executor.Serial(), some)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		named := make(map[int]bool)
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			var claim *ClaimError
			if !errors.As(e, &claim) || !errors.Is(e, zkbench.ErrProof) && !errors.As(e, &decode) {
				t.Errorf("%s: %v", name, e)
				continue
			}
			named[claim.Claim] = true
		}
		for i := range some {
			if _, ok := bad[i]; ok != named[i] {
				t.Errorf("%s: claim %d named: %v", name, i, named[i])
			}
		}
	}
}

func swap(public []fr.Element) []fr.Element {
	public = slices.Clone(public)
	slices.Reverse(public)
	return public
}

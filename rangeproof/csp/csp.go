// Package csp proves by a compressed sigma protocol that the value inside one Pedersen commitment V
// = v·G + r·H is in [0, 2^n), for n from 1 to 64.
//
// The bits of v are the values of a polynomial a at the nodes 1..n. These values are bits if the
// polynomial b = a(a-1) is zero at all nodes. The prover commits to the values of a and b, and the
// verifier picks a random point. Three linear relations are then left to prove: a has the claimed
// value at this point, b has the value that follows from the value of a, and the bits represent v.
// The relations are merged into one linear form of the committed vector.
//
// The compressed sigma protocol of Attema and Cramer proves the value of that form (Compressed
// Σ-Protocol Theory, IACR 2020/152: the pivot and its compression). Here it is adapted to vectors
// of odd length. docs/rangeproofs.md has the derivation, arguments for soundness and zero
// knowledge, and the cost in group operations. The code uses the letters of that page.
//
// If the transcript's hash is modelled as a random oracle and discrete logarithms are hard, a proof
// shows knowledge of v and r. It reveals nothing else (perfect zero knowledge).
//
// The prover is constant-time only if the basis was made with Basis.ConstantTime (SECURITY.md).
// With any other basis, its multi-scalar multiplications use secret digits, including the value's
// bits, as table indices.
package csp

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// vectorFamily and formFamily name the generators that the protocol adds to the commitment key.
const (
	vectorFamily = "csp/G" // of the committed values of a and b
	formFamily   = "csp/K" // carries the value of the linear form while folding
)

// Name is the name with which users select this kind of range proof.
const Name = "csp"

// MaxBits is the largest bit length n of the range [0, 2^n).
const MaxBits = 64

// DefaultStop is the early-stop length that applies if Config.Stop is 0. At 32 the last vector has
// 17 scalars for n = 32 and n = 64. Each further round would cost the prover a fixed-base sum over
// all 2n+3 generators, and the verifier two points. docs/rangeproofs.md has a table of this
// trade-off.
const DefaultStop = 32

// Config holds the parameters of a Protocol.
type Config struct {
	// Bits is the bit length n, 1 to MaxBits.
	Bits int
	// Stop ends the folding as soon as the vector has at most Stop entries, which are then sent as
	// they are. It must be at least 1, or 0 for DefaultStop. With 2n+3 or more, nothing is folded.
	Stop int
}

// Families returns the generators that a basis needs for the given bit length. The basis also needs
// the commitment key: the families rangeproof.ValueFamily and rangeproof.BlindingFamily, with one
// generator each. A basis may have more generators of a family than are needed, so the basis of the
// largest bit length serves all bit lengths.
func Families(bits int) []group.Family {
	return []group.Family{{Name: vectorFamily, Count: 2*bits + 2}, {Name: formFamily, Count: 1}}
}

// Protocol is the range proof with fixed bit length and early stop. It is immutable and safe for
// concurrent use.
type Protocol[S, P any] struct {
	basis *group.Basis[S, P]
	bits  int
	stop  int

	values *interpolation[S, P]
	// size is the number N = 2n+3 of entries of the vector that is opened: n+1
	// values of a, n+1 of b, and the value in the linked commitment.
	size int
	// lens holds the vector's length before each round of folding and, last,
	// the length that is sent.
	lens []int

	// Positions in the basis: G, H, the 2n+2 vector generators, K.
	posG, posH, posVec, posK int
}

var _ rangeproof.Protocol[int, int] = (*Protocol[int, int])(nil)

// New returns the protocol over a basis that includes the commitment key and Families(cfg.Bits). It
// returns ErrParams if a generator is missing or a parameter is out of range.
func New[S, P any](b *group.Basis[S, P], cfg Config) (*Protocol[S, P], error) {
	if err := checkBits(cfg.Bits); err != nil {
		return nil, err
	}
	if cfg.Stop < 0 {
		return nil, fmt.Errorf("%w: csp: early-stop length %d, want at least 1, or 0 for the default", zkbench.ErrParams, cfg.Stop)
	}
	if cfg.Stop == 0 {
		cfg.Stop = DefaultStop
	}
	have := make(map[string]int)
	for _, f := range b.Families() {
		have[f.Name] = f.Count
	}
	for _, f := range append(rangeproof.KeyFamilies(), Families(cfg.Bits)...) {
		if have[f.Name] < f.Count {
			return nil, fmt.Errorf("%w: csp: basis has %d generators %q, %d bits need %d",
				zkbench.ErrParams, have[f.Name], f.Name, cfg.Bits, f.Count)
		}
	}
	size := 2*cfg.Bits + 3
	return &Protocol[S, P]{
		basis:  b,
		bits:   cfg.Bits,
		stop:   cfg.Stop,
		values: newInterpolation(b.Group, cfg.Bits),
		size:   size,
		lens:   foldedLengths(size, cfg.Stop),
		posG:   b.Offset(rangeproof.ValueFamily),
		posH:   b.Offset(rangeproof.BlindingFamily),
		posVec: b.Offset(vectorFamily),
		posK:   b.Offset(formFamily),
	}, nil
}

func checkBits(bits int) error {
	if bits < 1 || bits > MaxBits {
		return fmt.Errorf("%w: csp: bit length %d, want 1 to %d", zkbench.ErrParams, bits, MaxBits)
	}
	return nil
}

// NewSystem returns a stand-alone range proof over g for one value below 2^bits, with the default
// early stop. It returns ErrParams if bits is not from 1 to MaxBits.
func NewSystem[S, P any](g group.Group[S, P], bits int) (rangeproof.System, error) {
	if err := checkBits(bits); err != nil {
		return nil, err
	}
	b, err := group.NewBasis(g, append(rangeproof.KeyFamilies(), Families(bits)...), group.TableOptions{})
	if err != nil {
		return nil, err
	}
	p, err := New(b, Config{Bits: bits})
	if err != nil {
		return nil, err
	}
	return rangeproof.NewSystem(b, p), nil
}

// Name returns "csp".
func (p *Protocol[S, P]) Name() string { return Name }

// Bits returns the bit length n.
func (p *Protocol[S, P]) Bits() int { return p.bits }

// Stop returns the early-stop length.
func (p *Protocol[S, P]) Stop() int { return p.stop }

// MaxCommitments returns 1, since each commitment has its own proof.
func (p *Protocol[S, P]) MaxCommitments() int { return 1 }

// Shape returns the shape of a proof for one commitment, whatever its argument. The points are P, M
// and, for each round, A_k and B_k. The scalars are ax, mu, phi and the folded vector.
func (p *Protocol[S, P]) Shape(int) rangeproof.Shape {
	return rangeproof.Shape{Points: headPoints + 2*p.rounds(), Scalars: headScalars + p.lens[p.rounds()]}
}

// AppendParams absorbs the name, the bit length and the early-stop length.
func (p *Protocol[S, P]) AppendParams(t *transcript.Transcript) {
	t.Append("range proof", []byte(p.Name()))
	t.AppendUint64("bits", uint64(p.bits))
	t.AppendUint64("stop", uint64(p.stop))
}

func (p *Protocol[S, P]) rounds() int { return len(p.lens) - 1 }

// These are the positions of a proof's points and scalars, in the order of their encoding.
const (
	pointP     = 0 // commitment to the values of a and b
	pointM     = 1 // commitment to the mask vector
	headPoints = 2 // then A, B of round 0, of round 1, ...

	scalarAx    = 0 // a(x)
	scalarMu    = 1 // L(m)
	scalarPhi   = 2 // response on H
	headScalars = 3 // then the folded vector
)

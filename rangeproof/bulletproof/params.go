package bulletproof

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// FamilyG, FamilyH and FamilyU name the generators of the vector commitments. The commitment
// key adds rangeproof.ValueFamily (g) and rangeproof.BlindingFamily (h).
const (
	FamilyG = "bulletproof/G"
	FamilyH = "bulletproof/H"
	FamilyU = "bulletproof/U"
)

// NameSingle and NameAggregate are the two proof types: one commitment per proof, or many.
const (
	NameSingle    = "bulletproof"
	NameAggregate = "bulletproof-agg"
)

const (
	// DefaultStop is the length at which the inner-product recursion ends if Config.Stop is 0.
	// Stopping at 4 instead of 1 costs 64 bytes at n = 64. It saves the verifier four points and
	// the prover two rounds: 4N of 14N fixed-base multiplications, for vectors of length N.
	// Stopping at 8 would cost 192 bytes more and save one round.
	DefaultStop = 4

	// MaxBits is the largest bit length n of the range [0, 2^n), since values are of type uint64.
	MaxBits = 64
	// MaxAggregate is the largest Config.MaxCommitments that New accepts. It bounds memory; the
	// protocol itself has no bound.
	MaxAggregate = 256
)

// Config holds the parameters of a Protocol.
type Config struct {
	Bits           int // n, 1 to MaxBits
	MaxCommitments int // 1: one value per proof; up to MaxAggregate: aggregated
	Stop           int // maximum length of the final vectors, at least 1; 0: DefaultStop
}

// complete returns c with its defaults filled in, or ErrParams if a parameter is out of range.
func (c Config) complete() (Config, error) {
	if c.Bits < 1 || c.Bits > MaxBits {
		return c, fmt.Errorf("%w: bulletproof: bit length %d, want 1 to %d", zkbench.ErrParams, c.Bits, MaxBits)
	}
	if c.MaxCommitments < 1 || c.MaxCommitments > MaxAggregate {
		return c, fmt.Errorf("%w: bulletproof: %d commitments per proof, want 1 to %d",
			zkbench.ErrParams, c.MaxCommitments, MaxAggregate)
	}
	if c.Stop < 0 {
		return c, fmt.Errorf("%w: bulletproof: early-stop length %d, want at least 1, or 0 for the default",
			zkbench.ErrParams, c.Stop)
	}
	if c.Stop == 0 {
		c.Stop = DefaultStop
	}
	return c, nil
}

// dims holds the lengths of a proof for m commitments.
type dims struct {
	m      int // commitments
	nm     int // n·m bits that carry weight
	N      int // vector length, last·2^rounds >= nm
	rounds int // k
	last   int // length of the final vectors, at most Stop
}

// dims computes N = 2^k·ceil(nm/2^k) for the smallest k with ceil(nm/2^k) <= Stop. N does not
// decrease with m. For a fixed k this is clear. Before k grows, N is at most 2^k·Stop, and k only
// grows because nm exceeds this.
func (c Config) dims(m int) dims {
	d := dims{m: m, nm: c.Bits * m}
	d.last = d.nm
	for d.last > c.Stop {
		d.rounds++
		// ceil(ceil(x/2^i)/2) = ceil(x/2^(i+1)), so halving in steps is exact.
		d.last = (d.last + 1) / 2
	}
	d.N = d.last << d.rounds
	return d
}

func (d dims) shape() rangeproof.Shape {
	return rangeproof.Shape{Points: 4 + 2*d.rounds, Scalars: 3 + 2*d.last}
}

// Families returns the generators that a basis needs for these parameters. The caller puts the two
// generators of the commitment key before them. For parameters that New refuses, the families have
// no generators, and group.NewBasis returns ErrParams for them.
func Families(bits, maxCommitments, stop int) []group.Family {
	var n, u int
	if c, err := (Config{Bits: bits, MaxCommitments: maxCommitments, Stop: stop}).complete(); err == nil {
		n, u = c.dims(maxCommitments).N, 1
	}
	return []group.Family{{Name: FamilyG, Count: n}, {Name: FamilyH, Count: n}, {Name: FamilyU, Count: u}}
}

// Protocol is a range-proof system with fixed parameters over one basis. It implements
// rangeproof.Protocol, is immutable and safe for concurrent use.
type Protocol[S, P any] struct {
	cfg   Config
	basis *group.Basis[S, P]
	g     group.Group[S, P]

	// Positions in the basis; end is one past the last of them.
	posG, posH, posU, posValue, posBlinding, end int

	ones    []S // 1, N of them for the largest m
	twos    []S // 2^i for i < n
	twosSum S   // 2^n - 1
	minusH  []P // minusH[i] = -(H_0 + .. + H_(i-1))
}

var _ rangeproof.Protocol[int, int] = (*Protocol[int, int])(nil)

// New returns the protocol with parameters cfg over b. The basis must include the families of the
// commitment key and the families that the function Families returns. It may have further
// families, and a family may have more generators than are needed. New returns ErrParams if a
// generator is missing or a parameter is out of range.
func New[S, P any](b *group.Basis[S, P], cfg Config) (*Protocol[S, P], error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	d := cfg.dims(cfg.MaxCommitments)
	p := &Protocol[S, P]{cfg: cfg, basis: b, g: b.Group}
	have := make(map[string]int)
	for _, f := range b.Families() {
		have[f.Name] = f.Count
	}
	for _, f := range []struct {
		name  string
		count int
		pos   *int
	}{
		{rangeproof.ValueFamily, 1, &p.posValue},
		{rangeproof.BlindingFamily, 1, &p.posBlinding},
		{FamilyG, d.N, &p.posG},
		{FamilyH, d.N, &p.posH},
		{FamilyU, 1, &p.posU},
	} {
		if have[f.name] < f.count {
			return nil, fmt.Errorf("%w: bulletproof: basis has %d generators %s, want %d",
				zkbench.ErrParams, have[f.name], f.name, f.count)
		}
		*f.pos = b.Offset(f.name)
		p.end = max(p.end, *f.pos+f.count)
	}

	g := p.g
	two := g.ScalarFromUint64(2)
	p.twos = make([]S, cfg.Bits)
	g.Powers(p.twos, &two)
	p.ones = make([]S, d.N)
	fill(p.ones, g.ScalarFromUint64(1))
	p.twosSum = g.InnerProduct(p.ones[:cfg.Bits], p.twos)
	p.minusH = make([]P, d.N+1)
	for i := range d.N {
		g.SubPoints(&p.minusH[i+1], &p.minusH[i], &b.Points[p.posH+i])
	}
	return p, nil
}

// NewSystem returns a stand-alone range proof over g for values below 2^bits, with the default
// early stop. One proof covers up to the given number of values. NewSystem returns ErrParams if a
// parameter is out of range.
func NewSystem[S, P any](g group.Group[S, P], bits, values int) (rangeproof.System, error) {
	cfg, err := Config{Bits: bits, MaxCommitments: values}.complete()
	if err != nil {
		return nil, err
	}
	b, err := group.NewBasis(g, append(rangeproof.KeyFamilies(), Families(bits, values, cfg.Stop)...), group.TableOptions{})
	if err != nil {
		return nil, err
	}
	p, err := New(b, cfg)
	if err != nil {
		return nil, err
	}
	return rangeproof.NewSystem(b, p), nil
}

// Name returns NameSingle, or NameAggregate if a proof may cover several commitments.
func (p *Protocol[S, P]) Name() string {
	if p.cfg.MaxCommitments == 1 {
		return NameSingle
	}
	return NameAggregate
}

// Bits returns the bit length n.
func (p *Protocol[S, P]) Bits() int { return p.cfg.Bits }

// MaxCommitments returns the maximum number of commitments in one proof.
func (p *Protocol[S, P]) MaxCommitments() int { return p.cfg.MaxCommitments }

// Shape returns the shape of a proof for m commitments, or a zero Shape if m is not accepted. The
// points are A, S, T1, T2, L_1, R_1, .., L_k, R_k. The scalars are taux, mu, tHat, then the final
// vectors a and b.
func (p *Protocol[S, P]) Shape(m int) rangeproof.Shape {
	if p.checkCount(m) != nil {
		return rangeproof.Shape{}
	}
	return p.cfg.dims(m).shape()
}

// AppendParams absorbs the name, the bit length, the maximum number of commitments and the
// early-stop length.
func (p *Protocol[S, P]) AppendParams(t *transcript.Transcript) {
	t.Append("range-proof", []byte(p.Name()))
	t.AppendUint64("bits", uint64(p.cfg.Bits))
	t.AppendUint64("max-commitments", uint64(p.cfg.MaxCommitments))
	t.AppendUint64("stop", uint64(p.cfg.Stop))
}

func (p *Protocol[S, P]) checkCount(m int) error {
	if m < 1 || m > p.cfg.MaxCommitments {
		return fmt.Errorf("%w: %s: %d commitments, want 1 to %d", zkbench.ErrParams, p.Name(), m, p.cfg.MaxCommitments)
	}
	return nil
}

// rangeWeights sets w_(j·n+i) = z^(2+j)·2^i, and 0 in the padding.
func (p *Protocol[S, P]) rangeWeights(w, zPow []S) {
	n := p.cfg.Bits
	for j := range zPow {
		p.g.ScaleVec(w[j*n:(j+1)*n], p.twos, &zPow[j])
	}
	clear(w[len(zPow)*n:])
}

func fill[S any](dst []S, v S) {
	for i := range dst {
		dst[i] = v
	}
}

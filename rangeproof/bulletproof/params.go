package bulletproof

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// The generators of the vector commitments, besides rangeproof.ValueFamily (g)
// and rangeproof.BlindingFamily (h).
const (
	FamilyG = "bulletproof/G"
	FamilyH = "bulletproof/H"
	FamilyU = "bulletproof/U"
)

// The two proof types of this package: one commitment per proof, or many.
const (
	NameSingle    = "bulletproof"
	NameAggregate = "bulletproof-agg"
)

const (
	// DefaultStop is the length at which the inner-product recursion ends where
	// Config.Stop is 0. Stopping at 4 instead of 1 costs 64 bytes at
	// n = 64 and saves the prover two rounds, 4N of 14N fixed-base
	// multiplications, and the verifier four points; stopping at 8 would cost
	// 192 bytes more to save one round.
	DefaultStop = 4

	// MaxBits is the largest bit length: values are uint64.
	MaxBits = 64
	// MaxAggregate is the largest MaxCommitments that New accepts: a bound on
	// memory, not on the protocol.
	MaxAggregate = 256
)

// Config are the parameters of a Protocol.
type Config struct {
	Bits           int // n, 1 to MaxBits
	MaxCommitments int // 1: one value a proof; up to MaxAggregate: aggregated
	Stop           int // longest final vectors, at least 1; 0: DefaultStop
}

// complete returns c with its defaults filled in, or an ErrParams.
func (c Config) complete() (Config, error) {
	if c.Bits < 1 || c.Bits > MaxBits {
		return c, fmt.Errorf("%w: bulletproof: bit length %d, want 1 to %d", zkbench.ErrParams, c.Bits, MaxBits)
	}
	if c.MaxCommitments < 1 || c.MaxCommitments > MaxAggregate {
		return c, fmt.Errorf("%w: bulletproof: %d commitments a proof, want 1 to %d",
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

// dims are the lengths of a proof for m commitments.
type dims struct {
	m      int // commitments
	nm     int // n·m bits that carry weight
	N      int // vector length, last·2^rounds >= nm
	rounds int // k
	last   int // length of the final vectors, at most Stop
}

// dims computes N = 2^k·ceil(nm/2^k) for the least k with ceil(nm/2^k) <= Stop.
// N does not decrease with m: while k is the same that is plain, and before k
// grows N is at most 2^k·Stop, which is what made it grow.
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

// Families returns the generators that a basis needs for these parameters,
// besides the two of the commitment key, which the caller puts first. For
// parameters that New refuses the counts are zero, which group.NewBasis refuses
// with ErrParams.
func Families(bits, maxCommitments, stop int) []group.Family {
	var n, u int
	if c, err := (Config{Bits: bits, MaxCommitments: maxCommitments, Stop: stop}).complete(); err == nil {
		n, u = c.dims(maxCommitments).N, 1
	}
	return []group.Family{{Name: FamilyG, Count: n}, {Name: FamilyH, Count: n}, {Name: FamilyU, Count: u}}
}

// Protocol is a range-proof system with fixed parameters over one basis. It
// implements rangeproof.Protocol, is immutable and safe for concurrent use.
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

// New returns the protocol with parameters cfg over b, whose families include
// those of Families and of the commitment key; more and longer ones do no harm.
// Anything else is an ErrParams.
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

// NewSystem returns the range proof over g by itself, for values below 2^bits,
// up to values of them in one proof, with the default early stop. Parameters
// out of range are an ErrParams.
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

// Name is NameSingle, or NameAggregate where a proof may cover several
// commitments.
func (p *Protocol[S, P]) Name() string {
	if p.cfg.MaxCommitments == 1 {
		return NameSingle
	}
	return NameAggregate
}

// Bits is the bit length n.
func (p *Protocol[S, P]) Bits() int { return p.cfg.Bits }

// MaxCommitments is the largest number of commitments of one proof.
func (p *Protocol[S, P]) MaxCommitments() int { return p.cfg.MaxCommitments }

// Shape is that of a proof for m commitments, zero for an m that is not
// accepted. Points: A, S, T1, T2, L_1, R_1, .., L_k, R_k. Scalars: taux, mu,
// tHat, then the final vectors a and b.
func (p *Protocol[S, P]) Shape(m int) rangeproof.Shape {
	if p.checkCount(m) != nil {
		return rangeproof.Shape{}
	}
	return p.cfg.dims(m).shape()
}

// AppendParams absorbs name, bit length, largest number of commitments and
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

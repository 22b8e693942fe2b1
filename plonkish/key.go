package plonkish

import (
	"context"
	"crypto/sha512"
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/poly"
	"github.com/zkbench/zkbench/srs"
)

// VerifyingKey checks proofs of a circuit, whatever its witness. It is safe for concurrent use.
type VerifyingKey struct {
	*layout
	public int
	fixed  []bn254.G1Affine // commitments of the layout's fixed columns
	one    bn254.G1Affine
	g2     [2]bn254.G2Affine // 1 and τ
	lines  [2][2][len(bn254.LoopCounter)]bn254.LineEvaluationAff
	digest [sha512.Size]byte

	insecure bool
}

// ProvingKey makes proofs of a circuit with any witness. It keeps the reference string, which
// must stay open, and is safe for concurrent use.
type ProvingKey struct {
	*VerifyingKey
	circuit      [32]byte // digest
	srs          *srs.SRS
	form         *poly.Form
	domain, part *poly.Domain // of all rows, and of a part of a coset (quotient)
	kernel       *kernel
	coefficients map[variable]poly.Vector // of the layout's fixed columns, perhaps in a file
	unmap        func() error
}

// Close gives the memory of a Cache's file back; the key is not used after it.
func (k *ProvingKey) Close() error {
	if k.unmap == nil {
		return nil
	}
	unmap := k.unmap
	*k = ProvingKey{}
	return unmap()
}

// Verifying is the part for verifiers.
func (k *ProvingKey) Verifying() *VerifyingKey { return k.VerifyingKey }

// Insecure tells whether proofs can be made of anything: of keys over a reference string whose
// secret everybody knows.
func (k *VerifyingKey) Insecure() bool { return k.insecure }

// Setup makes the keys of a circuit over a reference string of its size. Errors are
// zkbench.ErrParams for a string of another size, a zkbench.LimitError with the largest number of
// rows that it has where it is too small, or the context's cause.
func Setup(ctx context.Context, ex executor.Executor, c *Circuit, s *srs.SRS) (*ProvingKey, error) {
	vk, err := SetupVerifying(ctx, ex, c, s)
	if err != nil {
		return nil, err
	}
	k, err := vk.proving(c, s)
	if err != nil {
		return nil, err
	}
	labels := c.labels()
	for _, v := range k.fixedColumns() {
		k.coefficients[v] = k.form.New(k.n)
		if err := k.interpolate(ctx, ex, k.coefficients[v], c.fixedColumn(v, labels)); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// SetupVerifying is Setup for who only verifies.
func SetupVerifying(ctx context.Context, ex executor.Executor, c *Circuit, s *srs.SRS) (*VerifyingKey, error) {
	k, err := newVerifyingKey(c, s)
	if err != nil {
		return nil, err
	}
	labels := c.labels()
	for _, v := range k.fixedColumns() {
		commitment, err := group.BN254().MSM(ctx, ex, s.Lagrange.Pk.G1, c.fixedColumn(v, labels))
		if err != nil {
			return nil, err
		}
		k.fixed = append(k.fixed, commitment)
	}
	k.digest = sha512.Sum512(k.Bytes())
	return k, nil
}

// newVerifyingKey has no fixed columns yet.
func newVerifyingKey(c *Circuit, s *srs.SRS) (*VerifyingKey, error) {
	if s.Size() < c.n {
		return nil, &zkbench.LimitError{What: "rows of a circuit over this reference string", Estimate: int64(c.Rows()), Max: int64(s.Size() - blinded)}
	}
	if s.Size() > c.n {
		return nil, fmt.Errorf("%w: reference string of size %d; accepted is the circuit's, %d", zkbench.ErrParams, s.Size(), c.n)
	}
	vk := s.Canonical.Vk
	return &VerifyingKey{layout: newLayout(c.system, c.n, c.uses()), public: c.public, one: vk.G1, g2: vk.G2, lines: vk.Lines, insecure: s.Insecure()}, nil
}

// proving has no coefficients yet.
func (k *VerifyingKey) proving(c *Circuit, s *srs.SRS) (*ProvingKey, error) {
	form := poly.Fastest()
	domain, err := form.NewDomain(k.n)
	if err != nil {
		return nil, err
	}
	part, err := form.NewDomain(k.partSize())
	if err != nil {
		return nil, err
	}
	return &ProvingKey{
		VerifyingKey: k, circuit: c.digest, srs: s, form: form, domain: domain, part: part, kernel: newKernel(k.identity),
		coefficients: make(map[variable]poly.Vector),
	}, nil
}

// fixedColumns are those of committed that the circuit decides, in their order.
func (l *layout) fixedColumns() []variable {
	return slices.DeleteFunc(slices.Clone(l.committed), func(v variable) bool { return !v.kind.fixed() })
}

// interpolate sets dst to the coefficients of the polynomial of values in rows.
func (k *ProvingKey) interpolate(ctx context.Context, ex executor.Executor, dst poly.Vector, values []fr.Element) error {
	one := fr.One()
	dst.Set(values)
	dst.BitReverse()
	return k.domain.InverseNTT(ctx, ex, dst, poly.BitReversed, &one)
}

package plonkish

import (
	"context"
	"crypto/sha512"
	"errors"
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/arith/poly"
	"github.com/zkbench/zkbench/internal/sys/mapped"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/srs"
)

// VerifyingKey verifies proofs of one circuit, for any witness. It is safe for concurrent use.
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

// ProvingKey makes proofs of one circuit, for any witness. It uses the reference string, which must stay
// open. It is safe for concurrent use.
type ProvingKey struct {
	*VerifyingKey
	structure    *Circuit // the circuit without its witness
	srs          *srs.SRS
	form         *poly.Form
	part         *poly.Domain // of a part of a coset (quotient)
	passes       []*pass
	columns      map[variable][]fr.Element // that the circuit decides, by the parts of the domain; of many rows none
	expanded     map[variable][]poly.Vector
	leadingFixed map[variable]fr.Element // of expanded columns, the coefficient of X^(n-1)
	unmap        []func() error
}

// Close frees the memory that Expand has taken. Do not use the key after Close.
func (k *ProvingKey) Close() error {
	if len(k.unmap) == 0 {
		return nil
	}
	var errs []error
	for _, unmap := range k.unmap {
		errs = append(errs, unmap())
	}
	*k = ProvingKey{}
	return errors.Join(errs...)
}

// ExpandedLen returns the memory in bytes that Expand takes.
func (k *ProvingKey) ExpandedLen() int64 {
	return int64(len(k.fixedColumns())) * int64(k.pieces) * int64(k.form.Bytes(k.n))
}

// Expand computes the values of the circuit's fixed columns at all points where proofs evaluate the
// polynomial identity of the constraints, and keeps these values. This saves each proof at least half of its
// transforms. Do not call Expand concurrently with other methods. It returns a *zkbench.LimitError if there
// is too little memory, and the context's cause if ctx ends.
func (k *ProvingKey) Expand(ctx context.Context, ex executor.Executor) error {
	if k.expanded != nil {
		return nil
	}
	if err := memory.Fits("memory of an expanded key", uint64(k.ExpandedLen())); err != nil {
		return err
	}
	data, free := mapped.Memory(int(k.ExpandedLen()))
	expanded, tops := make(map[variable][]poly.Vector), make(map[variable]fr.Element)
	labels, all, one := k.structure.labels(), make([]fr.Element, k.n), fr.One()
	powers, turner := k.form.New(k.part.Size()), k.newTurner()
	expand := func(v variable) error {
		if err := turner.makeFixed(ctx, ex, all, v, labels); err != nil {
			return err
		}
		tops[v] = k.leadingOfRows(all)
		for c := range k.pieces {
			if err := turner.turn(ctx, ex, all, c, c+1); err != nil {
				return err
			}
			for i := range k.partCount() {
				dst, shift := k.form.FromMemory(data, k.part.Size()), k.shift(c+1, i)
				data = data[k.form.Bytes(k.part.Size()):]
				if err := powers.SetPowersOn(ctx, ex, &one, &shift); err != nil {
					return err
				}
				if err := k.evaluateOnPart(ctx, ex, dst, k.inPart(all, i), powers); err != nil {
					return err
				}
				expanded[v] = append(expanded[v], dst)
			}
		}
		return nil
	}
	for _, v := range k.fixedColumns() {
		if err := expand(v); err != nil {
			free()
			return err
		}
	}
	k.expanded, k.leadingFixed, k.unmap = expanded, tops, append(k.unmap, func() error { free(); return nil })
	return nil
}

// Verifying returns the verifying key.
func (k *ProvingKey) Verifying() *VerifyingKey { return k.VerifyingKey }

// Insecure reports whether somebody may know the secret of the key's reference string. Anyone who knows this
// secret can prove anything. Verify refuses such a key.
func (k *VerifyingKey) Insecure() bool { return k.insecure }

// Setup makes the keys of a circuit over a reference string of the circuit's size. Setup returns
// zkbench.ErrParams if the string is larger. If the string or the memory is too small, Setup returns a
// *zkbench.LimitError with the largest possible number of rows. It returns the context's cause if ctx ends.
func Setup(ctx context.Context, ex executor.Executor, c *Circuit, s *srs.SRS) (*ProvingKey, error) {
	return setupIn(ctx, ex, c, s, memory.Available())
}

// setupIn does what Setup does, in have bytes of memory; 0 means that the memory is not known.
func setupIn(ctx context.Context, ex executor.Executor, c *Circuit, s *srs.SRS, have uint64) (*ProvingKey, error) {
	vk, err := newVerifyingKey(c, s)
	if err != nil {
		return nil, err
	}
	k, err := vk.proving(c, s)
	if err != nil {
		return nil, err
	}
	if err := c.checkMemory(k.setupBytes, have); err != nil {
		return nil, err
	}
	if err := k.commit(ctx, ex, c, s); err != nil {
		return nil, err
	}
	if err := k.keepColumns(ctx, ex); err != nil {
		return nil, err
	}
	return k, nil
}

// setupBytes returns the memory that making a key takes per row, for a circuit of n rows.
func (k *ProvingKey) setupBytes(n int) int {
	columns := 1 // of values
	if n < manyRows {
		columns += len(k.fixedColumns())
	}
	return columns*fr.Bytes + sumBytes
}

// keepColumns sets the columns, unless there are many rows.
func (k *ProvingKey) keepColumns(ctx context.Context, ex executor.Executor) error {
	if k.n >= manyRows {
		return nil
	}
	k.columns = make(map[variable][]fr.Element)
	turner, labels := k.newTurner(), k.structure.labels()
	for _, v := range k.fixedColumns() {
		k.columns[v] = make([]fr.Element, k.n)
		if err := turner.makeFixed(ctx, ex, k.columns[v], v, labels); err != nil {
			return err
		}
	}
	return nil
}

// SetupVerifying makes the verifying key alone. It returns the same errors as Setup.
func SetupVerifying(ctx context.Context, ex executor.Executor, c *Circuit, s *srs.SRS) (*VerifyingKey, error) {
	k, err := newVerifyingKey(c, s)
	if err != nil {
		return nil, err
	}
	return k, k.commit(ctx, ex, c, s)
}

// commit sets the commitments of the fixed columns and the digest of the key.
func (k *VerifyingKey) commit(ctx context.Context, ex executor.Executor, c *Circuit, s *srs.SRS) error {
	labels, values := c.labels(), make([]fr.Element, k.n)
	sums, free := group.WithScratch(group.BN254())
	defer free()
	for _, v := range k.fixedColumns() {
		if err := c.fixedColumn(ctx, ex, values, v, labels); err != nil {
			return err
		}
		commitment, err := sums.MSM(ctx, ex, s.Lagrange.Pk.G1, values)
		if err != nil {
			return err
		}
		k.fixed = append(k.fixed, commitment)
	}
	k.digest = sha512.Sum512(k.Bytes())
	return nil
}

// newVerifyingKey returns a key that has no fixed columns yet.
func newVerifyingKey(c *Circuit, s *srs.SRS) (*VerifyingKey, error) {
	if c == nil || c.arith == nil || s == nil {
		return nil, fmt.Errorf("%w: no circuit or no reference string, accepted are those of Build and of package srs", zkbench.ErrParams)
	}
	if s.Size() < c.n {
		return nil, &zkbench.LimitError{What: "rows of a circuit over this reference string", Estimate: int64(c.Rows()), Max: int64(s.Size() - blinded)}
	}
	if s.Size() > c.n {
		return nil, fmt.Errorf("%w: reference string of size %d; accepted is the circuit's, %d", zkbench.ErrParams, s.Size(), c.n)
	}
	vk := s.Canonical.Vk
	return &VerifyingKey{layout: newLayout(c.arith, c.n, c.uses()), public: c.public, one: vk.G1, g2: vk.G2, lines: vk.Lines, insecure: s.Insecure()}, nil
}

// proving returns a proving key that may have no commitments yet.
func (k *VerifyingKey) proving(c *Circuit, s *srs.SRS) (*ProvingKey, error) {
	form := poly.Fastest()
	part, err := form.NewDomain(k.partSize())
	if err != nil {
		return nil, err
	}
	key := &ProvingKey{VerifyingKey: k, structure: c.withoutWitness(), srs: s, form: form, part: part}
	key.passes = k.newPasses(key.elementBytes())
	key.setKernels()
	return key, nil
}

// withoutWitness returns what decides the fixed columns and the digest.
func (c *Circuit) withoutWitness() *Circuit {
	return &Circuit{
		arith: c.arith, n: c.n, kinds: c.kinds, rows: c.rows, cells: make([][]Var, len(c.cells)), public: c.public, tables: c.tables,
		sigma: c.sigma, digest: c.digest,
	}
}

// sumBytes is the working memory of a sum of points, per point.
const sumBytes = 280

// elementBytes returns the memory of one element of a vector.
func (k *ProvingKey) elementBytes() int { return k.form.Bytes(8) / 8 }

// proofBytes returns the memory that a proof takes per row. It counts the columns and the quotient, and the larger of
// two: what a pass over the cosets takes, or a sum of points and two lists of elements. It is for a circuit of n
// rows, since larger ones are proved in more passes.
func (k *ProvingKey) proofBytes(n int) int {
	l := *k.layout
	l.n = n
	passes := k.passes
	if n != k.n {
		passes = l.newPasses(k.elementBytes())
	}
	return (len(l.witness())+l.pieces)*fr.Bytes + max(2*fr.Bytes+sumBytes, l.mostBytes(passes, k.elementBytes()))
}

// checkMemory returns a *zkbench.LimitError with the maximum number of rows if the circuit takes more memory than
// have. The function each returns how many bytes per row a circuit of so many rows takes. If have is 0, the memory
// is not known and there is no error.
func (c *Circuit) checkMemory(each func(rows int) int, have uint64) error {
	fits := func(n int) bool { return uint64(each(n))*uint64(n) <= have }
	if have == 0 || fits(c.n) {
		return nil
	}
	most := c.n / 2
	for most > 0 && !fits(most) {
		most /= 2
	}
	return &zkbench.LimitError{What: "rows of a circuit in this memory", Estimate: int64(c.Rows()), Max: int64(max(0, most-blinded))}
}

// fixedColumns returns the committed columns that the circuit decides, in order.
func (l *layout) fixedColumns() []variable {
	return slices.DeleteFunc(slices.Clone(l.committed), func(v variable) bool { return !v.kind.fixed() })
}

package peer

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bnfr "github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/format"
)

// Own is the time of one of this project's operations, together with the time of the reference operation (GLVCases) in
// the same run.
type Own struct {
	Work // Proof may also be bulletproof-agg
	// Batch is the number of operations that were done together; 0 means 1. Ns is per operation in any case. It is
	// compared with a single operation of Panurus, which has no batches.
	Batch int
	Ns    float64
	// GLVNs is the time of the reference operation, one GLV scalar multiplication (GLVCases), on the same curve in
	// the same run, in ns.
	GLVNs float64
}

// Yardstick is a time in multiples of the reference operation, one GLV scalar multiplication on G1 of the curve. This
// unit makes times of different machines comparable.
type Yardstick struct {
	Own
	Units   float64 // Ns / GLVNs
	Panurus *Figure // Panurus' figure for the same work, from Theirs; nil if there is none
	Faster  float64 // Panurus.Units() / Units; 0 if there is no figure
}

// Measure returns the time own.Ns in multiples of the reference operation, together with Panurus' figure for the same
// work. An aggregated proof of ours is compared with a plain proof of Panurus, because Panurus has no aggregated
// proofs. Measure returns ErrParams if a time is not positive or is more than a year.
func Measure(own Own) (Yardstick, error) {
	if !(own.Ns > 0 && own.Ns <= maxNs) {
		return Yardstick{}, fmt.Errorf("%w: %s: time: %v ns, want more than 0", zkbench.ErrParams, own.Workload, own.Ns)
	}
	if !(own.GLVNs > 0 && own.GLVNs <= maxNs) {
		return Yardstick{}, fmt.Errorf("%w: %s: scalar multiplication: %v ns, want more than 0",
			zkbench.ErrParams, own.Workload, own.GLVNs)
	}
	y := Yardstick{Own: own, Units: own.Ns / own.GLVNs}
	work := own.Work
	if work.Proof == "bulletproof-agg" {
		work.Proof = "bulletproof"
	}
	if y.Panurus = Theirs(work); y.Panurus != nil {
		y.Faster = y.Panurus.Units() / y.Units
	}
	return y, nil
}

// WriteYardstick writes a table of our times beside Panurus' figures. All of them are in multiples of a unit: the time
// of the reference operation on the machine on which the figure was measured. WriteYardstick returns ErrParams, with
// the index of the row, if Measure refuses a row.
func WriteYardstick(w io.Writer, rows []Own) error {
	measured := make([]Yardstick, len(rows))
	for i, own := range rows {
		y, err := Measure(own)
		if err != nil {
			return fmt.Errorf("rows[%d]: %w", i, err)
		}
		measured[i] = y
	}
	table := &format.Table{Columns: format.Heads("workload", "curve", "bits", "in/out", "proof", "batch", "ours", "GLV", "units", "Panurus", "units", "faster")}
	for _, y := range measured {
		theirs, units, faster := "none", "", ""
		if y.Panurus != nil {
			theirs = format.PlainTime(y.Panurus.Ns) + y.Panurus.Mark()
			units = fmt.Sprintf("%.0f", y.Panurus.Units())
			faster = fmt.Sprintf("%.2fx", y.Faster)
		}
		table.Add(y.Workload, y.Curve, strconv.Itoa(y.Bits), fmt.Sprintf("%d/%d", y.In, y.Out), y.Proof, strconv.Itoa(max(y.Batch, 1)),
			format.PlainTime(y.Ns), format.PlainTime(y.GLVNs), fmt.Sprintf("%.1f", y.Units), theirs, units, faster)
	}
	var b strings.Builder
	if err := table.Text(&b, "", 0); err != nil {
		return err
	}
	fmt.Fprintln(&b, "One unit is one GLV scalar multiplication of gnark-crypto's G1, measured in this run for ours, and")
	fmt.Fprintln(&b, "for Panurus on the machine where it was measured for this project (November 2026). Faster is Panurus'")
	fmt.Fprintln(&b, "units divided by ours: above 1 ours is faster. "+Reconstructed+" Includes later speed-ups of its compressed-sigma")
	fmt.Fprintln(&b, "proofs (since July 2026), partly reconstructed from pull requests.")
	_, err := io.WriteString(w, b.String())
	return err
}

// GLVCaseName returns the name of the case that measures the reference operation (see GLVCases) on
// a curve.
func GLVCaseName(curve string) string { return glvFamily + curve }

const glvFamily = "ScalarMul/curve="

// GLVCases returns the cases that measure the reference operation, one case for each curve. The operation is one GLV
// scalar multiplication on gnark-crypto's G1 by a scalar of full length, in Jacobian coordinates, repeated as in
// gnark-crypto's own benchmark.
//
// Two choices make the time of the operation short. Our figures are multiples of this time, so a shorter time makes
// them larger. Therefore these choices never make our figures look better. First, the result is not converted to affine
// form. Second, there are so few scalars that the branch predictor learns them; with many scalars the same
// multiplication takes longer (docs/figures.md).
func GLVCases() []Case {
	return []Case{
		{
			Name: GLVCaseName(CurveBN254),
			Setup: func() (func() error, map[string]float64, error) {
				g, _, _, _ := bn254.Generators()
				mul := func(p *bn254.G1Jac, k *big.Int) { p.ScalarMultiplication(&g, k) }
				return glv(bnfr.Modulus(), mul, func(p, q *bn254.G1Jac) { p.AddAssign(q) },
					func(p *bn254.G1Jac) bool { return p.Z.IsZero() })
			},
		},
		{
			Name: GLVCaseName(CurveBLS12381),
			Setup: func() (func() error, map[string]float64, error) {
				g, _, _, _ := bls12381.Generators()
				mul := func(p *bls12381.G1Jac, k *big.Int) { p.ScalarMultiplication(&g, k) }
				return glv(blsfr.Modulus(), mul, func(p, q *bls12381.G1Jac) { p.AddAssign(q) },
					func(p *bls12381.G1Jac) bool { return p.Z.IsZero() })
			},
		},
	}
}

// glv returns an operation that computes p = k G by mul, for scalars k that are drawn once from a fixed seed. It checks
// first that k G and (r - k) G cancel for each scalar.
func glv[P any](r *big.Int, mul func(p *P, k *big.Int), add func(p, q *P), isZero func(*P) bool,
) (func() error, map[string]float64, error) {
	const scalars = 8 // a power of two; the times of single scalars differ by some 5 %
	inputs := rand.NewChaCha8([32]byte{})
	ks := make([]*big.Int, scalars)
	for i := range ks {
		wide := make([]byte, 64)
		if _, err := inputs.Read(wide); err != nil {
			return nil, nil, err
		}
		ks[i] = new(big.Int).SetBytes(wide)
		ks[i].Mod(ks[i], r)
		var p, q P
		mul(&p, ks[i])
		mul(&q, new(big.Int).Sub(r, ks[i]))
		if isZero(&p) {
			return nil, nil, errors.New("scalar multiplication: a multiple of the generator is the identity")
		}
		if add(&p, &q); !isZero(&p) {
			return nil, nil, errors.New("scalar multiplication: k G and (r - k) G do not cancel")
		}
	}
	var p P
	next := 0
	return func() error {
		mul(&p, ks[next])
		next = (next + 1) & (scalars - 1)
		return nil
	}, nil, nil
}

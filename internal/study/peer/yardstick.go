package peer

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"text/tabwriter"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bnfr "github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/format"
)

// Own is a time of ours and the yardstick that was measured beside it.
type Own struct {
	Work // Proof may be bulletproof-agg too
	// Batch is how many operations were done together; 0 means 1. Ns is per
	// operation all the same, and is held against a single one of Panurus,
	// which has no batches.
	Batch int
	Ns    float64
	// GLVNs is the time of one GLV scalar multiplication (GLVCases) of the same
	// curve in the same run.
	GLVNs float64
}

// Yardstick is a time in units that another machine shares: multiples of one
// GLV scalar multiplication on G1 of the curve.
type Yardstick struct {
	Own
	Units   float64 // Ns / GLVNs
	Panurus *Figure // of the same work, Theirs; nil where there is none
	Faster  float64 // Panurus.Units() / Units; 0 without a figure
}

// Measure puts a time of ours beside Panurus' figure. An aggregated proof stands
// beside Panurus' plain one, because it has no aggregated proofs. A time or
// yardstick that is not positive is an ErrParams.
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

// WriteYardstick writes our times beside Panurus' figures, each in units of the
// scalar multiplication of its own machine.
func WriteYardstick(w io.Writer, rows []Own) error {
	measured := make([]Yardstick, len(rows))
	for i, own := range rows {
		y, err := Measure(own)
		if err != nil {
			return fmt.Errorf("rows[%d]: %w", i, err)
		}
		measured[i] = y
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "workload\tcurve\tbits\tin/out\tproof\tbatch\tours\tGLV\tunits\tPanurus\tunits\tfaster")
	for _, y := range measured {
		theirs, units, faster := "none", "", ""
		if y.Panurus != nil {
			theirs = format.PlainTime(y.Panurus.Ns) + y.Panurus.Mark()
			units = fmt.Sprintf("%.0f", y.Panurus.Units())
			faster = fmt.Sprintf("%.2fx", y.Faster)
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d/%d\t%s\t%d\t%s\t%s\t%.1f\t%s\t%s\t%s\n",
			y.Workload, y.Curve, y.Bits, y.In, y.Out, y.Proof, max(y.Batch, 1),
			format.PlainTime(y.Ns), format.PlainTime(y.GLVNs), y.Units, theirs, units, faster)
	}
	fmt.Fprintln(tw, "One unit is one GLV scalar multiplication of gnark-crypto's G1: for ours in this run,")
	fmt.Fprintln(tw, "for Panurus where it was measured, for this project (November 2026). Faster is Panurus'")
	fmt.Fprintln(tw, "units over ours: above 1 ours is faster, below 1 slower. "+Reconstructed+" Reconstructed in part from")
	fmt.Fprintln(tw, "pull requests: what has made its compressed-sigma proofs faster since July 2026.")
	return tw.Flush()
}

// GLVCaseName is the case that measures a curve's yardstick.
func GLVCaseName(curve string) string { return glvFamily + curve }

const glvFamily = "ScalarMul/curve="

// GLVCases measure the yardstick: one GLV scalar multiplication of
// gnark-crypto's G1 by a scalar of full length, in Jacobian coordinates, the way
// gnark-crypto's own benchmark repeats it.
//
// Two choices keep the unit small, so that ours never look better for them: the
// result is not converted to affine form, and the scalars are few enough for the
// branch predictor to learn: over many scalars the same multiplication takes longer
// (docs/figures.md).
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

// glv times mul, p = k G, over scalars drawn once from a fixed seed, after it has
// checked that k G and (r - k) G cancel for each.
func glv[P any](r *big.Int, mul func(p *P, k *big.Int), add func(p, q *P), isZero func(*P) bool,
) (func() error, map[string]float64, error) {
	const scalars = 8 // the mean over a few draws, which differ by some 5 %; a power of two
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
			return nil, nil, errors.New("scalar multiplication: a multiple of the generator vanishes")
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

package peer

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/figure"
)

// Own is a time of ours and the yardstick that was measured beside it.
type Own struct {
	Workload string // for example TransferProofGeneration
	Curve    string
	Bits     int
	Proof    string // bulletproof, csp or bulletproof-agg
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
	Units float64 // Ns / GLVNs
	// Panurus is the figure of the same workload, curve, bit length and proof;
	// nil where there is none.
	Panurus *Figure
	// PanurusUnits is that figure by the yardstick of its own machine, and
	// Faster is PanurusUnits / Units; both 0 without a figure.
	PanurusUnits, Faster float64
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
	proof := own.Proof
	if proof == "bulletproof-agg" {
		proof = "bulletproof"
	}
	glv, ok := PanurusGLV(own.Curve)
	if !ok {
		return y, nil
	}
	for _, f := range Panurus() {
		if f.Workload == own.Workload && f.Curve == own.Curve && f.Bits == own.Bits && f.Proof == proof {
			y.Panurus = &f
			y.PanurusUnits = f.Ms * 1e6 / glv
			y.Faster = y.PanurusUnits / y.Units
		}
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
	fmt.Fprintln(tw, "workload\tcurve\tbits\tproof\tbatch\tours\tGLV\tunits\tPanurus\tunits\tfaster")
	for _, y := range measured {
		theirs, units, faster := "none", "", ""
		if y.Panurus != nil {
			theirs = figure.PlainTime(y.Panurus.Ms * 1e6)
			units = fmt.Sprintf("%.0f", y.PanurusUnits)
			faster = fmt.Sprintf("%.2fx", y.Faster)
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%d\t%s\t%s\t%.1f\t%s\t%s\t%s\n",
			y.Workload, y.Curve, y.Bits, y.Proof, max(y.Batch, 1),
			figure.PlainTime(y.Ns), figure.PlainTime(y.GLVNs), y.Units, theirs, units, faster)
	}
	fmt.Fprintln(tw, "One unit is one GLV scalar multiplication of gnark-crypto's G1: for ours in this run,")
	fmt.Fprintln(tw, "for Panurus where it was measured (November 2026). Faster is Panurus' units over ours:")
	fmt.Fprintln(tw, "above 1 ours is faster, below 1 slower.")
	return tw.Flush()
}

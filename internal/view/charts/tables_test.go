package charts_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// figure returns the only chart of that title.
func figure[F plot.Figure](t *testing.T, recs []*record.Record, title string) F {
	t.Helper()
	for _, c := range all(t, recs) {
		if c.Title == title {
			return c.Figure.(F)
		}
	}
	t.Fatalf("no chart %q in %q", title, titles(all(t, recs)))
	panic("unreachable")
}

// TestCosts: a table of times for each width and proof, of the serial executor with the
// fewest CPUs; what was not measured is empty.
func TestCosts(t *testing.T) {
	var recs []*record.Record
	for i, bits := range []string{"32", "64"} {
		for in := 1; in <= 2; in++ {
			for _, out := range []int{10, 2} {
				if bits == "64" && out == 10 {
					continue
				}
				at := fmt.Sprintf("curve=BN254/bits=%s/in=%d/out=%d/proof=csp/exec=", bits, in, out)
				ms := float64(100*(i+1) + 10*in + out)
				recs = append(recs, load("A", at+"pool", 1, 0, 1, 1), load("A", at+"serial", 2, 0, 1, 1), load("A", at+"serial", 1, 0, 1, ms), load("A", at+"serial", 1, 1, 1, ms+2))
			}
		}
	}
	h := figure[*plot.Heat](t, recs, "A: mean time by inputs and outputs (ms)")
	want := []plot.HeatTile{
		{Name: "bits 32", Rows: []string{"1", "2"}, Columns: []string{"2", "10"}, Values: [][]float64{{113, 121}, {123, 131}}},
		{Name: "bits 64", Rows: []string{"1", "2"}, Columns: []string{"2", "10"}, Values: [][]float64{{213, 0}, {223, 0}}},
	}
	golden.Equal(t, "tiles", want, h.Tiles)
	golden.Equal(t, "note", "BN254, csp, serial, 1 CPU", h.Notes[0])
	golden.Equal(t, "last note, which tells of no case left out", "darker is slower; equal ratios are equal steps", h.Notes[len(h.Notes)-1])
	one := []*record.Record{load("A", "bits=32/in=1/out=1", 1, 0, 1, 1), load("A", "bits=64/in=1/out=1", 1, 0, 1, 1)}
	for _, c := range all(t, one) {
		if _, ok := c.Figure.(*plot.Heat); ok {
			t.Error("one pair of inputs and outputs has a table")
		}
	}
}

// TestCostsLeftOut: a note says how many cases the table lacks, since they were measured with
// more CPUs or workers or another executor only.
func TestCostsLeftOut(t *testing.T) {
	for name, test := range map[string]struct {
		more []string // cases beside those with the fewest, and their CPUs after a space
		want string
	}{
		"none":            {[]string{"in=1/exec=serial/workers=1 2", "in=2/exec=pool/workers=1 1", "in=2/exec=serial/workers=2 1"}, "darker is slower; equal ratios are equal steps"},
		"CPUs":            {[]string{"in=3/exec=serial/workers=1 2"}, "1 case left out: measured with another executor or more CPUs or workers only"},
		"workers":         {[]string{"in=3/exec=serial/workers=2 1", "in=3/exec=serial/workers=2 2"}, "1 case left out: measured with another executor or more CPUs or workers only"},
		"CPUs, executors": {[]string{"in=3/exec=serial/workers=1 2", "in=4/exec=pool/workers=1 1"}, "2 cases left out: measured with another executor or more CPUs or workers only"},
	} {
		t.Run(name, func(t *testing.T) {
			var recs []*record.Record
			for _, at := range append([]string{"in=1/exec=serial/workers=1 1", "in=2/exec=serial/workers=1 1"}, test.more...) {
				axes, cpus, _ := strings.Cut(at, " ")
				n := must.Get(strconv.Atoi(cpus))(t)
				recs = append(recs, load("A", "bits=32/out=1/"+axes, n, 0, 1, 1))
			}
			h := figure[*plot.Heat](t, recs, "A: mean time by inputs and outputs (ms)")
			golden.Equal(t, "last note", test.want, h.Notes[len(h.Notes)-1])
		})
	}
}

// TestSizes: a bar for what a size depends on; workloads of the same proofs share them.
func TestSizes(t *testing.T) {
	var recs []*record.Record
	for _, workload := range []string{"Sender", "Verify", "Issuer"} {
		for _, bits := range []int{32, 64} {
			for _, in := range []int{1, 2} {
				for _, out := range []int{1, 2} {
					for _, exec := range []string{"serial", "pool"} {
						size := float64(1000*out + bits)
						if workload == "Issuer" {
							size = 7
						}
						recs = append(recs, withProof(load(workload, fmt.Sprintf("curve=BN254/bits=%d/in=%d/out=%d/exec=%s", bits, in, out, exec), 1, 0, 1, 1), size))
					}
				}
			}
		}
	}
	// Curve and bits change together: which of them the size depends on is not known.
	recs = append(
		recs, withProof(load("Mixed", "curve=A/bits=1", 1, 0, 1, 1), 1), withProof(load("Mixed", "curve=B/bits=2", 1, 0, 1, 1), 2),
		withProof(stages("Gates", "system=plonk", 1, 1), 584), withProof(stages("Gates", "system=groth16", 1, 1), 128),
	)
	b := figure[*plot.Bars](t, recs, "Sizes of proofs")
	want := []plot.BarGroup{
		{Name: "Sender, Verify: BN254", Rows: []plot.Bar{{Name: "bits 32, out 1", Value: 1032}, {Name: "bits 32, out 2", Value: 2032}, {Name: "bits 64, out 1", Value: 1064}, {Name: "bits 64, out 2", Value: 2064}}},
		{Name: "Issuer", Rows: []plot.Bar{{Name: "BN254", Value: 7}}},
		{Name: "Mixed", Rows: []plot.Bar{{Name: "curve A, bits 1", Value: 1}, {Name: "curve B, bits 2", Value: 2}}},
		{Name: "Gates", Rows: []plot.Bar{{Name: "plonk", Value: 584}, {Name: "groth16", Value: 128}}},
	}
	golden.Equal(t, "groups", want, b.Groups)
}

// TestManySizes: no page has more bars than can be read, and none is lost.
func TestManySizes(t *testing.T) {
	var recs []*record.Record
	for i := range 100 {
		recs = append(recs, withProof(load("A", fmt.Sprint("n=", i), 1, 0, 1, 1), float64(i)))
	}
	var rows []int
	for _, c := range all(t, recs) {
		if b, ok := c.Figure.(*plot.Bars); ok {
			rows = append(rows, len(b.Groups[0].Rows))
		}
	}
	golden.Equal(t, "bars by chart", []int{40, 40, 20}, rows)
}

// TestStages: a row for each case and number of CPUs, a median for each stage.
func TestStages(t *testing.T) {
	recs := []*record.Record{
		stages("Gates", "gates=10/system=plonk/cpus=1", 1, 1, 10, 0.1), stages("Gates", "gates=10/system=plonk/cpus=2", 2, 1, 6),
		stages("Gates", "gates=20/system=plonk/cpus=1", 1, 2, 20, 0.1), stages("Gates", "gates=10/system=plonk/cpus=1", 1, 3, 12, 0.1),
	}
	d := figure[*plot.Dots](t, recs, "Gates: time of the stages")
	want := []plot.DotsRow{
		{Name: "gates 10, 1 CPU", Values: []float64{2, 11, 0.1}},
		{Name: "gates 10, 2 CPUs", Values: []float64{1, 6, 0}},
		{Name: "gates 20, 1 CPU", Values: []float64{2, 20, 0.1}},
	}
	golden.Equal(t, "rows", want, d.Rows)
	golden.Equal(t, "stages", []string{"build", "prove", "verify"}, d.Series)
}

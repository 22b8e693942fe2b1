package peer_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestPanurusTable: each source has a figure of some work at most once, at every width that
// it names; what was recorded of memory is there as a whole, and more tokens and more bits take
// longer and prove longer.
func TestPanurusTable(t *testing.T) {
	type key struct {
		peer.Work
		source string
	}
	seen := map[key]peer.Figure{}
	for _, f := range peer.Panurus() {
		k := key{f.Work, f.Source}
		if _, ok := seen[k]; ok {
			t.Errorf("%+v comes twice", k)
		}
		seen[k] = f
		if !(f.Ns > 1e5 && f.Ns < 1e9) || !slices.Contains([]int{32, 64}, f.Bits) || f.Out == 0 || f.Source == "" {
			t.Errorf("%+v is out of range", f)
		}
		golden.Equal(t, "all of its memory, or none", f.Bytes > 0, f.Allocs > 0 && f.PeakRSS > 0 && f.ProofBytes > 0)
	}
	for k, f := range seen {
		less := k
		if less.Bits == 64 && f.Out == 2 {
			less.Bits = 32
		} else if less.Out > 1 && f.In > 0 && f.Bits == 64 {
			less.In, less.Out = less.In/2, less.Out/2
		} else {
			continue
		}
		if l, ok := seen[less]; !ok || l.Ns >= f.Ns || l.ProofBytes > f.ProofBytes {
			t.Errorf("%+v is not slower or longer than %+v", f, l)
		}
	}
	for _, curve := range []string{peer.CurveBN254, peer.CurveBLS12381} {
		work := peer.Work{Workload: "Sender", Curve: curve, Proof: "csp", Bits: 64, In: 2, Out: 2}
		if f := peer.Theirs(work); f == nil || !f.Reconstructed || f.Units() >= peer.Recorded(work).Units() {
			t.Errorf("%s: the fastest is %+v", curve, f)
		}
		work.In, work.Out = 3, 3
		if peer.Theirs(work) != nil || peer.Recorded(work) != nil {
			t.Errorf("%s: a figure of three inputs, which nobody measured", curve)
		}
	}
}

func TestMeasure(t *testing.T) {
	work := peer.Work{Workload: "TransferServiceTransfer", Curve: peer.CurveBN254, Bits: 32, Proof: "bulletproof", In: 2, Out: 2}
	// Panurus' 24.7 ms are 702 units of 35.2 us.
	own := peer.Own{Work: work, Ns: 3e6, GLVNs: 30_000}
	y := must.Get(peer.Measure(own))(t)
	golden.Equal(t, "units", [2]float64{100, 702}, [2]float64{y.Units, math.Round(y.Panurus.Units())})
	golden.Equal(t, "faster", 7.02, y.Faster, cmpopts.EquateApprox(0, 0.003))
	for _, tc := range []struct {
		name   string
		change func(*peer.Own)
		known  bool
	}{
		{"proof=bulletproof-agg", func(o *peer.Own) { o.Proof = "bulletproof-agg" }, true},
		{"batch=64", func(o *peer.Own) { o.Batch = 64 }, true},
		{"curve=BLS12_381_BBS_GURVY", func(o *peer.Own) { o.Curve = peer.CurveBLS12381 }, true},
		{"curve=FP256BN_AMCL", func(o *peer.Own) { o.Curve = "FP256BN_AMCL" }, false},
		{"bits=16", func(o *peer.Own) { o.Bits = 16 }, false},
		{"in=1", func(o *peer.Own) { o.In = 1 }, false},
		{"workload=Other", func(o *peer.Own) { o.Workload = "Other" }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := own
			tc.change(&o)
			y := must.Get(peer.Measure(o))(t)
			if (y.Panurus != nil) != tc.known || (y.Faster > 0) != tc.known {
				t.Errorf("figure %+v, faster %v; want one: %t", y.Panurus, y.Faster, tc.known)
			}
		})
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		o := own
		o.Ns = bad
		must.FailGet(peer.Measure(o))(t, zkbench.ErrParams, "time %v", bad)
		o = own
		o.GLVNs = bad
		must.FailGet(peer.Measure(o))(t, zkbench.ErrParams, "yardstick %v", bad)
	}
}

func TestWriteYardstick(t *testing.T) {
	rows := []peer.Own{
		{Work: peer.Work{Workload: "TransferServiceTransfer", Curve: peer.CurveBN254, Bits: 64, Proof: "bulletproof", In: 2, Out: 2}, Batch: 64, Ns: 352_000, GLVNs: 35_200},
		{Work: peer.Work{Workload: "Sender", Curve: "FP256BN_AMCL", Bits: 32, Proof: "csp", In: 1, Out: 2}, Ns: 2e8, GLVNs: 1e6},
	}
	var text bytes.Buffer
	must.Do(t, peer.WriteYardstick(&text, rows))
	lines := strings.Split(text.String(), "\n")
	for i, want := range map[int]string{
		1: "TransferServiceTransfer BN254 64 2/2 bulletproof 64 352.0 us 35.20 us 10.0 43.00 ms 1222 122.16x",
		2: "Sender FP256BN_AMCL 32 1/2 csp 1 200.0 ms 1.000 ms 200.0 none",
	} {
		got := strings.Join(strings.Fields(lines[i]), " ")
		golden.Equal(t, fmt.Sprintf("line %d", i), want, got)
	}
	rows[1].Ns = 0
	must.Fail(t, peer.WriteYardstick(&text, rows), zkbench.ErrParams, "rows")
}

// TestPanurusSample: so many workers are busy all the time.
func TestPanurusSample(t *testing.T) {
	s := peer.PanurusSample()
	golden.Near(t, "busy workers", float64(s.Workers), s.Throughput*s.Mean/1e9, 0.01)
	if !slices.IsSorted([]float64{s.P50, s.Mean, s.P95, s.P99, s.Max}) {
		t.Errorf("%+v", s)
	}
}

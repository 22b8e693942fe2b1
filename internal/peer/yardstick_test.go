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
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/peer"
)

func TestPanurusTable(t *testing.T) {
	figures := peer.Panurus()
	if len(figures) != 12*4 {
		t.Fatalf("%d figures, want 12 rows of 4", len(figures))
	}
	type key struct {
		workload, proof, curve string
		bits                   int
	}
	seen := map[key]peer.Figure{}
	for _, f := range figures {
		k := key{f.Workload, f.Proof, f.Curve, f.Bits}
		if _, ok := seen[k]; ok {
			t.Errorf("%+v comes twice", k)
		}
		seen[k] = f
		if !(f.Ms > 0 && f.Ms < 100) || !slices.Contains([]int{32, 64}, f.Bits) {
			t.Errorf("%+v is out of range", f)
		}
	}
	for k, f := range seen {
		if k.bits == 64 {
			k.bits = 32
			if seen[k].Ms >= f.Ms {
				t.Errorf("%+v: 64 bits are not slower than 32", k)
			}
		}
	}
}

func TestMeasure(t *testing.T) {
	// Panurus' 23.9 ms are 679 units of 35.2 us.
	own := peer.Own{Workload: "TransferProofGeneration", Curve: peer.CurveBN254, Bits: 32, Proof: "bulletproof", Ns: 3e6, GLVNs: 30_000}
	y := must.Get(peer.Measure(own))(t)
	golden.Equal(t, "units", [2]float64{100, 679}, [2]float64{y.Units, math.Round(y.PanurusUnits)})
	golden.Equal(t, "faster", 6.79, y.Faster, cmpopts.EquateApprox(0, 0.001))
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
		{Workload: "VerificationSenderProof", Curve: peer.CurveBN254, Bits: 64, Proof: "bulletproof", Batch: 64, Ns: 352_000, GLVNs: 35_200},
		{Workload: "Sender", Curve: "FP256BN_AMCL", Bits: 32, Proof: "csp", Ns: 2e8, GLVNs: 1e6},
	}
	var text bytes.Buffer
	must.Do(t, peer.WriteYardstick(&text, rows))
	lines := strings.Split(text.String(), "\n")
	for i, want := range map[int]string{
		1: "VerificationSenderProof BN254 64 bulletproof 64 352.0 us 35.20 us 10.0 13.50 ms 384 38.35x",
		2: "Sender FP256BN_AMCL 32 csp 1 200.0 ms 1.000 ms 200.0 none",
	} {
		got := strings.Join(strings.Fields(lines[i]), " ")
		golden.Equal(t, fmt.Sprintf("line %d", i), want, got)
	}
	rows[1].Ns = 0
	must.Fail(t, peer.WriteYardstick(&text, rows), zkbench.ErrParams, "rows")
}

// TestPanurusProofBytes: a proof of more bits is longer, one of csp longer than
// bulletproof's.
func TestPanurusProofBytes(t *testing.T) {
	for _, curve := range []string{peer.CurveBN254, peer.CurveBLS12381} {
		sizes := []int{0}
		for _, proof := range []string{"bulletproof", "csp"} {
			for _, bits := range []int{32, 64} {
				sizes = append(sizes, peer.PanurusProofBytes(curve, bits, proof))
			}
		}
		if !slices.IsSorted(sizes) || sizes[1] == 0 {
			t.Errorf("%s: %v", curve, sizes[1:])
		}
	}
	golden.Equal(t, "bytes of 16 bits, which nobody published", 0, peer.PanurusProofBytes(peer.CurveBN254, 16, "csp"))
}

// TestPanurusSample: so many workers are busy all the time.
func TestPanurusSample(t *testing.T) {
	s := peer.PanurusSample()
	golden.Near(t, "busy workers", float64(s.Workers), s.Throughput*s.Mean/1e9, 0.01)
	if !slices.IsSorted([]float64{s.P50, s.Mean, s.P95, s.P99, s.Max}) {
		t.Errorf("%+v", s)
	}
}

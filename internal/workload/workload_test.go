package workload_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

func TestID(t *testing.T) {
	for name, want := range map[string]string{
		"Sender":                  "sender",
		"TransferProofGeneration": "transfer-proof-generation",
		"VerificationSenderProof": "verification-sender-proof",
		"ProofVerificationIssuer": "proof-verification-issuer",
		"NTTForward":              "ntt-forward",
		"ForwardNTT":              "forward-ntt",
		"X":                       "x",
		"":                        "",
	} {
		golden.Equal(t, name, want, record.WorkloadID(name))
	}
}

func TestFind(t *testing.T) {
	defs := []workload.Def{{Name: "Sender"}, {Name: "Issuer"}}
	for _, id := range []string{"issuer", "Issuer", "ISSUER"} {
		golden.Equal(t, "id="+id, "Issuer", must.Get(workload.Find(defs, id))(t).Name)
	}
	_, err := workload.Find(defs, "isuer")
	if !errors.Is(err, zkbench.ErrParams) || err.Error() != `workload: "isuer" is not accepted; did you mean issuer? accepted: sender, issuer` {
		t.Errorf("error %v", err)
	}
}

func TestAxisParse(t *testing.T) {
	numCPU := strconv.Itoa(runtime.GOMAXPROCS(0))
	axes := map[string]workload.Axis{
		"bits":    workload.BitsAxis(),
		"in":      workload.InputsAxis(16),
		"workers": measure.WorkersAxis(),
		"curve":   workload.CurveAxis([]string{"BN254", "BLS12_381_BBS"}, nil),
	}
	for _, test := range []struct{ axis, in, want string }{
		{"bits", "32", "32"},
		{"bits", " 32, 64 ", "32,64"},
		{"bits", "64,32,64", "64,32"},
		{"bits", "1..64*2", "1,2,4,8,16,32,64"},
		{"bits", "3..60*4", "3,12,48"},
		{"bits", "8..40+16", "8,24,40"},
		{"bits", "1,8..16+8,2..2*9", "1,8,16,2"},
		{"in", "1..3+1", "1,2,3"},
		{"workers", "1,NumCPU,16", "1," + numCPU + ",16"},
		{"workers", "1,numcpu,16", "1," + numCPU + ",16"},
		{"curve", "BLS12_381_BBS,BN254", "BLS12_381_BBS,BN254"},
		{"curve", "bls12_381_bbs,Bn254", "BLS12_381_BBS,BN254"},
	} {
		t.Run(test.axis+"="+test.in, func(t *testing.T) {
			want := strings.Split(test.want, ",")
			if test.axis == "workers" && numCPU == "1" {
				want = []string{"1", "16"} // NumCPU repeats the 1
			}
			golden.Equal(t, "cases", want, must.Get(axes[test.axis].Parse(test.in))(t))
		})
	}
}

func TestAxisParseRefuses(t *testing.T) {
	bits := []string{
		"", "0", "65", "-1", "x", "1.5", "32,", "32;64", "1..64", "1..64*1", "1..64*0", "1..64+0", "1..64-1", "64..1*2",
		"0..8*2", "1..65*2,65", "1..1000+1", "..", "..*", "1..*2", "*", "a..b*k", "1..9223372036854775807+1",
		"1..9223372036854775807*2", "99999999999999999999", "NumCPU",
	}
	for _, in := range bits {
		t.Run("bits="+in, func(t *testing.T) {
			refused(t, workload.BitsAxis(), in, `bits: "`, "accepted: 1 to 64, ranges a..b*k and a..b+k")
		})
	}
	for _, in := range []string{"0", "-1", "", "NumCPUs", "1025", "1,0"} {
		t.Run("workers="+in, func(t *testing.T) {
			refused(t, measure.WorkersAxis(), in, `workers: "`, "accepted: 1 to 1024, ranges a..b*k and a..b+k, NumCPU")
		})
	}
	for _, in := range []string{"", "bn-254", "BN254,,", "BN254 BN254"} {
		t.Run("curves="+in, func(t *testing.T) {
			refused(t, workload.CurveAxis([]string{"BN254", "X"}, nil), in, `curves: "`, "accepted: BN254, X")
		})
	}
}

func refused(t *testing.T, axis workload.Axis, in, prefix, suffix string) {
	t.Helper()
	values, err := axis.Parse(in)
	if err == nil {
		t.Fatalf("accepted as %v", values)
	}
	text := err.Error()
	if !errors.Is(err, zkbench.ErrParams) || !strings.HasPrefix(text, prefix) || !strings.HasSuffix(text, suffix) || strings.Contains(text, "\n") {
		t.Errorf("error %q, want one line, %s...%s", text, prefix, suffix)
	}
}

func TestRangeProperty(t *testing.T) {
	axis := workload.InputsAxis(1 << 20)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(1, 1<<20).Draw(t, "a")
		b := rapid.IntRange(a, min(1<<20, a*100)).Draw(t, "b")
		k := rapid.IntRange(2, 1<<20).Draw(t, "k")
		sign := rapid.SampledFrom([]string{"*", "+"}).Draw(t, "sign")
		if sign == "+" {
			k += (b - a) / 4000
		}
		got := must.Get(axis.Parse(strconv.Itoa(a) + ".." + strconv.Itoa(b) + sign + strconv.Itoa(k)))(t)
		v := a
		for _, s := range got {
			if s != strconv.Itoa(v) || v > b {
				t.Fatalf("value %s, want %d, at most %d", s, v, b)
			}
			if sign == "*" {
				v *= k
			} else {
				v += k
			}
		}
		if v <= b {
			t.Fatalf("%d is missing", v)
		}
	})
}

func TestLongFlags(t *testing.T) {
	golden.Equal(t, "flag", "num-inputs", workload.InputsAxis(3).Long())
}

// TestDefaultMatrix: the default of the transfer benchmarks is the study's 54
// cases.
func TestDefaultMatrix(t *testing.T) {
	def := workload.Def{Name: "Sender", Axes: []workload.Axis{
		workload.CurveAxis([]string{"BN254", "G", "F", "other"}, []string{"BN254", "G", "F"}),
		workload.BitsAxis(), workload.InputsAxis(64), workload.OutputsAxis(64),
		workload.ProofAxis([]string{"bulletproof", "csp"}), workload.ExecutorAxis([]string{"serial", "pool"}),
	}}
	cases := must.Get(workload.Cases(def, nil))(t)
	golden.Equal(t, "cases", 54, len(cases))
	golden.Equal(t, "second case", "curve=BN254/bits=32/in=1/out=2/proof=bulletproof/exec=serial", cases[1].String())
	names := make(map[string]bool)
	for _, c := range cases {
		names[c.String()] = true
	}
	golden.Equal(t, "names of cases", len(cases), len(names))
}

func TestMatrixIsBounded(t *testing.T) {
	def := workload.Def{Name: "Sender", Axes: []workload.Axis{workload.InputsAxis(1000), workload.OutputsAxis(1000)}}
	must.FailGet(workload.Cases(def, map[string]string{"in": "1..1000+1", "out": "1..1000+1"}))(t, zkbench.ErrLimit, "matrix")
}

func TestCase(t *testing.T) {
	c := workload.NewCase(record.Axis{Key: "curve", Value: "BN254"}, record.Axis{Key: "bits", Value: "32"})
	d := c.With("workers", "2").With("bits", "64")
	golden.Equal(t, "cases", [2]string{"curve=BN254/bits=32", "curve=BN254/bits=64/workers=2"}, [2]string{c.String(), d.String()})
	golden.Equal(t, "bits", 64, must.Get(d.Int("bits"))(t))
	for _, key := range []string{"curve", "in"} {
		must.FailGet(d.Int(key))(t, zkbench.ErrParams, "key=%s", key)
	}
	data := must.Get(json.Marshal(d))(t)
	var back workload.Case
	must.Do(t, json.Unmarshal(data, &back))
	golden.Equal(t, "case as JSON, and read back", [2]string{`{"curve":"BN254","bits":"64","workers":"2"}`, d.String()}, [2]string{string(data), back.String()})
}

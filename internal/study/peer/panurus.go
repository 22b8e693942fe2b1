package peer

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench"
)

// Names of curves in figures and in the cases of the reference operation.
const (
	CurveBN254    = "BN254"
	CurveBLS12381 = "BLS12_381_BBS_GURVY"
)

// Work is an operation that can be compared between this project and Panurus (LFDT-Panurus/panurus), another project
// for confidential tokens.
type Work struct {
	Workload string // name of this project's workload
	Curve    string // CurveBN254 or CurveBLS12381
	Proof    string // bulletproof or csp
	Bits     int    // of the range proofs
	In, Out  int    // tokens; issues have no inputs
}

// Figure is one measurement of Panurus on one thread. The operation is a transfer or an issue of tokens, or a part of
// either. Fields that were not recorded are 0.
type Figure struct {
	Work
	Ns            float64 // time per operation
	GLVNs         float64 // time of the reference operation (GLVCases) on the same machine, ns
	Bytes, Allocs float64 // allocated per operation
	PeakRSS       float64 // peak resident set of the process, bytes
	ProofBytes    float64
	Source        string // the version, date and machine
	// Reconstructed says that the measured code had more than the version in Source: improvements that were merged
	// later, some of them reconstructed from pull requests.
	Reconstructed bool
}

// Units returns the figure's time divided by the time of the reference operation (GLVCases) on the same machine.
func (f *Figure) Units() float64 { return f.Ns / f.GLVNs }

// Reconstructed is the mark that a figure has in tables if its field Reconstructed is true.
const Reconstructed = "*"

// Mark returns the mark Reconstructed if f.Reconstructed is true, or else an empty string.
func (f *Figure) Mark() string {
	if f.Reconstructed {
		return Reconstructed
	}
	return ""
}

//go:embed panurus.txt
var panurusText []byte

// Panurus returns all figures of LFDT-Panurus/panurus that were measured for this project. There may be several figures
// for the same work, from different sources.
func Panurus() []Figure { return panurus() }

var panurus = sync.OnceValue(func() []Figure {
	figures, err := readFigures(panurusText)
	if err != nil {
		panic(err) // the file is a part of the program, and a test reads it
	}
	return figures
})

// Theirs returns the fastest of Panurus' figures for the given work, that is, the one with the smallest Figure.Units.
// It returns nil if there is no figure for that work.
func Theirs(work Work) *Figure {
	var least *Figure
	for _, f := range Panurus() {
		if f.Work == work && (least == nil || f.Units() < least.Units()) {
			least = &f
		}
	}
	return least
}

// Recorded returns the first of Panurus' figures for the given work that includes the memory and the proof size. It
// returns nil if there is no such figure.
func Recorded(work Work) *Figure {
	for _, f := range Panurus() {
		if f.Work == work && f.ProofBytes > 0 {
			return &f
		}
	}
	return nil
}

// readFigures reads figures in the Go benchmark format. Each source begins with the key "source" and, if its figures are
// reconstructed, the key "reconstructed". Within a source, the reference operation of a curve comes before the curve's
// figures.
func readFigures(text []byte) ([]Figure, error) {
	var figures []Figure
	glv := make(map[string]float64) // by source and case
	for r := benchfmt.NewReader(bytes.NewReader(text), "figures"); r.Scan(); {
		var res *benchfmt.Result
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			res = rec
		case *benchfmt.SyntaxError:
			return nil, fmt.Errorf("%w: %w", zkbench.ErrMalformed, rec)
		default:
			continue
		}
		f := Figure{Source: res.GetConfig("source"), Reconstructed: res.GetConfig("reconstructed") != ""}
		for unit, to := range map[string]*float64{
			"sec/op": &f.Ns, unitBytes: &f.Bytes, unitAllocs: &f.Allocs, UnitPeak: &f.PeakRSS, "proof-bytes": &f.ProofBytes,
		} {
			*to, _ = res.Value(unit)
		}
		f.Ns *= 1e9
		name := string(res.Name)
		if strings.HasPrefix(name, glvFamily) {
			glv[f.Source+name] = f.Ns
			continue
		}
		f.Work = parseWork(name)
		if f.GLVNs = glv[f.Source+GLVCaseName(f.Curve)]; !(f.Ns > 0 && f.GLVNs > 0) {
			return nil, fmt.Errorf("%w: figures: %s has no time, or its curve has no reference operation before it", zkbench.ErrMalformed, name)
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// parseWork parses the name of a case. It ignores parameters that Work does not have.
func parseWork(name string) Work {
	parts := strings.Split(name, "/")
	w := Work{Workload: parts[0]}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		n, _ := strconv.Atoi(value)
		switch key {
		case "curve":
			w.Curve = value
		case "proof":
			w.Proof = value
		case "bits":
			w.Bits = n
		case "in":
			w.In = n
		case "out":
			w.Out = n
		}
	}
	return w
}

// PrintedRun has the figures of a load test that Panurus' benchmark documentation prints. Times are in ns unless a
// field says otherwise.
type PrintedRun struct {
	Machine             string
	Workers             int
	Throughput          float64 // ops/s
	P50, Mean, P95, P99 float64
	Max                 float64
	Bytes, Allocs       float64 // per operation
	GCPauses            float64 // total time in which the world was stopped
	GCCycles            float64
	Duration            float64 // s
}

// PanurusSample returns a run that Panurus' documentation prints: TestParallelBenchmarkSender with BN254, 32 bits,
// two inputs, two outputs, bulletproof and the executor pool.
func PanurusSample() PrintedRun {
	return PrintedRun{
		Machine: "Apple M1 Max", Workers: 10, Throughput: 240.80,
		P50: 41_257_005, Mean: 41_412_840, P95: 45_007_531, P99: 46_786_355, Max: 49_139_729,
		Bytes: 1_787_240, Allocs: 19_166, GCPauses: 702_073_260, GCCycles: 2160, Duration: 10.029,
	}
}

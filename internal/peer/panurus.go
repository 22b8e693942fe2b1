package peer

import "math"

// Curve names of the figures and of the yardstick.
const (
	CurveBN254    = "BN254"
	CurveBLS12381 = "BLS12_381_BBS_GURVY"
)

// Figure is one measurement of another system's transfer. They were made for this project: what
// Panurus has published is PanurusSample.
type Figure struct {
	Workload string  // the name that this project gives the same workload
	Shape    string  // inputs and outputs
	Proof    string  // bulletproof or csp
	Curve    string  // CurveBN254 or CurveBLS12381
	Bits     int     // of the range proofs
	Ms       float64 // per operation, one thread
	KiB      float64 // allocated per operation; 0 where not recorded
	Allocs   int     // allocations per operation; 0 where not recorded
	// Reconstructed figures are of more than July's tree: improvements of its
	// compressed-sigma proofs that have been merged since, put together in part
	// from their pull requests. Its present proofs may be faster still.
	Reconstructed bool
}

// Reconstructed marks such a figure in tables.
const Reconstructed = "*"

// Mark is Reconstructed where the figure is.
func (f *Figure) Mark() string {
	if f.Reconstructed {
		return Reconstructed
	}
	return ""
}

// later is what a time of 22 November 2026 takes on the machine of the others:
// it was measured on a quiet Zen 4 core, in processor time, whose absolute times
// are about 1.3 times as long.
func later(ms float64) float64 { return math.Round(10*ms/1.3) / 10 }

// Panurus returns the figures of LFDT-Panurus/panurus, version of July 2026,
// measured in November 2026 with Go 1.26.8 on one core of an AMD EPYC (Zen 5,
// AVX-512, about 3.8 GHz): minima over runs on a shared machine, which hold to
// plus or minus 15 %. Those that have been measured again are the later ones.
// PanurusGLV carries them to another machine.
func Panurus() []Figure {
	const (
		transfer = "2 in, 2 out"
		issue2   = "2 out"
		issue1   = "1 out"
		bp, csp  = "bulletproof", "csp"
	)
	type cell struct {
		ms, kib float64
		allocs  int
		merged  bool
	}
	only := func(ms float64) cell { return cell{ms: ms} }
	again := func(ms float64) cell { return only(later(ms)) }
	merged := func(ms float64) cell { return cell{ms: later(ms), merged: true} }
	var figures []Figure
	for _, row := range []struct {
		workload, shape, proof   string
		bn32, bn64, bls32, bls64 cell
	}{
		{
			"TransferProofGeneration", transfer, bp,
			cell{23.9, 1507, 13811, false},
			cell{41.3, 2326, 22979, false},
			cell{35.4, 1463, 11099, false},
			cell{62.3, 2092, 17675, false},
		},
		{
			"TransferProofGeneration", transfer, csp,
			// Times are a sender's, nearly all of which is the proof; allocations are July's.
			cell{later(30.7), 2358, 26713, true},
			cell{later(46.9), 4457, 51085, true},
			cell{later(50.5), 1972, 15598, true},
			cell{later(89.5), 3548, 29083, true},
		},
		{"Sender", transfer, bp, again(30.4), again(52.7), again(47.3), again(83.2)},
		{"Sender", transfer, csp, merged(30.7), merged(46.9), merged(50.5), merged(89.5)},
		{
			"VerificationSenderProof", transfer, bp,
			cell{later(11.1), 422, 5008, false},
			cell{later(17.5), 649, 7934, false},
			cell{later(18.9), 403, 3913, false},
			cell{later(30.6), 605, 6214, false},
		},
		{
			"VerificationSenderProof", transfer, csp,
			cell{later(5.45), 692, 8829, true},
			cell{later(7.59), 1101, 14629, true},
			cell{later(10.8), 470, 4742, true},
			cell{later(13.2), 658, 7169, true},
		},
		{"ValidatorTransfer", transfer, bp, again(15.0), again(21.5), only(20.0), only(29.6)},
		// July's 10.2, 13.6, 17.8 and 22.4 ms, less what verifying the proof has become faster by.
		{
			"ValidatorTransfer", transfer, csp,
			cell{ms: 8.2, merged: true},
			cell{ms: 10.0, merged: true},
			cell{ms: 15.2, merged: true},
			cell{ms: 18.0, merged: true},
		},
		{"TransferServiceTransfer", transfer, bp, only(24.7), only(43.0), only(36.4), only(64.2)},
		{"Issuer", issue2, bp, only(23.6), only(42.2), only(35.0), only(62.6)},
		{"ProofVerificationIssuer", issue2, bp, only(8.3), only(13.8), only(13.5), only(24.2)},
		{"IssueServiceIssue", issue1, bp, only(13.2), only(23.8), only(19.0), only(33.4)},
	} {
		for _, at := range []struct {
			curve string
			bits  int
			cell
		}{
			{CurveBN254, 32, row.bn32},
			{CurveBN254, 64, row.bn64},
			{CurveBLS12381, 32, row.bls32},
			{CurveBLS12381, 64, row.bls64},
		} {
			figures = append(figures, Figure{
				Workload: row.workload, Shape: row.shape, Proof: row.proof,
				Curve: at.curve, Bits: at.bits, Ms: at.ms, KiB: at.kib, Allocs: at.allocs, Reconstructed: at.merged,
			})
		}
	}
	return figures
}

// PanurusGLV returns the time in ns of one GLV scalar multiplication of
// gnark-crypto's G1 where Panurus was measured, and whether the curve has one.
func PanurusGLV(curve string) (ns float64, ok bool) {
	switch curve {
	case CurveBN254:
		return 35_200, true
	case CurveBLS12381:
		return 55_500, true
	}
	return 0, false
}

// PanurusProofBytes returns the length of Panurus' proof of a transfer with two
// inputs and two outputs, 0 where none was recorded.
func PanurusProofBytes(curve string, bits int, proof string) int {
	type at struct {
		curve string
		bits  int
		proof string
	}
	return map[at]int{
		{CurveBN254, 32, "bulletproof"}: 2921, {CurveBN254, 32, "csp"}: 4195,
		{CurveBN254, 64, "bulletproof"}: 3185, {CurveBN254, 64, "csp"}: 4615,
		{CurveBLS12381, 32, "bulletproof"}: 3849, {CurveBLS12381, 32, "csp"}: 5315,
		{CurveBLS12381, 64, "bulletproof"}: 4241, {CurveBLS12381, 64, "csp"}: 5863,
	}[at{curve, bits, proof}]
}

// PrintedRun is a load test as Panurus' benchmark documentation prints it. Times are in
// ns.
type PrintedRun struct {
	Machine             string
	Workers             int
	Throughput          float64 // ops/s
	P50, Mean, P95, P99 float64
	Max                 float64
	Bytes, Allocs       float64 // per operation
	GCPauses            float64 // ns in all: the world stopped
	GCCycles            float64
	Duration            float64 // s
}

// PanurusSample returns TestParallelBenchmarkSender with BN254, 32 bits, two inputs,
// two outputs, bulletproof, the pool.
func PanurusSample() PrintedRun {
	return PrintedRun{
		Machine: "Apple M1 Max", Workers: 10, Throughput: 240.80,
		P50: 41_257_005, Mean: 41_412_840, P95: 45_007_531, P99: 46_786_355, Max: 49_139_729,
		Bytes: 1_787_240, Allocs: 19_166, GCPauses: 702_073_260, GCCycles: 2160, Duration: 10.029,
	}
}

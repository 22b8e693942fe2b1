package peer

// Curve names of the figures and of the yardstick.
const (
	CurveBN254    = "BN254"
	CurveBLS12381 = "BLS12_381_BBS_GURVY"
)

// Figure is one published measurement of another system's transfer.
type Figure struct {
	Workload string  // the name that this project gives the same workload
	Shape    string  // inputs and outputs
	Proof    string  // bulletproof or csp
	Curve    string  // CurveBN254 or CurveBLS12381
	Bits     int     // of the range proofs
	Ms       float64 // per operation, one thread
	KiB      float64 // allocated per operation; 0 where not recorded
	Allocs   int     // allocations per operation; 0 where not recorded
}

// Panurus returns the figures of LFDT-Panurus/panurus, version of July 2026,
// measured in November 2026 with Go 1.26.8 on one core of an AMD EPYC (Zen 5,
// AVX-512, about 3.8 GHz). The machine was shared: they hold to plus or minus
// 15 %. PanurusGLV carries them to another machine.
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
	}
	only := func(ms float64) cell { return cell{ms: ms} }
	var figures []Figure
	for _, row := range []struct {
		workload, shape, proof   string
		bn32, bn64, bls32, bls64 cell
	}{
		{
			"TransferProofGeneration", transfer, bp,
			cell{23.9, 1507, 13811},
			cell{41.3, 2326, 22979},
			cell{35.4, 1463, 11099},
			cell{62.3, 2092, 17675},
		},
		{
			"TransferProofGeneration", transfer, csp,
			cell{30.0, 2358, 26713},
			cell{51.6, 4457, 51085},
			cell{55.8, 1972, 15598},
			cell{98.4, 3548, 29083},
		},
		{"Sender", transfer, bp, only(25.3), only(42.5), only(36.7), only(63.6)},
		{"Sender", transfer, csp, only(29.0), only(51.1), only(55.0), only(97.6)},
		{
			"VerificationSenderProof", transfer, bp,
			cell{8.8, 422, 5008},
			cell{14.5, 649, 7934},
			cell{14.7, 403, 3913},
			cell{24.0, 605, 6214},
		},
		{
			"VerificationSenderProof", transfer, csp,
			cell{6.2, 692, 8829},
			cell{9.4, 1101, 14629},
			cell{10.9, 470, 4742},
			cell{14.6, 658, 7169},
		},
		{"ValidatorTransfer", transfer, bp, only(12.0), only(17.2), only(20.0), only(29.6)},
		{"ValidatorTransfer", transfer, csp, only(10.2), only(13.6), only(17.8), only(22.4)},
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
				Curve: at.curve, Bits: at.bits, Ms: at.ms, KiB: at.kib, Allocs: at.allocs,
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

package circuits_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
)

// newPowers returns a ceremony's file for 2^3 points as "snarkjs powersoftau new" writes it: with τ = 1, so that every
// power is the generator.
func newPowers(of []byte) []byte {
	raw := slices.Clone(of)
	const header, g1, g2 = 12 + 12 + 44, 64, 128
	for at, end := header+12, header+12+15*g1; at < end; at += g1 {
		copy(raw[at:], of[header+12:][:g1])
	}
	start := header + 12 + 15*g1 + 12
	for at := start; at < start+8*g2; at += g2 {
		copy(raw[at:], of[start:][:g2])
	}
	return raw
}

// TestSRSFile: a file of powers of tau is used and noted where it is large enough, and else
// refused by the flag's name. It has 2^3.
func TestSRSFile(t *testing.T) {
	const powers = "../../../testdata/srs/powers3.ptau"
	raw := must.Get(os.ReadFile(powers))(t)
	raw[len(raw)/4] ^= 1 // in its points
	damaged := filepath.Join(t.TempDir(), "damaged.ptau")
	must.Do(t, os.WriteFile(damaged, raw, 0o600))
	const sum = "c90ff801013b9ae9eb4cff58c890206808fb69d830f4cf7dd763deeaeb46c94742ce9ecabae5a73cf24de493ff58347f941ee2bf31f638138a0ea2be03a4b69e"
	begun := filepath.Join(t.TempDir(), "begun.ptau")
	must.Do(t, os.WriteFile(begun, newPowers(must.Get(os.ReadFile(powers))(t)), 0o600))
	for _, test := range []struct {
		name, path    string
		hash          string
		def           workload.Def
		gates, system string
		status        record.Status
		says          string // the finding of a string that is used, or the error
	}{
		{"fits", powers, "", circuits.Gates(), "8", "plonk", record.OK, "of size 8 from " + powers + ", of no published hash, so its maker may know τ; "},
		{"groth16", powers, "", circuits.Gates(), "8", "groth16", record.OK, ""},
		{"ours", powers, "", circuits.Gates(), "4", "turbo", record.OK, "of size 8 from " + powers + ", of no published hash, so its maker may know τ; "},
		{"too small", powers, "", circuits.Gates(), "64", "plonk", record.Failed, `srs: "` + powers + `" is not accepted; accepted: a .ptau file over BN254 of 2^6 or more: `},
		{"msm", powers, "", circuits.MSM(), "", "", record.Failed, "accepted: a .ptau file over BN254 of 2^7 or more: "},
		{"damaged", damaged, "", circuits.Gates(), "8", "plonk", record.Failed, "accepted: a .ptau file over BN254 of 2^3 or more: "},
		{"published", powers, sum, circuits.Gates(), "8", "plonk", record.OK, "the published one by its hash; its points are powers of one τ; number of contributions that the file claims: 1, none of them verified"},
		{"another file", powers, strings.Repeat("0f", 64), circuits.Gates(), "8", "plonk", record.Failed, "another file than the ceremony's"},
		{"no hash", powers, "0f", circuits.Gates(), "8", "plonk", record.Failed, "accepted are the 128 hexadecimal digits"},
		{"τ is 1", begun, "", circuits.Gates(), "8", "plonk", record.Failed, "τ is 1"},
		{"none", "none", "", circuits.Gates(), "8", "plonk", record.Failed, "open none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := smallCase(t, test.def, map[string]string{"gates": test.gates, "system": test.system, "stage": "verify"})
			s := measure.DefaultSettings(1, 0)
			s.Count, s.Warmup.Time, s.Samples, s.SRS, s.SRSHash = 1, 0, 1, test.path, test.hash
			recs := []*record.Record{measure.Case(t.Context(), test.def, c, s)}
			if test.def.Stages != nil {
				recs = append(recs, measure.Stages(t.Context(), test.def, c, s))
			}
			for _, rec := range recs {
				noted := ""
				for _, f := range rec.Findings {
					if f.Name == "reference string" {
						noted = f.Text
					}
				}
				refused := slices.ContainsFunc(rec.Findings, func(f record.Finding) bool { return f.Name == record.Refused })
				if rec.Status != test.status || refused != (test.status == record.Failed) ||
					!strings.Contains(rec.Error+noted, test.says) || test.says == "" && noted != "" {
					t.Errorf("%s: %q, refused %v; noted %q", rec.Status, rec.Error, refused, noted)
				}
			}
		})
	}
}

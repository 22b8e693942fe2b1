package circuits_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
)

// TestSRSFile: a file of powers of tau is used and noted where it is large enough, and else
// refused by the flag's name. It has 2^3.
func TestSRSFile(t *testing.T) {
	const powers = "../../../testdata/srs/powers3.ptau"
	raw := must.Get(os.ReadFile(powers))(t)
	raw[len(raw)/4] ^= 1 // in its points
	damaged := filepath.Join(t.TempDir(), "damaged.ptau")
	must.Do(t, os.WriteFile(damaged, raw, 0o600))
	for _, test := range []struct {
		name, path    string
		def           workload.Def
		gates, system string
		status        record.Status
		says          string // the finding of a string that is used, or the error
	}{
		{"fits", powers, circuits.Gates(), "8", "plonk", record.OK, "of size 8 from " + powers},
		{"groth16", powers, circuits.Gates(), "8", "groth16", record.OK, ""},
		{"ours", powers, circuits.Gates(), "4", "turbo", record.OK, "of size 8 from " + powers},
		{"too small", powers, circuits.Gates(), "64", "plonk", record.Failed, `srs: "` + powers + `" is not accepted; accepted: a .ptau file over BN254 of 2^6 or more: `},
		{"msm", powers, circuits.MSM(), "", "", record.Failed, "accepted: a .ptau file over BN254 of 2^7 or more: "},
		{"damaged", damaged, circuits.Gates(), "8", "plonk", record.Failed, "accepted: a .ptau file over BN254 of 2^3 or more: "},
		{"none", "none", circuits.Gates(), "8", "plonk", record.Failed, "open none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := smallCase(t, test.def, map[string]string{"gates": test.gates, "system": test.system, "stage": "verify"})
			s := measure.DefaultSettings(1, 0)
			s.Count, s.Warmup.Time, s.Samples, s.SRS = 1, 0, 1, test.path
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

package jobs

import (
	"fmt"
	"os"

	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// checkSRS refuses a file of --srs that cannot be opened, or that no case would read. Its
// content is checked by the cases, which know what size they need.
func checkSRS(o *usage.Option, plans []workload.Plan) error {
	if !o.Given {
		return nil
	}
	used := false
	for _, p := range plans {
		for _, c := range p.Cases {
			used = used || p.Def.SRS != nil && p.Def.SRS(c)
		}
	}
	if !used {
		return &usage.ValueError{Field: "srs", Value: o.Text, Accepted: "together with cases that have a KZG reference string: circuits with --system plonk, msm"}
	}
	file, err := os.Open(o.Text)
	if err != nil {
		return fmt.Errorf("srs: %w; accepted: %s", err, o.Accepted)
	}
	return file.Close()
}

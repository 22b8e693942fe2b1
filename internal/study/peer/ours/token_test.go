package ours

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/token"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
)

// TestTransferCases: every figure of Panurus whose workload is here has one case, whose
// coordinates its workload's own flags accept, in the shape that was measured.
func TestTransferCases(t *testing.T) {
	for _, proof := range []string{csp.Name, bulletproof.NameSingle} {
		cases := transferCases(proof, token.Defs())
		seen := make(map[string]bool)
		for _, c := range cases {
			if seen[c.name()] {
				t.Errorf("%s twice", c.name())
			}
			seen[c.name()] = true
			for _, a := range c.def.Axes {
				value := c.params.Get(a.Key)
				if values, err := a.Parse(value); err != nil || len(values) != 1 || values[0] != value {
					t.Errorf("%s: %s=%q: %v, %v", c.def.Name, a.Key, value, values, err)
				}
			}
		}
		for _, f := range peer.Panurus() {
			def, err := workload.Find(token.Defs(), f.Workload)
			if f.Proof != proof || err != nil {
				continue
			}
			found := 0
			for _, c := range cases {
				if (c.own == peer.Own{Work: f.Work}) && c.def.Name == def.Name && c.params.Get("out") == fmt.Sprint(f.Out) {
					found++
				}
			}
			golden.Equal(t, fmt.Sprintf("%s, %s, %d bits, %d in, %d out: cases", f.Workload, f.Curve, f.Bits, f.In, f.Out), 1, found)
		}
	}
}

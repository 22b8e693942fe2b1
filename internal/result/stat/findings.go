package stat

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Drifted returns a finding if a series rises or falls over its window. A series counts as
// rising or falling if Trend returns a change of more than 1 % (up or down) with p below
// 0.01. Otherwise Drifted returns false. The finding's text begins with name.
func Drifted(name string, means, weights []float64) (record.Finding, bool) {
	change, p := Trend(means, weights)
	if !(p < 0.01 && (change > 0.01 || change < -0.01)) {
		return record.Finding{}, false
	}
	return record.Finding{
		Name: "drift",
		Text: fmt.Sprintf("%s changed by %+.1f %% from the start of the window to its end (Mann-Kendall p=%.2g)", name, 100*change, p),
	}, true
}

// Correlated returns a finding if consecutive slots of a series (see MeanSE) are strongly
// correlated. The slots count as strongly correlated if the series has at least 32 of
// them, and if the effective number of slots that MeanSE returns is less than a quarter of
// the actual number. Otherwise Correlated returns false. The finding's text contains name.
//
// In 1000 simulated runs of white noise, Correlated returned a finding for 4 % of the runs
// with 32 slots, and for no run with 128 slots. It returned a finding for 98 % of the runs
// with 128 slots and an autocorrelation of 0.8.
func Correlated(name string, means, weights []float64) (record.Finding, bool) {
	mean, se, effective := MeanSE(means, weights)
	slots := 0
	for _, w := range weights {
		if w > 0 {
			slots++
		}
	}
	if !(slots >= 32 && 4*effective < float64(slots)) {
		return record.Finding{}, false
	}
	return record.Finding{
		Name: "autocorrelation",
		Text: fmt.Sprintf("the mean of %s is worth %.0f independent slots of the window's %d, because consecutive slots are correlated; with that taken into account, its standard error is %.2g %%", name, effective, slots, 100*se/mean),
	}, true
}

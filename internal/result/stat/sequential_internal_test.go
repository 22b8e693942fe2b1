package stat

import (
	"math"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestBoundary: with Pocock's constants, which are the same at each of the looks, the paths that exceed one have the
// probability that his table gives (Jennison and Turnbull, Group Sequential Methods, table 2.1).
func TestBoundary(t *testing.T) {
	for _, test := range []struct {
		looks    int
		constant float64
		error    float64
	}{
		{2, 2.178, 0.05},
		{3, 2.289, 0.05},
		{4, 2.361, 0.05},
		{5, 2.413, 0.05},
		{2, 2.772, 0.01},
		{3, 2.873, 0.01},
		{4, 2.939, 0.01},
		{5, 2.986, 0.01},
	} {
		w, spent := walk{}, 0.0
		for i := range test.looks {
			share := float64(i+1) / float64(test.looks)
			spent += w.beyond(test.constant, share)
			w = w.step(test.constant, share)
		}
		golden.Within(t, "error of Pocock's constant", test.error*0.997, spent, test.error*1.003)
	}
	// O'Brien and Fleming's constants (table 2.3), which fall with the root of the share.
	w, spent := walk{}, 0.0
	for i := range 5 {
		share := float64(i+1) / 5
		c := 2.040 / math.Sqrt(share)
		spent += w.beyond(c, share)
		w = w.step(c, share)
	}
	golden.Within(t, "error of O'Brien and Fleming's constants", 0.05*0.997, spent, 0.05*1.003)
}

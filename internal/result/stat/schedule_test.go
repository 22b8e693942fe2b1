package stat_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func TestOrders(t *testing.T) {
	const sides = 3
	golden.Equal(t, "blocks=0", 0, len(stat.Schedule(0, 1)))
	golden.Equal(t, "blocks=-1", 0, len(stat.Schedule(-1, 1)))
	follows := make(map[string]int) // how often one side runs after another one, over many sessions
	const sessions, blocks = 200, 20
	for seed := range uint64(sessions) {
		order := stat.Schedule(blocks, seed)
		golden.Equal(t, "a longer schedule", order, stat.Schedule(blocks+1, seed)[:len(order)])
		for b := range blocks {
			block := slices.Clone(order[sides*b : sides*(b+1)])
			if b%2 == 1 {
				before := slices.Clone(order[sides*(b-1) : sides*b])
				slices.Reverse(before)
				golden.Equal(t, "reverse order", before, block)
			}
			slices.Sort(block)
			golden.Equal(t, "block", []stat.Side{stat.Again, stat.New, stat.Old}, block)
		}
		for position := range sides {
			places := make(map[stat.Side]int)
			for b := range 6 {
				places[order[sides*b+position]]++
			}
			golden.Equal(t, "how often a side is there in six blocks", map[stat.Side]int{stat.Old: 2, stat.New: 2, stat.Again: 2}, places)
		}
		for i, side := range order[1:] {
			follows[string(order[i]+" "+side)]++
		}
	}
	// A pair of blocks has two followers within each block, one repeated side between them and a drawn one after them.
	for _, of := range []stat.Side{stat.Old, stat.New, stat.Again} {
		for _, after := range []stat.Side{stat.Old, stat.New, stat.Again} {
			share := float64(follows[string(of+" "+after)]) / (sessions * blocks)
			golden.Within(t, string(of+" before "+after), 0.18, share, 0.43)
		}
	}
}

// Figures that only drift, by a constant factor from process to process, are
// nothing to a session of an even number of blocks.
func TestDriftCancels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := 2 * rapid.IntRange(4, 20).Draw(t, "half the blocks")
		step := rapid.Float64Range(-0.01, 0.01).Draw(t, "step")
		drifting := func(order []stat.Side) map[stat.Side][]float64 {
			s := map[stat.Side][]float64{}
			for i, side := range order {
				s[side] = append(s[side], math.Exp(step*float64(i)))
			}
			return s
		}
		three := drifting(stat.Schedule(blocks, rapid.Uint64().Draw(t, "seed")))
		e := must.Get(stat.Paired(three[stat.Old], three[stat.New], 0.99))(t)
		golden.Equal(t, "floor and change", []float64{0, 0}, []float64{stat.Floor(three[stat.Old], three[stat.Again]), e.Change}, near)
	})
}

func TestFloors(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"floor=more", stat.Floor([]float64{100, 100, 100}, []float64{102, 102, 102}), 0.02},
		{"floor=less is as much", stat.Floor([]float64{102, 102, 102}, []float64{100, 100, 100}), 0.02},
		{"floor=equal", stat.Floor([]float64{5, 6}, []float64{5, 6}), 0},
		{"floor=one process", stat.Floor([]float64{5}, []float64{5}), nan},
		{"floor=unlike lengths", stat.Floor([]float64{5, 6}, []float64{5, 6, 7}), nan},
		{"floor=not positive", stat.Floor([]float64{5, 0}, []float64{5, 6}), nan},
		{"split=ABBA", stat.SplitFloor([]float64{100, 103, 103, 100}), 0.03},
		{"split=odd", stat.SplitFloor([]float64{100, 103, 103, 100, 500}), 0.03},
		{"split=linear drift", stat.SplitFloor([]float64{1, 2, 4, 8}), 0},
		{"split=3", stat.SplitFloor([]float64{1, 1, 1}), nan},
		{"split=0", stat.SplitFloor(nil), nan},
	} {
		golden.Equal(t, test.name, test.want, test.got, near, cmpopts.EquateNaNs())
	}
}

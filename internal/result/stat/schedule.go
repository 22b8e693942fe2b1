package stat

import "math"

// Side is whose process a measurement is, as in record.Process.
type Side string

const (
	Old   Side = "old"
	New   Side = "new"
	Again Side = "again" // the same program as Old, for the noise floor
)

// Schedule returns the order in which the processes of a session run: every
// block runs each side once, and every second block is the mirror of the one
// before it,
//
//	old new again | again new old | ...
//
// so that over an even number of blocks all sides have the same mean position
// and a linear drift of the machine cancels. The processes of a block are a
// pair: PairedRobust(old, new, ...) and Floor(old, again) take them in block order.
func Schedule(blocks int) []Side {
	sides := [...]Side{Old, New, Again}
	var order []Side
	for b := range blocks {
		for i := range sides {
			if b%2 == 1 {
				i = len(sides) - 1 - i
			}
			order = append(order, sides[i])
		}
	}
	return order
}

// Floor is the noise floor of a session: the change, relative and without its
// sign, that the comparison finds between two sides of the same program which ran
// in the same session, process by process. What the session finds there of
// nothing it may find of nothing elsewhere.
//
// The estimate itself is taken, not the far end of its interval. Replication
// already accounts for noise that differs from process to process: from it alone
// the estimate is about 0.7 standard errors of a comparison, well within an
// interval of 99 %, and costs next to no power. The floor is there for what
// replication does not see, drift that does not cancel and effects of position or
// build, and these it shows in full. The far end would be near four standard
// errors and would double the least change that can be found.
//
// NaN where the lengths differ, fewer than two processes are given, or a figure is
// not finite and above 0.
func Floor(a, again []float64) float64 {
	if len(a) != len(again) || len(a) < 2 || check(a, again, 0.5) != nil {
		return math.NaN()
	}
	e, _ := PairedRobust(a, again, 0.5) // a change also where the processes are few
	return math.Expm1(math.Abs(math.Log1p(e.Change)))
}

// SplitFloor is the noise floor from one side alone, for files without an Again
// side: its processes in order of time, dealt out in the pattern A B B A as two
// sides; the last of an odd number is left out. With half the processes on a
// side it is about 1.4 times the floor of a session, so the stricter of the two.
// NaN as Floor, hence of fewer than four processes.
func SplitFloor(a []float64) float64 {
	var sides [2][]float64
	for i := range len(a) / 2 {
		first := i % 2
		sides[first] = append(sides[first], a[2*i])
		sides[1-first] = append(sides[1-first], a[2*i+1])
	}
	return Floor(sides[0], sides[1])
}

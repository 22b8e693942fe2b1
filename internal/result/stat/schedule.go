package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Side says which program of a comparison a process ran, as in record.Process.
type Side string

// The sides of a session.
const (
	Old   Side = "old"
	New   Side = "new"
	Again Side = "again" // the same program as Old, for the noise floor
)

// Schedule returns the order in which the processes of a session run. The side Again runs
// the same program as Old. Every block runs each of the sides Old, New and Again once, in an
// order that is drawn from the seed. Every second block has the reverse order of the one
// before, and six blocks have each of the six orders, for example:
//
//	new old again | again old new | old new again | again new old | ...
//
// So over an even number of blocks all sides have the same mean position, and a linear drift
// of the machine cancels. Over six blocks each side is as often first, second and third as
// the others, and no side always follows the same other one: a process can be slower because
// of the one before it. The processes of a block belong together: PairedRobust(old, new, ...)
// and Floor(old, again) take their figures in the order of blocks. A longer schedule with the
// same seed begins with the shorter one.
func Schedule(blocks int, seed uint64) []Side {
	var order []Side
	for b := 0; b < blocks; b += 6 {
		draw := rand.New(rand.NewPCG(seed, uint64(b)))
		pairs := [][]Side{{Old, New, Again}, {New, Again, Old}, {Again, Old, New}} // each with its reverse
		draw.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for _, block := range pairs {
			if draw.IntN(2) == 1 {
				slices.Reverse(block)
			}
			order = append(order, block...)
			slices.Reverse(block)
			order = append(order, block...)
		}
	}
	return order[:3*max(blocks, 0)]
}

// Floor returns the noise floor of a session: the relative change, without its sign, that a
// comparison finds between two sides with the same program. The two sides are Old and Again,
// and must have run in the same session. A change of this size between two programs need not
// mean anything.
//
// Floor returns the estimate of this change, not the far end of the estimate's interval.
// Replication already accounts for noise that differs from process to process. That noise
// alone gives an estimate of about 0.7 standard errors of a comparison. This is well within
// an interval of 99 % and costs almost no power. The floor is for effects that replication
// does not show: drift that does not cancel, and effects of position or build. The estimate
// shows these in full. The far end would be near four standard errors and would double the
// smallest change that can be found.
//
// Floor returns NaN if the lengths differ, if there are fewer than two processes, or if a
// figure is not finite and above 0.
func Floor(a, again []float64) float64 {
	if len(a) != len(again) || len(a) < 2 || check(a, again, 0.5) != nil {
		return math.NaN()
	}
	e, _ := PairedRobust(a, again, 0.5) // computes the change even if there are few processes
	return math.Expm1(math.Abs(math.Log1p(e.Change)))
}

// SplitFloor returns the noise floor from one side alone, for files without an Again side.
// It divides the processes, in order of time, into two sides in the pattern A B B A. If the
// number of processes is odd, the last one is left out. With half the processes on each
// side, the result is about 1.4 times the floor of a session, so SplitFloor is stricter than
// Floor. SplitFloor returns NaN if there are fewer than four processes, or if a figure that
// it uses is not finite and above 0.
func SplitFloor(a []float64) float64 {
	var sides [2][]float64
	for i := range len(a) / 2 {
		first := i % 2
		sides[first] = append(sides[first], a[2*i])
		sides[1-first] = append(sides[1-first], a[2*i+1])
	}
	return Floor(sides[0], sides[1])
}

package stat

import (
	"fmt"
	"math"
	"slices"
)

// Welch is Welch's t-test of the means of two classes, which keeps no
// measurements (Welford 1962 for the sums). The zero value is ready to use.
type Welch struct {
	n       [2]uint64
	mean    [2]float64
	squares [2]float64 // sums of squared deviations from the mean
}

// Add counts value in for class, 0 or 1. Another class, and a value that is not
// finite, do not count.
func (w *Welch) Add(class int, value float64) {
	if class != class&1 || math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	w.n[class]++
	delta := value - w.mean[class]
	w.mean[class] += delta / float64(w.n[class])
	w.squares[class] += delta * (value - w.mean[class])
}

// N returns the number of values of each class.
func (w *Welch) N() [2]uint64 { return w.n }

// T returns the statistic, positive where class 0 has the greater mean. Where
// neither class varies it is infinite if the means differ and 0 if they do not;
// it is 0 with fewer than two values in a class.
func (w *Welch) T() float64 {
	if w.n[0] < 2 || w.n[1] < 2 {
		return 0
	}
	difference := w.mean[0] - w.mean[1]
	if difference == 0 {
		return 0
	}
	variance := 0.0
	for c, n := range w.n {
		variance += w.squares[c] / float64(n-1) / float64(n)
	}
	return difference / math.Sqrt(variance)
}

// LeakSamples is the least number of measurements in each class from which a test
// counts. Fewer are not near enough to normal sums, and a handful in a crop would
// often have the greatest t of all.
const LeakSamples = 500

// leakCrops is the number of crops, and leakScale the base-2 exponent of the last
// one, as in dudect.
const (
	leakCrops = 100
	leakScale = 10
)

// Leak tests whether the time of an operation depends on its class of input, fixed
// or random, as dudect does (Reparaz, Balasch and Verbauwhede, "Dude, is my code
// constant time?", IACR ePrint 2016/1123; the crops are those of its published
// code). The first measurements calibrate and are then left out: the i-th of 100
// crops keeps what lies below their percentile 1-0.5^(10(i+1)/100), without the
// long tail that interrupts cause. Each later measurement goes through one Welch
// test of all, one of each crop that it lies below, and, once both classes have
// LeakSamples, one of its squared distance from the mean of its class, which finds
// a leak in the variance.
//
// 4.5 is the usual threshold for |t|; above 10 leaves no doubt of a leak, and below
// 4.5 says that so many samples show none, not that there is none. The classes
// must be drawn at random, measurement by measurement, or a drift of the machine
// is taken for a leak.
type Leak struct {
	calibration []float64
	calibrating int       // measurements until the thresholds stand
	thresholds  []float64 // in ascending order; nil while calibrating
	raw, second Welch
	crops       [leakCrops]Welch
}

// NewLeak returns a test that calibrates with the first so many measurements, 100
// where fewer are asked for.
func NewLeak(calibration int) *Leak {
	return &Leak{calibrating: max(calibration, 100)}
}

// Add counts one measurement of class 0 or 1, in any unit. Another class, and a
// value that is not finite, do not count.
func (l *Leak) Add(class int, value float64) {
	if class != class&1 || math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	if l.thresholds == nil {
		l.calibration = append(l.calibration, value)
		if len(l.calibration) == l.calibrating {
			l.calibrate()
		}
		return
	}
	l.raw.Add(class, value)
	for i, threshold := range l.thresholds {
		if value < threshold {
			l.crops[i].Add(class, value)
		}
	}
	if l.Enough() {
		distance := value - l.raw.mean[class]
		l.second.Add(class, distance*distance)
	}
}

// calibrate sets the thresholds.
func (l *Leak) calibrate() {
	slices.Sort(l.calibration)
	l.thresholds = make([]float64, leakCrops)
	for i := range l.thresholds {
		l.thresholds[i] = l.calibration[int(cropShare(i)*float64(len(l.calibration)))]
	}
	l.calibration = nil
}

// cropShare is the share of the measurements that crop i keeps, below 1.
func cropShare(i int) float64 { return 1 - math.Exp2(-leakScale*float64(i+1)/leakCrops) }

// Enough tells whether each class has the LeakSamples that a test needs.
func (l *Leak) Enough() bool { return min(l.raw.n[0], l.raw.n[1]) >= LeakSamples }

// T returns the statistic of the greatest absolute value over all tests that have
// LeakSamples in each class, the name of that test (all, below and the threshold,
// variance) and its samples in each class. Before any test has them it is 0 of
// all.
func (l *Leak) T() (t float64, crop string, n [2]uint64) {
	crop, n = "all", l.raw.N()
	consider := func(w *Welch, name func() string) {
		if min(w.n[0], w.n[1]) < LeakSamples {
			return
		}
		if v := w.T(); math.Abs(v) > math.Abs(t) {
			t, crop, n = v, name(), w.N()
		}
	}
	consider(&l.raw, func() string { return "all" })
	for i := range l.crops {
		consider(&l.crops[i], func() string {
			return fmt.Sprintf("below %.4g (%.1f %%)", l.thresholds[i], 100*cropShare(i))
		})
	}
	consider(&l.second, func() string { return "variance" })
	return t, crop, n
}

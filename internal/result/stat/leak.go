package stat

import (
	"fmt"
	"math"
	"slices"
)

// Welch computes Welch's t-test of the means of two classes. It keeps running sums
// (Welford 1962), not the measurements. The zero value is ready to use.
type Welch struct {
	n       [2]uint64
	mean    [2]float64
	squares [2]float64 // sums of squared deviations from the mean
}

// Add adds a value to class 0 or 1. It ignores values of other classes and values that are
// not finite.
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

// T returns the statistic, which is positive if class 0 has the larger mean. If neither
// class varies, the statistic is infinite for different means and 0 for equal ones. The
// statistic is 0 if a class has fewer than two values.
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

// LeakSamples is the minimum number of measurements in each class for a test to count. A
// sum of fewer measurements is not close enough to normal, and a crop (see Leak) with only
// a handful of measurements would often have the largest t of all tests.
const LeakSamples = 500

// leakCrops is the number of crops, and 2^-leakScale the share of measurements that the
// last crop leaves out, as in dudect.
const (
	leakCrops = 100
	leakScale = 10
)

// Leak tests whether the time of an operation depends on the class of its input, fixed or
// random, as dudect does (Reparaz, Balasch and Verbauwhede, "Dude, is my code constant
// time?", IACR ePrint 2016/1123). Leak also tests crops. A crop has only the measurements
// below a threshold, so it leaves out the long tail that interrupts cause. The thresholds
// are computed as in dudect's published code.
//
// The first measurements only set the thresholds. There are 100 crops, and the threshold of
// crop i is the quantile 1-0.5^(10(i+1)/100) of the first measurements. Each later
// measurement enters a Welch test of all measurements, and the Welch tests of all crops
// whose thresholds are above it. Another test finds a leak in the variance. Once both
// classes have LeakSamples measurements, a measurement's squared distance from the mean of
// its class enters this test.
//
// The usual limit for |t| is 4.5, and a |t| above 10 leaves no doubt of a leak. A |t| below
// 4.5 means that this number of samples shows no leak, not that there is none. The class
// must be drawn at random for each measurement; otherwise a drift of the machine looks like
// a leak.
type Leak struct {
	calibration []float64
	calibrating int       // number of measurements for the calibration
	thresholds  []float64 // in ascending order; nil while calibrating
	raw, second Welch
	crops       [leakCrops]Welch
}

// NewLeak returns a test that sets its thresholds from the first measurements. The
// parameter calibration is the number of these measurements; if it is less than 100,
// NewLeak uses 100.
func NewLeak(calibration int) *Leak {
	return &Leak{calibrating: max(calibration, 100)}
}

// Add adds one measurement of class 0 or 1, in any unit. It ignores measurements of other
// classes and values that are not finite.
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

// calibrate sets the thresholds of the crops.
func (l *Leak) calibrate() {
	slices.Sort(l.calibration)
	l.thresholds = make([]float64, leakCrops)
	for i := range l.thresholds {
		l.thresholds[i] = l.calibration[int(cropShare(i)*float64(len(l.calibration)))]
	}
	l.calibration = nil
}

// cropShare returns the share of the measurements that crop i keeps, below 1.
func cropShare(i int) float64 { return 1 - math.Exp2(-leakScale*float64(i+1)/leakCrops) }

// Enough reports whether each class has LeakSamples measurements.
func (l *Leak) Enough() bool { return min(l.raw.n[0], l.raw.n[1]) >= LeakSamples }

// T returns the t with the largest absolute value among all tests that have LeakSamples
// measurements in each class. The result crop names that test: "all", "below" with the
// crop's threshold, or "variance". The result n is the number of the test's measurements in
// each class. Before any test has enough samples, T returns a t of 0 and the crop "all".
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

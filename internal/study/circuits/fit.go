package circuits

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
)

// confidence is that of all intervals of a page.
const confidence = 0.95

// fits is a table of the curves through the times of hashing and proving by bytes. A curve
// that the points do not give has no row.
func (d *data) fits() *study.Table {
	t := &study.Table{Left: 2, Head: []string{"time of", "curve", "at 0 bytes", "a byte", "95 %", "ns a byte²", "residual", "points"}}
	proveBytes, prove := d.proveTimes()
	hashBytes, hash := d.nativeTimes()
	for _, of := range []struct {
		name     string
		bytes, s []float64
		steps    bool // where points lie on no curve there is no interval
	}{{"hashing", hashBytes, hash, false}, {"proving, `bits`", proveBytes, prove, true}} {
		for _, curve := range []struct {
			name string
			fit  func(x, y []float64, scatter stat.Scatter) (stat.Fit, error)
		}{{"straight line", stat.Line}, {"parabola", stat.Quadratic}} {
			f, err := curve.fit(of.bytes, of.s, stat.Relative)
			if err != nil {
				continue
			}
			slope, err := f.Coefficient(1, confidence)
			if err != nil {
				continue
			}
			interval := signed(1e9*slope.Low) + " to " + signed(1e9*slope.High)
			if of.steps {
				interval = study.None
			}
			square := study.None
			if len(f.Coefficients) > 2 {
				square = fmt.Sprintf("%.3g", 1e9*f.Coefficients[2])
			}
			t.Add(of.name, curve.name, signed(1e9*f.Coefficients[0]), signed(1e9*slope.Value),
				interval, square, study.Percent(f.Residual), fmt.Sprint(len(of.s)))
		}
	}
	return t
}

// signed is the cell of a time in ns that may be below zero.
func signed(ns float64) string {
	if ns < 0 {
		return "−" + study.Time(-ns)
	}
	return study.Time(ns)
}

// proveTimes are the lengths and times in s of the plain circuit.
func (d *data) proveTimes() (bytes, seconds []float64) {
	for _, r := range d.side(partPlain) {
		bytes, seconds = append(bytes, study.AxisNumber(r, "bytes")), append(seconds, stage(r, "prove"))
	}
	return bytes, seconds
}

// verifyTimes are the times in s of verifying, a process each.
func (d *data) verifyTimes() (seconds []float64) {
	for _, r := range d.side(partPlain) {
		seconds = append(seconds, stage(r, "verify"))
	}
	return seconds
}

// crossing is the length from which on verifying is cheaper than hashing; false: the
// records do not tell it.
func (d *data) crossing() (stat.Estimate, bool) {
	bytes, seconds := d.nativeTimes()
	f, err := stat.Line(bytes, seconds, stat.Relative)
	if err != nil {
		return stat.Estimate{}, false
	}
	at, err := f.Crossover(d.verifyTimes(), confidence)
	return at, err == nil && at.Value > 0
}

// crossover is a table of that length, the study's below ours.
func (d *data) crossover() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"whose", "verify", "bytes", "95 %"}}
	at, ok := d.crossing()
	if !ok {
		return t
	}
	interval := format.Count(at.Low) + " to " + format.Count(at.High)
	if math.IsInf(at.Low, 0) || math.IsInf(at.High, 0) {
		interval = "not told: the slope may be 0"
	}
	t.Add("ours", study.Time(1e9*stat.Mean(d.verifyTimes())), format.Count(at.Value), interval)
	for _, of := range []struct {
		name, part string
		which      func(r *record.Record) bool
	}{{"STARK", partStark, firstSet}, {"aggregate", partJoined, isJoined}} {
		longest := d.longest(of.part, of.which)
		if slope, ok := d.nativeSlope(); ok && longest != nil {
			verify := stage(longest, "verify")
			t.Add("ours, "+of.name+" of "+format.Count(study.AxisNumber(longest, "bytes"))+" bytes", study.Time(1e9*verify), format.Count(verify/slope), study.None)
		}
	}
	t.Add("the study, Axiom", "0.08 s", "24,000,000", study.None)
	t.Add("the study, Maru", "0.09 s", "24,000,000", study.None)
	return t
}

// longest is the record of the longest message of a part's, of those that are asked for; nil: none.
func (d *data) longest(part string, which func(r *record.Record) bool) (longest *record.Record) {
	for _, r := range d.side(part) {
		if which(r) && (longest == nil || study.AxisNumber(r, "bytes") > study.AxisNumber(longest, "bytes")) {
			longest = r
		}
	}
	return longest
}

// nativeSlope is the time in s of hashing a byte.
func (d *data) nativeSlope() (float64, bool) {
	bytes, seconds := d.nativeTimes()
	f, err := stat.Line(bytes, seconds, stat.Relative)
	if err != nil || f.Coefficients[1] <= 0 {
		return 0, false
	}
	return f.Coefficients[1], true
}

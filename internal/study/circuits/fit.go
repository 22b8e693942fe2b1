package circuits

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
)

// confidence is the level of all confidence intervals of a page.
const confidence = 0.95

// fits returns a table of curves that are fitted to the times of hashing and of proving against the length. A curve for
// which there are too few points has no row.
func (d *data) fits() *study.Table {
	t := &study.Table{Left: 2, Head: []string{"time of", "curve", "at 0 bytes", "per byte", "95 %", "ns per byte²", "residual", "points"}}
	proveBytes, prove := d.proveTimes()
	hashBytes, hash := d.nativeTimes()
	for _, of := range []struct {
		name     string
		bytes, s []float64
		steps    bool // times rise in steps, so an interval would mean nothing
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

// signed formats a time in ns as a cell; the time may be negative.
func signed(ns float64) string {
	if ns < 0 {
		return "−" + study.Time(-ns)
	}
	return study.Time(ns)
}

// proveTimes returns the lengths and the times of proving, in seconds, of the part plain.
func (d *data) proveTimes() (bytes, seconds []float64) {
	for _, r := range d.side(partPlain) {
		bytes, seconds = append(bytes, study.AxisNumber(r, "bytes")), append(seconds, stage(r, "prove"))
	}
	return bytes, seconds
}

// verifyTimes returns the times of verifying in seconds, one for each process of the part plain.
func (d *data) verifyTimes() (seconds []float64) {
	for _, r := range d.side(partPlain) {
		seconds = append(seconds, stage(r, "verify"))
	}
	return seconds
}

// crossing returns the length in bytes from which verifying is cheaper than hashing. It returns false if the records do
// not determine that length.
func (d *data) crossing() (stat.Estimate, bool) {
	bytes, seconds := d.nativeTimes()
	f, err := stat.Line(bytes, seconds, stat.Relative)
	if err != nil {
		return stat.Estimate{}, false
	}
	at, err := f.Crossover(d.verifyTimes(), confidence)
	return at, err == nil && at.Value > 0
}

// crossover returns a table of the lengths from which verifying is cheaper than hashing: ours, then the study's.
func (d *data) crossover() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"proof", "verify", "bytes", "95 %"}}
	at, ok := d.crossing()
	if !ok {
		return t
	}
	interval := format.Count(at.Low) + " to " + format.Count(at.High)
	if math.IsInf(at.Low, 0) || math.IsInf(at.High, 0) {
		interval = "unknown: the slope may be 0"
	}
	t.Add("ours", study.Time(1e9*stat.Mean(d.verifyTimes())), format.Count(at.Value), interval)
	for _, p := range d.provedLengths() {
		t.Add("ours, "+p.name+" of "+format.Count(p.of)+" bytes", study.Time(1e9*p.verify), format.Count(p.bytes), study.None)
	}
	t.Add("the study, Axiom", axiom()[0].again.text+" s", format.Count(studyCrossing), study.None)
	t.Add("the study, Maru", maruVerify+" s", format.Count(studyCrossing), study.None)
	return t
}

// studyCrossing is the length at which the study's lines meet, in bytes (section 5).
const studyCrossing = 24_000_000

// provedLength is a proof of the longest message of one kind: the time to verify it in seconds, and the length in bytes
// that takes as long to hash.
type provedLength struct {
	name              string
	of, verify, bytes float64
}

// provedLengths returns the STARK and the aggregate, as far as they and the hash itself were measured.
func (d *data) provedLengths() (all []provedLength) {
	slope, ok := d.nativeSlope()
	if !ok {
		return nil
	}
	for _, s := range []series{{"STARK", partStark, inFirstSet}, {"aggregate", partJoined, isJoined}} {
		if r := d.largest(s.part, axisOf("bytes"), s.keep); r != nil {
			verify := stage(r, "verify")
			all = append(all, provedLength{s.name, study.AxisNumber(r, "bytes"), verify, verify / slope})
		}
	}
	return all
}

// nativeSlope returns the time of hashing one more byte, in seconds. It returns false if the records do not determine it.
func (d *data) nativeSlope() (float64, bool) {
	bytes, seconds := d.nativeTimes()
	f, err := stat.Line(bytes, seconds, stat.Relative)
	if err != nil || f.Coefficients[1] <= 0 {
		return 0, false
	}
	return f.Coefficients[1], true
}

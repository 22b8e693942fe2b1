package circuits

import (
	"fmt"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// kind describes what the study proves with a figure, for a sentence.
func (p *published) kind() string {
	if p.note == filled {
		return p.what + " filled with hashes, " + p.system
	}
	return p.what + ", " + p.system
}

// counterpart returns our largest case of the kind of a published figure in the same system, or nil if there is none.
func (d *data) counterpart(p published) *record.Record {
	part := partSystems
	switch {
	case p.note == filled:
		part = partFull
	case p.hashes > 0:
		part = partHashes
	}
	return d.largest(part, constraints, func(r *record.Record) bool { return systemOf(r).label == p.system })
}

// coreTime returns the time to prove per gate, in core seconds, or 0 if r is nil.
func coreTime(r *record.Record) float64 {
	if constraints(r) == 0 {
		return 0
	}
	return stage(r, "prove") * study.AxisNumber(r, "cpus") / constraints(r)
}

// perCore returns the study's figures beside ours, each for one gate and one core.
func (d *data) perCore() (all []study.Beside) {
	rate := func(v float64) string { return study.Number(1/v) + " gates/s" }
	size := func(v float64) string { return study.Number(v) + " bytes/gate" }
	for _, p := range publishedPlonk() {
		r := d.counterpart(p)
		all = append(all, study.Beside{What: p.kind(), Ours: coreTime(r), Theirs: p.prove * studyCores / p.gates, Text: rate})
		if r != nil {
			all = append(all, study.Beside{What: p.kind() + ", memory", Ours: peak(r) / constraints(r), Theirs: 1e9 * p.memory / p.gates, Text: size})
		}
	}
	if r := d.largest(partMSM, axisOf("points"), isOurs); r != nil {
		all = append(all, study.Beside{
			What: "multi-scalar multiplication", Ours: r.Value(record.LatencyMean) / 1e9 / study.AxisNumber(r, "points"), Theirs: msmSeconds * studyCores / msmPoints,
			Text: func(v float64) string { return study.Number(1/v) + " points/s" },
		})
	}
	slowest := d.largest(partHashes, timeOf("verify"), func(*record.Record) bool { return true })
	return append(all, study.Beside{What: "verifying", Ours: stage(slowest, "verify"), Theirs: verifySeconds})
}

// sameWork returns our times to prove what the study proves, on fewer cores.
func (d *data) sameWork() (all []study.Beside) {
	for _, p := range publishedPlonk() {
		key, part, n := "gates", partSystems, p.gates
		if p.hashes > 0 {
			key, part, n = "hashes", partHashes, p.hashes
		}
		same := d.largest(part, constraints, func(r *record.Record) bool { return systemOf(r).label == p.system && study.AxisNumber(r, key) == n })
		all = append(all, study.Beside{What: p.kind(), Ours: stage(same, "prove"), Theirs: p.prove})
	}
	return all
}

// isOurs reports whether a record is of our implementation, if the case names one.
func isOurs(r *record.Record) bool { return study.Axis(r, "impl") == implOurs }

func plonkAnswer(d *data) study.Answer {
	var ours, theirs []string
	var first, tasks string
	slower := make(map[string][2]float64) // how many times as long as Plonk a system takes per gate: ours, the study's
	var plonk [2]float64
	for _, p := range publishedPlonk() {
		r := d.counterpart(p)
		if p.hashes > 0 || p.note != "" || coreTime(r) == 0 {
			continue
		}
		ours = append(ours, p.system+" "+study.Number(1/coreTime(r)))
		theirs = append(theirs, study.Number(p.gates/p.prove/studyCores))
		if p.system == ourSystems()[0].label {
			plonk = [2]float64{coreTime(r), p.prove}
		}
		slower[p.system] = [2]float64{coreTime(r) / plonk[0], p.prove / plonk[1]}
	}
	if len(ours) > 0 {
		first = fmt.Sprintf("On one core, our systems prove this many gates per second: %s; the study's 32 cores prove %s per core (2^26 gates, section 5.1).", strings.Join(ours, ", "), strings.Join(theirs, ", "))
	}
	if len(ours) == len(ourSystems()) {
		turbo, ultra := slower[ourSystems()[1].label], slower[ourSystems()[2].label]
		first += fmt.Sprintf(" For gates alone, TurboPlonk takes %s times and UltraPlonk %s times as long as Plonk; in the study %s and %s times.",
			study.Number(turbo[0]), study.Number(ultra[0]), study.Number(turbo[1]), study.Number(ultra[1]))
	}
	var turbo, ultra study.Beside
	for _, b := range d.sameWork() {
		switch b.What {
		case hashes8K + ", " + ourSystems()[1].label:
			turbo = b
		case hashes8K + ", " + ourSystems()[2].label:
			ultra = b
		}
	}
	if turbo.Ours > 0 && ultra.Ours > 0 {
		tasks = fmt.Sprintf("For %s, UltraPlonk is %s times as fast as TurboPlonk; in the study %s times (section 5.2.1).", hashes8K, study.Number(turbo.Ours/ultra.Ours), study.Number(turbo.Theirs/ultra.Theirs))
	}
	return study.Answer{
		Sentences: []string{first, tasks},
		Worse: []string{
			study.Worse("Per core, we are slower than the study, or use more memory,", "the study", d.perCore()),
			study.Worse("With one core against 32, we take longer than the study for the same work", "the study", d.sameWork()),
		},
	}
}

// rateDots returns a chart of gates per second and core, ours beside each figure of the study.
func (d *data) rateDots() *plot.Dots {
	c := &plot.Dots{
		Title: "Gates proved per second and core", Unit: "gates per second and core", Series: []string{"ours", "the study 2023"},
		Notes: []string{"ours on one processor, the largest case of the kind; the study's on 32 cores, as printed; right is faster"},
	}
	for _, p := range publishedPlonk() {
		if t := coreTime(d.counterpart(p)); t > 0 {
			c.Rows = append(c.Rows, plot.DotsRow{Name: p.kind(), Values: []float64{1 / t, p.gates / p.prove / studyCores}})
		}
	}
	return c
}

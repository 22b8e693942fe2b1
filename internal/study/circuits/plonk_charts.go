package circuits

import (
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/view/plot"
)

func plonkCharts(d *data) (charts []study.Chart) {
	add := func(file, title, answers string, f plot.Figure) {
		if !plot.Empty(f) {
			charts = append(charts, study.Chart{File: file, Title: title, Figure: f, Answers: answers})
		}
	}
	if f := d.rateDots(); len(f.Rows) > 0 {
		add("plonk-rates.svg", f.Title, "", f)
	}
	gnark := series{name: "gnark", part: partGates}
	systems := func(part string) (all []series) {
		for _, of := range ourSystems() {
			all = append(all, series{of.label, part, func(r *record.Record) bool { return systemOf(r).name == of.name }})
		}
		return all
	}
	gates := append([]series{gnark}, systems(partSystems)...)
	var hashes []series
	for _, form := range pedersenForms()[1:] { // a chart with the first form would have too many lines
		hashes = append(hashes, series{"gnark, " + form, partPedersen, func(r *record.Record) bool { return study.Axis(r, "form") == form }})
	}
	hashes = append(hashes, systems(partHashes)...)
	// theirs returns the study's points that keep accepts.
	theirs := func(x, y func(p published) float64, keep func(p published) bool) (all []plot.Curve) {
		for _, of := range ourSystems() {
			c := plot.Curve{Name: of.label + " 2023", Loose: true}
			for _, p := range publishedPlonk() {
				if p.system == of.label && keep(p) {
					c.Points = append(c.Points, plot.Point{X: x(p), Y: y(p)})
				}
			}
			all = append(all, c)
		}
		return all
	}
	const machines = "one processor; 2023: the study's, 32 cores"
	ofGates, ofHashes := func(p published) float64 { return p.gates }, func(p published) float64 { return p.hashes }
	prove, bytes := func(p published) float64 { return p.prove }, func(p published) float64 { return 1e9 * p.memory }
	hasHashes := func(p published) bool { return p.hashes > 0 }
	for _, c := range []struct {
		name, what, figures string
		lines               []series
		x                   func(p published) float64
		keep                func(p published) bool
	}{
		{"gates", "gates", "1 to 7", gates, ofGates, func(p published) bool { return p.hashes == 0 }},
		{"hashes", "Pedersen hashes", "10 to 16 and 17 to 23", hashes, ofHashes, hasHashes},
	} {
		for _, f := range []struct {
			suffix, title, y, of string
			ours                 figure
			theirs               func(p published) float64
		}{
			{"", "Time to prove", "prove (s)", "proof generation", timeOf("prove"), prove},
			{"-memory", "Memory", "memory (B)", "memory", peak, bytes},
		} {
			title := f.title + " by " + c.what
			lines := d.curves(c.lines, axisOf(c.name), f.ours)
			if hasPoints(lines) {
				lines = append(lines, theirs(c.x, f.theirs, c.keep)...)
			}
			add("plonk-"+c.name+f.suffix+".svg", title, c.figures+": "+f.of, &plot.Curves{Title: title, X: c.name, Y: f.y, Lines: lines, Notes: []string{machines}})
		}
		title := "Stages by " + c.what
		add("plonk-"+c.name+"-stages.svg", title, c.figures+": circuit, witness, proving key, verifying key, verification", d.panels(title, c.name, axisOf(c.name), c.lines, []panel{
			stagePanel("build the circuit", "build"), stagePanel("witness", "witness"),
			stagePanel("proving key", stageProvingKey), stagePanel("verifying key", stageVerifyingKey),
			stagePanel("verify", "verify"), stagePanel("reference string", "srs"),
		}, "one processor; gnark makes both keys in one stage, so it has no lines for them"))
	}
	sums := d.panels("Multi-scalar multiplication by points", "points", axisOf("points"), []series{
		{"ours", partMSM, isOurs}, {"gnark-crypto", partMSM, func(r *record.Record) bool { return !isOurs(r) }},
	}, []panel{{"time", "s", func(r *record.Record) float64 { return r.Value(record.LatencyMean) / 1e9 }}, {"memory", "B", peak}}, machines)
	if !plot.Empty(sums) {
		for i, y := range []float64{msmSeconds, 1e9 * msmGB} {
			sums.Panels[i].Lines = append(sums.Panels[i].Lines, plot.Curve{Name: "the study 2023", Loose: true, Points: []plot.Point{{X: msmPoints, Y: y}}})
		}
	}
	add("plonk-msm.svg", sums.Title, "8 and 9: time and memory of a multi-scalar multiplication", sums)
	full := d.panels("Circuits full of hashes by their rows", "rows", metricOf(record.Domain), systems(partFull), []panel{
		{"prove", "s", timeOf("prove")}, {"memory", "B", peak}, {"hashes", "hashes", axisOf("hashes")},
	}, machines)
	if !plot.Empty(full) {
		isFull := func(p published) bool { return p.note == filled }
		room := func(p published) float64 { return systemNamed(p.system).room(p.gates) }
		for i, y := range []func(p published) float64{prove, bytes, room} {
			full.Panels[i].Lines = append(full.Panels[i].Lines, theirs(ofGates, y, isFull)...)
		}
	}
	add("plonk-full.svg", full.Title, "24 to 26: proof generation, memory and number of hashes by circuit size", full)
	return charts
}

// hasPoints reports whether any of the lines has a point.
func hasPoints(lines []plot.Curve) bool {
	return slices.ContainsFunc(lines, func(c plot.Curve) bool { return len(c.Points) > 0 })
}
